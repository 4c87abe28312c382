"""One block as lines."""

from __future__ import annotations

from typing import assert_never

from pegboard import blocks as kinds
from pegboard.blocks import AnyBlock
from pegboard.terminal import spelled, visible
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from pegboard_tui.drawing.look import Look


def lines(block: AnyBlock, look: Look) -> list[Strip]:
    """A block, no line of it wider than there is room."""
    palette = look.palette
    match block:
        case kinds.Activity(glyph=glyph, verb=verb, subject=subject, details=details):
            head = " ".join(filter(None, (glyph, verb, subject, details)))
            return wrapped(visible(head), palette.strong, look.width)
        case kinds.Diff(path=path, text=text):
            return [
                *wrapped(visible(path), palette.strong, look.width),
                *wrapped(spelled(text), palette.text, look.width),
            ]
        case kinds.Note(text=text):
            return wrapped(spelled(text), palette.note, look.width)
        case kinds.Problem(text=text):
            return wrapped(spelled(text), palette.problem, look.width)
        case kinds.Markdown(text=text) | kinds.Text(text=text):
            return wrapped(spelled(text), palette.text, look.width)
        case kinds.Table(columns=columns, rows=rows):
            return [
                line for row in [columns, *rows] for line in wrapped(visible("  ".join(row)), palette.text, look.width)
            ]
        case kinds.Image(alt=alt):
            return wrapped(visible(f"[picture: {alt}]"), palette.dim, look.width)
        case kinds.Custom(plain=plain):
            return [line for one in plain for line in lines(one, look)]
        case _:
            assert_never(block)


def wrapped(text: str, style: Style, width: int) -> list[Strip]:
    """Text broken into lines of at most this width; long words are cut."""
    width = max(width, 1)
    found = []
    for line in text.split("\n"):
        for piece in Text(line).wrap(Console(width=80), width, overflow="fold", tab_size=8) or [Text("")]:
            found.append(Strip([Segment(piece.plain, style)]))
    return found
