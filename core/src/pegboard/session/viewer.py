"""Who watches a session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from pegboard.events import AnyEvent

if TYPE_CHECKING:
    from pegboard.session.session import Session

_BEHIND = 10_000
"""Events that may wait for a viewer before it loses ephemeral ones."""


class Viewer:
    """One reader of a session, at its own pace. A slow one loses ephemeral events only, and holds up nobody."""

    def __init__(self, session: Session, since: int) -> None:
        self._session = session
        self._queue: deque[AnyEvent] = deque(session.live(since))
        self._last = max([since, *(event.seq or 0 for event in self._queue)])
        self._wake = asyncio.Event()
        self._ended = False

    def put(self, event: AnyEvent) -> None:
        """Hand an event over; called on the loop."""
        if event.seq is None and len(self._queue) > _BEHIND:
            return
        if event.seq is not None and event.seq <= self._last:
            return
        self._last = event.seq or self._last
        self._queue.append(event)
        self._wake.set()

    def end(self) -> None:
        """No more events will come."""
        self._ended = True
        self._wake.set()

    async def __aiter__(self) -> AsyncGenerator[AnyEvent, None]:
        """Events in order; durable ones exactly once."""
        try:
            while True:
                while self._queue:
                    yield self._queue.popleft()
                if self._ended:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            self._session.unwatch(self)
