"""Text that is made in the styles of the theme, and made anew when that changes."""

from __future__ import annotations

from textual.widgets import Static

from pegboard_tui.drawing.look import Palette


class Painted(Static):
    """Lines with styles of their own, cut where they are too long. Subclasses make them in `redraw`."""

    DEFAULT_CSS = "Painted { text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self._palette = palette

    @property
    def palette(self) -> Palette:
        """The styles of the theme that is on."""
        return self._palette

    @palette.setter
    def palette(self, palette: Palette) -> None:
        self._palette = palette
        if self.is_mounted:
            self.redraw()

    def redraw(self) -> None:
        """Make the text."""
        raise NotImplementedError
