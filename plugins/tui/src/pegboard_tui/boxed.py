"""A box over the session in which something is chosen."""

from __future__ import annotations

from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from pegboard_tui.drawing.look import Palette

Chosen = TypeVar("Chosen")


class Boxed(ModalScreen[Chosen]):
    """The box: its title, what stands in it, and which keys do what below. It returns what was chosen."""

    DEFAULT_CSS = """
    Boxed { align: center middle; }
    Boxed > Vertical { width: 100%; height: auto; max-height: 100%; border: round $accent; }
    Boxed OptionList { border: none; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    HEADING = FOOT = ""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self._palette = palette

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title, box.border_subtitle = self.HEADING, self.FOOT
            yield from self.inside()

    def inside(self) -> ComposeResult:
        """What stands in the box."""
        raise NotImplementedError
