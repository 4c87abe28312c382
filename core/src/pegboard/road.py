"""The road: the one way any tool call travels, whoever makes it. `travel` is the list of its stages.

resolve   a name to a tool, within the caller's rights
shape     arguments: synonyms absorbed, undeclared and null dropped, validated; canonical bytes
touch     what the call would touch, resolved against the workspace once
guard     every guard, each with its own copy
decide    rules over touches: allow, ask, deny
approve   approvers the user named, then the person; headless: no
start     in the log before anything runs
run       what was approved: the Grant holds those bytes, is spent once, and is all that run takes
record    what became of it, in the log in call order
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from pegboard.arguments import InvalidArguments, Shaped
from pegboard.calls import Ask, BlockName, Call, Decision, Deny, OutcomeName, Record, Why
from pegboard.desk import Desk
from pegboard.errors import Interrupted, SessionError, ToolError
from pegboard.events import AnyEvent, Note
from pegboard.guards import Guards
from pegboard.hooks import Rewriter
from pegboard.kit.workspace import Workspace
from pegboard.lane import Lane
from pegboard.outcome import (
    Product,
    Stopped,
    blocked_text,
    denied_text,
    invalid_text,
    product_of,
    stuck_text,
    unknown_text,
    unstarted_text,
    why_of,
)
from pegboard.policy import Policy
from pegboard.policy.remembered import scope_of
from pegboard.registry import Registry
from pegboard.running import Grant, Runner
from pegboard.session import Session
from pegboard.tooling import Tool, callable_by, told_to
from pegboard.touches import effect_of, exceeds
from pegboard.trip import Trip, placed


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
        trip = Trip(call, call.name, lane, turn, until is None, time.perf_counter())
        try:
            self.ask(trip)
            tool = self.resolve(trip)
            shaped = self.shape(trip, tool)
            if self.rewriters:
                shaped = await self.rewrite(trip, tool, shaped)
            if tool.looks:  # at files, which may take its time
                await asyncio.to_thread(self.touch, trip, tool, shaped)
            else:
                self.touch(trip, tool, shaped)
            await self.guard(trip, shaped)
            self.decide(trip, tool, shaped)
            if until == "decide":
                return self.record(trip, "ok", Product(text=""))
            grant = await self.approve(trip, tool, shaped)
            await self.start(trip, grant)
            try:
                product = await self.run(trip, grant)
            finally:
                lane.leave(trip.call.id)
        except Stopped as stop:
            trip.decision = stop.decision or trip.decision
            return self.record(trip, "blocked", Product(text=str(stop)), block=stop.block)
        except ToolError as error:
            return self.record(trip, "error", Product(text=f"Error: {error}"))
        except Interrupted as stop:
            why = why_of(stop)
            text = trip.interrupted(why, stop.limit, said=stop.text)
            return self.record(trip, "interrupted", Product(text=text), why=why)
        except asyncio.CancelledError:
            self.cut_short(trip)
            raise
        return self.record(trip, "ok", product)

    def ask(self, trip: Trip) -> None:
        """`call_asked`, for every call, before it is resolved; a call without an id is given its own under the lock."""
        call = trip.call
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

    def shape(self, trip: Trip, tool: Tool) -> Shaped:
        """Arguments that fit, as canonical bytes; every wrong field is named."""
        try:
            trip.shaped = tool.read(trip.call.arguments, trip.preset)
        except InvalidArguments as error:
            raise Stopped("invalid_arguments", invalid_text(tool.name, error.problems)) from None
        trip.rename(tool.name, trip.shaped)
        return trip.shaped

    async def rewrite(self, trip: Trip, tool: Tool, shaped: Shaped) -> Shaped:
        """What the rewriters that the user named make of the arguments: validated again, recorded, told of."""
        for owner, rewrite in self.rewriters:
            given = msgspec.structs.replace(trip.call, arguments=shaped.mapping())
            try:
                said = rewrite(given)
                arguments = await said if isinstance(said, Awaitable) else said
                if arguments is None:
                    continue
                trip.shaped = shaped = tool.read(dict(arguments))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: one that fails stops the call
                text = f"the rewriter {owner!r} failed ({type(error).__name__}: {error})"
                raise Stopped("invalid_arguments", blocked_text(text)) from None
            trip.rename(tool.name, shaped)
            if trip.logged:
                text = f"{owner} rewrote the arguments of {trip.call.id}"
                self.log(trip, Note(turn=trip.turn, level="info", text=text))
        return shaped

    def touch(self, trip: Trip, tool: Tool, shaped: Shaped) -> None:
        """What the call would touch, each path resolved once. A call above its tool's declared effect does not run."""
        view = None
        if tool.looks:  # with a grant that is never run
            view = self.runner.view(Grant(tool=tool, call=trip.call, body=shaped.body, touches=[]))
        try:
            touched = tool.touches(shaped.value, view)
        except ToolError:
            raise
        except (Exception, SystemExit) as error:  # isolates tools: their own touches function may raise anything
            raise ToolError(f"{tool.name} could not say what it would touch ({error}); nothing was run.") from error
        if not touched:
            return
        trip.touches = placed(touched, self.workspace, batch=tool.declaration.batch)
        if tool.declaration.touches is not None and exceeds(effect := effect_of(trip.touches), tool.effect):
            raise ToolError(f"{tool.name} is declared {tool.effect} and this call would be {effect}; nothing was run.")

    async def guard(self, trip: Trip, shaped: Shaped) -> None:
        """Every guard, each with its own copy: Deny > Ask > None."""
        if not self.guards.seats:
            return
        owner, concern = self.guards.judge_inline(trip.call, shaped, trip.touches)
        if self.guards.slow and not isinstance(concern, Deny):
            self.log(trip)
            owner, other = await self.guards.judge_slow(trip.call, shaped, trip.touches)
            concern = other or concern
        match concern:
            case Deny(rule=rule, text=text):
                decision = Decision(action="deny", rule=rule, layer="plugin")
                said = blocked_text(f"the guard {owner!r} refused this call ({rule}): {text}")
                raise Stopped("guard", said, decision)
            case Ask():
                trip.concern = concern

    def decide(self, trip: Trip, tool: Tool, shaped: Shaped) -> None:
        """Rules over touches, and what a person's "always" covers; a guard may only make the answer stricter."""
        verdict = self.policy.decide(tool, trip.call, trip.touches, cautious=self.cautious)
        trip.decision = verdict.decision
        if verdict.decision.action == "deny":
            raise Stopped("denied", denied_text(verdict.text), verdict.decision)
        if trip.concern is not None:
            if verdict.decision.action == "allow":
                trip.decision = Decision(action="ask", rule=trip.concern.rule, layer="plugin")
        elif verdict.lasting:
            kept = self.desk.remembered.find(tool, shaped.body, trip.touches)
            trip.lasting = kept is None
            if kept is not None:
                trip.decision = Decision(action="allow", rule=f"remembered: {kept.text}", layer="remembered")

    async def approve(self, trip: Trip, tool: Tool, shaped: Shaped) -> Grant:
        """Ask where the decision says so. What is granted is these bytes, over files as they were shown."""
        assert trip.decision is not None
        grant = Grant(tool=tool, call=trip.call, body=shaped.body, touches=trip.touches, dropped=shaped.dropped)
        if trip.decision.action == "ask":
            self.log(trip)
            tells = trip.concern is None and self.policy.reads_freely(tool, trip.call, trip.touches, self.cautious)
            preview = await self.runner.preview(grant, tells=tells) if self.desk.shows_preview else []
            scope = scope_of(tool, shaped.body, trip.touches) if trip.lasting else None
            answer = await self.desk.approve(trip.question(preview), turn=trip.turn, lane=trip.lane.name, scope=scope)
            trip.decision = msgspec.structs.replace(trip.decision, answer=answer)
            if not answer.granted:
                raise Stopped("denied", denied_text(f"{trip.decision.rule} asks", answer), trip.decision)
        return grant

    async def start(self, trip: Trip, grant: Grant) -> None:
        """Wait for the lane, then `call_started` with touches and decision: in the log before anything runs."""
        lane, call = trip.lane, trip.call.id
        grant.running = lane.enter_at_once(call) or await lane.enter(call)
        grant.turn, grant.lane, grant.again = trip.turn, lane, self.travel
        try:
            self.log(trip, trip.starting())
        except BaseException as error:
            lane.leave(call)
            if isinstance(error, SessionError):
                raise SessionError(f"{error} The call was not run.") from None
            raise
        trip.started, trip.grant = True, grant

    async def run(self, trip: Trip, grant: Grant) -> Product:
        """Run the tool on what was approved, under its time limit; a stop that was asked for becomes `interrupted`."""
        try:
            returned = await self.runner.run(grant)
        except asyncio.CancelledError:
            if grant.running.why is None:
                raise
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
            raise Interrupted(grant.running.why) from None
        except TimeoutError:
            raise Interrupted("timeout", limit=grant.tool.declaration.timeout) from None
        return product_of(returned, grant, self.runner.caps)

    def cut_short(self, trip: Trip) -> None:
        """Record what a turn that ends leaves of this call: interrupted if it was started, else nothing happened."""
        why = trip.lane.ends
        if trip.started:
            self.record(trip, "interrupted", Product(text=trip.interrupted(why)), why=why)
        else:
            self.record(trip, "blocked", Product(text=unstarted_text(why, trip.lane.signal)), block="denied")

    def record(
        self,
        trip: Trip,
        outcome: OutcomeName,
        product: Product,
        *,
        block: BlockName | None = None,
        why: Why | None = None,
    ) -> Record:
        """`call_finished`, and the same as a value for whoever called."""
        if trip.grant is not None and trip.grant.sink is not None and outcome != "ok":
            printed = trip.grant.sink.close()
            product.truncated, product.full_output = printed.truncated, printed.full_output
        duration = round((time.perf_counter() - trip.began) * 1000, 3)
        record = trip.record(outcome, block, why, product, self.session.id, duration)
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
