"""The loop: fold the log into a request, take the reply, make its calls, until a reply has none. It implements the port.

It names no tool, no provider and no front end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

import msgspec

from pegboard import events, port
from pegboard.calls import Call, Caller, Record
from pegboard.errors import PegboardError, SessionError
from pegboard.events import AnyEvent, Status, TurnEnded, WireCall
from pegboard.lane import Lane
from pegboard.models import (
    CallPart,
    EndPart,
    NotePart,
    Provider,
    Request,
    TextPart,
    ThinkingPart,
    ToolOffer,
)
from pegboard.road import Road
from pegboard.session import Session, SessionBusy

MAX_STEPS = 50


@dataclass(slots=True)
class Spent:
    """Tokens a turn took."""

    input: int = 0
    output: int = 0
    cached: int = 0
    cost: float | None = None

    def add(self, end: EndPart) -> None:
        """Add one reply's."""
        self.input += end.input
        self.output += end.output
        self.cached += end.cached
        if end.cost is not None:
            self.cost = (self.cost or 0.0) + end.cost

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `turn_ended`."""
        return {"input": self.input, "output": self.output, "cached": self.cached, "cost": self.cost}


@dataclass(slots=True)
class Reply:
    """One reply as far as it came."""

    text: str = ""
    thinking: str = ""
    calls: list[WireCall] = field(default_factory=list)
    end: EndPart | None = None


class Agent:
    """One session's agent. Front ends speak to it through the port: `send`, `events`; programs may also `call`."""

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
        max_steps: int = MAX_STEPS,
    ) -> None:
        self.session = session
        self.model = model
        self.banner = provider.banner
        self._road = road
        self._provider = provider
        self._system = system
        self._offers = offers
        self._sets = sets
        self._not_loaded = not_loaded
        self._max_steps = max_steps
        self._lane = Lane()
        self._turn: asyncio.Task[TurnEnded] | None = None
        self._steered: list[str] = []
        self._closed = False

    # -- the port

    async def send(self, operation: port.AnyOperation) -> None:
        """Take an operation. Returns when it is taken, not when it is done.

        Raises:
            SessionBusy: a prompt came while a turn runs.
        """
        match operation:
            case port.Prompt():
                if self._turn is not None and not self._turn.done():
                    raise SessionBusy("a turn is running; interrupt it or wait for its end. Nothing was started.")
                self._turn = asyncio.create_task(self._run(operation))
            case port.Answer():
                self._road.desk.take(operation)
            case port.Steer(text=text):
                self._steered.append(text)
            case port.Interrupt():
                if self._turn is not None and not self._turn.done():
                    self._turn.cancel()
            case port.Cancel(call=call):
                self._lane.stop(call, "person")
            case port.Undo():
                self._note("warning", "undo comes with a later version; nothing was changed")
            case _:
                assert_never(operation)

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

    @property
    def running(self) -> bool:
        """Whether a call runs now, which `Cancel` would stop."""
        return bool(self._lane.running)

    async def call(self, name: str, arguments: Any, caller: Caller = "person") -> Record:
        """One call outside a turn, down the same road. Cancelling it stops the call and gives its record to the log."""
        return await self._road.travel(Call(id="", name=name, arguments=arguments, caller=caller), self._lane)

    async def close(self) -> None:
        """End the turn, the viewers and the provider's connections. Again does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()
            await asyncio.gather(self._turn, return_exceptions=True)
        await self._provider.close()
        self._road.runner.close()
        self.session.close()

    # -- the loop

    async def _run(self, prompt: port.Prompt) -> TurnEnded:
        """One turn, whatever becomes of it: `turn_ended` is always its last event."""
        spent, said = Spent(), Reply()
        try:
            async with self.session.turn():
                return await self._turn_through(prompt, spent, said)
        except SessionBusy as error:
            ended = TurnEnded(status="error", text="", usage={}, error=str(error))
            self.session.emit(ended)  # not in the log, which is another's now; viewers must not wait for it
            return ended

    async def _turn_through(self, prompt: port.Prompt, spent: Spent, said: Reply) -> TurnEnded:
        turn = self.session.fold.turn + 1
        offers = self._offers()
        self.session.append(
            events.TurnStarted(
                turn=turn,
                session=self.session.id,
                model=self.model,
                sets=self._sets,
                not_loaded=self._not_loaded,
                offered=len(offers),
            ),
            events.Prompt(turn=turn, text=prompt.text, by=prompt.by),
        )
        error: str | None = None
        try:
            status = await self._steps(turn, offers, spent, said)
            if status == "stopped":
                error = f"steps: the turn was stopped after {self._max_steps} model replies; ask again to go on"
        except asyncio.CancelledError:
            self._keep_partial(turn, said)
            status = "interrupted"
        except SessionError:
            raise  # the log cannot be written, so neither can the end of the turn
        except PegboardError as problem:
            self._keep_partial(turn, said)
            status, error = "error", str(problem)
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - isolates plugins: a provider may raise anything
            self._keep_partial(turn, said)
            error = (
                f"the model {self.model} failed ({type(problem).__name__}: {problem}). What it had said is kept, and no "
                "unfinished call was run. Ask again, or choose another model."
            )
            status = "error"
        ended = TurnEnded(turn=turn, status=status, text=said.text, usage=spent.as_dict(), error=error)
        usage = events.Usage(turn=turn, input=spent.input, output=spent.output, cached=spent.cached, cost=spent.cost)
        self.session.append(usage, ended)
        return ended

    async def _steps(self, turn: int, offers: list[ToolOffer], spent: Spent, said: Reply) -> Status:
        for _ in range(self._max_steps):
            self._take_steering(turn)
            reply = await self._reply(turn, offers, said)
            end = reply.end = reply.end or EndPart()
            spent.add(end)
            calls = self._keep(turn, reply, end.provider_data)
            if not calls:
                if self._steered:
                    continue  # said while the model gave its last reply: it is answered in this turn
                return "asked_back" if end.asks_back else "done"
            for call in calls:
                await self._road.travel(
                    Call(id=call.id, name=call.name, arguments=call.arguments), self._lane, turn=turn
                )
        return "stopped"

    async def _reply(self, turn: int, offers: list[ToolOffer], said: Reply) -> Reply:
        """Stream one reply; what was said so far is in `said` at any time."""
        request = Request(
            model=self.model, system=self._system, messages=list(self.session.fold.history()), tools=offers
        )
        said.text, said.thinking, said.calls, said.end = "", "", [], None
        async for part in self._provider.reply(request):
            match part:
                case TextPart(text=text):
                    said.text += text
                    self.session.emit(events.Text(turn=turn, text=text))
                case ThinkingPart(text=text):
                    said.thinking += text
                    self.session.emit(events.Thinking(turn=turn, text=text))
                case CallPart(call=call):
                    said.calls.append(call)
                case NotePart(text=text):
                    self.session.append(events.Note(turn=turn, level="info", text=text))
                case EndPart():
                    said.end = part
                case _:
                    assert_never(part)
        return said

    def _keep(self, turn: int, reply: Reply, provider_data: Any) -> list[WireCall]:
        """The reply in the log, with call ids of this session's own, before any of its calls runs."""
        kept: list[WireCall] = []

        def message() -> events.Message:
            first = self.session.fold.calls + 1
            for number, call in enumerate(reply.calls, first):
                kept.append(msgspec.structs.replace(call, id=f"c{number}"))
            return events.Message(
                turn=turn, text=reply.text, thinking=reply.thinking, calls=kept, provider_data=provider_data
            )

        self.session.append(message)
        return kept

    def _keep_partial(self, turn: int, said: Reply) -> None:
        """What a broken or interrupted reply had said; an unfinished call is never run."""
        if said.end is None and (said.text or said.thinking):
            self.session.append(events.Message(turn=turn, text=said.text, thinking=said.thinking))

    def _take_steering(self, turn: int) -> None:
        for text in self._steered:
            self.session.append(events.Prompt(turn=turn, text=text))
        self._steered.clear()

    def _note(self, level: Literal["info", "warning"], text: str) -> None:
        self.session.append(events.Note(level=level, text=text))
