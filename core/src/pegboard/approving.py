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
    """Ask where the decision says so. What is granted is these bytes, over files as they were shown; or what the person
    made of them, judged again: a refusal stands. `batch`: how many calls are asked about together.

    Raises:
        Stopped: the answer was no, or the person's own arguments did not fit or are refused.
    """
    if trip.grant is None:
        await show(road, trip)
    tool, problems = trip.tool, list[str]()
    assert tool is not None
    for again in range(EDITS):
        asked, grant = trip.decision, trip.grant
        if trip.question is None:
            return
        assert asked is not None and grant is not None
        offer = offered(road, trip) if trip.concern is None and road.desk.offers_always else None
        reply = await road.desk.approve(
            trip.question, turn=trip.turn, lane=trip.lane.name, offer=offer, batch=1 if again else batch
        )
        trip.question = None
        trip.decision = grant.decision = replace(asked, answer=reply.answer)
        if not reply.answer.granted:
            raise Stopped("denied", denied_text(f"{asked.rule} asks", reply.answer), trip.decision)
        if reply.arguments is None:
            return
        try:
            return await _edited(road, trip, reply.arguments)
        except InvalidArguments as error:
            problems, trip.decision = list(error.problems), asked
            await show(road, trip, problems)
    raise Stopped("invalid_arguments", invalid_text(tool.name, problems))


def _offer(road: Road, trip: Trip) -> Offer | None:
    """What "always" would keep; nothing where a guard asks, which no answer for later calls can quiet."""
    tool, shaped = trip.tool, trip.shaped
    if tool is None or shaped is None or trip.concern is not None or not road.desk.offers_always:
        return None
    policy = road.desk.remembered.over(road.policy, tool, shaped.body, trip.touches)
    return offer_of(policy, tool, trip.call, shaped.body, trip.touches, cautious=road.cautious)


async def _edited(road: Road, trip: Trip, arguments: Mapping[str, Any]) -> None:
    """Take the arguments that the person gave with a yes. The yes is for them; a guard's or a rule's refusal stands.

    Raises:
        InvalidArguments: they do not fit.
        Stopped: they are refused.
    """
    tool, answered, given = trip.tool, trip.decision, trip.call.arguments
    assert tool is not None
    shaped = tool.read(dict(arguments))
    if trip.shaped is not None and shaped.body == trip.shaped.body:
        return
    trip.given = given if trip.given is None else trip.given
    trip.take(tool.name, shaped)
    await road.judge(trip, tool)
    trip.decision = answered
    trip.grant = road.granted(trip, tool, trip.touches)
    if road.desk.shows_preview:  # not to be shown: for the files as they are now, over which it is granted
        await road.runner.preview(trip.grant, tells=True)


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
