"""The calls of one reply: prepared in the order the model listed them, run side by side where their tools say that they may,
recorded in their order.

A call is prepared (resolved, validated, looked at by guards and rules) once every exclusive call before it is over: what it
looks at may be what they change. Only where a person has to be asked are the calls behind looked at as well, as far as they
do not depend on what was not made yet, so that what has to be asked is asked together; before such a call starts it is
judged again. Parallel and background calls run in tasks of their own, under the lane's rule and bound. A result waits for
those before it, so that the log has them in the calls' order; when the turn is cut off, all that ran is ended, and what
each call came to is recorded.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from pegboard.approving import reconsider, show
from pegboard.calls import Call
from pegboard.errors import SessionError
from pegboard.events import WireCall
from pegboard.independence import independent
from pegboard.lane import Lane
from pegboard.limits import Stop
from pegboard.repeats import STOPPED, TOLD, Identity, Repeats, identity_of, stopped_text
from pegboard.road import Road
from pegboard.trip import Ending, Trip, cut_short


class _Item(msgspec.Struct, gc=False, eq=False):
    """One call of the reply. `ahead`: it was prepared before others in front of it were made. `held`: it was looked at too
    early, and is prepared again in its time. `task`: that runs it beside others."""

    call: WireCall
    identity: Identity
    trip: Trip
    ahead: bool = False
    held: bool = False
    task: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether it has come to its end."""
        return self.trip.end is not None and not self.held and (self.task is None or self.task.done())


class Dispatch:
    """Makes the calls of one reply. `breathe` lets others run before each, and ends a turn whose time is over. `third`:
    calls that were made for the third time."""

    def __init__(
        self, road: Road, lane: Lane, turn: int, repeats: Repeats, breathe: Callable[[], Awaitable[None]]
    ) -> None:
        self.third: list[WireCall] = []
        self._road = road
        self._lane = lane
        self._turn = turn
        self._repeats = repeats
        self._breathe = breathe
        self._items: list[_Item] = []
        self._recorded = 0
        self._queue: deque[WireCall] = deque()
        self._ahead: deque[_Item] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def make(self, calls: Sequence[WireCall]) -> None:
        """Make them all. Nothing of it runs any more when this returns or raises, and each call that was asked for has its
        record.

        Raises:
            Stop: one of them was made too often.
            SessionError: the log cannot be written.
        """
        self._queue.extend(calls)
        try:
            while self._ahead or self._queue:
                await self._breathe()
                item = self._ahead.popleft() if self._ahead else await self._next()
                await self._ready(item)
                await self._perform(item)
            await self._until(lambda: not self._tasks)
        except asyncio.CancelledError:
            await self._give_up()
            raise
        except BaseException:
            self._lane.ending("turn_ended")
            await self._give_up()
            raise

    async def _next(self) -> _Item:
        """The next call of the reply.

        Raises:
            Stop: it was made too often.
        """
        call = self._queue[0]
        identity = identity_of(call, self._road.registry)
        if self._repeats.next(identity) >= STOPPED:
            await self._until(lambda: not self._tasks)  # one that runs may do something new, which makes it worth while
            if self._repeats.next(identity) >= STOPPED:
                raise Stop(stopped_text(call))
        return self._take(identity)

    def _take(self, identity: Identity) -> _Item:
        call = self._queue.popleft()
        made = Call(id=call.id, name=call.name, arguments=call.arguments)
        trip = Trip(made, call.name, self._lane, self._turn)
        trip.pause = self._repeats.begun(identity)
        item = _Item(call, identity, trip)
        self._items.append(item)
        return item

    # -- before it runs, in the model's order

    async def _ready(self, item: _Item) -> None:
        """From a call's name to leave to run it, or to its end."""
        trip = item.trip
        if item.ahead and not item.held:
            if trip.end is None:
                await self._through(item, reconsider(self._road, trip))
            return
        item.held, trip.end, trip.decision = False, None, None
        await self._through(item, self._road.prepare(trip))
        if trip.end is not None:
            return
        if _asks(trip) and self._road.desk.reviews and not self._ahead:
            await self._review(item)
        else:
            await self._through(item, self._road.approve(trip))

    async def _review(self, first: _Item) -> None:
        """Ask about this call together with those behind it that have to be asked about, too."""
        group = [first]
        self._road.log(first.trip)
        while self._queue:
            await self._breathe()
            identity = identity_of(self._queue[0], self._road.registry)
            if self._repeats.next(identity) >= STOPPED:
                break
            item = self._take(identity)
            item.ahead = True
            self._ahead.append(item)
            await self._through(item, self._road.prepare(item.trip))
            self._road.log(item.trip)
            if item.trip.end is not None or not independent(item.trip, [other.trip for other in group]):
                item.held = True
                break
            group.append(item)
        for item in group:
            await self._through(item, show(self._road, item.trip))
        asking = [item for item in group if item.trip.end is None and _asks(item.trip)]
        if len(asking) == 1:
            return await self._through(asking[0], self._road.approve(asking[0].trip))
        asks = [self._spawn(item, self._road.approve(item.trip, batch=len(asking))) for item in asking]
        await self._until(lambda: all(task.done() for task in asks))

    # -- runs it

    async def _perform(self, item: _Item) -> None:
        """Run a call: to its end, if it is to be alone or is the last, else beside those that follow."""
        trip = item.trip
        if self._tasks or self._ahead or self._queue:
            self._road.log(trip)  # before anything of a later one
        if trip.end is not None or trip.tool is None:
            self._record()
            return
        overlap = trip.tool.declaration.overlap
        if overlap == "exclusive":  # the lane would see to it as well; what is over is in the log before this starts
            await self._until(lambda: all(_beside(one) for one in self._items if one.task is not None))
        if overlap == "exclusive" or not (self._ahead or self._queue):
            await self._through(item, self._road.perform(trip))
        else:
            item.task = self._spawn(item, self._road.perform(trip))

    async def _through(self, item: _Item, stage: Coroutine[Any, Any, None]) -> None:
        """Take a call through a stage: in this task, unless others have to be looked after meanwhile."""
        if not self._tasks:
            with Ending(item.trip):
                await stage
        else:
            task = self._spawn(item, stage)
            await self._until(task.done)
        self._record()

    def _spawn(self, item: _Item, stage: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(_ended(item.trip, stage))
        self._tasks.add(task)
        return task

    async def _until(self, done: Callable[[], bool]) -> None:
        """Wait, and record meanwhile what comes to its end.

        Raises:
            SessionError: the log cannot be written.
        """
        while not done():
            ended, self._tasks = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                if not task.cancelled():
                    task.result()
            self._record()
        self._record()

    def _record(self) -> None:
        """Record what is over, as far as all before it is."""
        while self._recorded < len(self._items) and (item := self._items[self._recorded]).over:
            self._recorded += 1
            record = self._road.record(item.trip)
            if item.call.id in self._road.session.fold.open_calls:
                raise SessionError(
                    f"what became of {item.call.name} ({item.call.id}) could not be written into the session's log: "
                    f"{record.text}"
                )
            if self._repeats.made(item.identity, record.outcome) == TOLD:
                self.third.append(item.call)

    async def _give_up(self) -> None:
        """End what runs, and record what each call came to. However often this is cancelled: until nothing runs."""
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            try:
                ended, self._tasks = await asyncio.wait(self._tasks)
            except asyncio.CancelledError:
                for task in self._tasks:
                    task.cancel()
                self._tasks = {task for task in self._tasks if not task.done()}
            else:
                for task in ended:
                    _ = task.cancelled() or task.exception()  # what was wrong first is raised
        for item in self._items[self._recorded :]:
            if item.trip.end is None or item.held:
                item.trip.end = cut_short(item.trip)
            with suppress(SessionError):
                self._road.record(item.trip)


async def _ended(trip: Trip, stage: Coroutine[Any, Any, None]) -> None:
    with Ending(trip):
        await stage


def _asks(trip: Trip) -> bool:
    return trip.decision is not None and trip.decision.action == "ask"


def _beside(item: _Item) -> bool:
    """Whether an exclusive call may run now, as far as this one goes."""
    tool = item.trip.tool
    return item.over or (tool is not None and tool.declaration.overlap == "background")
