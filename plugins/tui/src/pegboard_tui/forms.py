"""How the app draws blocks, for `pegboard plugin check` (entry-point group `pegboard.forms`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock


def app(blocks: list[AnyBlock], width: int) -> str:
    """The lines that the transcript would have, none wider than there is room.

    Raises:
        ValueError: one is.
    """
    from pegboard_tui.drawing.blocks import lines
    from pegboard_tui.drawing.look import Look

    look = Look(width=width, images=False)
    drawn = [strip for block in blocks for strip in lines(block, look)]
    wide = max((strip.cell_length for strip in drawn), default=0)
    if wide > width:
        raise ValueError(f"a line takes {wide} columns of {width}")
    return "\n".join(strip.text for strip in drawn)
