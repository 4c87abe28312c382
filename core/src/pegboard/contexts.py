"""The contexts that running tools get: one for `async def`, and the same through a worker thread for `def`.

Tools annotate `context.Context`; these are what stands behind it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from pegboard.calls import Call, Record
from pegboard.commit import EditCommit, here
from pegboard.context import Commit, Context, State
from pegboard.desk import Question
from pegboard.errors import Interrupted
from pegboard.keeping import SessionSeen, SessionState, ThreadSeen, ThreadState
from pegboard.kit import held, process
from pegboard.kit.launch import own_folders
from pegboard.kit.output import Sink
from pegboard.kit.process import Finished, Launch
from pegboard.kit.ran import Moved
from pegboard.kit.workspace import Workspace

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.grant import Grant
    from pegboard.kit.jobs import Job, Piece
    from pegboard.running import Runner

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
        self.touches = tuple(grant.touches)
        self._runner = runner
        self._grant = grant
        self._preview = workspace is not None
        self.committing = False

    @property
    def jobs(self) -> CallJobs:
        """Programs in the background."""
        self._no_preview("start or look for programs")
        self._grant.effects.beyond = True
        return CallJobs(self, self._runner, self._grant)

    def state(self, key: str) -> State:
        """A durable value, under the tool's owner and this key."""
        return SessionState(self._runner, self._grant, f"{self._grant.tool.owner}.{key}")

    def commit(self) -> Commit:
        """The edit lock and the writer."""
        self._no_preview("change files")
        return EditCommit(self, self._runner, self._grant)

    def panel(self, id: str, title: str, blocks: Sequence[AnyBlock]) -> None:
        """A panel of the tool's owner."""
        from pegboard.panels import Panels, panel_name  # few tools have one

        grant, name = self._grant, panel_name(id)
        if self._preview or not grant.running.check():
            return
        if grant.panels is None:
            grant.panels = Panels(self._runner.session, grant.turn)
        grant.panels.show(f"{grant.tool.owner}.{name}", title, blocks)

    async def ask(
        self, question: str, options: Sequence[str] = (), *, details: Sequence[str] = (), free: bool = True
    ) -> str | None:
        """Ask the person, through the desk."""
        self._free("ask")
        grant = self._grant
        assert grant.lane is not None
        asked = Question(text=question, options=list(options), details=list(details), free=free)
        return await self._runner.desk.question(grant.call.id, asked, turn=grant.turn, lane=grant.lane.name)

    async def call(self, name: str, /, **arguments: Any) -> Record:
        """Down the road again, in a lane of its own."""
        self._free("call")
        grant = self._grant
        if not grant.running.check():
            raise Interrupted(grant.running.why or "person", "The call was stopped; it made no further calls.")
        grant.effects.beyond = True
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
        if not self._grant.tool.declaration.preview_runs:
            self._no_preview("run programs")
        self._grant.effects.beyond = True
        launch = self.launch(argv, cwd, env)
        sink = None if quiet else self.output
        started = process.begin(self._runner.confine(launch), stdin=stdin, each=each, sink=sink)
        return self.looked(launch, await started.finished(timeout))

    def launch(self, argv: Sequence[str], cwd: str, env: Mapping[str, str] | None) -> Launch:
        """A program of this call, and what it is to be confined to."""
        runner, grant = self._runner, self._grant
        launch = Launch(argv=tuple(argv), cwd=self.place(cwd), env=runner.environ if env is None else env)
        decided = grant.decision
        sandbox = decided is not None and decided.action == "allow" and decided.sandbox
        if grant.held and (runner.launchers is None or runner.launchers.mode != "require"):
            return held.reading(launch, self.workspace.root, runner.environ, login=self.config.shell.login)
        if runner.launchers is None or (view := runner.launchers.view(grant.tool.effect, sandbox=sandbox)) == "open":
            return launch
        return msgspec.structs.replace(
            launch,
            view=view,
            root=self.workspace.root,
            network=any(touch.kind == "net" for touch in grant.touches),
            shown=own_folders(env, runner.environ),
        )

    def looked(self, launch: Launch, done: Finished) -> Finished:
        """How a program ended; what the sandbox kept it from is told with the result."""
        self._runner.look(self._grant, launch, done)
        return done

    def place(self, cwd: str) -> str:
        """The folder that programs are started in.

        Raises:
            ToolError: it is not there, or not inside.
        """
        if cwd == ".":
            return self.workspace.root
        with self.workspace.folder(cwd) as folder:
            return os.path.join(self.workspace.root, folder.at)

    def _free(self, what: str) -> None:
        self._no_preview(what)
        if self.committing:
            raise RuntimeError(f"ctx.{what} inside ctx.commit(): others would wait for the edit lock meanwhile")

    def _no_preview(self, what: str) -> None:
        if self._preview:
            raise RuntimeError(f"a preview may not {what}; it only says what would change")


class CallJobs:
    """`context.JobsOf` for one call: the session's jobs, started as this call starts programs."""

    def __init__(self, context: RunContext, runner: Runner, grant: Grant) -> None:
        self._context = context
        self._runner = runner
        self._grant = grant

    @property
    def lasting(self) -> bool:
        """Whether an agent holds the session open between calls."""
        return self._runner.lasts != "call"

    async def run(
        self,
        argv: Sequence[str],
        *,
        label: str,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> Finished | Moved:
        """Run a program, and let it go on in the background where the settings say so and Pegboard does not end first."""
        settings, context = self._runner.job_settings, self._context
        after = settings.background_after if settings is not None else 0
        stays = not after > 0 or (timeout is not None and after >= timeout) or self._runner.lasts != "session"
        if settings is None or stays:
            return await context.run(argv, cwd=cwd, env=env, timeout=timeout)
        launch = context.launch(argv, cwd, env)
        started = process.begin(self._runner.confine(launch), sink=context.output)
        if await started.outlasts(after):
            job = self._runner.jobs.adopt(started, label=self._kept(label), held=context.output.unfinished)
            if job is not None:
                said = f"still running after {after:g} s: it goes on in the background as job {job.id}"
                return Moved(job=job.id, text=f"{said}. {settings.hint.format(id=job.id)}".rstrip(". "))
        return context.looked(launch, await started.finished(None if timeout is None else timeout - after))

    async def start(
        self,
        argv: Sequence[str],
        *,
        label: str,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        keep: bool = False,
    ) -> Job:
        """Start a job."""
        launch = self._runner.confine(self._context.launch(argv, cwd, env))
        return await self._runner.jobs.start(launch, label=self._kept(label), keep=keep)

    def all(self) -> list[Job]:
        """Every job of the session."""
        return self._runner.jobs.all()

    def get(self, id: str) -> Job:
        """One job."""
        return self._runner.jobs.get(id)

    def output(self, id: str, since: int = 0) -> Piece:
        """What it printed."""
        return self._runner.jobs.output(id, since)

    async def wait(
        self, id: str, timeout: float, *, since: int = 0, each: Callable[[bytes], None] | None = None
    ) -> Job:
        """Wait for its end."""
        return await self._runner.jobs.wait(id, timeout, since=since, each=each)

    async def cancel(self, id: str) -> Job:
        """End it."""
        return await self._runner.jobs.cancel(id)

    def tell(self, job: Job) -> None:
        """Whoever called was told of it; that is no news to the model if it was the model."""
        if self._grant.call.caller == "model":
            self._runner.jobs.tell(job)

    def _kept(self, label: str) -> str:
        """A label as it is kept: what is no affair of the log is none of a job's record."""
        redactor = self._runner.session.redactor
        return redactor.text(label) if redactor is not None else label


class ThreadContext(Context):
    """What a `def` tool is given: the same names, blocking its worker thread. In `inline` tools those raise."""

    def __init__(self, inner: RunContext, grant: Grant, loop: asyncio.AbstractEventLoop, *, inline: bool) -> None:
        self.workspace = inner.workspace
        self.settings = inner.settings
        self.config = inner.config
        self.output = inner.output
        self.seen = ThreadSeen(inner.seen, self._wait if not inline else here)
        self.touches = inner.touches
        self._inner = inner
        self._grant = grant
        self._loop = loop
        self._inline = inline

    @property
    def jobs(self) -> CallJobs:
        """Waiting for them is for the loop."""
        raise RuntimeError("ctx.jobs is for tools that are `async def`")

    def state(self, key: str) -> State:
        """A durable value."""
        return ThreadState(self._inner.state(key), self._wait if not self._inline else here)

    def commit(self) -> Commit:
        """The edit lock and the writer."""
        commit = self._inner.commit()
        assert isinstance(commit, EditCommit)
        commit.on_loop = self._wait if not self._inline else here
        return commit

    def panel(self, id: str, title: str, blocks: Sequence[AnyBlock]) -> None:
        """A panel of the tool's owner."""
        put = partial(self._inner.panel, id, title, list(blocks))
        return put() if self._inline else self._wait(put)

    def ask(  # type: ignore[override]
        self, question: str, options: Sequence[str] = (), *, details: Sequence[str] = (), free: bool = True
    ) -> str | None:
        """Ask the person; blocks."""
        return self._block(self._inner.ask(question, options, details=details, free=free))

    def call(self, name: str, /, **arguments: Any) -> Record:  # type: ignore[override]
        """Call another tool; blocks."""
        return self._block(self._inner.call(name, **arguments))

    def run(self, argv: Sequence[str], **options: Any) -> Finished:  # type: ignore[override]
        """Run a program; blocks."""
        return self._block(self._inner.run(argv, **options))

    def _block(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._inline:
            coroutine.close()
            raise RuntimeError("an inline tool runs on the loop and may not wait; drop inline=True")
        waits: Future[T] = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        self._grant.waits = waits
        if self._grant.running.left:  # the call was given up in that moment
            waits.cancel()
        try:
            return waits.result()
        finally:
            self._grant.waits = None

    def _wait(self, function: Callable[[], T]) -> T:
        async def call() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result()
