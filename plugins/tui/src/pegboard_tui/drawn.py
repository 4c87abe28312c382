"""Items that were drawn, kept while they are likely to be seen again."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from pegboard.terminal import visible
from rich.segment import Segment
from textual.strip import Strip

from pegboard_tui.drawing.items import rows
from pegboard_tui.drawing.look import Look
from pegboard_tui.items import AnyItem

KEPT = 4_000
"""Lines that are kept at most, beside those of the item that was drawn last."""


class _Drawn(NamedTuple):
    item: AnyItem
    version: int
    folded: bool | None
    strips: list[Strip]


class DrawnItems:
    """The lines of items under one look. What was not seen for the longest time goes first."""

    def __init__(self, look: Look, kept: int = KEPT) -> None:
        self._look = look
        self._kept = kept
        self._drawn: OrderedDict[str, _Drawn] = OrderedDict()
        self._lines = 0

    @property
    def look(self) -> Look:
        """How items are drawn. Another one draws them all anew, as they are asked for."""
        return self._look

    @look.setter
    def look(self, look: Look) -> None:
        if look != self._look:
            self._look = look
            self.clear()

    @property
    def lines(self) -> int:
        """How many are kept now."""
        return self._lines

    def clear(self) -> None:
        """Keep nothing."""
        self._drawn.clear()
        self._lines = 0

    def of(self, item: AnyItem) -> list[Strip]:
        """The lines of an item as it is now. One that cannot be drawn is a line that says so."""
        found = self._drawn.get(item.key)
        if found and found.item is item and found.version == item.version and found.folded == item.folded:
            self._drawn.move_to_end(item.key)
            return found.strips
        strips = draw(item, self._look)
        self._drop(item.key)
        self._drawn[item.key] = _Drawn(item, item.version, item.folded, strips)
        self._lines += len(strips)
        while self._lines > self._kept and len(self._drawn) > 1:
            self._drop(next(iter(self._drawn)))
        return strips

    def _drop(self, key: str) -> None:
        old = self._drawn.pop(key, None)
        if old is not None:
            self._lines -= len(old.strips)


def draw(item: AnyItem, look: Look) -> list[Strip]:
    """The lines of an item, none wider than there is room, or one that says why it cannot be drawn."""
    try:
        return [strip if strip.cell_length <= look.width else strip.crop(0, look.width) for strip in rows(item, look)]
    except Exception as error:  # noqa: BLE001 - isolates one item: the others of a session are still shown
        text = visible(f"! this cannot be shown: {type(error).__name__}: {error}"[:500])
        return [Strip([Segment(text, look.palette.problem)]).crop(0, look.width)]
