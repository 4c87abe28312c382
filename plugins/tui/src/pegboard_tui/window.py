"""Which lines of a transcript are in view. It knows items, heights and what was drawn; no widget, no loop.

The place is kept as an item and a line of it, not as a number of lines from the top: then heights above, which are estimated
until somebody looks there, may change as they like, and what is under the eye stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from textual.strip import Strip

from pegboard_tui.drawing.items import estimate
from pegboard_tui.drawn import DrawnItems
from pegboard_tui.heights import Heights
from pegboard_tui.items import AnyItem, Made

Gap: TypeAlias = Callable[[AnyItem | None, AnyItem], int]
"""Empty lines above an item, by the one before it."""


class Row(NamedTuple):
    """A line in view. row: which of the item's drawn lines it is; None: an empty one above or below them."""

    number: int
    row: int | None
    strip: Strip | None


def spaced(before: AnyItem | None, item: AnyItem) -> int:
    """Calls of a line each stand close together; between anything else is an empty line."""
    return 0 if before is None or (bare(before) and bare(item)) else 1


def bare(item: AnyItem) -> bool:
    """Whether an item is a call of which nothing but its line is shown."""
    return isinstance(item, Made) and estimate(item, 80) <= 1


class Window:
    """A part of a session's lines, `height` of them, and how it moves.

    items: all of them, in order. rows: those in view, from the last `settle`. following: the end is in view and stays so."""

    def __init__(self, drawn: DrawnItems, gap: Gap = spaced) -> None:
        self.items: list[AnyItem] = []
        self.rows: list[Row] = []
        self.following = True
        self.reserved: dict[str, int] = {}
        self._drawn = drawn
        self._gap = gap
        self._index: dict[str, int] = {}
        self._heights = Heights()
        self._exact = bytearray()
        self._top = self._offset = 0
        self._height = 0

    @property
    def total(self) -> int:
        """Lines in all: those that were seen counted, the others estimated."""
        return self._heights.total

    @property
    def y(self) -> int:
        """The number of the first line in view."""
        return self._heights.before(self._top) + self._offset

    @property
    def below(self) -> int:
        """Items that begin below what is in view."""
        return len(self.items) - 1 - self.rows[-1].number if self.rows else 0

    def index(self, key: str) -> int | None:
        """Which item has this key."""
        return self._index.get(key)

    # --- items --------------------------------------------------------------------------------------------------------

    def show(self, items: Sequence[AnyItem]) -> None:
        """These items and no others. Where the one at the top is among them, it stays there."""
        top = self.items[self._top].key if self._top < len(self.items) else ""
        self.items = list(items)
        self._index = {item.key: at for at, item in enumerate(self.items)}
        width = self._drawn.look.width
        self._heights = Heights([estimate(item, width) + 1 for item in self.items])
        self._exact = bytearray(len(self.items))
        if top not in self._index:
            self._offset = 0
        self._top = self._index.get(top, 0)

    def take(self, item: AnyItem) -> bool:
        """An item that is new, or has changed; returns whether it is new."""
        at = self._index.get(item.key)
        height = estimate(item, self._drawn.look.width) + 1
        if at is not None:
            self.items[at] = item
            for changed in (at, min(at + 1, len(self.items) - 1)):  # the next one may stand closer now, or farther
                self._exact[changed] = 0
            self._heights[at] = height
            return False
        self._index[item.key] = len(self.items)
        self.items.append(item)
        self._heights.append(height)
        self._exact.append(0)
        return True

    def forget(self) -> None:
        """Everything is drawn anew from now on (another width, another palette). The heights that were counted are
        estimates now, and the line at the top is about the same part of its item."""
        self._exact = bytearray(len(self.items))
        if self._offset and self._top < len(self.items):
            before = self._heights[self._top]
            self._offset = self._offset * self._measure(self._top) // max(before, 1)

    def gap(self, index: int) -> int:
        """Empty lines above an item."""
        return self._gap(self.items[index - 1] if index else None, self.items[index])

    def reserve(self, key: str, height: int) -> bool:
        """Keep empty lines below the drawn ones of an item; returns whether that is a change."""
        if self.reserved.get(key, 0) == height:
            return False
        self.reserved[key] = height
        if (at := self._index.get(key)) is not None:
            self._exact[at] = 0
        return True

    # --- what is in view ----------------------------------------------------------------------------------------------

    def settle(self, height: int) -> list[Row]:
        """The lines in view when there are this many: what is seen is drawn and counted."""
        self._height = height
        if self.following:
            self._to_end()
        ended = self._look()
        if len(self.rows) < height and (self._top or self._offset):
            self._to_end()
            ended = self._look()
        self.following = ended
        return self.rows

    def move(self, lines: int) -> None:
        """Down by so many lines (up, when negative), counted exactly."""
        self.following = False
        self._offset += lines
        while self._offset < 0 and self._top:
            self._top -= 1
            self._offset += self._count(self._top)
        while self._top < len(self.items) - 1 and self._offset >= (count := self._count(self._top)):
            self._offset -= count
            self._top += 1
        self._offset = max(self._offset, 0)

    def jump(self, y: int) -> None:
        """To a line by its number, which is about there."""
        self.following = False
        self._top, self._offset = self._heights.find(y)

    def reveal(self, index: int, row: int | None = None, *, up: bool = False) -> None:
        """Bring an item into view (or one line of it) with as little movement as will do. up: one that is too long for the
        window is shown from its end. The window's last line is left free: a hint may lie there."""
        gap, count, room = self.gap(index), self._count(index), max(self._height - 1, 1)
        first, last = (gap, count) if row is None else (gap + row, gap + row + 1)
        begins = self.begins(index)
        if begins is not None and begins + first >= 0 and begins + last <= room:
            return
        self.following = False
        above = index < self._top if begins is None else begins + first < 0
        if up if last - first > room else not above:
            self._top, self._offset = index, last
            self.move(-room)
        else:
            self._top, self._offset = index, first

    def begins(self, index: int) -> int | None:
        """The line of the window at which an item begins that is in view (negative: above it); None: it is not in view."""
        if index == self._top and self.rows:
            return -self._offset
        return next((line for line, at in enumerate(self.rows) if at.number == index), None)

    def ends(self, index: int) -> int | None:
        """The line of the window after an item that is in view; None: it is not in view."""
        begins = self.begins(index)
        return None if begins is None else begins + self._count(index)

    def visible(self) -> range:
        """The numbers of the items in view."""
        return range(self.rows[0].number, self.rows[-1].number + 1) if self.rows else range(0)

    def strips(self, index: int) -> list[Strip]:
        """The drawn lines of an item."""
        return self._drawn.of(self.items[index])

    def at_top(self, index: int) -> None:
        """Let an item begin at the top."""
        self.following = False
        self._top, self._offset = index, 0

    # --- counting -----------------------------------------------------------------------------------------------------

    def _to_end(self) -> None:
        need, at = self._height, len(self.items)
        while need > 0 and at:
            at -= 1
            need -= self._measure(at)
        self._top, self._offset = at, max(-need, 0)

    def _look(self) -> bool:
        """Fill `rows` from the top on; returns whether the end of everything is among them."""
        rows: list[Row] = []
        self.rows = rows
        at, offset, whole = self._top, self._offset, True
        while len(rows) < self._height and at < len(self.items):
            count = self._measure(at)
            if at == self._top:
                self._offset = offset = min(offset, max(count - 1, 0))
            gap, strips = self.gap(at), self._drawn.of(self.items[at])
            until = min(count, offset + self._height - len(rows))
            for line in range(offset, until):
                row = line - gap
                rows.append(Row(at, row, strips[row]) if 0 <= row < len(strips) else Row(at, None, None))
            whole = until == count
            at, offset = at + 1, 0
        return whole and all(not self._count(rest) for rest in range(at, len(self.items)))

    def _count(self, index: int) -> int:
        return self._heights[index] if self._exact[index] else self._measure(index)

    def _measure(self, index: int) -> int:
        item = self.items[index]
        count = len(self._drawn.of(item)) + self.reserved.get(item.key, 0)
        count += self.gap(index) if count else 0
        self._heights[index] = count
        self._exact[index] = 1
        return count
