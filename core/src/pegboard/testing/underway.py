"""A call that a test has begun and not ended: to let time pass for it, to stop it, to see what it does meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pegboard import port
from pegboard.calls import Caller, Record
from pegboard.events import CallAsked
from pegboard.testing.called import Called, called

if TYPE_CHECKING:
    from pegboard.testing.bench import TestBoard

PATIENCE = 10.0
"""Seconds of the machine's clock in which a call has come to its tool, or to somebody who is asked."""


class Underway:
    """A call on its way down the road. id: under which its events stand."""

    def __init__(self, board: TestBoard, task: asyncio.Task[Record], id: str) -> None:
        self._board = board
        self._task = task
        self.id = id

    @classmethod
    def begun(cls, board: TestBoard, name: str, arguments: Mapping[str, Any], caller: Caller) -> Underway:
        """Begin one; returns when its tool runs and waits, or somebody is asked, or it is over.

        Raises:
            AssertionError: it came to none of that.
        """

        async def begin() -> Underway:
            since = len(board.happenings.all)
            task = asyncio.ensure_future(board.agent.call(name, arguments, caller))
            until = time.monotonic() + PATIENCE
            while True:
                news = board.happenings.all[since:]
                id = next((event.id for event in news if isinstance(event, CallAsked)), "")
                if task.done() or id in board.entered or any(board.agent.awaits(getattr(e, "id", "")) for e in news):
                    return cls(board, task, id)
                if time.monotonic() > until:
                    task.cancel()
                    raise AssertionError(f"{name} did not begin within {PATIENCE:g} s")
                await asyncio.sleep(0.001)

        return board.run(begin())

    @property
    def running(self) -> bool:
        """Whether it is not over."""
        return not self._task.done()

    def stop(self) -> Called:
        """Stop it, as a person does who has seen enough, and return what became of it."""

        async def stop() -> Record:
            await self._board.agent.send(port.Cancel(call=self.id))
            return await self._task

        return called(self._board, self._board.run(stop()))

    def end(self) -> Called:
        """Wait for its end, and return what became of it."""

        async def end() -> Record:
            return await self._task

        return called(self._board, self._board.run(end()))
