"""Where a command writes: the answer on stdout, everything else on stderr, and the tail of what runs below it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO

from pegboard.terminal import Speller

from pegboard_cli.echo import echoes
from pegboard_cli.styles import Styles, drawn_columns, is_in_front, is_terminal, takes_colour, takes_sequences
from pegboard_cli.widths import columns_of, fitted

TAIL_LINES = 5


class Screen:
    """The two streams. Lines given to `say` are safe already (see `render`); the answer is made safe here.

    live: stderr is a terminal that can be written over, so the tail of a running command is shown there. lent: another
    program has the terminal, an editor, and hears its keys. one_turn: the process ends with the turn."""

    def __init__(self) -> None:
        self.styles = Styles(takes_colour(sys.stderr))
        self.live = takes_sequences(sys.stderr)
        self.lent = False
        self.one_turn = False
        self.streams_answer = is_terminal(sys.stdout)
        self.one_terminal = self.streams_answer and same_device(sys.stdout, sys.stderr)
        self._speller = Speller()
        self._drawn: list[int] = []  # the columns of each line that is to be taken away again
        self._wait: str | None = None
        self._open_line = False

    def say(self, *lines: str) -> None:
        """Lines on stderr."""
        self.clear_tail()
        self._end_line()
        sys.stderr.write("".join(f"{line}\n" for line in lines))
        sys.stderr.flush()

    def ask(self, text: str) -> None:
        """A question on stderr, without a line end after it."""
        self.clear_tail()
        self._end_line()
        sys.stderr.write(text)
        sys.stderr.flush()

    def answer(self, piece: str) -> None:
        """A piece of the answer on stdout."""
        self._write_answer(self._speller.feed(piece))

    def _write_answer(self, shown: str) -> None:
        if not shown:
            return
        self.clear_tail()
        sys.stdout.write(shown)
        sys.stdout.flush()
        self._open_line = not shown.endswith("\n")

    def end_answer(self) -> None:
        """The answer (or this part of it) is whole: end its line."""
        self._write_answer(self._speller.end())
        if self._open_line:
            sys.stdout.write("\n")
        sys.stdout.flush()
        self._open_line = False

    def end_typed(self) -> None:
        """A key was pressed that the terminal shows as `^C`: what comes next begins on a line of its own."""
        if echoes() and is_terminal(sys.stderr) and not self._drawn and not self._open_line:
            self.say("")

    def _end_line(self) -> None:
        if self._open_line and self.streams_answer:
            self.end_answer()

    def show_tail(self, lines: Sequence[str]) -> None:
        """Draw the last lines of what runs, in place of those drawn before. Nothing where that cannot be taken back."""
        if not self.live or self._open_line:
            return
        self.clear_tail()
        width = max(drawn_columns(sys.stderr) - 4, 1)
        kept = [as_drawn(line.expandtabs(4), width, sys.stderr.encoding) for line in lines[-TAIL_LINES:]]
        sys.stderr.write("".join(f"  {self.styles.dim(line)}\n" for line in kept))
        sys.stderr.flush()
        self._drawn = [columns_of(line) + 2 for line in kept]

    def show_wait(self, line: str | None) -> None:
        """One line below everything else, in place of the one before; None takes it away.

        Nothing where it could not be taken back, in the middle of an answer's line, and below a tail: that says it all."""
        if line == self._wait:
            return
        if self._wait is not None:
            self.clear_tail()
        if line is None or self._drawn or self._open_line or not self.live or not is_in_front(sys.stderr):
            return
        shown = as_drawn(line, drawn_columns(sys.stderr) - 1, sys.stderr.encoding)
        sys.stderr.write(self.styles.dim(shown))
        sys.stderr.flush()
        self._drawn, self._wait = [columns_of(shown)], line

    def clear_tail(self) -> None:
        """Take away what was drawn: the tail, or the line that says what is waited for."""
        if not self._drawn:
            return
        width = drawn_columns(sys.stderr)  # as it is now: a terminal made narrower has wrapped what was drawn
        rows = sum(max(-(-taken // width), 1) for taken in self._drawn) - (self._wait is not None)
        sys.stderr.write((f"\x1b[{rows}A" if rows else "") + "\r\x1b[J")
        sys.stderr.flush()
        self._drawn, self._wait = [], None


def as_drawn(text: str, width: int, encoding: str) -> str:
    r"""A line as a terminal of this encoding will hold it, in at most `width` columns: `é` may have become `\xe9`."""
    if encoding.lower().replace("-", "") == "utf8":
        return fitted(text, width)
    held = text.replace("…", "...").encode(encoding, "backslashreplace").decode(encoding)
    return fitted(held, width).removesuffix("…")


def same_device(one: IO[str], other: IO[str]) -> bool:
    """Whether two streams are the same terminal."""
    try:
        devices = [os.fstat(stream.fileno()) for stream in (one, other)]
    except (OSError, ValueError):
        return False
    return is_terminal(one) and is_terminal(other) and devices[0].st_rdev == devices[1].st_rdev
