"""One item of the transcript as lines."""

from __future__ import annotations

from typing import assert_never

from pegboard.blocks import Markdown, Note, Problem
from textual.strip import Strip

from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.look import Look
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told


def rows(item: AnyItem, look: Look) -> list[Strip]:
    """An item, no line of it wider than there is room; none where there is nothing to be seen of it."""
    match item:
        case Asked(text=text):
            return lines(Markdown(text=f"> {text}"), look)
        case Said(text=text) | Thought(text=text):
            return lines(Markdown(text=text), look)
        case Made(described=described, finished=finished):
            return [
                *lines(described.activity, look),
                *(lines(Markdown(text=finished.text), look) if finished else []),
            ]
        case Told(text=text):
            return lines(Note(text=text), look)
        case Shown(blocks=blocks):
            return [line for block in blocks for line in lines(block, look)]
        case Ended(ended=ended):
            return lines(Problem(text=ended.error), look) if ended.error else []
        case _:
            assert_never(item)
