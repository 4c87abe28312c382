"""The keys that do something now, as rows: whole words where there is room, the keys alone where there is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.asking.cells import cut
from pegboard_tui.drawing.look import Look


class Hint(NamedTuple):
    """A key, what it does in a few words and in one, and the action that a click does."""

    key: str
    text: str
    word: str
    action: str = ""


def hint_rows(hints: Sequence[Hint], look: Look, most: int) -> list[Strip]:
    """The hints in at most `most` rows. The keys are the last thing to go, from the end."""
    rows: list[list[Segment]] = []
    for length in range(3):
        rows = _flowed(hints, look, length)
        if len(rows) <= most:
            break
    return [cut(row, look.width) for row in rows[: max(most, 1)]]


def _flowed(hints: Sequence[Hint], look: Look, length: int) -> list[list[Segment]]:
    """length: 0 texts, 1 words, 2 keys alone."""
    rows: list[list[Segment]] = []
    taken = 0
    for hint in hints:
        meta = Style.from_meta({"@click": f"press({hint.action!r})"}) if hint.action else Style()
        made = [Segment(hint.key, look.palette.accent + meta)]
        if length < 2:
            made.append(Segment(" " + (hint.text, hint.word)[length], look.palette.text + meta))
        width = sum(segment.cell_length for segment in made)
        gap = "  " if length < 2 else " "
        if rows and taken + len(gap) + width <= look.width:
            rows[-1] += [Segment(gap), *made]
            taken += len(gap) + width
        else:
            rows.append(made)
            taken = width
    return rows
