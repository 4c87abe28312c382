"""A session's events in batches, so that what is shown is repainted at a pace that eyes can follow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

from pegboard.events import EPHEMERAL, AnyEvent

FRAME = 0.05
"""Seconds between repaints while nothing but pieces of texts and tails of output come: at most twenty a second."""
BRISK = 1 / 60
"""Seconds between repaints when something happens."""


class Batches:
    """Events as they come, in lists. The first list has the log up to `until` whole.

    A batch is handed out when the one before it was dealt with, so a slow screen gets few and long ones."""

    def __init__(self, events: AsyncIterator[AnyEvent], until: int = 0) -> None:
        self._events = events
        self._until = until
        self._held: list[AnyEvent] = []
        self._came = asyncio.Event()
        self._happened = asyncio.Event()
        self._last = 0
        self._over = False

    async def __aiter__(self) -> AsyncIterator[list[AnyEvent]]:
        """Lists of at least one event, until the session is closed."""
        reading = asyncio.ensure_future(self._read())
        try:
            while True:
                await self._came.wait()
                self._came.clear()
                if self._until and not self._over and self._last < self._until:
                    continue  # a part of the log is still to come
                batch, self._held, self._until = self._held, [], 0
                self._happened.clear()
                if batch:
                    shown = time.monotonic()
                    yield batch
                    await self._rest(shown)
                if self._over:
                    await reading
                    if not self._held:
                        return
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            async for event in self._events:
                self._held.append(event)
                self._last = event.seq or self._last
                if not isinstance(event, EPHEMERAL):
                    self._happened.set()
                self._came.set()
        finally:
            self._over = True
            self._happened.set()
            self._came.set()

    async def _rest(self, since: float) -> None:
        """Wait for the next frame; less when something happens."""
        await asyncio.sleep(max(since + BRISK - time.monotonic(), 0))
        try:
            await asyncio.wait_for(self._happened.wait(), max(since + FRAME - time.monotonic(), 0))
        except TimeoutError:
            return
