"""Whether the terminal shows what is typed. It does not while something is drawn that is to be taken away again: typed text
would move it, and a part of it would stay."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pegboard_cli.styles import is_in_front, is_terminal


@contextmanager
def echo(on: bool) -> Iterator[None]:
    """Show what is typed, or do not, while the block runs; then as before. Nothing where stdin is not our terminal."""
    before = echoes()
    _set(on, unless=before)
    try:
        yield
    finally:
        _set(before, unless=echoes())


def echoes() -> bool | None:
    """Whether typed text is shown; None where nobody types."""
    if sys.platform == "win32" or not is_terminal(sys.stdin):
        return None
    import termios

    with suppress(OSError, ValueError, termios.error):
        return bool(termios.tcgetattr(sys.stdin.fileno())[3] & termios.ECHO)
    return None


def _set(on: bool | None, *, unless: bool | None) -> None:
    """Change that one bit. In the background it is left alone: the terminal is another's, and asking would stop us."""
    if sys.platform == "win32" or None in (on, unless) or on == unless or not is_in_front(sys.stdin):
        return
    import termios

    with suppress(OSError, ValueError, termios.error):
        modes = termios.tcgetattr(sys.stdin.fileno())
        modes[3] = modes[3] | termios.ECHO if on else modes[3] & ~termios.ECHO
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSANOW, modes)
