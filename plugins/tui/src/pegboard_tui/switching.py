"""The open sessions in a line above them, and how each stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text
from textual import events
from textual.message import Message

from pegboard_tui.drawing.look import Palette
from pegboard_tui.painted import Painted

SIGNS = {"asks": "?", "runs": "~", "news": "*", "": " "}
"""How a session stands: a question waits; something runs; something was said that nobody has seen."""
WORDS = {"asks": "waits for an answer", "runs": "runs", "news": "has news", "": ""}


class Open(NamedTuple):
    """An open session in a list. key: of its view. here: it is the one that is looked at."""

    key: str
    id: str
    title: str
    mark: str
    here: bool


class OpenSessions(Painted):
    """A line with the open sessions, above them. Hidden while there is but one."""

    DEFAULT_CSS = "OpenSessions { height: 1; display: none; padding: 0 1; }"

    class Chosen(Message):
        """This session is to be looked at."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(palette, id=id)
        self._sessions: Sequence[Open] = ()
        self._ends: list[int] = []

    def show(self, sessions: Sequence[Open]) -> None:
        """Show these sessions and no others."""
        self._sessions = sessions
        self.redraw()

    def redraw(self) -> None:
        """Show the line anew."""
        sessions = self._sessions
        self.display = len(sessions) > 1
        room = max((self.size.width or 80) // max(len(sessions), 1) - 6, 4)
        text = Text(no_wrap=True, overflow="ellipsis")
        self._ends = []
        for number, one in enumerate(sessions, 1):
            sign = SIGNS.get(one.mark, " ").strip()
            title = Text(one.title)
            title.truncate(room, overflow="ellipsis")
            style = self.palette.focus if one.here else self.palette.accent if sign else self.palette.dim
            text.append(f" {number}{sign} {title.plain} ", style).append(" ")
            self._ends.append(text.cell_len)
        self.update(text)

    def on_resize(self) -> None:
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        for one, end in zip(self._sessions, self._ends, strict=False):
            if event.x - 1 < end:
                self.post_message(self.Chosen(one.key))
                return
