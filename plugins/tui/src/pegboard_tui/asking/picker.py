"""A tool's question as rows: what it asks, the options it offers, and more about the one under the cursor."""

from __future__ import annotations

from pegboard.events import QuestionAsked
from rich.segment import Segment

from pegboard_tui.asking.cells import Row, folded, shown
from pegboard_tui.asking.queue import Draft
from pegboard_tui.drawing.look import Look


def is_free(event: QuestionAsked) -> bool:
    """Whether an answer in the person's own words will do; it must, where there are no options."""
    return event.free or not event.options


def question_rows(event: QuestionAsked, draft: Draft, look: Look) -> tuple[list[Row], int]:
    """The question and its options; and the number of the row that the cursor is in."""
    palette, width = look.palette, look.width
    rows: list[Row] = [
        row for line in event.question.split("\n") for row in folded(shown(line, palette.strong, palette.hidden), width)
    ]
    at = 0
    details = event.details
    for number, option in enumerate(event.options):
        here = number == draft.option
        if here:
            at = len(rows)
        mark = Segment(f"{'>' if here else ' '} {number + 1} ", palette.accent if here else palette.dim)
        style = palette.focus if here else palette.text
        rows += folded(shown(option, style, palette.hidden), width, [mark], [Segment("    ")])
        if here and number < len(details) and details[number]:
            for line in details[number].split("\n"):
                rows += folded(shown(line, palette.note, palette.hidden), width, [Segment("    ")], [Segment("    ")])
    if is_free(event):
        here = bool(event.options) and draft.option >= len(event.options)
        if here:
            at = len(rows)
        own = f"your own words: {draft.free}" if draft.free else "or type an answer of your own"
        style = palette.focus if here else palette.dim
        mark = Segment("> * " if here else "  * ", palette.accent if here else palette.dim)
        rows += folded(shown(own, style, palette.hidden), width, [mark], [Segment("    ")])
    return rows, at
