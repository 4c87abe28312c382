"""Results drawn by plugins' renderers: at once where that is quick, else when it is done; old ones bit by bit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from pegboard.blocks import AnyBlock
from pegboard.events import CallAsked, CallFinished

from pegboard_tui.items import AnyItem, Made

PATIENCE = 0.1
"""Seconds that a new result waits for its renderer, so that it is not shown in two shapes one after the other."""
OLD = 100
"""Results of an opened session that are drawn anew, the last ones; those before them are shown as their text."""

Draw = Callable[[CallAsked, CallFinished], Awaitable[list[AnyBlock]]]


class Drawing:
    """What renderers make of results, put into their items. shown: told of items that look otherwise."""

    def __init__(self, draw: Draw, shown: Callable[[Iterable[AnyItem]], None]) -> None:
        self._draw = draw
        self._shown = shown
        self._tasks: set[asyncio.Task[None]] = set()

    async def soon(self, made: Made) -> None:
        """Draw a new result; return when it is drawn, or when that takes longer than one should wait."""
        if made.finished is None or made.finished.data is None:
            return
        task = self._begin(self._one(made))
        await asyncio.wait([task], timeout=PATIENCE)
        if not task.done():
            task.add_done_callback(lambda done: None if done.cancelled() else self._shown([made]))

    def later(self, calls: Sequence[Made]) -> None:
        """Draw the last of these, the last first."""
        wanted = [made for made in calls if made.finished is not None and made.finished.data is not None]
        if wanted:
            self._begin(self._old(wanted[: -OLD - 1 : -1]))

    async def _old(self, calls: Sequence[Made]) -> None:
        for made in calls:
            await self._one(made)
            if made.drawn:
                self._shown([made])
            await asyncio.sleep(0)

    async def _one(self, made: Made) -> None:
        assert made.finished is not None
        made.drawn = await self._draw(made.asked, made.finished)
        if made.drawn:
            made.touch()

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def stop(self) -> None:
        """Draw no more."""
        for task in self._tasks:
            task.cancel()
