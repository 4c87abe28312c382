"""Choosing a past session, with a search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import ClassVar

from pegboard.errors import PegboardError
from pegboard.port import Host, Past
from pegboard.terminal import visible
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from pegboard_tui.boxed import Boxed
from pegboard_tui.drawing.look import Palette
from pegboard_tui.working import work

MOST = 200
"""Sessions that are listed at once; of more, how many they are."""


class Picker(Boxed[str | None]):
    """Past sessions, this folder's first. It returns the id of the one that is to be opened; None: none.

    opened: ids of those that are open here now; None stands for none."""

    DEFAULT_CSS = """
    Picker > Vertical { max-width: 110; height: 100%; max-height: 30; }
    Picker Input { height: 1; border: none; padding: 0 1; }
    Picker OptionList { height: 1fr; }
    Picker #told { height: auto; max-height: 4; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", id="picker.close"),
        Binding("down,ctrl+n", "move(1)", "the next one", id="picker.down", show=False),
        Binding("up,ctrl+p", "move(-1)", "the one before", id="picker.up", show=False),
        Binding("pagedown", "move(10)", "a page on", id="picker.page_down", show=False),
        Binding("pageup", "move(-10)", "a page back", id="picker.page_up", show=False),
    ]

    HEADING, FOOT = "Sessions", "enter opens · esc closes"

    def __init__(self, host: Host, palette: Palette, opened: Sequence[str] = (), search: str = "") -> None:
        super().__init__(palette)
        self._host = host
        self._opened = frozenset(opened)
        self._search = search
        self._past: list[Past] = []
        self._found: list[Past] = []

    def inside(self) -> ComposeResult:
        """The search, what it finds, and what there is to tell of it."""
        yield Input(self._search, placeholder="search: request, id, folder", id="search")
        yield OptionList(id="list")
        yield Static("reading ...", id="told", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False  # the keys go to the search, and move the list from there
        self.query_one(Input).focus()
        work(self, self._read, "reading sessions", told=self._tell)

    async def _read(self) -> None:
        try:
            past = await asyncio.to_thread(self._host.past)
        except (OSError, PegboardError) as error:
            self._tell(f"the sessions cannot be read: {error}")
            return
        self._past = sorted(past, key=lambda one: (not one.here, -one.changed))
        self._redraw()

    def on_input_changed(self) -> None:
        self._redraw()

    def _redraw(self) -> None:
        words = self.query_one(Input).value.lower().split()
        self._found = [one for one in self._past if matches(one, words)]
        shown = self.query_one(OptionList)
        shown.clear_options()
        now = time.time()
        width = max(shown.size.width - 4, 20)
        shown.add_options(Option(self._row(one, now, width)) for one in self._found[:MOST])
        if self._found:
            shown.highlighted = 0
        more = len(self._found) - MOST
        none = "no session matches" if self._past else "there is no session yet"
        self._tell(f"{more} more: type to narrow them down" if more > 0 else "" if self._found else none)

    def _row(self, past: Past, now: float, width: int) -> Text:
        palette = self._palette
        title = visible(past.title) or past.id
        turns = f"{past.turns} turn{'' if past.turns == 1 else 's'}"
        state = "open here" if past.id in self._opened else status_text(past.status)
        about = " · ".join(filter(None, (state, turns, ago(now - past.changed))))
        room = max(width - len(about) - 2, 10)
        row = Text(title, palette.text if past.here else palette.dim, no_wrap=True, overflow="ellipsis")
        row.truncate(room, overflow="ellipsis", pad=True)
        row.append(f"  {about}", palette.dim)
        if not past.here and past.root:
            row.append(f"\n  in {visible(past.root)}", palette.place)
        return row

    def _tell(self, text: str) -> None:
        told = self.query_one("#told", Static)
        told.update(Text(visible(text), self._palette.note))
        told.display = bool(text)

    def action_move(self, by: int) -> None:
        """Choose another."""
        shown = self.query_one(OptionList)
        if shown.option_count:
            shown.highlighted = min(max((shown.highlighted or 0) + by, 0), shown.option_count - 1)
            self._tell(self._why_not(self._found[shown.highlighted]))

    def on_input_submitted(self) -> None:
        self._choose(self.query_one(OptionList).highlighted)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option_index)

    def _choose(self, at: int | None) -> None:
        if at is None or at >= len(self._found):
            return
        if why := self._why_not(self._found[at]):
            self._tell(why)
        else:
            self.dismiss(self._found[at].id)

    def _why_not(self, past: Past) -> str:
        """Why it cannot be opened here; empty: it can."""
        if past.status == "unreadable":
            return f"{past.id} cannot be read: its log is damaged, or of another version of Pegboard"
        if not past.here:
            return f"it works in {past.root or 'another folder'}: pegboard tui --path {past.root} --session {past.id}"
        return ""


def matches(past: Past, words: Sequence[str]) -> bool:
    """Whether all these words, in lower case, stand in what is known of a session."""
    text = f"{past.title} {past.id} {past.root}".lower()
    return all(word in text for word in words)


def status_text(status: str | None) -> str:
    """How a session's last turn ended, where that is worth a word."""
    return {"done": "", "asked_back": "", None: "", "open": "not ended"}.get(status, status or "")


def ago(seconds: float) -> str:
    """How long ago, in a word or two: `now`, `5 min`, `3 h`, `12 d`."""
    if seconds < 60:
        return "now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min"
    return f"{int(seconds // 3600)} h" if seconds < 86400 else f"{int(seconds // 86400)} d"
