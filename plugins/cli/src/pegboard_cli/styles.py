"""Colour, where the terminal takes it and the person did not say NO_COLOR (https://no-color.org)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO


def is_terminal(stream: IO[str] | None) -> bool:
    """Whether a person looks at this stream. A closed one is nobody's."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def takes_sequences(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether what is written to a stream can be drawn over: a terminal that is not dumb."""
    return is_terminal(stream) and (sys.platform == "win32" or (environ.get("TERM") or "dumb") != "dumb")


def takes_colour(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether colour may be written to a stream."""
    return takes_sequences(stream, environ) and not environ.get("NO_COLOR")


USUAL = 80
"""The width of a terminal that does not say its own."""


def columns(stream: IO[str] | None, environ: Mapping[str, str] = os.environ) -> int | None:
    """The width that lines on a stream should keep to: COLUMNS where that is set, else the terminal's own.

    None for what is no terminal, where lines may be of any length."""
    if stream is None or not is_terminal(stream):
        return None
    said = environ.get("COLUMNS", "")
    return int(said) if said.isascii() and said.isdecimal() and int(said) else drawn_columns(stream)


def drawn_columns(stream: IO[str]) -> int:
    """The width of a terminal as it is drawn this moment, whatever COLUMNS says: where it wraps lines."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except (OSError, ValueError):
        return USUAL


def is_in_front(stream: IO[str]) -> bool:
    """Whether the terminal is ours to draw on now: not while this program runs in the background (`pegboard ... &`)."""
    if sys.platform == "win32":
        return True
    try:
        return os.tcgetpgrp(stream.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return True  # a terminal that is not the one we were started from


@dataclass(frozen=True, slots=True)
class Styles:
    """Paints text that is already safe to show; without colour it comes back as it is."""

    colour: bool = False

    def _paint(self, codes: str, text: str) -> str:
        return f"\x1b[{codes}m{text}\x1b[0m" if self.colour and text else text

    def dim(self, text: str) -> str:
        """Beside the point."""
        return self._paint("2", text)

    def bold(self, text: str) -> str:
        """What the eye should find."""
        return self._paint("1", text)

    def bad(self, text: str) -> str:
        """What went wrong, and lines that go."""
        return self._paint("31", text)

    def good(self, text: str) -> str:
        """Lines that come."""
        return self._paint("32", text)

    def warn(self, text: str) -> str:
        """What wants attention."""
        return self._paint("33", text)

    def place(self, text: str) -> str:
        """Where in a file."""
        return self._paint("36", text)
