"""Lanes: one loop's queue of calls, and the handles by which running ones are stopped.

Calls of one reply run in order, one at a time. A tool that waits in `ctx.call` lends its slot: the calls it makes run in a
child lane with a barrier of its own, never its parent's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from typing import Any

import msgspec

from pegboard.calls import Why


class Running(msgspec.Struct, gc=False):
    """A call that runs now. `why` is set when it was told to stop; `task` is what is cancelled. `left`: its thread was left
    behind, as its turn or its time was over."""

    task: asyncio.Task[Any] | None = None
    why: Why | None = None
    left: bool = False

    def check(self) -> bool:
        """Whether it may still change things."""
        return self.why is None and not self.left


class Lane:
    """A queue of calls by name: `root` is the agent's own. `ends`: why what is cancelled here ends, if nobody says more.
    `signal`: what told the program to end."""

    __slots__ = ("_busy", "_held", "_waiting", "children", "ends", "name", "running", "signal")

    def __init__(self, name: str = "root", ends: Why = "person") -> None:
        self.name = name
        self.ends = ends
        self.signal: str | None = None
        self.running: dict[str, Running] = {}
        self.children: dict[str, Lane] = {}
        self._busy = False
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held: Future[Any] | None = None

    async def enter(self, call: str) -> Running:
        """Wait for the slot and take it. Nothing else runs in this lane until `leave`."""
        await self._turn()
        held = self._held
        if held is not None:
            if not held.done():
                try:
                    await asyncio.wait([asyncio.wrap_future(held)])
                except BaseException:  # cancelled while it waited: the next in line waits in its stead
                    self._next()
                    raise
            self._held = None
        return self._taken(call)

    def enter_at_once(self, call: str) -> Running | None:
        """The same without waiting; None where it would have to wait."""
        if self._busy or self._held is not None:
            return None
        self._busy = True
        return self._taken(call)

    def leave(self, call: str) -> None:
        """Give the slot back."""
        self.running.pop(call, None)
        if self.children:
            self.children.pop(call, None)
        self._next()

    def hold_until(self, done: Future[Any]) -> None:
        """Stay shut until a thread that cannot be stopped has ended (or its grace is over: the future is set then)."""
        self._held = done

    def child(self, call: str) -> Lane:
        """The lane of the calls that a running call makes."""
        return self.children.setdefault(call, Lane(f"{self.name}/{call}", self.ends))

    def ending(self, why: Why) -> None:
        """Say why what is cancelled from now on ends, here and in child lanes."""
        self.ends = why
        for lane in self.children.values():
            lane.ending(why)

    def signalled(self, signal: str | None) -> None:
        """Say which signal told the program to end; None: it was a person."""
        self.signal = signal
        for lane in self.children.values():
            lane.signalled(signal)

    def _taken(self, call: str) -> Running:
        mine = self.running[call] = Running(asyncio.current_task())
        return mine

    async def _turn(self) -> None:
        """Wait in line. The slot stays busy while it is handed on, so that nobody slips in between."""
        if not self._busy:
            self._busy = True
            return
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            await mine
        except BaseException:
            if not mine.cancel() and not mine.cancelled():  # the slot was handed over in that moment
                self._next()
            raise

    def _next(self) -> None:
        """Hand the slot to the first in line who still waits."""
        while self._waiting:
            first = self._waiting.popleft()
            if not first.done():
                first.set_result(None)
                return
        self._busy = False

    def stop(self, call: str | None, why: Why) -> bool:
        """Stop one running call, here or in a child lane; None: those that wait for no other. Was there one?"""
        found = False
        for lane in list(self.children.values()):
            found = lane.stop(call, why) or found
        for name, running in list(self.running.items()):
            waits = bool(self.children.get(name) and self.children[name].running)
            if running.why is None and (name == call or (call is None and not waits)):
                running.why = why
                found = True
                if running.task is not None:
                    running.task.cancel()
        return found
