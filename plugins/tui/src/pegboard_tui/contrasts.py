"""How well a colour can be read on another, and colours that can."""

from __future__ import annotations

from functools import lru_cache

from textual.color import BLACK, WHITE, Color


@lru_cache(256)
def luminance(color: Color) -> float:
    """Relative luminance, 0 (black) to 1 (white), after WCAG 2.2."""
    red, green, blue = ((v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4) for v in color.normalized)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Color, other: Color) -> float:
    """How much two colours differ in light, 1 to 21, after WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable(color: Color, ground: Color, least: float) -> Color:
    """The colour, moved towards white or black (whichever is farther from the ground) until it stands out that much."""
    end = WHITE if contrast(WHITE, ground) >= contrast(BLACK, ground) else BLACK
    for step in range(21):
        moved = color.blend(end, step / 20)
        if contrast(moved, ground) >= least:
            return moved
    return end
