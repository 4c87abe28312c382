"""What Ctrl-C and being told to end mean in a line session."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from pegboard import port

from pegboard_cli.front import Front
from pegboard_cli.interrupts import SOON, Interrupts
from pegboard_cli.progress import ticking


class Signals:
    """The signals of one line session. `leaving`: it is to end after what it does now. `told_to_end`: by a signal, or since
    its terminal is gone. give_up: ends it where what it does would not end."""

    def __init__(self, give_up: Callable[[], object]) -> None:
        self.leaving = False
        self.told_to_end = False
        self._give_up = give_up
        self._interrupts: Interrupts | None = None
        self._ending = float("-inf")

    @asynccontextmanager
    async def interruptible(self, front: Front[Any], stop: Callable[[], object] = lambda: None) -> AsyncIterator[None]:
        """While the block runs, Ctrl-C means the call or the turn in it, and what is waited for is shown. stop: ends what
        else it does."""

        def end() -> None:
            self._ending = time.monotonic()
            front.hand_in(port.Interrupt(signal=interrupts.signal))
            stop()

        self._interrupts = interrupts = front.interrupts(end, self._press_again)
        try:
            async with ticking(front.screen, lambda: front.viewer.waits_for()):
                yield
        finally:
            self._interrupts = None

    def press(self) -> None:
        """Ctrl-C."""
        if self._interrupts is not None:
            self._interrupts.press()

    def leave(self, signal: str) -> None:
        """Told to end, or the terminal is gone: the turn ends first."""
        self.leaving = self.told_to_end = True
        if self._interrupts is not None:
            self._interrupts.told(signal)

    def _press_again(self) -> None:
        """The turn was told to end, and has not yet. Hurried presses mean no more than that."""
        if time.monotonic() - self._ending > SOON:
            self._give_up()
