"""What runs now: the tail of what each running call prints, in a panel above the input."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.terminal import command_output
from textual.widgets import Static

from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Made


class Live(Static):
    """Hidden while nothing runs that prints."""

    DEFAULT_CSS = "Live { height: auto; max-height: 12; display: none; border-top: solid $secondary; }"

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.palette = palette

    def show(self, running: Mapping[str, Made], tails: Mapping[str, str]) -> None:
        """Show the tails of these calls and no others."""
        texts = [command_output(tails[id]) for id in running if tails.get(id)]
        self.display = bool(texts)
        if texts:
            self.update("\n".join("\n".join(texts).splitlines()[-10:]))
