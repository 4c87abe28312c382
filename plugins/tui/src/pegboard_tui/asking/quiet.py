"""When a key may be taken for an answer: not before a person can have seen what it answers."""

from __future__ import annotations

import time
from collections.abc import Callable

PAUSE = 0.4
"""Seconds."""


class Quiet:
    """A key counts when none was pressed for `pause` seconds since what it answers came on the screen. So a person who
    types on while a question appears, or whose key repeats, answers nothing: each key that does not count makes it wait
    anew."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, pause: float = PAUSE) -> None:
        self.clock = clock
        self.pause = pause
        self._since = clock()

    def begin(self) -> None:
        """Something new is to be answered from now on."""
        self._since = self.clock()

    def skip(self) -> None:
        """The person asked for it, so their keys count at once."""
        self._since = self.clock() - self.pause

    @property
    def over(self) -> bool:
        """Whether a key would count now."""
        return self.clock() - self._since >= self.pause

    def counts(self) -> bool:
        """Whether this key does; one that does not begins the wait anew."""
        if self.over:
            return True
        self.begin()
        return False
