"""A loop whose clock goes on by itself, and jumps when it is told to: for limits and pauses, without waiting for them.

It is the time of whatever waits *on the loop*: a tool's `timeout`, `plugins.guard_timeout`, limits of a turn and of the
programs that tools run, the pause before a call is tried again, `asyncio.sleep` and `asyncio.timeout` of a tool. It is not
`time.time` and `time.monotonic`: stamps and durations in records, locks between processes, a thread that sleeps, and what
a program sees are on the machine's own clock.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import sys
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple

_SETTLES = 30
"""Rounds of the loop in which what a timer began has done all that it can without waiting."""

_Ts = TypeVarTuple("_Ts")

if sys.platform == "win32":
    _Base = asyncio.ProactorEventLoop
else:
    _Base = asyncio.SelectorEventLoop


class ClockLoop(_Base):
    """The loop of a test's board. ahead: seconds that it has jumped in all."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._numbers = itertools.count()
        super().__init__()

    def time(self) -> float:
        """Seconds, as the loop has them."""
        return super().time() + self.ahead

    def call_at(
        self, when: float, callback: Callable[[*_Ts], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """As every loop does it; when is kept for `advance`."""
        timer = super().call_at(when, callback, *args, context=context)
        while self._timers and (self._timers[0][2].cancelled() or self._timers[0][0] < self.time()):
            heapq.heappop(self._timers)
        heapq.heappush(self._timers, (when, next(self._numbers), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Let this time pass now: each timer that is due on the way runs at its time, and what it begins with it.

        Raises:
            RuntimeError: the loop is running, so that a coroutine of it cannot move it on.
            ValueError: time does not go back.
        """
        if seconds < 0:
            raise ValueError("time does not go back")
        if self.is_running():
            raise RuntimeError(
                "the clock is moved from outside the loop: between two calls of the board, not in a tool"
            )
        self._settle()
        target = self.time() + seconds
        while self._timers and self._timers[0][0] <= target:
            when, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled():
                self.ahead += max(0.0, when - self.time())
                self._settle()
        self.ahead += max(0.0, target - self.time())
        self._settle()

    def _settle(self) -> None:
        async def rounds() -> None:
            for _ in range(_SETTLES):
                await asyncio.sleep(0)

        self.run_until_complete(rounds())
