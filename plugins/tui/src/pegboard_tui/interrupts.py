"""Ctrl-C: with a call running it stops that call; again soon, or with none running, it ends the turn (decision 40); with
nothing running it leaves. And the signals by which a program is told to end."""

from __future__ import annotations

import asyncio
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Literal

SOON = 1.0
"""Seconds within which a second press means the turn, whatever runs by then; and within which a press after the end of
everything does not leave: it was meant for what had just ended."""
LATE = 3.0
"""Seconds after which a turn that was told to end, and has not, may be left behind."""

Meaning = Literal["stop", "end", "wait", "leave"]


class Presses:
    """What the presses in one session come to. turn_only: `ui.ctrl_c = "turn"`."""

    def __init__(self, *, turn_only: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._turn_only = turn_only
        self._clock = clock
        self._stopped: frozenset[str] = frozenset()
        self._last = self._told = self._over = float("-inf")

    def press(self, *, calls: frozenset[str], turn: bool, asking: bool) -> Meaning:
        """One press, while these calls run. turn: one of this process runs. asking: a question waits for the person.

        stop: the calls. end: the turn, and calls outside one. wait: it is a hurried press, and means nothing more. leave:
        the app."""
        now = self._clock()
        hurried, self._last = now - self._last < SOON, now
        again = hurried or calls <= self._stopped
        if calls and not (again or asking or self._turn_only):
            self._stopped |= calls
            return "stop"
        if calls or turn or asking:
            if now - self._told >= LATE:
                self._told = now
                return "end"
            return "wait" if hurried or now - self._told < SOON else "leave"
        self._stopped, self._told = frozenset(), float("-inf")
        return "wait" if hurried or now - self._over < SOON else "leave"

    def begin(self) -> None:
        """Until something has `ended`, presses do not leave: they were meant for the process before."""
        self._over = float("inf")

    def ended(self, *, turn: bool) -> None:
        """A call is over, or the turn: a press just now was meant for that. The next turn was told nothing yet."""
        self._over = self._clock()
        if turn:
            self._told = float("-inf")


@contextmanager
def hearing(press: Callable[[], object], told: Callable[[str], object]) -> Iterator[None]:
    """Hear signals on the running loop while the block runs. press: Ctrl-C, which at a terminal in raw mode comes as a key
    and not so. told: to end, by the signal of that name; SIGHUP also where the terminal went away without a word."""
    loop = asyncio.get_running_loop()
    taken: dict[signal.Signals, Callable[[], object]] = {signal.SIGINT: press, signal.SIGTERM: partial(told, "SIGTERM")}
    for name in ("SIGHUP", "SIGQUIT"):
        if hasattr(signal, name):
            taken[getattr(signal, name)] = partial(told, name)
    before = {number: _take(loop, number, handler) for number, handler in taken.items()}
    _watch_for_hangup(loop, partial(told, "SIGHUP"))
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(NotImplementedError):  # Windows
                loop.remove_signal_handler(number)
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _take(loop: asyncio.AbstractEventLoop, number: signal.Signals, handler: Callable[[], object]) -> Any:
    before = signal.getsignal(number)
    try:
        loop.add_signal_handler(number, handler)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(handler))
    return before


def _watch_for_hangup(loop: asyncio.AbstractEventLoop, gone: Callable[[], object]) -> None:
    """A terminal that is gone reads as an endless end of file: who is not told by SIGHUP would turn in circles for ever."""
    if not sys.platform.startswith("linux") or sys.stdin is None or not sys.stdin.isatty():
        return
    poller = select.poll()
    poller.register(sys.stdin.fileno(), 0)

    def wait() -> None:
        with suppress(OSError):
            if any(what & (select.POLLHUP | select.POLLERR) for _, what in poller.poll()):
                with suppress(RuntimeError):  # the loop is closed: the program ends anyway
                    loop.call_soon_threadsafe(gone)

    threading.Thread(target=wait, daemon=True, name="pegboard-hangup").start()
