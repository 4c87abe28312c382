"""Ctrl-C: with a call running it stops that call; again soon, or with none running, it ends the turn (decision 40)."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any

SOON = 2.0
"""Seconds within which a second press means the turn, whatever runs by then."""


class Interrupts:
    """What the presses of one command come to.

    running: the calls that run now. stop_calls: stops those. end_turn: ends the turn. give_up: ends the command itself,
    for a press after the turn was told to end. turn_only: `ui.ctrl_c = "turn"`. lent: whether another program has the
    terminal, whose keys these are."""

    def __init__(
        self,
        *,
        running: Callable[[], frozenset[str]],
        stop_calls: Callable[[], object],
        end_turn: Callable[[], object],
        give_up: Callable[[], object],
        turn_only: bool = False,
        lent: Callable[[], bool] = lambda: False,
    ) -> None:
        self._running = running
        self._stop_calls = stop_calls
        self._end_turn = end_turn
        self._give_up = give_up
        self._turn_only = turn_only
        self._lent = lent
        self._stopped: frozenset[str] = frozenset()
        self._last = float("-inf")
        self._ended = False
        self.signal: str | None = None
        """What told the program to end, where no person pressed a key."""

    def press(self) -> None:
        """Ctrl-C."""
        if self._lent():
            return
        now, running = time.monotonic(), self._running()
        again = now - self._last < SOON or running <= self._stopped
        self._last = now
        if running and not again and not self._turn_only:
            self._stopped |= running
            self._stop_calls()
        else:
            self.end()

    def told(self, signal: str) -> None:
        """A signal of this name tells the program to end."""
        self.signal = signal
        self.end()

    def end(self) -> None:
        """End the turn; if that was asked for already, end the command."""
        if self._ended:
            self._give_up()
        else:
            self._ended = True
            self._end_turn()

    def listening(self) -> AbstractContextManager[None]:
        """Take the signals while the block runs: Ctrl-C is a press; being told to end, or losing the terminal, ends."""
        return listening(self.press, self.told)


@contextmanager
def listening(press: Callable[[], None], told: Callable[[str], None]) -> Iterator[None]:
    """Hear signals on the running loop while the block runs. press: Ctrl-C. told: to end, or that the terminal is gone, by
    the signal of that name."""
    loop = asyncio.get_running_loop()
    taken: dict[signal.Signals, Callable[[], None]] = {signal.SIGINT: press, signal.SIGTERM: partial(told, "SIGTERM")}
    if hasattr(signal, "SIGHUP"):
        taken[signal.SIGHUP] = partial(told, "SIGHUP")
    before = {number: _take(loop, number, handler) for number, handler in taken.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            _give_back(loop, number, handler)


def _take(loop: asyncio.AbstractEventLoop, number: signal.Signals, handler: Callable[[], None]) -> Any:
    before = signal.getsignal(number)
    try:
        loop.add_signal_handler(number, handler)
    except NotImplementedError:  # Windows

        def later(_number: int, _frame: object) -> None:
            loop.call_soon_threadsafe(handler)

        signal.signal(number, later)
    return before


def _give_back(loop: asyncio.AbstractEventLoop, number: signal.Signals, before: Any) -> None:
    with suppress(NotImplementedError):  # Windows
        loop.remove_signal_handler(number)
    signal.signal(number, before if before is not None else signal.SIG_DFL)
