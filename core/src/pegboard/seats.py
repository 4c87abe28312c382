"""Who hears of what happens in a board's sessions: observers of plugins, and the commands of `[[hooks]]`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pegboard.config.load import Loaded
from pegboard.events import Note
from pegboard.guards import Guards
from pegboard.observing import ObserverSeat
from pegboard.plugins import Loaded as Plugged
from pegboard.registry import Registry
from pegboard.session import Session

if TYPE_CHECKING:
    from pegboard.hooking import HookSeat


class Seats:
    """The seats of one board. A session's observers are seated once, however many roads it has."""

    def __init__(self, plugged: Plugged, loaded: Loaded, registry: Registry, root: str) -> None:
        self._plugged = plugged
        self._loaded = loaded
        self._registry = registry
        self._root = root
        self._observers: list[ObserverSeat] = []
        self._off: set[str] = set()
        self._hooked: list[HookSeat] = []

    def observe(self, session: Session) -> None:
        """Tell observers of what happens in this session from now on."""
        if any(isinstance(observer, ObserverSeat) for observer in session.observers):
            return
        seats = [
            ObserverSeat(observe, plugin.entry, lambda text: session.append(Note(level="warning", text=text)))
            for plugin, given in self._plugged.contributed("pegboard_observers")
            for observe in given
        ]
        for seat in seats:
            seat.off = seat.owner in self._off
        session.observers += seats
        self._observers += seats

    def beside(self, guards: Guards, session: Session) -> Guards:
        """The guards of one road, and after them the commands of `[[hooks]]`, where there are any."""
        if not self._loaded.config.hooks:
            return guards
        from pegboard.hooking import HookSeat, hooks_of

        seat = HookSeat(hooks_of(self._loaded), self._registry, session, self._root)
        session.observers.append(seat.heard)
        self._hooked.append(seat)
        return guards.beside(seat)

    def switch(self, name: str, *, on: bool) -> None:
        """Tell a plugin's observers of nothing from now on, or of what happens again."""
        (self._off.discard if on else self._off.add)(name)
        for seat in self._observers:
            seat.off = seat.owner in self._off

    async def settled(self) -> None:
        """Wait for hooks that run after calls."""
        await asyncio.gather(*(seat.settled() for seat in self._hooked))

    def close(self) -> None:
        """Let go of observers, each after a grace for what it has not been told yet."""
        for seat in self._observers:
            seat.close()
        self._observers.clear()
