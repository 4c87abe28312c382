"""Themes, and the palette that goes with each."""

from __future__ import annotations

from textual.theme import Theme

from pegboard_tui.drawing.look import Palette


def palette_of(theme: Theme) -> Palette:
    """The styles of text under a theme."""
    return Palette(dark=theme.dark)
