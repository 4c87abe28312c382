"""A call under way: what is known of it at each stage, and what is made of that at its end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Literal

import msgspec

from pegboard.activity import summary_of
from pegboard.arguments import Shaped
from pegboard.blocks import AnyBlock
from pegboard.calls import Answer, Ask, BlockName, Call, Decision, OutcomeName, Record, Touch, Why
from pegboard.errors import Interrupted, ToolError
from pegboard.events import CallAsked, CallFinished, CallStarted
from pegboard.grant import Grant
from pegboard.hooks import Asked
from pegboard.kit.workspace import Workspace
from pegboard.lane import Lane
from pegboard.outcome import (
    Product,
    Stopped,
    changed_text,
    inspect_text,
    interrupted_text,
    unstarted_text,
    why_of,
)
from pegboard.policy import Policy
from pegboard.tooling import Tool
from pegboard.touches import PATHS
from pegboard.wire import clean, writable


class End(msgspec.Struct, frozen=True, gc=False):
    """How a call ended, as its record will have it."""

    outcome: OutcomeName
    product: Product
    block: BlockName | None = None
    why: Why | None = None


class Intervened(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a plugin did about a call: a guard refused it or wants a person asked, a rewriter changed its arguments."""

    plugin: str
    action: Literal["deny", "ask", "rewrite"]
    rule: str
    text: str


class Trip(msgspec.Struct, gc=False):
    """What is known of a call so far; its record is made from that and its `end`, wherever it ends.

    `pending`: an event that goes to the log with the next one, when nothing can happen in between. `announced`: it was
    asked for, in the log. `fitting`: its arguments are what they will be. `policy`: by which it was decided.
    `reads`: it was allowed only because what it runs reads. `intervened`: the last plugin that did something about it.
    `question`: what is asked, where the decision says so. `given`: the arguments as they were before the
    person changed them. `pause`: seconds to wait before it starts. `answer`: one that came with the call, for where it
    asks; it counts once."""

    call: Call
    requested: str
    lane: Lane
    turn: int | None = None
    logged: bool = True
    began: float = msgspec.field(default_factory=time.perf_counter)
    tool: Tool | None = None
    preset: Mapping[str, Any] | None = None
    shaped: Shaped | None = None
    touches: list[Touch] = []
    concern: Ask | None = None
    intervened: Intervened | None = None
    decision: Decision | None = None
    reads: bool = False
    started: bool = False
    grant: Grant | None = None
    pending: CallAsked | None = None
    announced: bool = False
    fitting: bool = False
    policy: Policy | None = None
    question: Asked | None = None
    given: Mapping[str, Any] | None = None
    pause: float = 0.0
    answer: Answer | None = None
    end: End | None = None

    def asked(self, call_id: str) -> CallAsked:
        """`call_asked` under this id, as the caller wrote it."""
        call, tool = self.call, self.tool
        if not call.id:
            self.call = Call(id=call_id, name=call.name, arguments=call.arguments, caller=call.caller)
        return CallAsked(
            turn=self.turn,
            lane=self.lane.name,
            id=call_id,
            tool=tool.name if tool else None,
            requested=call.name,
            set=tool.set if tool else None,
            arguments=call.arguments,
            summary=summary_of(tool, call.name, call.arguments),
            caller=call.caller,
        )

    def asking(self, preview: list[AnyBlock]) -> Asked:
        """What an approver is asked: a copy of its own, so that looking at it cannot change it."""
        assert self.decision is not None and self.tool is not None
        return Asked(
            id=self.call.id,
            call=msgspec.convert(msgspec.to_builtins(self.call), Call),
            tool=self.tool.name,
            touches=self.touches.copy(),
            decision=self.decision,
            preview=preview,
        )

    def starting(self) -> CallStarted:
        """`call_started`, as it goes to the log before anything runs."""
        assert self.decision is not None
        return CallStarted(
            turn=self.turn, lane=self.lane.name, id=self.call.id, touches=self.touches, decision=self.decision
        )

    def take(self, name: str, shaped: Shaped) -> None:
        """From here on the call has these arguments, and goes under its tool's name."""
        call, self.shaped = self.call, shaped
        self.call = Call(id=call.id, name=name, arguments=shaped.mapping(), caller=call.caller)

    def printed(self) -> str:
        """What the call has printed so far."""
        return self.grant.printed() if self.grant else ""

    def interrupted(self, why: Why, limit: float | None = None, said: str = "") -> str:
        """What is said of it once it was stopped. `said`: by the tool, which counts where its effects are not known here."""
        effects = self.grant.effects if self.grant else None
        if said and not (effects and effects.known(self.touches)):
            return said
        return interrupted_text(why, self.touches, self.printed(), limit, effects, self.lane.signal)

    def record(self, end: End, session: str) -> Record:
        """What became of the call, as a value."""
        tool, call, shaped, product = self.tool, self.call, self.shaped, end.product
        return Record(
            id=call.id,
            tool=tool.name if tool else None,
            requested=clean(self.requested),
            set=tool.set if tool else None,
            arguments=self._shown(end.block),
            dropped=[clean(name) for name in shaped.dropped] if shaped and shaped.dropped else [],
            outcome=end.outcome,
            block=end.block,
            why=end.why,
            text=product.text if end.outcome == "ok" and self.given is None else self._said(end),
            data=product.data,
            truncated=product.truncated,
            full_output=product.full_output,
            decision=self.decision,
            session=session,
            duration_ms=round((time.perf_counter() - self.began) * 1000, 3),
            blocks=product.blocks,
        )

    def _said(self, end: End) -> str:
        """The text of a call that did not go as it was asked for, and what the model has to know of that."""
        text, grant = end.product.text, self.grant
        if grant is not None and self.started and end.outcome != "ok" and self.call.caller == "model":
            text += inspect_text(grant.tool, self.touches, grant.effects, end.outcome)
        return text if self.given is None else text + changed_text(self.given, self.call.arguments)

    def _shown(self, block: BlockName | None) -> Any:
        """The arguments in a record: of a refused call only those it was judged by. Its payload stands in `call_asked`."""
        arguments, tool = self.call.arguments, self.tool
        if self.shaped is None or tool is None:
            return writable(arguments)
        if block in ("denied", "guard"):
            return {name: value for name, value in arguments.items() if name in tool.judged}
        return arguments

    def finished(self, record: Record) -> CallFinished:
        """The same as the log has it."""
        return CallFinished(
            turn=self.turn,
            lane=self.lane.name,
            id=record.id,
            outcome=record.outcome,
            block=record.block,
            why=record.why,
            text=record.text,
            data=record.data,
            truncated=record.truncated,
            full_output=record.full_output,
            decision=record.decision,
            duration_ms=record.duration_ms,
            dropped=record.dropped,
            blocks=record.blocks,
        )


class Ending:
    """Around the stages of a call: what stops it becomes its end. So does a cancellation, which goes on from here."""

    __slots__ = ("_trip",)

    def __init__(self, trip: Trip) -> None:
        self._trip = trip

    def __enter__(self) -> None:
        """From here on."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        end = end_of(self._trip, error)
        if end is None:
            return False
        self._trip.end = end
        return not isinstance(error, asyncio.CancelledError)


def end_of(trip: Trip, error: BaseException) -> End | None:
    """What an exception makes of a call; None where it is none of its own."""
    match error:
        case Stopped():
            trip.decision = error.decision or trip.decision
            return End("blocked", Product(text=str(error)), block=error.block)
        case ToolError():
            return End("error", Product(text=f"Error: {error}"))
        case Interrupted():
            why = why_of(error)
            return End("interrupted", Product(text=trip.interrupted(why, error.limit, said=error.text)), why=why)
        case asyncio.CancelledError():
            return cut_short(trip)
        case _:
            return None


def cut_short(trip: Trip) -> End:
    """What a turn that ends leaves of a call: interrupted if it was started, else nothing happened."""
    why = trip.lane.ends
    if trip.started:
        return End("interrupted", Product(text=trip.interrupted(why)), why=why)
    return End("blocked", Product(text=unstarted_text(why, trip.lane.signal)), block="denied")


def placed(touches: Iterable[Touch], workspace: Workspace, *, batch: bool = False) -> list[Touch]:
    """The touches, those of paths with the place they resolve to. `batch`: without paths that the door would refuse.

    Raises:
        ToolError: a path is none, or goes through too many links.
    """
    found = []
    for touch in touches:
        if touch.kind not in PATHS:
            found.append(touch)
        elif not (batch and workspace.refuses(touch.kind, touch.what)):
            found.append(_placed(touch, workspace))
    return found


def _placed(touch: Touch, workspace: Workspace) -> Touch:
    if touch.at is not None:  # the tool's own word: a link that is itself touched
        return touch
    place = workspace.place(touch.what)
    return Touch(touch.kind, touch.what, place.at, place.outside, touch.sends)
