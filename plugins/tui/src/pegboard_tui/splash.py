"""What stands on the terminal while the app is imported and its board is built: a frame like the one to come.

What is typed meanwhile waits in the terminal, as keys and not as lines, and is the app's when it is there. It imports
nothing that takes time."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

try:
    import termios
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H", "\x1b[?1049l\x1b[?25h"


class Splash:
    """The frame on a terminal. `taken`: the app has the terminal now, and gives it back itself."""

    def __init__(self) -> None:
        self.taken = False
        self._before: Any = None

    def put(self) -> None:
        """Show it, and keep what is typed from being echoed, or read in lines."""
        if termios is None:
            return
        with suppress(termios.error):
            self._before = termios.tcgetattr(sys.stdin)
            now = termios.tcgetattr(sys.stdin)
            now[0] &= ~(termios.ICRNL | termios.INLCR | termios.IGNCR | termios.IXON | termios.IXOFF)
            now[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)  # Ctrl-C still ends it: a plugin may hang
            now[6][termios.VMIN], now[6][termios.VSUSP] = 1, b"\0"
            termios.tcsetattr(sys.stdin, termios.TCSANOW, now)
        columns, lines = shutil.get_terminal_size()
        _write(f"{_ENTER}\x1b[2m pegboard\x1b[{max(lines - 2, 1)};1H{'─' * columns}\r\n > starting ...\x1b[0m")

    def give(self) -> None:
        """Hand the terminal over: it is as it was, save for what is on it."""
        self.taken = True
        self._restore()

    def take_away(self) -> None:
        """Nothing is to follow: give the terminal back. Once: leaving again would put the cursor above what is said next."""
        if not self.taken:
            self.give()
            _write(_LEAVE)

    def _restore(self) -> None:
        if self._before is not None:
            with suppress(termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSANOW, self._before)
            self._before = None


@contextmanager
def splash() -> Iterator[Splash]:
    """The frame while the block runs, unless it hands the terminal over. Told to end, the block is left by SystemExit."""

    def end(_number: int, _frame: object) -> None:
        raise SystemExit(130)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {getattr(signal, name): signal.signal(getattr(signal, name), end) for name in names}
    shown = Splash()
    try:
        shown.put()
        yield shown
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        shown.take_away()


def _write(text: str) -> None:
    stream = sys.__stderr__
    if stream is not None:
        with suppress(OSError, UnicodeError, ValueError):
            stream.write(text)
            stream.flush()
