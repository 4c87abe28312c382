"""A board's tools in a loop that is not ours: another framework's agent, or a program that decides itself what to call.

Each call takes the road and is recorded in one session. Calls may come at the same time, as frameworks make those of one
reply: what may not overlap does not, and a call is looked at once every exclusive one before it is over, since what it
looks at may be what that one changed. Before means: came before. (`dispatch` does this for replies of our own loop.)
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pegboard.calls import Answer, Call, Caller, Overlap, Record
from pegboard.hooks import Asked
from pegboard.lane import Lane
from pegboard.models import ToolOffer
from pegboard.road import Road
from pegboard.trip import Trip

_SIDE_BY_SIDE = 4096
"""Calls that may be looked at, and asked about, at once. How many run at once is the road's lane to say."""


class Calls:
    """Calls of one session, made by a loop that is not ours. Made by `Board.calls`, and closed with the board."""

    def __init__(self, road: Road, offers: Callable[[], list[ToolOffer]], caller: Caller) -> None:
        self.road = road
        self.session = road.session
        self._offers = offers
        self._caller = caller
        self._lane = road.lane(ends="turn_ended")
        self._line = Lane(bound=_SIDE_BY_SIDE)
        self._places = itertools.count(1)

    def offers(self) -> list[ToolOffer]:
        """The tools that may be called, as a model is told of them: name, description, JSON Schema."""
        return self._offers()

    def overlap(self, name: str) -> Overlap:
        """What a call of this name may overlap with; one of an unknown name nothing waits for."""
        named = self.road.registry.find(name)
        return named.tool.declaration.overlap if named is not None else "parallel"

    async def make(self, name: str, arguments: Any, *, granted: Answer | None = None) -> Record:
        """One call. Cancelling it stops it, and it is recorded as interrupted. `arguments`: a mapping, or JSON text.

        granted: an answer that was given before, for where the call asks; without one, who answers for the session is asked.

        Raises:
            SessionError: the session's log cannot be written.
        """
        async with self._place(name):
            trip = self._trip(name, arguments)
            trip.answer = granted
            return await self.road.travel_as(trip)

    async def would_ask(self, name: str, arguments: Any) -> Asked | None:
        """What would be asked about this call, as things are now (without a preview); None: nothing, it runs or is refused.
        Nobody is asked, nothing is recorded or run."""
        async with self._place(name):
            trip = await self.road.rehearse(Call(id="", name=name, arguments=arguments, caller=self._caller))
        decision = trip.decision
        return trip.asking([]) if trip.end is None and decision is not None and decision.action == "ask" else None

    def _trip(self, name: str, arguments: Any) -> Trip:
        return Trip(Call(id="", name=name, arguments=arguments, caller=self._caller), name, self._lane)

    @asynccontextmanager
    async def _place(self, name: str) -> AsyncIterator[None]:
        """A place in line, taken at once."""
        place = str(next(self._places))
        await self._line.enter(place, self.overlap(name))
        try:
            yield
        finally:
            self._line.leave(place)
