"""Asking whether something is meant that loses work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pegboard.terminal import visible
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from pegboard_tui.boxed import Boxed
from pegboard_tui.drawing.look import Palette


class Sure(Boxed[bool]):
    """A question with the losses below it, a line each. It returns whether it is meant."""

    DEFAULT_CSS = """
    Sure > Vertical { width: auto; min-width: 20; max-width: 100%; border: round $warning; padding: 0 1; }
    Sure Static { width: auto; max-width: 100%; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "yes", id="sure.yes"),
        Binding("n,escape", "dismiss(False)", "no", id="sure.no"),
    ]

    FOOT = "y yes · n no"

    def __init__(self, palette: Palette, question: str, losses: Sequence[str]) -> None:
        super().__init__(palette)
        self._question = question
        self._losses = losses

    def inside(self) -> ComposeResult:
        """The question, and what would be lost."""
        palette = self._palette
        text = Text(visible(self._question), palette.strong)
        for loss in self._losses:
            text.append(f"\n  {visible(loss)}", palette.text)
        yield Static(text, markup=False)
