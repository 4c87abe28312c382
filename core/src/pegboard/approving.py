"""Approve: a person, or who stands in for one, is asked about a call; with a yes they may change its arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pegboard.arguments import InvalidArguments
from pegboard.blocks import Problem
from pegboard.events import Note
from pegboard.lane import Running, running_on
from pegboard.outcome import Stopped, denied_text, invalid_text, recalled_text
from pegboard.policy.remembered import Offer, offer_of

if TYPE_CHECKING:
    from pegboard.calls import Decision
    from pegboard.road import Road
    from pegboard.trip import Trip

EDITS = 3
"""How often arguments that a person gave may be wrong before the call is given up."""


async def show(road: Road, trip: Trip, problems: Sequence[str] = ()) -> None:
    """The grant, over files as they are now; and where the decision asks, the question, with what the call would change.

    `problems`: what is wrong with arguments that the person gave."""
    tool, decision = trip.tool, trip.decision
    assert tool is not None and decision is not None
    trip.grant, trip.question = road.granted(trip, tool, trip.touches), None
    if decision.action == "ask":
        road.log(trip)
        tells = trip.concern is None and road.policy.reads_freely(tool, trip.call, trip.touches, road.cautious)
        preview = await road.runner.preview(trip.grant, tells=tells) if road.desk.shows_preview else []
        wrong = [Problem(text=f"These arguments do not fit: {problem}") for problem in problems]
        trip.question = trip.asking([*wrong, *preview])


async def approve(road: Road, trip: Trip, *, batch: int = 1) -> None:
    """Ask where the decision says so. What is granted is these bytes, over files as they were shown. What the person makes
    of them is judged first: a refusal stands, else they are asked about it, and shown what it would change. `batch`: how
    many calls are asked about together.

    Raises:
        Stopped: the answer was no, or the person's own arguments did not fit or are refused.
        ToolError: with the person's own arguments the call cannot work.
    """
    if trip.grant is None:
        await show(road, trip)
    tool, wrong, first = trip.tool, 0, True
    assert tool is not None
    while trip.question is not None:
        asked, grant = trip.decision, trip.grant
        assert asked is not None and grant is not None
        offers = trip.concern is None and trip.given is None and road.desk.offers_always
        given, trip.answer = trip.answer, None
        reply = await road.desk.approve(
            trip.question,
            turn=trip.turn,
            lane=trip.lane.name,
            offer=offered(road, trip) if offers else None,
            batch=batch if first else 1,
            given=given,
        )
        trip.question, first = None, False
        trip.decision = grant.decision = replace(asked, answer=reply.answer)
        if not reply.answer.granted:
            raise Stopped("denied", denied_text(f"{asked.rule} asks", reply.answer), trip.decision)
        if reply.arguments is None:
            return
        try:
            await _edited(road, trip, reply.arguments, asked)
        except InvalidArguments as error:
            wrong, trip.decision = wrong + 1, asked
            if wrong == EDITS:
                raise Stopped("invalid_arguments", invalid_text(tool.name, list(error.problems))) from None
            await show(road, trip, list(error.problems))


async def _edited(road: Road, trip: Trip, arguments: Mapping[str, Any], asked: Decision) -> None:
    """Take the arguments that the person gave with a yes, and ask about them with what they would change; a guard's or a
    rule's refusal stands. The same once more is the yes to them.

    Raises:
        InvalidArguments: they do not fit.
        Stopped: they are refused.
    """
    tool, given = trip.tool, trip.call.arguments
    assert tool is not None
    shaped = tool.read(dict(arguments))
    if trip.shaped is not None and shaped.body == trip.shaped.body:
        return
    trip.given = given if trip.given is None else trip.given
    trip.take(tool.name, shaped)
    await road.judge(trip, tool)
    if trip.decision is None or trip.decision.action != "ask":
        trip.decision = asked
    await show(road, trip)


def offered(road: Road, trip: Trip) -> Offer | None:
    """What a person's "always" would keep of a call that is asked about; None where it would not hold."""
    tool, shaped = trip.tool, trip.shaped
    assert tool is not None and shaped is not None
    policy = road.desk.remembered.over(road.policy, tool, shaped.body, trip.touches)
    return offer_of(policy, tool, trip.call, shaped.body, trip.touches, cautious=road.cautious)


async def reconsider(road: Road, trip: Trip) -> None:
    """Judge a call once more that was approved before something changed: other calls ran, or the rules are others now.

    An answer stands for the call that it was about. Where it is another call now, since what it names leads elsewhere, or
    where a guard or a rule asks that did not, the person is asked."""
    tool, answered, touches, concern = trip.tool, trip.decision, trip.touches, trip.concern
    assert tool is not None and answered is not None
    await road.judge(trip, tool)
    asks = trip.decision is not None and trip.decision.action == "ask"
    same = trip.touches == touches and trip.concern in (None, concern)
    if same and answered.answer is not None:
        trip.decision = answered
    elif asks or not same:
        await show(road, trip)
        await approve(road, trip)
    if trip.grant is not None:
        trip.grant.decision, trip.grant.reads = trip.decision, trip.reads


async def hold(road: Road, trip: Trip, running: Running) -> None:
    """What a call still waits for when it could start: its pause, and a judgement by rules that are new.

    Raises:
        Stopped: it was told to stop meanwhile, or is refused now.
    """
    try:
        if trip.pause:
            text = f"{trip.call.name} failed before: it is tried again in {trip.pause:g} s"
            road.log(trip, Note(turn=trip.turn, level="info", text=text))
            await asyncio.sleep(trip.pause)
        if trip.policy is not road.policy:
            await reconsider(road, trip)
    except asyncio.CancelledError:
        if running.why is None:
            raise
        running_on()
        raise Stopped("denied", recalled_text(running.why)) from None
