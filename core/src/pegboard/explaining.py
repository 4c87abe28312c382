"""Explain: what a call would get, and why. The road, stopped after decide, so that the two can never differ; nobody is
asked, and nothing is logged or run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from pegboard.approving import offered
from pegboard.calls import STRICTNESS, Action, Call, Caller, Decision, Effect, Layer, Source
from pegboard.errors import PegboardError
from pegboard.policy import Considered, Policy
from pegboard.policy.asked import Asking, effect_in
from pegboard.road import Road
from pegboard.trip import Intervened, Trip

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.tooling import Tool


class Unexplained(PegboardError):
    """No decision was reached: there is no such tool, its arguments do not fit, or what it would touch cannot be said."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a command line, by its place in it (characters), and what that part alone gets."""

    text: str
    start: int
    end: int
    verdict: Action
    rule: str
    why: str | None


class CommandLine(msgspec.Struct, frozen=True, kw_only=True):
    """A command line as it was judged. error: why it was not understood."""

    verdict: Action
    error: str | None
    parts: list[Part]


class Explained(msgspec.Struct, frozen=True, kw_only=True):
    """What a call would get (`pegboard explain --json`)."""

    tool: str
    set: str | None
    arguments: Any
    action: Action
    rule: str
    layer: Layer
    source: Source | None
    headless: Literal["runs", "blocked"]
    guard: Intervened | None
    sandbox: bool
    effect: Effect
    remember: list[str]
    considered: list[Considered]
    command: CommandLine | None


async def explain(board: Board, name: str, arguments: Mapping[str, Any], *, caller: Caller = "person") -> Explained:
    """What this call would get, as the rules are now.

    Raises:
        Unexplained: it would not come to a decision; says why.
    """
    session = board.session(in_memory=True)
    road = board.road(session)
    try:
        return await explained(road, Call(id="", name=name, arguments=dict(arguments), caller=caller))
    finally:
        road.runner.close()


async def explained(road: Road, call: Call) -> Explained:
    """The same of a call down a road there is, with what was remembered on it."""
    trip = await road.rehearse(call)
    tool, decision, shaped = trip.tool, trip.decision, trip.shaped
    if tool is None or decision is None or shaped is None:
        assert trip.end is not None
        raise Unexplained(trip.end.product.text)
    policy = road.desk.remembered.over(road.policy, tool, shaped.body, trip.touches)
    asks = decision.action == "ask" and trip.concern is None
    offer = offered(road, trip) if asks and not road.runner.config.approval.strict else None
    return Explained(
        tool=tool.name,
        set=tool.set,
        arguments=trip.call.arguments,
        action=decision.action,
        rule=decision.rule,
        layer=decision.layer,
        source=decision.source,
        headless="runs" if decision.action == "allow" else "blocked",
        guard=trip.intervened,
        sandbox=decision.sandbox,
        effect=effect_in(tool, trip.touches),
        remember=list(offer.texts) if offer else [],
        considered=_considered(policy, road, trip, tool, decision),
        command=_command(policy, trip, tool),
    )


def _considered(policy: Policy, road: Road, trip: Trip, tool: Tool, decision: Decision) -> list[Considered]:
    """The rules that speak of the call; behind them a guard, where one has decided."""
    found = policy.considered(tool, trip.call, trip.touches, cautious=road.cautious)
    if any(one.decided and (one.rule, one.action) == (decision.rule, decision.action) for one in found):
        return [*found]
    rest = [msgspec.structs.replace(one, decided=False) for one in found]
    last = Considered(
        action=decision.action, rule=decision.rule, layer=decision.layer, source=decision.source, decided=True
    )
    return [*rest, last]


def _command(policy: Policy, trip: Trip, tool: Tool) -> CommandLine | None:
    """The command line among what is touched, part by part; None where there is none."""
    line = policy.line(trip.touches)
    if line is None:
        return None
    parts = sorted(_parts(policy, trip, tool), key=lambda part: (part.start, -part.end))
    verdict: Action = max((part.verdict for part in parts), key=STRICTNESS.__getitem__, default="ask")
    return CommandLine(verdict=verdict, error=line.error.why if line.error else None, parts=parts)


def _parts(policy: Policy, trip: Trip, tool: Tool) -> Iterator[Part]:
    first = next(touch for touch in trip.touches if touch.kind == "run")
    for asking in policy.askings(tool, trip.call, trip.touches, closely=True):
        place = asking.command or asking.trouble
        if asking.touch is not first or place is None:
            continue
        decision = policy.part(tool, asking)
        if decision is not None:
            rule, why = _named(asking, decision)
            start, end = place.start, place.end
            if asking.command is not None and asking.command.words and not asking.nested:  # without its redirections
                start, end = asking.command.words[0].start, asking.command.words[-1].end
            text = first.what[start:end]
            yield Part(text=text, start=start, end=end, verdict=decision.action, rule=rule, why=why)


def _named(asking: Asking, decision: Decision) -> tuple[str, str | None]:
    """By what a part passes or not, in a few words, and why not."""
    command = asking.command
    trouble = asking.trouble or (command.risk if command else None) or asking.barred
    if decision.action == "allow":
        word, _, pattern = decision.rule.partition(": ")
        if word == "tool_permission.bash_read_only" and command is not None and command.reads:
            return command.reads, None
        return pattern if word == "tool_permission.bash_allow" else decision.rule, None
    if trouble is not None and decision.action == "ask":
        return trouble.rule, trouble.why
    return decision.rule, f"{decision.rule} says {decision.action}"
