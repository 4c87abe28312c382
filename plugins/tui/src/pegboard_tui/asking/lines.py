"""Rows of cells as a widget. A click on a row that names an action does it, in the widget that holds this one."""

from __future__ import annotations

from collections.abc import Sequence

from textual.dom import DOMNode
from textual.strip import Strip
from textual.widget import Widget


class Lines(Widget):
    """As many rows as it was given; nothing of it scrolls."""

    DEFAULT_CSS = "Lines { height: auto; }"
    ALLOW_SELECT = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.rows: list[Strip] = []

    def show(self, rows: Sequence[Strip]) -> None:
        """Show these, and nothing else."""
        self.rows = list(rows)
        self.styles.height = len(self.rows)
        self.display = bool(self.rows)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A row; what stands behind its end is the background."""
        row = self.rows[y] if y < len(self.rows) else Strip([])
        return row.apply_style(self.rich_style).adjust_cell_length(self.size.width, self.rich_style)

    @property
    def text(self) -> str:
        """What is shown, a row a line."""
        return "\n".join(row.text.rstrip() for row in self.rows)

    async def action_press(self, action: str) -> None:
        """Do an action of the widget that holds this one, as its key would."""
        parent = self.parent
        if isinstance(parent, DOMNode):
            await self.app.run_action(action, parent)
