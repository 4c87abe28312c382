"""A page of text over the session, to be read and closed: help, keys."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from pegboard_tui.drawing.look import Palette


class Sheet(ModalScreen[None]):
    """A titled page. Subclasses give its text by `page`, for the width there is."""

    DEFAULT_CSS = """
    Sheet { align: center middle; }
    Sheet #sheet { width: 100%; max-width: 84; height: auto; max-height: 100%; }
    Sheet VerticalScroll { height: auto; max-height: 100%; }
    Sheet #page { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1", "dismiss", "close", id="sheet.close"),
        Binding("down", "down", "down", id="sheet.down", show=False),
        Binding("up", "up", "up", id="sheet.up", show=False),
        Binding("pagedown", "page_down", "page down", id="sheet.page_down", show=False),
        Binding("pageup", "page_up", "page up", id="sheet.page_up", show=False),
    ]
    HEADING = ""

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette

    def compose(self) -> ComposeResult:
        with Vertical(id="sheet") as sheet:
            sheet.border_title = self.HEADING
            sheet.border_subtitle = "esc closes"
            yield from self.above()
            with VerticalScroll(id="body"):
                yield Static(id="page", markup=False)

    def above(self) -> ComposeResult:
        """What stands above the text and does not scroll."""
        yield from ()

    def page(self, width: int) -> Text:
        """The text, no line of it wider."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.redraw()

    def on_resize(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Show the text as it is now."""
        sheet = self.query_one("#sheet")
        width = min(self.size.width, 84) - sheet.gutter.width - self._scroll.styles.scrollbar_size_vertical
        self.query_one("#page", Static).update(self.page(max(width, 10)))

    @property
    def _scroll(self) -> VerticalScroll:
        return self.query_one("#body", VerticalScroll)

    def action_down(self) -> None:
        """A line on."""
        self._scroll.scroll_down(animate=False)

    def action_up(self) -> None:
        """A line back."""
        self._scroll.scroll_up(animate=False)

    def action_page_down(self) -> None:
        """A page on."""
        self._scroll.scroll_page_down(animate=False)

    def action_page_up(self) -> None:
        """A page back."""
        self._scroll.scroll_page_up(animate=False)
