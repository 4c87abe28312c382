"""Plain text as it is: its own lines, broken where they are too long, cut where there is no end of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.terminal import as_left
from textual.strip import Strip

from pegboard_tui.drawing.cells import PLAIN, expanded, indented, room, strip, wrapped
from pegboard_tui.drawing.spelling import Line, marked, marked_output, settled

if TYPE_CHECKING:
    from rich.style import Style

    from pegboard_tui.drawing.look import Look, Palette

MOST = 2_000
"""Rows of one text that are drawn at all."""
LONGEST = 4_000
"""Characters of a single line that are drawn."""
_COLOURS = 6
"""How much longer than what is seen the output of a command may be, for its colours."""


def clipped(text: str, most: int = LONGEST) -> str:
    """What belongs on a line, of which no more is shown than can be read, saying so."""
    return text if len(text) <= most else f"{text[:most]}… {len(text) - most:,} more characters"


def text_rows(
    text: str,
    style: Style,
    look: Look,
    *,
    most: int = MOST,
    hint: str = "",
    output: bool = False,
    lead: Line | None = None,
    hanging: bool = False,
) -> list[Strip]:
    """Text in rows. Of more than `most` the first two thirds are drawn, and how much follows is told; hint: how to see it.

    No more of the text is looked at than can be seen. output: a command printed it. lead: stands before the rows where
    there is room; hanging: before the first one, and blanks before the others."""
    palette, width = look.palette, look.width
    size = sum(len(part) for part, _ in lead or ())
    inner = room(width, size) if lead else width
    lead = lead if inner else None
    inner = inner or width
    if output and "\r" in text:
        text = as_left(text)  # whole: of what is written over, any part may be seen
    head = text[: (most + 2) * (inner + 1) * (_COLOURS if output else 1)]
    found: list[Line] = []
    ends: list[int] = []  # rows there were when a line of the text had ended
    for row in (marked_output(head) if output else marked(head)).split("\n"):
        # more of a line than fits need not be broken
        part = row[: (most - len(found) + 2) * inner]
        found += wrapped(expanded(settled([(part, style)], palette)), inner)
        ends.append(len(found))
        if len(found) > most:
            break
    if len(found) > most or len(head) < len(text):
        told = _rest(text, found, ends, most, palette, hint)
        found = found[: most * 2 // 3]
        after: Line = [(" " * size, PLAIN)] if lead else []
        return [*map(strip, _led(found, lead, hanging)), *map(strip, indented(wrapped(told, inner), after, after))]
    return [strip(line) for line in _led(found, lead, hanging)]


def _led(lines: list[Line], lead: Line | None, hanging: bool) -> list[Line]:
    return lines if lead is None else indented(lines, lead, None if hanging else lead)


def _rest(text: str, found: list[Line], ends: list[int], most: int, palette: Palette, hint: str) -> Line:
    """`… 40 more lines`, or of the line that is cut, how many characters."""
    kept = found[: most * 2 // 3]
    whole = sum(1 for end in ends if end <= len(kept))
    lines = text.count("\n") + 1 - whole
    if lines > 1 or (whole and ends[whole - 1] == len(kept)):
        return [(f"… {lines:,} more line{'' if lines == 1 else 's'}{hint}", palette.dim)]
    begun = ends[whole - 1] if whole else 0
    characters = len(text) - text.rfind("\n") - 1 - sum(len(part) for line in kept[begun:] for part, _ in line)
    return [(f"… {characters:,} more characters{hint}", palette.dim)]
