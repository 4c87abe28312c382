"""One item of the transcript as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never
from weakref import WeakKeyDictionary

from pegboard.blocks import Activity, Note
from pegboard.wording import used
from textual.strip import Strip

from pegboard_tui.drawing import texts
from pegboard_tui.drawing.blocks import lines, one_line
from pegboard_tui.drawing.calls import DIFF, HINT, RESULT, blocks_of, duration, has_result, made_rows, told_lines
from pegboard_tui.drawing.cells import strips
from pegboard_tui.drawing.markdown import Growing
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock
    from rich.style import Style

    from pegboard_tui.drawing.look import Look
    from pegboard_tui.drawing.spelling import Line

PROMPT = 24
"""Rows of a prompt that are shown before it is folded to two thirds of that."""
_GROWING: WeakKeyDictionary[Said, Growing] = WeakKeyDictionary()
"""What is set already of answers that still grow; gone with them, or when they are whole."""


def rows(item: AnyItem, look: Look) -> list[Strip]:
    """An item, no line of it wider than there is room; none where there is nothing to be seen of it."""
    palette = look.palette
    match item:
        case Asked():
            return _asked(item, look)
        case Said():
            return _said(item, look)
        case Thought():
            return _thought(item, look)
        case Made():
            return made_rows(item, look)
        case Told(text=text, level=level):
            style = {"info": palette.note, "warning": palette.warning, "problem": palette.problem}[level]
            return _marked("·" if level == "info" else "!", text, style, look)
        case Shown(blocks=blocks, title=title):
            shown = _below(blocks, look, whole=item.folded is not True)
            return [*strips(one_line(title, palette.strong, look)), *shown] if title else shown
        case Ended():
            return _ended(item, look)
        case _:
            assert_never(item)


def estimate(item: AnyItem, width: int) -> int:
    """About how many rows an item takes, without drawing it."""
    width = max(width, 1)
    match item:
        case Asked(text=text):
            return min(_height(text, width), PROMPT) if item.folded is not False else _height(text, width)
        case Said(text=text) | Told(text=text):
            return _height(text, width)
        case Thought(text=text):
            return _height(text, width) if item.folded is False else 1
        case Made(finished=finished):
            if item.folded is True or finished is None:
                return 1
            result = _height(finished.text, width) if has_result(item, finished) else 0
            shown = sum(_block_height(block, width, item.folded is False) for block in blocks_of(item))
            return (
                1
                + len(told_lines(item))
                + shown
                + (result if item.folded is False else min(result, RESULT * 2 // 3 + 1))
            )
        case Shown(blocks=blocks, title=title):
            return bool(title) + sum(_block_height(block, width, True) for block in blocks)
        case Ended(ended=ended, usage=usage):
            return (1 if usage else 0) + (1 if ended.status not in ("done", "asked_back") else 0)
        case _:
            assert_never(item)


# --- kinds of items -------------------------------------------------------------------------------------------------------


def _asked(item: Asked, look: Look) -> list[Strip]:
    palette = look.palette
    bar: Line = [("▌ ", palette.prompt)]
    most, hint = (texts.MOST, "") if item.folded is False else (PROMPT, HINT)
    if item.folded is True:
        most = 3
    made = texts.text_rows(item.text.strip("\n"), palette.text + palette.strong, look, most=most, hint=hint, lead=bar)
    by = "" if item.by == "person" else f"by {item.by}"
    return [*made, *texts.text_rows(by, palette.dim, look, lead=bar)] if by else made


def _said(item: Said, look: Look) -> list[Strip]:
    if item.plain:
        return texts.text_rows(item.text.strip("\n"), look.palette.text, look)
    growing = _GROWING.get(item) or Growing()
    if item.done:
        _GROWING.pop(item, None)
    else:
        _GROWING[item] = growing
    return growing.draw(item.text, look, done=item.done)


def _thought(item: Thought, look: Look) -> list[Strip]:
    text = item.text.strip("\n")
    if not text.strip():
        return []
    count = text.count("\n") + 1
    word = "thought" if item.done else "thinking …"
    head = f"{word} ({count:,} line{'' if count == 1 else 's'})"
    shown = strips(one_line(head, look.palette.dim, look))
    if item.folded is not False:
        return shown
    bar: Line = [("┆ ", look.palette.dim)]
    return [*shown, *texts.text_rows(text, look.palette.dim, look, lead=bar)]


def _ended(item: Ended, look: Look) -> list[Strip]:
    palette, ended = look.palette, item.ended
    problem = {
        "error": ended.error or "the turn failed",
        "stopped": f"stopped: {ended.error or 'a limit was reached'}",
        "interrupted": ended.error or "(cancelled)",
    }.get(ended.status, "")
    style = palette.warning if ended.status == "interrupted" and not ended.error else palette.problem
    found = _marked("!", problem, style, look) if problem else []
    if item.usage is not None:
        took = [duration(item.seconds)] if item.seconds is not None else []
        took += [used(item.usage)] if item.usage.input or item.usage.output else []
        found += strips(one_line(" · ".join(took), palette.dim, look)) if took else []
    return found


def _marked(sign: str, text: str, style: Style, look: Look) -> list[Strip]:
    lead: Line = [(f"{sign} ", style)]
    return texts.text_rows(text.strip("\n"), style, look, lead=lead, hanging=True)


def _below(blocks: list[AnyBlock], look: Look, *, whole: bool) -> list[Strip]:
    """Blocks below one another; a blank line around what is more than a line of text."""
    found: list[Strip] = []
    before: AnyBlock | None = None
    for block in blocks:
        made = lines(block, look, most=None if whole else RESULT, hint="" if whole else HINT)
        if before is not None and not (isinstance(block, Note | Activity) and isinstance(before, Note | Activity)):
            found.append(Strip.blank(0))
        found += made
        before = block
    return found


# --- heights --------------------------------------------------------------------------------------------------------------


def _height(text: str, width: int) -> int:
    return text.count("\n") + 1 + len(text) // (width + 20)


def _block_height(block: AnyBlock, width: int, whole: bool) -> int:
    text = getattr(block, "text", "")
    rows_ = len(getattr(block, "rows", ())) + _height(text, width) + 1
    return rows_ if whole else min(rows_, DIFF)
