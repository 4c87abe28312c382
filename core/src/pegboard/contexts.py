"""The contexts that running tools get: one for `async def`, and the same through a worker thread for `def`.

Tools annotate `context.Context`; these are what stands behind it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard import events
from pegboard.calls import Call, Record
from pegboard.context import Commit, Context, State
from pegboard.errors import Interrupted, ToolError
from pegboard.kit import process
from pegboard.kit.output import Sink
from pegboard.kit.process import Finished
from pegboard.kit.workspace import Workspace

if TYPE_CHECKING:
    from pegboard.kit.seen import Seen, SeenFiles
    from pegboard.kit.writer import Writer
    from pegboard.running import Grant, Runner

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
_LOCK_WAIT = 30.0


class RunContext(Context):
    """What an `async def` tool is given. A preview gets one with a recording view of the workspace and no sink."""

    def __init__(
        self, runner: Runner, grant: Grant, *, sink: Sink | None = None, workspace: Workspace | None = None
    ) -> None:
        self.workspace = workspace or runner.workspace
        self.settings = runner.settings.get(grant.tool.owner)
        self.config = runner.config
        self.output = sink or Sink(runner.caps)
        self.seen = SessionSeen(runner, grant)
        self._runner = runner
        self._grant = grant
        self._preview = workspace is not None
        self._committing = False

    def state(self, key: str) -> State:
        """A durable value, under the tool's owner and this key."""
        return SessionState(self._runner, self._grant, f"{self._grant.tool.owner}.{key}")

    def commit(self) -> Commit:
        """The edit lock and the writer."""
        self._no_preview("change files")
        return EditCommit(self, self._runner, self._grant)

    async def ask(self, question: str, options: Sequence[str] = ()) -> str | None:
        """Ask the person, through the desk."""
        self._free("ask")
        grant = self._grant
        assert grant.lane is not None
        return await self._runner.desk.question(grant.call.id, question, options, turn=grant.turn, lane=grant.lane.name)

    async def call(self, name: str, **arguments: Any) -> Record:
        """Down the road again, in a lane of its own."""
        self._free("call")
        grant = self._grant
        assert grant.lane is not None and grant.again is not None
        call = Call(id="", name=name, arguments=arguments, caller="tool")
        return await grant.again(call, grant.lane.child(grant.call.id), turn=grant.turn)

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        each: Callable[[Any, bytes], bool | None] | None = None,
        quiet: bool = False,
    ) -> Finished:
        """Run a program in a folder of the workspace."""
        self._no_preview("run programs")
        with self.workspace.folder(cwd) as folder:
            where = os.path.join(self.workspace.root, folder.at)
        return await process.run(
            argv,
            cwd=where,
            env=env,
            stdin=stdin,
            timeout=timeout,
            each=each,
            sink=None if quiet else self.output,
            launcher=self._runner.launcher,
        )

    def _free(self, what: str) -> None:
        self._no_preview(what)
        if self._committing:
            raise RuntimeError(f"ctx.{what} inside ctx.commit(): others would wait for the edit lock meanwhile")

    def _no_preview(self, what: str) -> None:
        if self._preview:
            raise RuntimeError(f"a preview may not {what}; it only says what would change")


class ThreadContext(Context):
    """What a `def` tool is given: the same names, blocking its worker thread. In `inline` tools those raise."""

    def __init__(self, inner: RunContext, loop: asyncio.AbstractEventLoop, *, inline: bool) -> None:
        self.workspace = inner.workspace
        self.settings = inner.settings
        self.config = inner.config
        self.output = inner.output
        self.seen = ThreadSeen(inner.seen, self._wait if not inline else _here)
        self._inner = inner
        self._loop = loop
        self._inline = inline

    def state(self, key: str) -> State:
        """A durable value."""
        return ThreadState(self._inner.state(key), self._wait if not self._inline else _here)

    def commit(self) -> Commit:
        """The edit lock and the writer."""
        commit = self._inner.commit()
        assert isinstance(commit, EditCommit)
        commit.on_loop = self._wait if not self._inline else _here
        return commit

    def ask(self, question: str, options: Sequence[str] = ()) -> str | None:  # type: ignore[override]
        """Ask the person; blocks."""
        return self._block(self._inner.ask(question, options))

    def call(self, name: str, **arguments: Any) -> Record:  # type: ignore[override]
        """Call another tool; blocks."""
        return self._block(self._inner.call(name, **arguments))

    def run(self, argv: Sequence[str], **options: Any) -> Finished:  # type: ignore[override]
        """Run a program; blocks."""
        return self._block(self._inner.run(argv, **options))

    def _block(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._inline:
            coroutine.close()
            raise RuntimeError("an inline tool runs on the loop and may not wait; drop inline=True")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _wait(self, function: Callable[[], T]) -> T:
        async def call() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result()


def _here(function: Callable[[], T]) -> T:
    return function()


class EditCommit(Commit):
    """The workspace's edit lock, from compare to rename; on leaving, undo spans and own edits are written down."""

    def __init__(self, context: RunContext, runner: Runner, grant: Grant) -> None:
        self.on_loop: Callable[[Callable[[], Any]], Any] = _here
        self._context = context
        self._runner = runner
        self._grant = grant
        self._fd: int | None = None
        self._writer: Writer | None = None

    def __enter__(self) -> Writer:
        deadline = time.monotonic() + _LOCK_WAIT
        while not self._try():
            self._overdue(deadline)
            time.sleep(0.01)
        return self._open()

    async def __aenter__(self) -> Writer:
        deadline = time.monotonic() + _LOCK_WAIT
        while not self._try():
            self._overdue(deadline)
            await asyncio.sleep(0.01)
        return self._open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._context._committing = False
        writer, self._writer = self._writer, None
        try:
            if writer is not None and writer.changes:
                self.on_loop(lambda: self._write_down(writer))
        finally:
            if self._fd is not None:
                os.close(self._fd)
                self._fd = None

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.__exit__(kind, error, trace)

    def _open(self) -> Writer:
        from pegboard.kit.writer import Writer

        self._alive()
        self._context._committing = True
        self._writer = Writer(self._context.workspace, expect=self._grant.shown, alive=self._alive)
        self._writer.undo_id = self._grant.call.id if self._runner.session.folder is not None else None
        return self._writer

    def _alive(self) -> None:
        if not self._grant.running.check():
            raise Interrupted(self._grant.running.why or "person", "The call was stopped; nothing more was changed.")

    def _write_down(self, writer: Writer) -> None:
        self._runner.session.save_undo(self._grant.call.id, writer.changes)

    def _try(self) -> bool:
        if self._runner.locks is None or fcntl is None:
            return True
        if self._fd is None:
            self._runner.locks.mkdir(mode=0o700, parents=True, exist_ok=True)
            name = hashlib.blake2b(os.fsencode(self._context.workspace.root), digest_size=12).hexdigest()
            self._fd = os.open(self._runner.locks / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _overdue(self, deadline: float) -> None:
        self._alive()
        if time.monotonic() > deadline:
            raise ToolError(
                "another process has been changing files in this workspace for 30 s; nothing was changed. Try again later."
            )


class SessionSeen:
    """What the session was shown of files, folded from its log (`kit.seen.SeenFiles`)."""

    def __init__(self, runner: Runner, grant: Grant) -> None:
        self._runner = runner
        self._grant = grant

    def get(self, path: str) -> Seen | None:
        """What was shown of a file, if anything."""
        from pegboard.kit.handles import Stamp
        from pegboard.kit.seen import Seen

        event = self._runner.session.fold.seen.get(path)
        if event is None:
            return None
        return Seen(path=event.path, stamp=Stamp(*event.stamp), ranges=list(event.ranges), digest=event.digest)

    def put(self, seen: Seen) -> None:
        """Write down what was shown."""
        import msgspec

        self._runner.session.append(
            events.Seen(
                turn=self._grant.turn,
                path=seen.path,
                stamp=list(msgspec.structs.astuple(seen.stamp)),
                ranges=list(seen.ranges),
                digest=seen.digest,
            )
        )


class ThreadSeen:
    """The same from a worker thread."""

    def __init__(self, inner: SeenFiles, on_loop: Callable[[Callable[[], Any]], Any]) -> None:
        self._inner = inner
        self._on_loop = on_loop

    def get(self, path: str) -> Seen | None:
        """What was shown of a file, if anything."""
        return self._inner.get(path)

    def put(self, seen: Seen) -> None:
        """Write down what was shown."""
        self._on_loop(lambda: self._inner.put(seen))


class SessionState:
    """A durable value in the session's log."""

    def __init__(self, runner: Runner, grant: Grant, key: str) -> None:
        self._runner = runner
        self._grant = grant
        self._key = key

    def get(self, default: Any = None) -> Any:
        """The value, or the default where none was set."""
        return self._runner.session.fold.state.get(self._key, default)

    def set(self, value: Any) -> None:
        """Set it from here on."""
        self._runner.session.append(events.StateChanged(turn=self._grant.turn, key=self._key, value=value))


class ThreadState:
    """The same from a worker thread."""

    def __init__(self, inner: State, on_loop: Callable[[Callable[[], Any]], Any]) -> None:
        self._inner = inner
        self._on_loop = on_loop

    def get(self, default: Any = None) -> Any:
        """The value, or the default where none was set."""
        return self._inner.get(default)

    def set(self, value: Any) -> None:
        """Set it from here on."""
        self._on_loop(lambda: self._inner.set(value))


def lock_folder(state: Path) -> Path:
    """Where edit locks of all workspaces are kept."""
    return state / "locks"
