"""A call under way: what is known of it at each stage, and what is made of that at its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pegboard.activity import summary_of
from pegboard.arguments import Shaped
from pegboard.blocks import AnyBlock
from pegboard.calls import Ask, BlockName, Call, Decision, OutcomeName, Record, Touch, Why
from pegboard.events import CallAsked, CallFinished, CallStarted
from pegboard.hooks import Asked
from pegboard.kit.workspace import Workspace
from pegboard.lane import Lane
from pegboard.outcome import Product, interrupted_text
from pegboard.running import Grant
from pegboard.tooling import Tool
from pegboard.wire import clean, writable


class Trip(msgspec.Struct, gc=False):
    """What is known of a call so far; `record` is made from it wherever the call ends.

    `pending`: an event that goes to the log with the next one, when nothing can happen in between. `lasting`: whether a
    person's "always" would hold for calls like this one."""

    call: Call
    requested: str
    lane: Lane
    turn: int | None
    logged: bool
    began: float
    tool: Tool | None = None
    preset: Mapping[str, Any] | None = None
    shaped: Shaped | None = None
    touches: list[Touch] = []
    concern: Ask | None = None
    decision: Decision | None = None
    lasting: bool = False
    started: bool = False
    grant: Grant | None = None
    pending: CallAsked | None = None

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
        )

    def question(self, preview: list[AnyBlock]) -> Asked:
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

    def rename(self, name: str, shaped: Shaped) -> None:
        """From here on the call goes under its tool's name and with its canonical arguments."""
        call = self.call
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

    def record(
        self, outcome: OutcomeName, block: BlockName | None, why: Why | None, product: Product, session: str, ms: float
    ) -> Record:
        """What became of the call, as a value."""
        tool, call, shaped = self.tool, self.call, self.shaped
        return Record(
            id=call.id,
            tool=tool.name if tool else None,
            requested=clean(self.requested),
            set=tool.set if tool else None,
            arguments=self._shown(block),
            dropped=[clean(name) for name in shaped.dropped] if shaped and shaped.dropped else [],
            outcome=outcome,
            block=block,
            why=why,
            text=product.text,
            data=product.data,
            truncated=product.truncated,
            full_output=product.full_output,
            decision=self.decision,
            session=session,
            duration_ms=ms,
            blocks=product.blocks,
        )

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


_PATHS = frozenset({"read", "list", "edit"})


def placed(touches: Iterable[Touch], workspace: Workspace, *, batch: bool = False) -> list[Touch]:
    """The touches, those of paths with the place they resolve to. `batch`: without paths that the door would refuse.

    Raises:
        ToolError: a path is none, or goes through too many links.
    """
    found = []
    for touch in touches:
        if touch.kind not in _PATHS:
            found.append(touch)
        elif not (batch and workspace.refuses(touch.kind, touch.what)):
            found.append(_placed(touch, workspace))
    return found


def _placed(touch: Touch, workspace: Workspace) -> Touch:
    if touch.at is not None:  # the tool's own word: a link that is itself touched
        return touch
    place = workspace.place(touch.what)
    return Touch(touch.kind, touch.what, place.at, place.outside, touch.sends)
