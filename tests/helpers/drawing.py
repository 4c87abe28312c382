"""What is drawn, as text: its letters, and where a style stands."""

from __future__ import annotations

from collections.abc import Iterable

from pegboard_tui.drawing.look import Palette
from rich.style import Style
from textual.strip import Strip

COLOURED = Palette(
    text=Style(color="#d0d0d0"),
    added=Style(bgcolor="#003300"),
    removed=Style(bgcolor="#330000"),
    added_word=Style(bgcolor="#006600"),
    removed_word=Style(bgcolor="#660000"),
    hidden=Style(color="#ffaa00"),
    good=Style(color="#00ff00"),
    problem=Style(color="#ff0000", bold=True),
    code=Style(color="#ffff00"),
    link=Style(color="#0000ff"),
    pygments="monokai",
    colour=True,
)
"""A palette in which each role can be told from the others."""


def letters(strips: Iterable[Strip]) -> str:
    """The lines, without blanks at their ends."""
    return "\n".join(strip.text.rstrip() for strip in strips)


def golden(text: str) -> str:
    """What a test expects, as it stands indented in the test."""
    lines = text.strip("\n").split("\n")
    indent = min(len(line) - len(line.lstrip(" ")) for line in lines if line.strip())
    return "\n".join(line[indent:].rstrip() for line in lines).rstrip()


def styled(strips: Iterable[Strip], style: Style) -> list[str]:
    """The parts of lines whose style has all that this one has."""

    def has(own: Style | None) -> bool:
        return own is not None and own + style == own

    found: list[str] = []
    for strip in strips:
        last = False
        for text, own, _ in strip:
            if has(own):
                found[-1:] = [found[-1] + text] if last else [*found[-1:], text]
            last = has(own)
    return found
