"""A board around a plugin that is checked, in a throw-away workspace with sample files. It sees what each call does."""

from __future__ import annotations

import asyncio
import concurrent.futures.thread
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pegboard.board import Board
from pegboard.calls import Deny, Record, TouchKind
from pegboard.checking.sample_files import template
from pegboard.checking.watching import Deeds, watched
from pegboard.errors import Interrupted, ToolError
from pegboard.events import CallFinished, CallStarted
from pegboard.hooks import hookimpl
from pegboard.kit.tree import MARK, Tree, is_alive
from pegboard.plugins import given
from pegboard.testing.scripted import Scripted
from pegboard.testing.writes import writes_detected

if TYPE_CHECKING:
    from pegboard.calls import Touch
    from pegboard.checking.loading import Hanging
    from pegboard.grant import Grant
    from pegboard.tooling import Tool

T = TypeVar("T")

CALL = 10.0
"""Seconds that a call may take with sample arguments, where its tool declares no limit."""
GRACE = 2.0
"""Seconds in which a call that was stopped has ended, and all that it started."""
_CORE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@dataclass(kw_only=True, slots=True)
class Seen:
    """What a call came to, and what it did. record: None where it did not end, or `broke` the road. ran: how often its
    function was begun; running: how often it has not ended. raised: what it raised that no tool should; said: its own
    ToolErrors; returned: what it returned. opened: what it opened in the workspace. stopped: it was told to stop while it
    ran. left: processes and threads of it that are still there."""

    record: Record | None = None
    took: float = 0.0
    ran: int = 0
    running: int = 0
    broke: Exception | None = None
    raised: list[BaseException] = field(default_factory=list)
    said: list[ToolError] = field(default_factory=list)
    returned: Any = None
    wrote: list[str] = field(default_factory=list)
    opened: list[tuple[TouchKind, str]] = field(default_factory=list)
    touches: Sequence[Touch] = ()
    deeds: Deeds = field(default_factory=Deeds)
    stopped: bool = False
    left: list[str] = field(default_factory=list)


class Bench:
    """The board, its session, and who makes calls there. Close it."""

    def __init__(
        self,
        found: Sequence[Hanging],
        folder: Path,
        *,
        files: Mapping[str, str],
        tables: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """`found`: entries that loaded; their tool sets hang on it. `folder`: for workspace and state. `files`: that are
        there besides the sample files. `tables`: settings of plugins, by name."""
        self.root, self.state = folder / "workspace", folder / "state"
        self.root.mkdir(exist_ok=True)
        sets = [one for one in found if one.entry.group == "pegboard.toolsets" and one.plugin]
        extra = [given(one.entry.name, one.entry.group, _module(one), own=True) for one in sets]
        extra.append(given("checking", "pegboard.guards", self._guard(), own=True))
        flags = {f"{name}.{key}": value for name, table in tables.items() for key, value in table.items()}
        self.loop = asyncio.new_event_loop()
        self.board = Board.build(
            str(self.root),
            flags=flags,
            user_file=self.state / "none.toml",
            environ={},
            state=self.state,
            extra=extra,
            discover=False,
        )
        self._now = Seen()
        self._limit: float | None = None
        self._template = template(tuple(files.items()))
        self._touched = True
        self.renew()

    def renew(self) -> None:
        """A session in which nothing has happened, and the workspace as it was."""
        if self._touched:
            _restore(self.root, self._template)
            self._touched = False
        self.session = self.board.session()
        self.agent = self.board.agent(self.session, answers="--yes", provider=Scripted([]), model="scripted")
        self._watch_runner()

    def call(self, tool: Tool, arguments: Any, *, limit: float | None = None, stop: float | None = None) -> Seen:
        """One call down the road, by a model; a question for consent is answered with yes.

        limit: seconds, in the place of the tool's own limit. stop: seconds after which it is told to stop, if it runs."""
        seen = self._now = Seen()
        self._limit = limit
        self._touched = self._touched or tool.effect != "read_only"
        threads, began = set(threading.enumerate()), time.monotonic()
        with watched() as seen.deeds, _descendants() as tree:
            self.loop.run_until_complete(self._travel(tool.name, arguments, seen, stop))
            seen.took = time.monotonic() - began
            if stop is not None or limit is not None:
                self._settle(seen, threads, tree)
        started = [event for event in self.session.read() if isinstance(event, CallStarted)]
        if started and seen.ran:
            seen.touches = started[-1].touches
        self._touched = self._touched or bool(seen.wrote)
        return seen

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on this board's loop."""
        return self.loop.run_until_complete(work)

    def close(self) -> None:
        """Close the board. What does not end is left behind: the process ends soon."""
        with suppress(Exception):  # isolates tools: what they left in the loop may raise anything
            self.loop.run_until_complete(asyncio.wait_for(self.board.close(), GRACE))
        self.loop.close()

    async def _travel(self, name: str, arguments: Any, seen: Seen, stop: float | None) -> None:
        task = asyncio.ensure_future(self.agent.call(name, arguments, "model"))
        if stop is not None:
            began = time.monotonic()
            while not task.done() and time.monotonic() - began < CALL:
                await asyncio.sleep(0.005)
                if seen.ran and time.monotonic() - began >= stop:
                    break
            if not task.done():
                seen.stopped = True
                task.cancel()
        elif self._limit is None:
            await asyncio.wait([task], timeout=CALL)
        done, _ = await asyncio.wait(
            [task], timeout=CALL if stop is None and self._limit is None else GRACE + (self._limit or 0)
        )
        if not done:
            task.cancel()
            await asyncio.wait([task], timeout=GRACE)
        elif not task.cancelled():
            try:
                seen.record = task.result()
            except Exception as error:  # noqa: BLE001 - isolates tools: what comes out of the road here came from one
                seen.broke = error
        else:
            finished = [event for event in self.session.read() if isinstance(event, CallFinished)]
            seen.record = _record(finished[-1]) if finished else None

    def _settle(self, seen: Seen, threads: set[threading.Thread], tree: Tree) -> None:
        """Wait until nothing is left of the call, at most for the grace."""
        self.loop.run_until_complete(self.agent._road.runner.end_jobs())  # the session's, whichever call began them
        deadline = time.monotonic() + GRACE
        while True:
            programs = [process for process in tree.members() if is_alive(process)]
            own = [thread for thread in threading.enumerate() if thread not in threads and not _is_ours(thread)]
            left = ["the call itself"] if seen.running else []
            left += [f"the program {process.pid}" for process in programs]
            left += [f"the thread {thread.name}" for thread in own if not thread.name.startswith("tool_")]
            if not left or time.monotonic() >= deadline:
                break
            self.loop.run_until_complete(asyncio.sleep(0.02))
        seen.left = left
        for process in programs:
            with suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)

    def _watch_runner(self) -> None:
        """See what tools do as they run."""
        runner = self.agent._road.runner
        run = runner.run

        async def watching(grant: Grant) -> Any:
            tool = grant.tool
            changed = replace(tool, function=self._seeing(tool))
            if self._limit is not None:
                changed = replace(changed, declaration=replace(tool.declaration, timeout=self._limit))
            grant.tool = changed
            return await run(grant)

        runner.run = watching  # type: ignore[method-assign]

    def _seeing(self, tool: Tool) -> Callable[..., Any]:
        """The tool's function, which tells how it ended."""
        seen, function = self._now, tool.function
        allowed = [self.session.folder] if self.session.folder else []
        roots = [Path(self.board.root)]

        @wraps(function)
        async def runs(**given: Any) -> Any:
            with writes_detected(allowed, roots) as seen.wrote, _told(seen):
                seen.returned = await function(**given)
                return seen.returned

        @wraps(function)
        def blocks(**given: Any) -> Any:
            with writes_detected(allowed, roots) as seen.wrote, _told(seen):
                seen.returned = function(**given)
                return seen.returned

        return runs if tool.is_async else blocks

    def _guard(self) -> ModuleType:
        """A guard that refuses nothing, and is told of each file that the door opens."""
        bench = self

        class Notes:
            def __call__(self, call: Any, touches: Any) -> None:
                return None

            def path(self, kind: TouchKind, path: str) -> Deny | None:
                bench._now.opened.append((kind, path))
                return None

        module = ModuleType("pegboard_checking_notes")
        module.pegboard_guards = hookimpl(_returning("pegboard_guards", [Notes()]))  # type: ignore[attr-defined]
        return module


@contextmanager
def _descendants() -> Iterator[Tree]:
    """The processes that are started from here on, wherever they go."""
    tree, before = Tree(), os.environ.get(MARK)
    tree.pid = os.getpid()
    os.environ[MARK] = tree.marked(os.environ)[MARK]
    try:
        yield tree
    finally:
        os.environ.pop(MARK)
        if before is not None:
            os.environ[MARK] = before


def _is_ours(thread: threading.Thread) -> bool:
    """Whether a thread is of a pool and has nothing to do, or waits for one that was left behind."""
    frame = sys._current_frames().get(thread.ident or 0)
    idle = frame is not None and frame.f_code.co_filename == concurrent.futures.thread.__file__
    timed = getattr(getattr(thread, "function", None), "__module__", "")
    return idle or timed.startswith("pegboard.")


class _told:  # noqa: N801 - reads as a function where it is used
    """Count a call's beginning and end, and keep what it raised."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    def __enter__(self) -> None:
        self._seen.ran += 1
        self._seen.running += 1

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._seen.running -= 1
        if isinstance(error, ToolError):
            if not _by_core(trace):
                self._seen.said.append(error)
        elif error is not None and not isinstance(error, (Interrupted, asyncio.CancelledError)):
            self._seen.raised.append(error)


def _by_core(trace: Any) -> bool:
    """Whether the last of a traceback is ours: what the door and the kit say is not the tool's."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_CORE)


def _record(event: CallFinished) -> Record:
    fields = {name: getattr(event, name) for name in Record.__struct_fields__ if hasattr(event, name)}
    rest = dict.fromkeys(("tool", "set", "arguments", "full_output", "session"), None) | {
        "requested": "",
        "dropped": [],
    }
    return Record(**{**rest, **fields})


def _module(one: Hanging) -> Any:
    """The module of an entry that loaded."""
    return sys.modules[one.entry.value]


def _returning(name: str, value: Any) -> Callable[[], Any]:
    def impl() -> Any:
        return value

    impl.__name__ = name
    return impl


def _restore(root: Path, template: Path) -> None:
    """The folder's content as the template has it. The folder itself stays: others hold it open."""
    for item in list(root.iterdir()):
        shutil.rmtree(item, ignore_errors=True) if item.is_dir() and not item.is_symlink() else item.unlink()
    shutil.copytree(template, root, dirs_exist_ok=True, symlinks=True)


def encodable(value: Any) -> bool:
    """Whether JSON has a form for a value."""
    try:
        msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return False
    return True
