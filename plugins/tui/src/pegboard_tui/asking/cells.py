"""Text as rows of cells in which nothing hides and nothing is lost: what a person decides by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pegboard.terminal import MARK, UNMARK, visible
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing.cells import wrapped

TAB = 4
"""Columns between the stops of tabs."""


def shown(text: str, style: Style, hidden: Style) -> list[Segment]:
    """A line in which every character that a terminal obeys, or does not draw, is spelled out, in the style `hidden`."""
    if "\t" in text:
        text = text.expandtabs(TAB)
    found: list[Segment] = []
    for number, part in enumerate(visible(text, colour=True).split(MARK)):
        spelled, mark, rest = part.partition(UNMARK) if number else ("", "", part)
        if mark:
            found.append(Segment(spelled, hidden))
        if rest:
            found.append(Segment(rest, style))
    return found


def folded(
    segments: Iterable[Segment], width: int, first: Sequence[Segment] = (), then: Sequence[Segment] = ()
) -> list[Strip]:
    """Rows of at most `width` cells that together hold all of the text, each space of it too.

    first: what stands before the first row; then: before those that follow it. They may take half of the width."""
    width = max(width, 1)
    rows: list[Strip] = []
    row, room = _begun(first, width)
    for segment in segments:
        at, text = 0, segment.text
        while at < len(text):
            piece = _piece(text, at, room)
            if not piece:
                rows.append(Strip(row))
                row, room = _begun(then, width)
                piece = _piece(text, at, room) or text[at]
            row.append(Segment(piece, segment.style))
            room -= cell_len(piece)
            at += len(piece)
    rows.append(Strip(row))
    return rows


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
