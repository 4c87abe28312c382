"""Pictures as half-block cells: each cell is two pixels, the upper one its ink and the lower one its ground.

Pillow is imported with the first picture. Without it, without colours, or when a picture cannot be read, its name is
shown; a picture that is not what it says, or that would unpack into gigabytes, is one that cannot be read.
"""

from __future__ import annotations

import base64
import io
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.color import Color
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing.cells import strips, wrapped
from pegboard_tui.drawing.spelling import marked_line, settled
from pegboard_tui.drawing.texts import clipped

if TYPE_CHECKING:
    from pegboard.blocks import Image

    from pegboard_tui.drawing.look import Look

MOST_BYTES = 12_000_000
"""Of the picture's base64."""
MOST_PIXELS = 16_000_000
"""Of a picture that is unpacked."""
WIDEST, TALLEST = 72, 22
"""Cells that a picture takes at most."""
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")


def image(block: Image, look: Look) -> list[Strip]:
    """A picture and its name; the name alone where it cannot be drawn."""
    name = marked_line(clipped(block.alt)) if block.alt.strip() else ""
    drawn = list(_cells(block.data, min(look.width, WIDEST), look.palette.dark)) if _may(block, look) else []
    if drawn:
        told = name
    else:
        told = f"[picture, {marked_line(clipped(block.media_type))}{': ' + name if name else ''}]"
    return [*drawn, *(strips(wrapped(settled([(told, look.palette.dim)], look.palette), look.width)) if told else [])]


def _may(block: Image, look: Look) -> bool:
    return look.images and look.palette.colour and look.width >= 2 and 0 < len(block.data) <= MOST_BYTES


@lru_cache(24)
def _cells(data: str, width: int, dark: bool) -> tuple[Strip, ...]:
    pixels = _pixels(data, width, dark)
    if pixels is None:
        return ()
    columns, rows, body = pixels
    made = []
    for y in range(0, rows, 2):
        line: list[Segment] = []
        for x in range(columns):
            upper = 3 * (y * columns + x)
            lower = upper + 3 * columns
            style = _style(body[upper : upper + 3], body[lower : lower + 3])
            if line and line[-1].style is style:
                line[-1] = Segment(line[-1].text + "▀", style)
            else:
                line.append(Segment("▀", style))
        made.append(Strip(line, columns))
    return tuple(made)


@lru_cache(4096)
def _style(upper: bytes, lower: bytes) -> Style:
    return Style.from_color(
        Color.from_triplet(ColorTriplet(*upper)), Color.from_triplet(ColorTriplet(*(lower or upper)))
    )


def _pixels(data: str, width: int, dark: bool) -> tuple[int, int, bytes] | None:
    """A picture's pixels at the size it is drawn at, three bytes each, an even number of rows; None: it cannot be read."""
    try:
        from PIL import Image as Pictures
    except ImportError:
        return None
    try:
        raw = base64.b64decode(data, validate=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error", Pictures.DecompressionBombWarning)
            with Pictures.open(io.BytesIO(raw), formats=FORMATS) as picture:
                wide, high = picture.size
                if not wide or not high or wide * high > MOST_PIXELS:
                    return None
                scale = min(width / wide, 2 * TALLEST / high, 1.0)
                size = max(round(wide * scale), 1), max(round(high * scale / 2), 1) * 2
                picture.draft("RGB", size)
                ground = Pictures.new("RGBA", size, (0, 0, 0, 255) if dark else (255, 255, 255, 255))
                small = picture.convert("RGBA").resize(size, Pictures.Resampling.BOX)
                return *size, Pictures.alpha_composite(ground, small).convert("RGB").tobytes()
    except Exception:  # noqa: BLE001 - isolates readers of picture formats: a strange file is shown by its name
        return None
