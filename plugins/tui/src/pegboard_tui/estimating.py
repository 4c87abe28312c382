"""How high an item will be, about, before it is drawn: from lengths and line counts alone, ten thousand of them at once."""

from __future__ import annotations

from typing import assert_never

from pegboard import blocks as kinds
from pegboard.blocks import AnyBlock

from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told

FOLDED = 12
"""Lines of a result that is folded, about."""


def estimate(item: AnyItem, width: int) -> int:
    """Lines that an item takes at a width: at least one."""
    match item:
        case Asked(text=text) | Said(text=text) | Told(text=text):
            return lines_of(text, width) + 1
        case Thought(text=text, folded=folded):
            return lines_of(text, width) if folded is False else 2
        case Made():
            return _of_call(item, width)
        case Shown(blocks=blocks):
            return 1 + sum(_of_block(block, width) for block in blocks)
        case Ended(ended=ended):
            return 1 + lines_of(ended.error, width) if ended.error else 1
        case _:
            assert_never(item)


def lines_of(text: str, width: int) -> int:
    """Lines of a text at a width, about."""
    return text.count("\n") + 1 + len(text) // max(width, 1)


def _of_call(made: Made, width: int) -> int:
    finished = made.finished
    if finished is None or made.folded:
        return 2
    blocks = made.drawn or finished.blocks
    if blocks:
        return 2 + sum(_of_block(block, width) for block in blocks)
    if not made.described.echo and finished.outcome == "ok":
        return 2
    found = lines_of(finished.text, width)
    return 2 + (found if made.folded is False else min(found, FOLDED))


def _of_block(block: AnyBlock, width: int) -> int:
    match block:
        case kinds.Activity():
            return 1
        case kinds.Diff(text=text):
            return 1 + text.count("\n")
        case kinds.Note(text=text) | kinds.Problem(text=text) | kinds.Markdown(text=text) | kinds.Text(text=text):
            return lines_of(text, width)
        case kinds.Table(rows=rows):
            return 2 + len(rows)
        case kinds.Image():
            return 8
        case kinds.Custom(plain=plain):
            return sum(_of_block(one, width) for one in plain) or 1
        case _:
            assert_never(block)
