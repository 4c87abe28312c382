"""What "always" would keep, and how long: patterns that the person may make narrower before anything is kept."""

from __future__ import annotations

from collections.abc import Callable

from pegboard.events import ApprovalAsked
from rich.segment import Segment

from pegboard_tui.asking.cells import Row, folded, shown
from pegboard_tui.asking.queue import Draft
from pegboard_tui.drawing.look import Look

PatternProblem = Callable[[str, str], str | None]
"""(pattern, command) -> why that pattern may not be kept for that command; None: it may."""
_MARK = " …"


def patterns_of(event: ApprovalAsked, draft: Draft) -> list[str]:
    """The patterns that would be kept, without the mark at their ends; empty where it is no patterns that are kept."""
    if not event.commands:
        return []
    return draft.patterns or [one.removesuffix(_MARK) for one in event.remember]


def edited_patterns(event: ApprovalAsked, draft: Draft) -> tuple[str, ...] | None:
    """The patterns for an answer; None: those that were offered."""
    patterns = patterns_of(event, draft)
    offered = [one.removesuffix(_MARK) for one in event.remember]
    return tuple(patterns) if patterns and patterns != offered else None


def remember_rows(event: ApprovalAsked, draft: Draft, look: Look) -> tuple[list[Row], int]:
    """What would be kept, a pattern a row with the command it is for; and the number of the row that the cursor is in."""
    palette, width, hidden = look.palette, look.width, look.palette.hidden
    rows: list[Row] = []
    at = 0
    patterns = patterns_of(event, draft)
    if not patterns:
        for text in event.remember:
            rows += folded(shown(text, palette.text, hidden), width, [Segment("  ")], [Segment("    ")])
        return rows, 0
    for number, (pattern, command) in enumerate(zip(patterns, event.commands, strict=False)):
        at = len(rows) if number == draft.pattern else at
        here = number == draft.pattern and len(patterns) > 1
        mark = Segment("> " if here else "  ", palette.accent)
        style = palette.focus if here else palette.strong
        rows += folded(shown(pattern + _MARK, style, hidden), width, [mark], [Segment("    ")])
        rows += folded(shown(f"for: {command}", palette.dim, hidden), width, [Segment("    ")], [Segment("      ")])
    return rows, at
