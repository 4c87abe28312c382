"""The contexts that running tools get: one for `async def`, and the same through a worker thread for `def`.

Tools annotate `context.Context`; these are what stands behind it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pegboard.calls import Call, Record
from pegboard.commit import EditCommit, here
from pegboard.context import Commit, Context, State
from pegboard.keeping import SessionSeen, SessionState, ThreadSeen, ThreadState
from pegboard.kit import process
from pegboard.kit.output import Sink
from pegboard.kit.process import Finished
from pegboard.kit.workspace import Workspace

if TYPE_CHECKING:
    from pegboard.running import Grant, Runner

T = TypeVar("T")


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
        self.committing = False

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
        where = self.workspace.root
        if cwd != ".":
            with self.workspace.folder(cwd) as folder:
                where = os.path.join(where, folder.at)
        return await process.run(
            argv,
            cwd=where,
            env=self._runner.environ if env is None else env,
            stdin=stdin,
            timeout=timeout,
            each=each,
            sink=None if quiet else self.output,
            launcher=self._runner.launcher,
        )

    def _free(self, what: str) -> None:
        self._no_preview(what)
        if self.committing:
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
        self.seen = ThreadSeen(inner.seen, self._wait if not inline else here)
        self._inner = inner
        self._loop = loop
        self._inline = inline

    def state(self, key: str) -> State:
        """A durable value."""
        return ThreadState(self._inner.state(key), self._wait if not self._inline else here)

    def commit(self) -> Commit:
        """The edit lock and the writer."""
        commit = self._inner.commit()
        assert isinstance(commit, EditCommit)
        commit.on_loop = self._wait if not self._inline else here
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
