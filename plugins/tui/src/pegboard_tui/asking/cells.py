"""Text as rows of cells in which nothing hides and nothing is lost: what a person decides by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from pegboard.terminal import MARK, UNMARK, visible
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing.cells import wrapped

Row: TypeAlias = "Strip | list[Segment]"
"""A row; only those that are looked at become strips, for there may be a hundred thousand."""
TAB = 4
"""Columns between the stops of tabs."""
_AT_ONCE = 4096
"""Characters that are made safe at a time."""


def shown(text: str, style: Style, hidden: Style) -> Iterator[Segment]:
    """A line in which every character that a terminal obeys, or does not draw, is spelled out, in the style `hidden`."""
    if "\t" in text:
        text = text.expandtabs(TAB)
    for at in range(0, len(text), _AT_ONCE):
        spelled = ""
        for number, part in enumerate(visible(text[at : at + _AT_ONCE], colour=True).split(MARK)):
            code, mark, rest = part.partition(UNMARK) if number else ("", "", part)
            spelled += code if mark else ""
            if rest:
                if spelled:
                    yield Segment(spelled, hidden)
                yield Segment(rest, style)
                spelled = ""
        if spelled:
            yield Segment(spelled, hidden)


def folded(
    segments: Iterable[Segment], width: int, first: Sequence[Segment] = (), then: Sequence[Segment] = ()
) -> Iterator[list[Segment]]:
    """Rows of at most `width` cells that together hold all of the text, each space of it too.

    first: what stands before the first row; then: before those that follow it. They may take half of the width."""
    width = max(width, 1)
    row, room = _begun(first, width)
    for segment in segments:
        at, text = 0, segment.text
        while at < len(text):
            piece = _piece(text, at, room)
            if not piece:
                yield row
                row, room = _begun(then, width)
                piece = _piece(text, at, room) or text[at]
            row.append(Segment(piece, segment.style))
            room -= cell_len(piece)
            at += len(piece)
    yield row


class Rows:
    """Rows that are made when somebody comes near them. len: of those that were made so far; whole: that is all of them."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.whole = False
        self._coming = iter(rows)
        self._made: list[Row] = []

    def __len__(self) -> int:
        return len(self._made)

    def reach(self, count: int) -> int:
        """Make this many, where there are as many; returns how many there are now."""
        while len(self._made) < count and not self.whole:
            more = list(islice(self._coming, min(count - len(self._made), _AT_ONCE)))
            self.whole = not more
            self._made += more
        return len(self._made)

    def between(self, start: int, end: int) -> list[Strip]:
        """Those from here to there, of those that were made."""
        return [row if isinstance(row, Strip) else Strip(row) for row in self._made[start:end]]


def prose(segments: Iterable[Segment], width: int, indent: int = 0, hang: int = 0) -> list[Strip]:
    """Rows of words, broken between them. Where each space matters, see `folded`. hang: further columns for the rows that
    follow the first."""
    line = [(segment.text, segment.style or Style()) for segment in segments]
    indent, hang = (indent, hang) if width >= 4 * (indent + hang) else (0, 0)
    rows = wrapped(line, max(width - indent - hang, 1))
    return [
        Strip([Segment(" " * (indent + (hang if number else 0))), *(Segment(text, style) for text, style in row)])
        for number, row in enumerate(rows)
    ]


def cut(segments: Iterable[Segment], width: int) -> Strip:
    """One row of at most `width` cells; one that has more ends with `…`."""
    whole = Strip(segments)
    if whole.cell_length <= width:
        return whole
    return Strip.join([whole.crop(0, max(width - 1, 0)), Strip([Segment("…")] if width > 0 else [])])


def _begun(prefix: Sequence[Segment], width: int) -> tuple[list[Segment], int]:
    taken = sum(segment.cell_length for segment in prefix)
    if taken * 2 > width:
        return [], width
    return list(prefix), width - taken


def _piece(text: str, at: int, room: int) -> str:
    """As much of the text from here as there is room for; empty, when not even a character."""
    if room <= 0:
        return ""
    piece = text[at : at + room]
    if cell_len(piece) <= room:
        return piece
    taken = 0
    for count, char in enumerate(piece):
        taken += cell_len(char)
        if taken > room:
            return piece[:count]
    return piece
