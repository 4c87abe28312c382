"""The transcript: a scrolling list of items of which only what is seen is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from pegboard_tui.drawing.items import rows
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.items import AnyItem


class Transcript(ScrollView, can_focus=True):
    """Items below one another. It follows its end until somebody scrolls up."""

    DEFAULT_CSS = "Transcript { height: 1fr; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self._items: list[AnyItem] = []
        self._lines: list[Strip] = []

    def show(self, items: Sequence[AnyItem]) -> None:
        """Show these items, and no others."""
        self._items = list(items)
        self._draw()

    def take(self, changed: Sequence[AnyItem]) -> None:
        """Show items that are new, and draw those anew that have changed."""
        for item in changed:
            if item not in self._items:
                self._items.append(item)
        self._draw()

    def _draw(self) -> None:
        look = Look(width=max(self.size.width - 2, 20), palette=self.palette)
        self._lines = [line for item in self._items for line in [*rows(item, look), Strip.blank(0)]]
        self.virtual_size = Size(look.width, len(self._lines))
        self.scroll_end(animate=False)
        self.refresh()

    def on_resize(self) -> None:
        self._draw()

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        return self._lines[at] if at < len(self._lines) else Strip.blank(self.size.width)
