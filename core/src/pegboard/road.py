"""The road: the one way any tool call travels, whoever makes it. `travel` is the list of its stages.

prepare   ask       `call_asked`, whatever becomes of it
          resolve   a name to a tool, within the caller's rights
          shape     arguments: synonyms absorbed, undeclared and null dropped, validated; canonical bytes
          touch     what the call would touch, resolved against the workspace once
          guard     every guard, each with its own copy
          decide    rules over touches: allow, ask, deny
approve             approvers the user named, then the person, who may change the arguments; headless: no
perform   start     in the log before anything runs
          run       what was approved: the Grant holds those bytes, is spent once, and is all that run takes
record              what became of it, in the log
(`dispatch` takes the calls of one reply along it side by side.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from pegboard.approving import approve, hold
from pegboard.arguments import InvalidArguments
from pegboard.calls import Ask, Call, Decision, Deny, Record, Touch, Why
from pegboard.desk import Desk
from pegboard.errors import Interrupted, SessionError, ToolError
from pegboard.events import AnyEvent, Note
from pegboard.grant import Grant
from pegboard.guards import Guards
from pegboard.hooks import Rewriter
from pegboard.kit.workspace import Workspace
from pegboard.lane import Lane, running_on
from pegboard.launchers import HELD_BEFORE, STOPPED_BEFORE
from pegboard.outcome import (
    Product,
    Stopped,
    blocked_text,
    denied_text,
    invalid_text,
    product_of,
    recalled_text,
    stuck_text,
    unknown_text,
)
from pegboard.policy import Policy
from pegboard.registry import Registry
from pegboard.rewriting import rewrite
from pegboard.running import Runner
from pegboard.session import Session
from pegboard.tooling import Tool, callable_by, told_to
from pegboard.touches import effect_of, exceeds
from pegboard.trip import End, Ending, Intervened, Trip, placed


@dataclass(slots=True)
class Road:
    """The road of one session: what its stages need, passed in by the board."""

    registry: Registry
    policy: Policy
    guards: Guards
    workspace: Workspace
    session: Session
    desk: Desk
    runner: Runner
    cautious: bool = False
    rewriters: Sequence[tuple[str, Rewriter]] = ()

    async def travel(
        self, call: Call, lane: Lane, *, turn: int | None = None, until: Literal["decide"] | None = None
    ) -> Record:
        """Take one call from its name to its record. `until="decide"`: nobody is asked, nothing is logged or run."""
        if until == "decide":
            return self.record(await self.rehearse(call))
        return await self.travel_as(Trip(call, call.name, lane, turn))

    async def travel_as(self, trip: Trip) -> Record:
        """The same for who wants to know more of the call than its record."""
        try:
            with Ending(trip):
                await self.prepare(trip)
                await self.approve(trip)
                await self.perform(trip)
        except asyncio.CancelledError:
            self.record(trip)
            raise
        return self.record(trip)

    def lane(self, ends: Why = "person") -> Lane:
        """A queue of calls for a loop, with the configured bound."""
        return Lane(ends=ends, bound=self.runner.config.concurrency.tool_calls)

    async def rehearse(self, call: Call) -> Trip:
        """`travel(until="decide")`, for who wants to know why: all that is known of the call by then."""
        trip = Trip(call, call.name, Lane(), logged=False)
        with Ending(trip):
            await self.prepare(trip)
        return trip

    async def prepare(self, trip: Trip) -> None:
        """From a call's name to a decision. Nothing is done yet, so it may be prepared again once others were made."""
        if not trip.announced:
            self.ask(trip)
        tool = self.resolve(trip)
        if not trip.fitting:
            self.shape(trip, tool)
            if self.rewriters:
                await rewrite(self, trip, tool)
            trip.fitting = True
        await self.judge(trip, tool)

    async def judge(self, trip: Trip, tool: Tool) -> None:
        """What it would touch, and what guards and rules say of that."""
        if tool.looks:  # at files, which may take its time
            await asyncio.to_thread(self.touch, trip, tool)
        else:
            self.touch(trip, tool)
        await self.guard(trip)
        self.decide(trip, tool)

    async def perform(self, trip: Trip) -> None:
        """Start it when it may run beside what runs, and run it."""
        grant = await self.start(trip)
        try:
            trip.end = End("ok", await self.run(grant))
        finally:
            trip.lane.leave(trip.call.id)

    def ask(self, trip: Trip) -> None:
        """`call_asked`, for every call, before it is resolved; a call without an id is given its own under the lock."""
        call, trip.announced = trip.call, True
        named = self.registry.find(call.name)
        if named is not None:
            trip.tool, trip.preset = named.tool, named.preset
        if not trip.logged:
            trip.call = call if call.id else msgspec.structs.replace(call, id="c0")
        elif call.id:
            trip.pending = trip.asked(call.id)
        else:
            self.session.append(lambda: trip.asked(f"c{self.session.fold.calls + 1}"))

    def log(self, trip: Trip, *entries: AnyEvent) -> None:
        """Append events, and the one that waited for them first."""
        if trip.pending is not None:
            entries, trip.pending = (trip.pending, *entries), None
        if entries:
            self.session.append(*entries)

    def resolve(self, trip: Trip) -> Tool:
        """The tool a name means, if this caller may call it and it is not off."""
        tool = trip.tool
        if tool is None:
            offered = [t.name for t in self.registry.tools if told_to(t, trip.call) and not self.policy.hidden(t)]
            name, registry = trip.call.name, self.registry
            text = unknown_text(name, offered, registry.nearest(name), registry.claimants(name))
            raise Stopped("unavailable", text)
        if not callable_by(tool, trip.call):
            raise Stopped("unavailable", blocked_text(f"{tool.name} cannot be called by a {trip.call.caller}"))
        if tool.name in self.runner.stuck:
            raise Stopped("unavailable", stuck_text(tool.name))
        return tool

    def shape(self, trip: Trip, tool: Tool) -> None:
        """Arguments that fit, as canonical bytes; every wrong field is named."""
        try:
            shaped = tool.read(trip.call.arguments, trip.preset)
        except InvalidArguments as error:
            raise Stopped("invalid_arguments", invalid_text(tool.name, error.problems)) from None
        trip.take(tool.name, shaped)

    def touch(self, trip: Trip, tool: Tool) -> None:
        """What the call would touch, each path resolved once. A call above its tool's declared effect does not run."""
        assert trip.shaped is not None
        view = self.runner.view(self.granted(trip, tool, [])) if tool.looks else None  # with a grant that is never run
        try:
            touched = tool.touches(trip.shaped.value, view)
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # isolates tools: their own touches function may raise anything
            raise ToolError(f"{tool.name} could not say what it would touch ({error}); nothing was run.") from error
        trip.touches = placed(touched, self.workspace, batch=tool.declaration.batch) if touched else []
        if tool.declaration.touches is not None and exceeds(effect := effect_of(trip.touches), tool.effect):
            raise ToolError(f"{tool.name} is declared {tool.effect} and this call would be {effect}; nothing was run.")

    async def guard(self, trip: Trip) -> None:
        """Every guard, each with its own copy: Deny > Ask > None."""
        trip.concern = None
        if not self.guards.seats:
            return
        assert trip.shaped is not None
        owner, concern = self.guards.judge_inline(trip.call, trip.shaped, trip.touches)
        if self.guards.slow and not isinstance(concern, Deny):
            self.log(trip)
            owner, other = await self.guards.judge_slow(
                trip.call, trip.shaped, trip.touches, made_as=trip.requested, rehearsed=not trip.logged
            )
            concern = other or concern
        if concern is not None:
            action: Literal["deny", "ask"] = "deny" if isinstance(concern, Deny) else "ask"
            trip.intervened = Intervened(plugin=owner, action=action, rule=concern.rule, text=concern.text)
        match concern:
            case Deny(rule=rule, text=text):
                decision = Decision(action="deny", rule=rule, layer="plugin")
                said = blocked_text(f"the guard {owner!r} refused this call ({rule}): {text}")
                raise Stopped("guard", said, decision)
            case Ask():
                trip.concern = concern

    def decide(self, trip: Trip, tool: Tool) -> None:
        """Rules over touches, and what a person's "always" covers; a guard may only make the answer stricter."""
        assert trip.shaped is not None
        trip.policy = self.policy
        policy = self.desk.remembered.over(self.policy, tool, trip.shaped.body, trip.touches)
        verdict = policy.decide(tool, trip.call, trip.touches, cautious=self.cautious)
        trip.decision, trip.reads = verdict.decision, verdict.reads
        if verdict.decision.action == "deny":
            raise Stopped("denied", denied_text(verdict.text), verdict.decision)
        if trip.concern is not None and verdict.decision.action == "allow":
            trip.decision = Decision(action="ask", rule=trip.concern.rule, layer="plugin")
        elif (verdict.decision.sandbox or verdict.reads) and self.runner.stopped_before(tool, trip.touches):
            rule = HELD_BEFORE if verdict.reads else STOPPED_BEFORE
            trip.decision = Decision(action="ask", rule=rule, layer="plugin")

    def granted(self, trip: Trip, tool: Tool, touches: list[Touch]) -> Grant:
        """Leave to run exactly these bytes, once it was approved."""
        shaped, decision = trip.shaped, trip.decision
        assert shaped is not None
        grant = Grant(tool=tool, call=trip.call, body=shaped.body, touches=touches, dropped=shaped.dropped)
        grant.decision, grant.reads = decision, trip.reads
        return grant

    async def approve(self, trip: Trip, *, batch: int = 1) -> None:
        """Ask where the decision says so. `batch`: how many calls are asked about together."""
        assert trip.tool is not None and trip.decision is not None
        if trip.decision.action == "allow":
            trip.grant = self.granted(trip, trip.tool, trip.touches)
        else:
            await approve(self, trip, batch=batch)

    async def start(self, trip: Trip) -> Grant:
        """Wait for the lane, then `call_started` with touches and decision: in the log before anything runs."""
        lane, call, tool = trip.lane, trip.call.id, trip.tool
        assert tool is not None
        overlap = tool.declaration.overlap
        running = lane.enter_at_once(call, overlap) or await lane.enter(call, overlap)
        if running is None:
            raise Stopped("denied", recalled_text("person"))
        try:
            if trip.pause or trip.policy is not self.policy:
                await hold(self, trip, running)
            grant = trip.grant
            assert grant is not None
            grant.running, grant.turn, grant.lane, grant.again = running, trip.turn, lane, self.travel
            self.log(trip, trip.starting())
        except BaseException as error:
            lane.leave(call)
            if isinstance(error, SessionError):
                raise SessionError(f"{error} The call was not run.") from None
            raise
        trip.started = True
        return grant

    async def run(self, grant: Grant) -> Product:
        """Run the tool on what was approved, under its time limit; a stop that was asked for becomes `interrupted`."""
        try:
            returned = await self.runner.run(grant)
        except asyncio.CancelledError:
            if grant.running.why is None:
                raise
            raise Interrupted(grant.running.why) from None
        except TimeoutError:
            raise Interrupted("timeout", limit=grant.tool.declaration.timeout) from None
        finally:
            if grant.running.why is not None:  # also where the tool swallowed it: the turn goes on
                running_on()
        return product_of(returned, grant, self.runner.caps)

    def record(self, trip: Trip) -> Record:
        """`call_finished`, and the same as a value for whoever called."""
        end = trip.end or End("ok", Product(text=""))  # decided, and nothing else was wanted
        product, grant = end.product, trip.grant
        if grant is not None and grant.sink is not None and end.outcome != "ok":
            printed = grant.sink.close()
            product.truncated, product.full_output = printed.truncated, printed.full_output
        if grant is not None and grant.stopped:
            product.text = f"{product.text}\n{grant.stopped}".lstrip()
        record = trip.record(end, self.session.id)
        if not trip.logged:
            return record
        try:
            note = (Note(turn=trip.turn, level="info", text=product.note),) if product.note else ()
            self.log(trip, trip.finished(record), *note)
        except SessionError as error:
            if not trip.started:
                raise
            text = f"{record.text}\n(It ran, and its record is lost: {error})".lstrip()
            return msgspec.structs.replace(record, text=text)
        return record
