"""Lanes: one loop's queue of calls, what of it may run at the same time, and the handles by which running ones are stopped.

Calls take their places in the order in which they ask for them. An exclusive call waits for the parallel ones before it,
and nothing behind it begins before it is over. Parallel calls run beside each other. A background call waits in line like
any other; once it runs nobody waits for it. No more than `bound` calls of a lane run at once.

A tool that waits in `ctx.call` lends its place: the calls it makes run in a child lane with a barrier and a bound of its
own, never its parent's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import msgspec

from pegboard.calls import Overlap, Why

BOUND = 8
"""Calls of a lane that run at once, where no setting says otherwise (`concurrency.tool_calls`)."""


class Running(msgspec.Struct, gc=False):
    """A call that runs now. `why` is set when it was told to stop; `task` is what is cancelled. `left`: its thread was left
    behind, as its turn or its time was over."""

    task: asyncio.Task[Any] | None = None
    why: Why | None = None
    left: bool = False
    overlap: Overlap = "exclusive"

    def check(self) -> bool:
        """Whether it may still change things."""
        return self.why is None and not self.left


def running_on() -> None:
    """This task goes on: what was cancelled was the call that it runs."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


class _Ticket(msgspec.Struct, gc=False):
    """A place in line. `given` is done when the place was handed over (True), or the call stopped before that (False)."""

    call: str
    overlap: Overlap
    given: asyncio.Future[bool]


class Lane:
    """A queue of calls by name: `root` is the agent's own. `ends`: why what is cancelled here ends, if nobody says more.
    `signal`: what told the program to end. `bound`: calls that run at once."""

    __slots__ = (
        "_alone",
        "_beside",
        "_busy",
        "_held",
        "_waiting",
        "bound",
        "children",
        "ends",
        "name",
        "running",
        "signal",
    )

    def __init__(self, name: str = "root", ends: Why = "person", bound: int = BOUND) -> None:
        self.name = name
        self.ends = ends
        self.bound = bound
        self.signal: str | None = None
        self.running: dict[str, Running] = {}
        self.children: dict[str, Lane] = {}
        self._busy = self._alone = self._beside = 0  # places taken: of any call, an exclusive one, parallel ones
        self._waiting: deque[_Ticket] = deque()
        self._held: list[Future[Any]] = []

    async def enter(self, call: str, overlap: Overlap = "exclusive") -> Running | None:
        """Wait in line for a place, and take it until `leave`. None: the call was told to stop while it waited."""
        at_once = self.enter_at_once(call, overlap)
        if at_once is not None:
            return at_once
        ticket = _Ticket(call, overlap, asyncio.get_running_loop().create_future())
        self._waiting.append(ticket)
        try:
            given = await ticket.given
        except BaseException:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            elif not ticket.given.cancelled() and ticket.given.result():  # it was handed over in that moment
                self._take(overlap, -1)
            self._hand_on()
            raise
        return self._enter(call, overlap) if given else None

    def enter_at_once(self, call: str, overlap: Overlap = "exclusive") -> Running | None:
        """The same without waiting; None where it would have to wait."""
        if self._waiting or ((self._busy or self._held) and not self._free(overlap)):
            return None
        self._take(overlap, 1)
        return self._enter(call, overlap)

    def leave(self, call: str) -> None:
        """Give the place back."""
        running = self.running.pop(call, None)
        if self.children:
            self.children.pop(call, None)
        if running is not None:
            self._take(running.overlap, -1)
        if self._waiting:
            self._hand_on()

    def hold_until(self, done: Future[Any]) -> None:
        """Let nobody in until a thread that cannot be stopped has ended (or its grace is over: the future is set then)."""
        loop = asyncio.get_running_loop()
        self._held.append(done)

        def over(_: object) -> None:
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(self._hand_on)

        done.add_done_callback(over)

    def child(self, call: str) -> Lane:
        """The lane of the calls that a running call makes."""
        lane = self.children.get(call)
        if lane is None:
            lane = self.children[call] = Lane(f"{self.name}/{call}", self.ends, self.bound)
            lane.signal = self.signal
        return lane

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

    def stop(self, call: str | None, why: Why) -> bool:
        """Stop one call that runs or waits in line, here or in a child lane; None: those that run and wait for no other.
        Was there one?"""
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
        for ticket in [ticket for ticket in self._waiting if ticket.call == call]:
            self._waiting.remove(ticket)
            if not ticket.given.done():
                ticket.given.set_result(False)
                found = True
        self._hand_on()
        return found

    def stop_all(self, why: Why) -> None:
        """Stop whatever runs or waits here, and below."""
        for ticket in self._waiting:
            if not ticket.given.done():
                ticket.given.set_result(False)
        self._waiting.clear()
        for name in list(self.running):
            self.stop(name, why)
        for lane in list(self.children.values()):
            lane.stop_all(why)

    def _enter(self, call: str, overlap: Overlap) -> Running:
        mine = self.running[call] = Running(asyncio.current_task(), overlap=overlap)
        return mine

    def _take(self, overlap: Overlap, places: int) -> None:
        self._busy += places
        if overlap == "exclusive":
            self._alone += places
        elif overlap == "parallel":
            self._beside += places

    def _free(self, overlap: Overlap) -> bool:
        """Whether a call may begin now, were it the first in line."""
        if self._alone or self._busy >= self.bound or (overlap == "exclusive" and self._beside):
            return False
        if self._held:
            self._held = [thread for thread in self._held if not thread.done()]
        return not self._held

    def _hand_on(self) -> None:
        """Hand places to those who are first in line, for as long as there are some."""
        while self._waiting and self._free(self._waiting[0].overlap):
            ticket = self._waiting.popleft()
            if not ticket.given.done():
                self._take(ticket.overlap, 1)
                ticket.given.set_result(True)
