"""The agent of one session: it implements the port, and runs turns (see `turn`) one at a time.

It names no tool, no provider and no front end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple, Self, assert_never

from pegboard import events, port
from pegboard.asking import Loop
from pegboard.calls import Call, Caller, Record
from pegboard.config.schema import LimitSettings
from pegboard.errors import PegboardError
from pegboard.events import AnyEvent, TurnEnded
from pegboard.fitting import Fitting
from pegboard.models import Provider, ToolOffer
from pegboard.policy import Mode, Policy
from pegboard.road import Road
from pegboard.session import Session, SessionBusy
from pegboard.turn import Turn

if TYPE_CHECKING:
    from pegboard.explaining import Explained
    from pegboard.kit.jobs import Job
    from pegboard.undoing import Undoing


class Entered(NamedTuple):
    """What being in a mode comes to; `mode` is None where none is on."""

    mode: Mode | None
    policy: Policy
    system: str


class Agent:
    """One session's agent. Front ends speak to it through the port: `send`, `events`; programs may also `call`. `begun`: how
    many prompts it has taken."""

    def __init__(
        self,
        *,
        session: Session,
        road: Road,
        provider: Provider,
        model: str,
        system: str,
        offers: Callable[[], list[ToolOffer]],
        sets: list[str],
        not_loaded: list[str],
        limits: LimitSettings | None = None,
        enter: Callable[[str | None], Entered] | None = None,
        mode: Mode | None = None,
        shared: bool = False,
    ) -> None:
        """`enter`: what being in a mode comes to. mode: the one that `road` and `system` are of. shared: its provider
        answers others too, and is not closed with it."""
        self.session = session
        self.model = model
        self.banner = provider.banner
        self._road = road
        self._provider = provider
        self._shared = shared
        self._enter = enter
        self._loop = Loop(
            session=session,
            road=road,
            provider=provider,
            model=model,
            system=system,
            offers=offers,
            sets=sets,
            not_loaded=not_loaded,
            limits=limits or LimitSettings(),
            fitting=Fitting(getattr(provider, "context", None)),
            lane=road.lane(),
            mode=mode.name if mode else None,
        )
        self._lane = self._loop.lane
        self.mode = mode
        self.turn: int | None = None
        self.begun = 0
        self._turn: asyncio.Task[TurnEnded] | None = None
        self._calls: set[asyncio.Task[Record]] = set()
        self._undos: dict[asyncio.Task[None], Undoing] = {}
        self._closed = False

    # -- the port

    async def send(self, operation: port.AnyOperation) -> None:
        """Take an operation. Returns when it is taken, not when it is done.

        Raises:
            SessionBusy: a prompt or a mode came while a turn runs.
            ConfigError: there is no such mode; nothing was changed.
        """
        match operation:
            case port.Prompt():
                if self._turn is not None and not self._turn.done():
                    raise SessionBusy("a turn is running; interrupt it or wait for its end. Nothing was started.")
                self.begun += 1
                self._turn = asyncio.create_task(self._run(operation))
                self._turn.add_done_callback(self._told_of_turn)
            case port.Answer():
                self._road.desk.take(operation)
            case port.Steer(text=text):
                self._loop.steered.append(text)
            case port.Call():
                await self._begin(operation)
            case port.Interrupt(signal=signal):
                self._lane.signalled(signal)
                for task in filter(None, (self._turn, *self._calls)):
                    task.cancel()
                for undoing in self._undos.values():
                    undoing.stop()
            case port.Cancel(call=call):
                self._lane.stop(call, "person")
            case port.Undo():
                self._begin_undo(operation)
            case port.Mode(name=name):
                self.enter(name)
            case _:
                assert_never(operation)

    def enter(self, name: str | None) -> None:
        """From now on be in this mode, as the person's word; None: in none. What was remembered stays.

        Raises:
            SessionBusy: a turn is running.
            ConfigError: there is no such mode; nothing was changed.
        """
        if self._turn is not None and not self._turn.done():
            raise SessionBusy("a turn is running; interrupt it or wait for its end. The mode is as it was.")
        if self._enter is None:
            raise PegboardError("this agent has no modes. Nothing was changed.")
        entered = self._enter(name)
        self._road.policy, self._loop.system = entered.policy, entered.system
        self.mode = entered.mode
        self._loop.mode = entered.mode.name if entered.mode else None

    def renew(self) -> None:
        """Make the system prompt anew: what it is made of has changed. A reply that is under way had the old one."""
        if self._enter is not None:
            self._loop.system = self._enter(self.mode.name if self.mode else None).system

    @property
    def road(self) -> Road:
        """The road of its session."""
        return self._road

    @property
    def plain(self) -> bool:
        """Whether what the model says is plain text, and no Markdown."""
        return bool(getattr(self._provider, "plain", False))

    @property
    def context(self) -> int | None:
        """Tokens that the model reads at most; None where its provider does not say."""
        return self._loop.fitting.context

    @property
    def unasked(self) -> str:
        """What lets calls run that a person may want to be asked about: `--yes`, or the mode that is on; "": nothing."""
        if self._road.desk.answers == "--yes":
            return "--yes"
        return self.mode.name if self.mode is not None and self.mode.loosens else ""

    def jobs(self) -> list[Job]:
        """The session's programs in the background, oldest first. It reads files."""
        return self._road.runner.background()

    def awaits(self, id: str) -> bool:
        """Whether a question that was asked here waits for its answer."""
        return self._road.desk.awaits(id)

    @property
    def policy(self) -> Policy:
        """What decides here: that of the mode that is on."""
        return self._road.policy

    async def explain(self, name: str, arguments: Mapping[str, Any]) -> Explained:
        """What a call of the model's would get here and now. Nobody is asked, nothing is logged or run.

        Raises:
            Unexplained: it would not come to a decision; says why.
        """
        from pegboard.explaining import explained  # seldom needed

        return await explained(self._road, Call(id="", name=name, arguments=dict(arguments), caller="model"))

    async def events(self, since: int = 0) -> AsyncIterator[AnyEvent]:
        """Durable events after `since`, then all that follows."""
        async for event in self.session.watch(since):
            yield event

    async def wait(self) -> TurnEnded:
        """The end of the running turn."""
        assert self._turn is not None, "no turn was started"
        try:
            return await self._turn
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if self._turn.cancelled() and not (waiting and waiting.cancelling()):
                return TurnEnded(status="interrupted", text="", usage={})  # it was interrupted before it had begun
            raise

    # -- for programs

    async def run(self, prompt: str) -> TurnEnded:
        """Run one turn. Cancelling it ends the turn, whose log says so.

        Raises:
            SessionBusy: a turn is running here.
        """
        me = asyncio.current_task()
        before = me.cancelling() if me is not None else 0
        await self.send(port.Prompt(text=prompt, by="program"))
        ended = await self.wait()
        if me is not None and me.cancelling() > before:  # the turn took the cancellation for its own
            raise asyncio.CancelledError
        return ended

    async def stream(self, prompt: str) -> AsyncIterator[AnyEvent]:
        """Run one turn, and give its events as they happen, the ephemeral ones too; the last is its `TurnEnded`. Whoever
        leaves it before that (`aclosing` sees to it) ends the turn. Where the session's answers are a person's, they are
        given meanwhile, by `send(port.Answer(...))`.

        Raises:
            SessionBusy: a turn is running here.
        """
        async with aclosing(self.session.watch(self.session.last).__aiter__()) as happening:
            await self.send(port.Prompt(text=prompt, by="program"))
            try:
                async for event in happening:
                    yield event
                    if isinstance(event, TurnEnded) and event.turn in (None, self.turn):
                        return
            finally:
                if self._turn is not None and not self._turn.done():
                    self._turn.cancel()
                    await asyncio.gather(self._turn, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def running(self) -> bool:
        """Whether a call runs now, which `Cancel` would stop."""
        return bool(self._lane.running)

    async def call(self, name: str, arguments: Any, caller: Caller = "person") -> Record:
        """One call outside a turn, down the same road. Cancelling it stops the call and gives its record to the log."""
        return await self._road.travel(Call(id="", name=name, arguments=arguments, caller=caller), self._lane)

    def _begin_undo(self, operation: port.Undo) -> None:
        from pegboard.undoing import Undoing  # seldom needed

        runner = self._road.runner
        undoing = Undoing(self.session, runner.workspace, runner.locks)
        task = asyncio.create_task(self._undo(undoing, operation))
        self._undos[task] = undoing
        task.add_done_callback(self._undos.pop)

    async def _undo(self, undoing: Undoing, operation: port.Undo) -> None:
        """Undo; what keeps it from being done is told to whoever watches, and not in the log: nothing happened."""
        try:
            await undoing.undo(operation.call, id=operation.id)
        except (PegboardError, OSError) as problem:
            text, what = str(problem), operation.call or ""
            refused = events.Undone(id=operation.id, undoes=what, call=what, tool="", error=text)
            self.session.emit(refused)

    async def _begin(self, operation: port.Call) -> None:
        call = Call(id=operation.id, name=operation.name, arguments=operation.arguments, caller="person")
        task = asyncio.create_task(self._road.travel(call, self._lane))
        self._calls.add(task)
        task.add_done_callback(lambda done: self._told_of_call(done, operation.id))
        await asyncio.sleep(0)  # from here on it is under way: what becomes of it is on the road's record

    def _told_of_call(self, task: asyncio.Task[Record], id: str) -> None:
        """A call whose end could not be written down: viewers must not wait for it."""
        self._calls.discard(task)
        problem = None if task.cancelled() else task.exception()
        if problem is not None or id in self.session.fold.open_calls:
            ended = events.CallFinished(
                lane=self._lane.name,
                id=id,
                outcome="error",
                block=None,
                why=None,
                text=f"Error: {problem or 'what became of the call could not be written down'}",
                data=None,
                truncated=False,
                decision=None,
                duration_ms=0.0,
            )
            self.session.emit(ended)

    def _told_of_turn(self, task: asyncio.Task[TurnEnded]) -> None:
        """A turn that ended before it began, or whose end could not be written down: viewers must not wait for it. What it
        was told and did not read is said to no other."""
        self._loop.steered.clear()
        if task.cancelled():
            self.session.emit(TurnEnded(status="interrupted", text="", usage={}))
        elif (problem := task.exception()) is not None:
            self.session.emit(TurnEnded(status="error", text="", usage={}, error=str(problem)))

    async def close(self) -> None:
        """End the turn, the viewers and the provider's connections. Again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._lane.ending("turn_ended")
        left = [task for task in (self._turn, *self._calls, *self._undos) if task is not None and not task.done()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        if not self._shared:
            await self._provider.close()
        self._road.runner.close()
        self.session.close()

    async def _run(self, prompt: port.Prompt) -> TurnEnded:
        try:
            async with self.session.turn():
                turn = Turn(self._loop, prompt)
                self.turn = turn.number
                return await turn.run()
        except SessionBusy as error:
            ended = TurnEnded(status="error", text="", usage={}, error=str(error))
            self.session.emit(ended)  # not in the log, which is another's now; viewers must not wait for it
            return ended
