"""A call, from its request to its result: its line, what became of it, what it shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegboard.blocks import Activity, Diff, Text
from pegboard.terminal import visible
from pegboard.wording import refusal
from rich.segment import Segment
from textual.strip import Strip

from pegboard_tui.drawing import texts
from pegboard_tui.drawing.blocks import activity, lines, one_line
from pegboard_tui.drawing.cells import PLAIN, room, strips
from pegboard_tui.drawing.diffs import MOST as MOST_OF_DIFF
from pegboard_tui.drawing.diffs import counts, diff
from pegboard_tui.drawing.look import Look
from pegboard_tui.drawing.spelling import Line, marked_line, settled
from pegboard_tui.drawing.texts import clipped

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from pegboard.events import CallFinished

    from pegboard_tui.drawing.look import Palette
    from pegboard_tui.items import Made

RESULT, DIFF, OTHER = 12, 48, 24
"""Rows that a result's text, a diff and any other block take before they are folded to two thirds of that."""
HEAD = 3
"""Rows that a call's line takes before it is folded."""
HINT = " (Enter)"
_SOFT_NOTE = re.compile(r"\([^\n]{1,400}\)|No [a-z ]{1,60} found\.")
"""A result that says in one line that there was nothing: `(no matches for "x")`, `No search results found.`"""
_SLOW = 1_000.0
"""Milliseconds from which it is told how long a call took."""


def made_rows(item: Made, look: Look) -> list[Strip]:
    """A call. folded: None folds what is long, True shows its line alone, False all of it."""
    palette = look.palette
    shown = blocks_of(item)
    mark = _mark(item, palette)
    own = _own_diff(item, shown)
    if own is not None:
        mark = [*counts(own, palette), *([(" ", PLAIN)] if mark else []), *mark]
    mark = settled(mark, palette)
    if item.folded is True:
        count = _hidden(item, shown)
        told: Line = [(f"… {count:,} line{'' if count == 1 else 's'}", palette.dim)] if count else []
        between: Line = [(" ", PLAIN)] if told and mark else []
        return strips(activity(named(item), look, [*mark, *between, *told], most=HEAD)[:HEAD])
    whole = item.folded is False
    head = activity(named(item), look, mark, most=None if whole else HEAD)
    inner = room(look.width, 2)
    below = Look(width=inner or look.width, palette=palette, images=look.images)
    body: list[Strip] = []
    for said, bad in told_lines(item):
        body += strips(one_line(said, palette.problem if bad else palette.dim, below))
    for block in shown:
        if isinstance(block, Diff):
            most, hint = (MOST_OF_DIFF, "") if whole else (DIFF, HINT)
            body += diff(block, below, most=most, hint=hint, headed=block is own)
        else:
            body += lines(block, below, most=None if whole else OTHER, hint="" if whole else HINT)
    body = [_moved(strip) for strip in body] if inner else body
    return [*strips(head), *body, *_result(item, look, whole)]


def named(item: Made) -> Activity:
    """What a call's line says; `[tool: subject]` where its tool has no sign and no verb of its own."""
    made, tool = item.described.activity, item.described.tool
    if made.glyph or made.verb:
        return made
    subject = f"[{tool}: {made.subject}]" if made.subject and made.subject != tool else f"[{tool}]"
    return Activity(glyph="", verb="", subject=subject, details=made.details)


def blocks_of(item: Made) -> list[AnyBlock]:
    """What its tool and its renderer show, a diff once."""
    found: list[AnyBlock] = []
    for block in [*(item.finished.blocks if item.finished else ()), *item.drawn]:
        if not (isinstance(block, Diff) and block in found):
            found.append(block)
    return found


def _own_diff(item: Made, shown: list[AnyBlock]) -> Diff | None:
    """The one change that the call's line names already."""
    found = [block for block in shown if isinstance(block, Diff)]
    named = len(found) == 1 and found[0].path == item.described.activity.subject and not found[0].to
    return found[0] if named else None


def duration(seconds: float) -> str:
    """`1.2 s`, `3 min 4 s`, `2 h 5 min`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = int(seconds) // 60
    return f"{minutes} min {int(seconds) % 60} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _mark(item: Made, palette: Palette) -> Line:
    """What stands behind a call's line: how it is doing, or what became of it, in a word."""
    finished = item.finished
    if finished is None:
        match item.state:
            case "waiting":
                return [("· waiting for you", palette.warning)]
            case "running":
                said = f": {clipped(item.progress, 200)}" if item.progress else ""
                return [("· running", palette.accent), (marked_line(said), palette.dim)]
            case "lost":  # what a process left that is gone was ended at opening, unless others have it open, too
                return [("· not ended when this was opened; another process has the session open", palette.problem)]
            case _:
                return [("· asked", palette.dim)]
    word = {"ok": "", "error": "failed", "blocked": "blocked", "interrupted": "interrupted"}[finished.outcome]
    why = {"timeout": " (time limit)", "person": " by you", "turn_ended": " with the turn"}.get(finished.why or "", "")
    found: Line = [(f"· {word}{why if word == 'interrupted' else ''}", palette.problem)] if word else []
    if finished.duration_ms > _SLOW:
        took = duration(finished.duration_ms / 1000)
        found.append((f" after {took}" if found else f"· {took}", palette.dim))
    return found


def told_lines(item: Made) -> list[tuple[str, bool]]:
    """Lines below a call's own, and whether they tell of something bad: who allowed or refused it, what nobody read."""
    found: list[tuple[str, bool]] = []
    finished = item.finished
    said = refusal(finished) if finished is not None else ""
    if item.why and not (said and item.why.split(" by ")[0] == "declined"):
        found.append((item.why, False))
    if said:
        found.append((f"! {said}", True))
    if finished is not None:
        names = [visible(name) for name in finished.dropped if name in item.described.ignored]
        if names and not finished.text.rstrip().endswith(f"has no such parameter: {', '.join(names)})"):
            found.append((f"(ignored, there is no such parameter: {', '.join(names)})", False))
    return found


def _result(item: Made, look: Look, whole: bool) -> list[Strip]:
    finished = item.finished
    if finished is None or not has_result(item, finished):
        return []
    output = item.described.commands and finished.block is None
    text = finished.text.rstrip("\n")
    bar: Line = [("│ ", look.palette.dim)]
    most, hint = (texts.MOST, "") if whole else (RESULT, HINT)
    return texts.text_rows(text, look.palette.text, look, most=most, hint=hint, output=output, lead=bar)


def _hidden(item: Made, blocks: list[AnyBlock]) -> int:
    """How many lines there would be, about."""
    count = 0
    for block in blocks:
        count += block.text.rstrip("\n").count("\n") + 1 if isinstance(block, Diff | Text) else 1
    finished = item.finished
    if finished is not None and has_result(item, finished):
        count += finished.text.rstrip("\n").count("\n") + 1
    return count


def has_result(item: Made, finished: CallFinished) -> bool:
    """Whether the text is shown: of what went wrong always, save where a refusal was told in a line; else where it is worth
    it, where it says in a line that there was nothing, and where the person unfolds it."""
    text = finished.text.strip()
    if not text:
        return False
    if finished.outcome != "ok":
        return not refusal(finished)
    return not item.drawn and (item.described.echo or item.folded is False or bool(_SOFT_NOTE.fullmatch(text)))


def _moved(strip: Strip) -> Strip:
    return Strip([Segment("  ", PLAIN), *strip], strip.cell_length + 2) if strip.cell_length else strip
