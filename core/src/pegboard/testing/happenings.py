"""Everything that happens in a test's session, the ephemeral events too: by kind, and waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from pegboard.events import AnyEvent, Event
from pegboard.session import Session
from pegboard.session.viewer import Viewer

Kind: TypeAlias = str | type[Event]
"""A kind of event: its class, or its name on the wire (`call_output`)."""


def name_of(event: AnyEvent) -> str:
    """Its kind, as on the wire."""
    return str(type(event).__struct_config__.tag)


def is_kind(event: AnyEvent, kind: Kind) -> bool:
    """Whether an event is of this kind."""
    return name_of(event) == kind if isinstance(kind, str) else isinstance(event, kind)


class Happenings(Viewer):
    """A viewer that forgets nothing. `on`: told of each event, on the loop."""

    def __init__(self, session: Session, on: Callable[[AnyEvent], None]) -> None:
        super().__init__(session, 0)
        self.all: list[AnyEvent] = list(session.read())
        self._on = on
        self._news = asyncio.Event()
        session._viewers.append(self)

    def put(self, event: AnyEvent) -> None:
        """One more."""
        self.all.append(event)
        self._news.set()
        self._on(event)

    def of(self, kind: Kind, where: Callable[[AnyEvent], object] | None = None) -> list[AnyEvent]:
        """Those of a kind, in their order; `where`: for which that is true."""
        return [event for event in self.all if is_kind(event, kind) and (where is None or where(event))]

    async def first(
        self, kind: Kind, where: Callable[[AnyEvent], object] | None = None, *, within: float = 10.0
    ) -> AnyEvent:
        """The first of a kind, once it is there. within: seconds.

        Raises:
            AssertionError: it did not come.
        """
        clock = asyncio.get_running_loop()
        until = clock.time() + within
        while not (found := self.of(kind, where)):
            self._news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await self._news.wait()
            except TimeoutError:
                wanted = kind if isinstance(kind, str) else kind.__name__
                came = ", ".join(name_of(event) for event in self.all[-20:]) or "nothing"
                such = " that is wanted" if where is not None and self.of(kind) else ""
                raise AssertionError(f"no {wanted}{such} came within {within:g} s. What came last: {came}") from None
        return found[0]
