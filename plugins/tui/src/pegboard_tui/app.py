"""The app: sessions in a window, and what goes for all of them."""

from __future__ import annotations

from typing import ClassVar

from pegboard.port import Conversation, Host
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from pegboard_tui.session import SessionView
from pegboard_tui.side import Side
from pegboard_tui.themes import palette_of


class PegboardApp(App[int]):
    """Pegboard in the terminal. It returns the exit code."""

    TITLE = "pegboard"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+q", "quit", "quit", id="app.quit")]

    def __init__(self, host: Host, first: Conversation) -> None:
        super().__init__()
        self.host = host
        self._first = first

    def compose(self) -> ComposeResult:
        palette = palette_of(self.current_theme)
        with Horizontal():
            yield SessionView(self.host, self._first, palette)
            yield Side(palette)
