"""What stands around a question: the line above it, the list of all that wait, and how the rows there are get divided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pegboard.events import ApprovalAsked
from pegboard.terminal import visible
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.asking.approval import activity_segments, tool_of
from pegboard_tui.asking.cells import cut, shown
from pegboard_tui.asking.queue import Question, Queue
from pegboard_tui.drawing.look import Look
from pegboard_tui.items import Made

SMALL = 6
"""Rows below which there is no room for lists and rules, but for one line of each thing."""

ROOMY = 12
"""Rows from which the list has a line below it."""


class Shares(NamedTuple):
    """Rows for each part, from above. line, rule: whether there is one below the list, and one above the keys."""

    list: int
    line: bool
    body: int
    rule: bool


def shares(rows: int, *, keys: int, waiting: int, field: int, body: int) -> Shares:
    """Divide what is left beside the title, the keys and a field; the body gets a row at least.

    waiting: rows that the list would take; body: those that the question would take."""
    left = max(rows - 1 - keys - field, 1)
    rule = rows >= SMALL
    left -= rule
    listed = 0
    if waiting and rows >= SMALL:
        listed = min(waiting, max(left - body, left // 3, 1), max(left - 1, 0))
    line = bool(listed) and rows >= ROOMY and left - listed > 1
    return Shares(listed, line, max(min(left - listed - line, body), 1), rule)


def title_row(
    question: Question, queue: Queue, calls: Mapping[str, Made], look: Look, notice: str, *, always: bool = False
) -> Strip:
    """Who asks, which of how many this is, and what the person should know now. always: it is about that."""
    palette = look.palette
    made = calls.get(question.call)
    if always:
        text = "? always allow, without asking again"
    elif isinstance(question, ApprovalAsked):
        again = " again, as edited" if queue.as_edited(question) else ""
        text = f"? {visible(tool_of(question, made))} asks for permission{again}"
    else:
        text = f"? {visible(made.described.tool) if made else 'a tool'} asks you something"
    count = len(queue.waiting)
    place = f" - {queue.at + 1} of {count}" if count > 1 else ""
    room = look.width - len(place) - (len(notice) + 3 if notice else 0)
    if notice and room < 12:  # the person must know why a key does nothing
        return cut([Segment(notice, palette.warning), Segment(place, palette.dim)], look.width)
    head = cut([Segment(text, palette.accent)], max(room, 1))
    tail = [Segment(place, palette.dim), *([Segment(f" - {notice}", palette.warning)] if notice else [])]
    return cut([*head, *tail], look.width)


def tabs_row(queue: Queue, look: Look) -> Strip:
    """Tools' questions beside each other, around the one that is looked at."""
    palette, tabs = look.palette, list[list[Segment]]()
    share = max((look.width - 1) // max(len(queue.waiting), 1) - 3, 8)
    for number, question in enumerate(queue.waiting):
        here = number == queue.at
        text = (
            question.question.strip().split("\n", 1)[0][:1000]
            if not isinstance(question, ApprovalAsked)
            else question.call
        )
        style = (palette.focus if here else palette.dim) + _pressed(f"look_at({number})")
        label = [Segment(f"{number + 1} ", style), *shown(text, style, palette.hidden + style)]
        tabs.append([Segment(">" if here else " ", palette.accent), *cut(label, share), Segment(" ")])
    first = 0
    while first < queue.at and sum(s.cell_length for tab in tabs[first : queue.at + 1] for s in tab) > look.width:
        first += 1
    return cut([segment for tab in tabs[first:] for segment in tab], look.width)


def _pressed(action: str) -> Style:
    return Style.from_meta({"@click": f"press({action!r})"})


def rule_row(look: Look, above: int = 0, below: int = 0, key: str = "", whole: bool = True) -> Strip:
    """A line between the question and the keys, which says what of it is not in sight."""
    if not above and not below:
        return Strip([Segment("─" * look.width, look.palette.dim)])
    return cut(
        [Segment(f"── {more_text(above, below, whole)} ({key}) ".ljust(look.width, "─"), look.palette.warning)],
        look.width,
    )


def more_text(above: int, below: int, whole: bool) -> str:
    """How many rows there are above and below those in sight. whole: all below are counted."""
    parts = [f"{below}{'' if whole else '+'} more row{'' if below == 1 else 's'} below"] if below else []
    parts += [f"{above} above"] if above else []
    return ", ".join(parts)


def list_length(queue: Queue) -> int:
    """Rows that the list would take; where one waits alone there is none."""
    count = len(queue.waiting)
    return 0 if count < 2 else count if queue.approvals else 1


def list_rows(queue: Queue, calls: Mapping[str, Made], look: Look, most: int) -> list[Strip]:
    """The questions that wait, a row each, around the one that is looked at; a mark before those that can be chosen."""
    count = len(queue.waiting)
    if most <= 0:
        return []
    if not queue.approvals:
        return [tabs_row(queue, look)]
    first = max(0, min(queue.at - most // 2, count - most))
    rows = []
    for number in range(first, min(first + most, count)):
        question = queue.waiting[number]
        here = number == queue.at
        style = _pressed(f"look_at({number})")
        rows.append(
            cut(
                [Segment(s.text, (s.style or Style()) + style) for s in _listed(question, here, queue, calls, look)],
                look.width,
            )
        )
    return rows


def _listed(question: Question, here: bool, queue: Queue, calls: Mapping[str, Made], look: Look) -> list[Segment]:
    palette = look.palette
    cursor = Segment("> " if here else "  ", palette.accent)
    made = calls.get(question.call)
    if isinstance(question, ApprovalAsked):
        mark = "[x] " if queue.draft(question).chosen else "[ ] "
        what = activity_segments(made.described.activity, palette) if made else [Segment(visible(question.call))]
    else:
        mark = " ?  "
        what = list(shown(question.question.split("\n", 1)[0][:1000], palette.text, palette.hidden))
    return [cursor, Segment(mark, palette.strong if here else palette.text), *what]
