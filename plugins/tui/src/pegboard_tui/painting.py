"""A line of the transcript as the cells of the screen: the gutter, the row, and what is marked in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from pegboard_tui.selecting import Spot, restyled, span_of
from pegboard_tui.window import Row

GUTTER = 2
"""Columns to the left of the rows."""
CURSOR, REST, EDGE = ">", "▎", " "
"""In the gutter: where the item under the cursor begins, beside its other lines, and elsewhere."""
PLAIN = Style()


@dataclass(frozen=True, kw_only=True)
class Marks:
    """What is marked: the item under the cursor, what the mouse selected, what a search looked for; and how.

    text: the style beneath everything."""

    text: Style
    cursor: int | None = None
    pointer: Style = PLAIN
    selection: Selection | None = None
    selected: Style = PLAIN
    search: re.Pattern[str] | None = None
    found: Style = PLAIN


def painted(row: Row, width: int, marks: Marks, *, first: bool = False) -> Strip:
    """A line of exactly this many columns. Its cells know where they are, for the mouse; those past the text do not.

    first: of its item's lines in view."""
    strip, spot = row.strip or Strip.blank(0), Spot(row.number, row.row or 0)
    if marks.search:
        spans = [match.span() for match in marks.search.finditer(strip.text)]
        strip = restyled(strip, spans, marks.found)
    if marks.selection and row.row is not None:
        span = span_of(marks.selection, spot, strip)
        strip = restyled(strip, [span], marks.selected) if span else strip
    at = Style.from_meta({"offset": (0, spot.y)})
    pointed = row.number == marks.cursor and row.row is not None
    sign = CURSOR if first else REST
    pointer = Segment(sign, marks.text + marks.pointer + at) if pointed else Segment(EDGE, marks.text + at)
    cells = [pointer, *[Segment(" ", marks.text + at)] * (GUTTER - 1)]
    x = 0
    for text, style, _ in strip:
        at = Style.from_meta({"offset": (x, spot.y)})
        cells.append(Segment(text, (marks.text + style if style else marks.text) + at))
        x += len(text)
    missing = width - GUTTER - strip.cell_length
    if missing < 0:
        return Strip(cells).crop(0, width)
    return Strip([*cells, Segment(" " * missing, marks.text)] if missing else cells, width)
