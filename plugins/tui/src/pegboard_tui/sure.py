"""Asking whether something is meant that loses work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pegboard.terminal import visible
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from pegboard_tui.drawing.look import Palette


class Sure(ModalScreen[bool]):
    """A question with the losses below it, a line each. It returns whether it is meant."""

    DEFAULT_CSS = """
    Sure { align: center middle; }
    Sure > Vertical {
        width: auto; min-width: 20; max-width: 100%; height: auto; max-height: 100%;
        border: round $warning; padding: 0 1;
    }
    Sure Static { width: auto; max-width: 100%; height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "yes", id="sure.yes"),
        Binding("n,escape", "dismiss(False)", "no", id="sure.no"),
    ]

    def __init__(self, palette: Palette, question: str, losses: Sequence[str]) -> None:
        super().__init__()
        self._palette = palette
        self._question = question
        self._losses = losses

    def compose(self) -> ComposeResult:
        palette = self._palette
        text = Text(visible(self._question), palette.strong)
        for loss in self._losses:
            text.append(f"\n  {visible(loss)}", palette.text)
        with Vertical() as box:
            box.border_subtitle = "y yes · n no"
            yield Static(text, markup=False)
