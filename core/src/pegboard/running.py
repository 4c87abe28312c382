"""Running a granted call: what the tool is given, and the thread that a plain function runs in.

A Grant (see `grant`) is all that `Runner.run` takes.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from pegboard.blocks import AnyBlock, Problem
from pegboard.calls import Touch
from pegboard.config.schema import Config
from pegboard.context import Context, Lasts
from pegboard.desk import Desk
from pegboard.errors import Interrupted, Pointless, ToolError
from pegboard.events import CallOutput
from pegboard.grant import Grant
from pegboard.kit import held, landlock
from pegboard.kit.launch import Launch
from pegboard.kit.output import Caps, Sink, Spool, Tail
from pegboard.kit.settings import JobSettings
from pegboard.kit.workspace import Workspace
from pegboard.launchers import Launchers
from pegboard.outcome import fault_text
from pegboard.plugins.loaded import log_failure, place_in
from pegboard.session import Session
from pegboard.tooling import Tool

if TYPE_CHECKING:
    from pegboard.kit.jobs import Job, Jobs
    from pegboard.kit.process import Finished


_THREADS = 4096
"""More than lanes ever let in: a call that waits for its own calls keeps its thread, and they need others."""


class Runner:
    """What running tools stand on, for one session. `stuck`: tools whose stopped thread has not ended. `job_settings`: of
    the tool set that looks after jobs; without one nothing becomes a job by itself, nor unless it `lasts` for a session."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        config: Config,
        session: Session,
        desk: Desk,
        settings: Mapping[str, Any],
        locks: Path | None,
        launchers: Launchers | None = None,
        environ: Mapping[str, str] | None = None,
        lasts: Lasts = "call",
    ) -> None:
        self.workspace = workspace
        self.config = config
        self.session = session
        self.desk = desk
        self.settings = settings
        self.locks = locks
        self.launchers = launchers
        self._stops: set[object] = set()
        self.environ = dict(os.environ) if environ is None else environ  # as Pegboard was started with (decision 54)
        self.caps = Caps.of(config.output)
        self.job_settings = next((given for given in settings.values() if isinstance(given, JobSettings)), None)
        self._jobs: Jobs | None = None
        self.lasts = lasts
        self.stuck: set[str] = set()
        self._pool: ThreadPoolExecutor | None = None

    async def preview(self, grant: Grant, *, tells: bool = False) -> list[AnyBlock]:
        """What the call would change, for the person; the files it looked at go into the grant as they were shown.

        tells: an error of it may reach the caller though nobody has agreed to anything; it may quote what it looked at.

        Raises:
            ToolError: the call cannot work, so there is nothing to ask about; only where it `tells`, or if it is Pointless.
        """
        from pegboard.contexts import RunContext

        make = grant.tool.declaration.preview
        if make is None:
            return []
        view = self.workspace.recording()
        grant.noted = view.notes  # also those of a preview that fails
        context = RunContext(self, grant, workspace=view)
        try:
            made = make(grant.tool.decode(grant.body), context)
            blocks = list(await made if isinstance(made, Awaitable) else made)
        except ToolError as error:
            if tells or isinstance(error, Pointless):
                raise
            return [Problem(text=str(error))]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates tools: a preview that fails is told of, and the person decides
            log_failure(f"the preview of {grant.tool.name} raised", error)
            place = place_in(error, getattr(grant.tool.function, "__module__", ""))
            return [Problem(text=f"the preview failed: {type(error).__name__}: {error}{place}")]
        grant.shown = dict(view.opened)
        return blocks

    def view(self, grant: Grant) -> Context:
        """What a tool may look at before it is decided on: files, settings and its state, nothing that changes them."""
        from pegboard.contexts import RunContext

        return RunContext(self, grant, workspace=self.workspace)

    async def run(self, grant: Grant) -> Any:
        """Run the tool on the grant's bytes and return what it returned.

        Raises:
            ToolError: an expected failure, or any other exception of the tool, told as one.
            TimeoutError: the tool's declared time limit was over.
        """
        tool = grant.tool
        if self._stops and any(touch.kind == "edit" for touch in grant.touches):
            self._stops.clear()  # what was stopped may do now
        arguments = tool.decode(grant.spend())
        given = msgspec.structs.asdict(arguments)
        if tool.signature.context is not None:
            given[tool.signature.context] = self._context(grant)
        elif self.session.folder is not None:
            # No way back to the grant in it: nothing collects cycles of it.
            grant.spooling = partial(self.spool, grant.call.id)
        try:
            returned = tool.function(**given) if tool.is_async else self._plain(grant, given)
            if tool.declaration.timeout is None:
                return await returned
            async with asyncio.timeout(tool.declaration.timeout) as limit:
                return await returned
        except (ToolError, Interrupted):
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling() == 0:  # nobody stopped this call: the tool itself raised it
                raise self._fault(tool, error) from error
            raise
        except TimeoutError as error:
            if tool.declaration.timeout is not None and limit.expired():
                raise
            raise self._fault(tool, error) from error
        except Exception as error:  # isolates tools: whatever a tool raises is told as its failure
            raise self._fault(tool, error) from error
        except SystemExit as error:  # isolates tools: a tool cannot end the program
            raise self._fault(tool, error) from None
        finally:
            if grant.panels is not None:
                grant.panels.settle()

    def spool(self, call: str) -> Spool | None:
        """Where a call's whole output is kept; None for a session in memory."""
        folder = self.session.folder
        return Spool(folder, call, self.config.output) if folder is not None else None

    def confine(self, launch: Launch) -> Launch:
        """What is started in the place of a program that a call asks for.

        Raises:
            ToolError: it cannot be confined as it has to be; nothing was run.
        """
        return launch if self.launchers is None else self.launchers.confine(launch)

    def look(self, grant: Grant, launch: Launch, done: Finished) -> None:
        """Look whether a program failed for the sandbox it ran in, or was held to reading; that is told with the result, and
        kept."""
        if launch.readable and landlock.available():
            said = held.stopped(done)
        elif launch.view == "open" or self.launchers is None or done.exit_code == 0 or done.timed_out or done.stopped:
            return
        else:
            said = self.launchers.stopped(launch, done.stdout + done.stderr)
        if said is not None:
            grant.stopped = said
            self._stops.add(_signature(grant.tool, grant.touches))

    def stopped_before(self, tool: Tool, touches: Sequence[Touch]) -> bool:
        """Whether the sandbox has stopped this very call, and no file was changed by a tool since."""
        return bool(self._stops) and _signature(tool, touches) in self._stops

    @property
    def jobs(self) -> Jobs:
        """The programs in the background of this session."""
        if self._jobs is None:
            from pegboard.kit.jobs import Jobs

            self._jobs = Jobs(self.session.folder, settings=self.job_settings, output=self.config.output)
        return self._jobs

    def news(self) -> list[Job]:
        """The jobs in the background that the model has not been told of."""
        return self.jobs.news() if self._has_jobs else []

    def background(self) -> list[Job]:
        """Every job of the session; where there never was one, nothing is made for them."""
        return self.jobs.all() if self._has_jobs else []

    @property
    def _has_jobs(self) -> bool:
        folder = self.session.folder
        return self._jobs is not None or (folder is not None and (folder / "jobs").is_dir())

    async def end_jobs(self) -> None:
        """End the programs in the background that are not to outlive this process."""
        if self._jobs is not None:
            await self._jobs.close()

    def close(self) -> None:
        """Let go of worker threads; one that never ends is left behind."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _context(self, grant: Grant) -> Context:
        from pegboard.contexts import RunContext, ThreadContext

        loop = asyncio.get_running_loop()
        turn, call = grant.turn, grant.call.id

        def show(tail: Tail) -> None:
            event = CallOutput(turn=turn, id=call, stream=tail.stream, text=tail.text)
            loop.call_soon_threadsafe(self.session.emit, event)

        sink = Sink(self.caps, keep=grant.tool.declaration.keep, spool=self.spool(call), on_tail=show)
        grant.sink, grant.spooling = sink, partial(self.spool, call)
        context = RunContext(self, grant, sink=sink)
        if grant.tool.is_async:
            return context
        return ThreadContext(context, grant, loop, inline=grant.tool.declaration.inline)

    async def _plain(self, grant: Grant, given: Mapping[str, Any]) -> Any:
        """A plain function: on the loop where it says that it is quick, else in a thread."""
        if grant.tool.declaration.inline:
            return grant.tool.function(**given)
        return await self._in_thread(grant, given)

    async def _in_thread(self, grant: Grant, given: Mapping[str, Any]) -> Any:
        """A plain function in a worker thread. It cannot be stopped: a cancelled one keeps its lane shut for a while."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="tool")
        future: Future[_Ended] = self._pool.submit(_ended, grant.tool.function, given)
        try:
            ended = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancelled() and not future.done():
                grant.running.left = True
                grant.let_go()
                self._wait_for_thread(grant, future)
            raise
        if ended.error is not None:
            raise (
                ended.error if isinstance(ended.error, Exception | SystemExit) else self._fault(grant.tool, ended.error)
            )
        return ended.value

    def _wait_for_thread(self, grant: Grant, future: Future[Any]) -> None:
        name, released = grant.tool.name, Future[None]()

        def ended(_: object = None) -> None:
            self.stuck.discard(name)
            if not released.done():
                released.set_result(None)

        def give_up() -> None:
            if not future.done():
                self.stuck.add(name)
            if not released.done():
                released.set_result(None)

        future.add_done_callback(ended)
        if grant.lane is not None:
            grant.lane.hold_until(released)
        timer = threading.Timer(self.config.tools.stuck, give_up)
        timer.daemon = True
        timer.start()

    def _fault(self, tool: Tool, error: BaseException) -> ToolError:
        log_failure(f"{tool.name} of the plugin {tool.owner!r} raised", error)
        return ToolError(fault_text(tool, error, place_in(error, getattr(tool.function, "__module__", ""))))


def _signature(tool: Tool, touches: Sequence[Touch]) -> object:
    return tool.name, tuple([(touch.kind, touch.what, touch.at) for touch in touches])


class _Ended(msgspec.Struct, gc=False):
    """How a function in a worker thread ended. As a value: a Future cannot hold every exception (StopIteration)."""

    value: Any = None
    error: BaseException | None = None


def _ended(function: Callable[..., Any], given: Mapping[str, Any]) -> _Ended:
    try:
        return _Ended(value=function(**given))
    except StopIteration as error:
        return _Ended(error=RuntimeError(f"StopIteration: {error}"))
    except BaseException as error:  # noqa: BLE001 - isolates tools: nothing a tool raises may kill the thread
        return _Ended(error=error)
