"""Several sessions at once: which are open, how each stands, and going from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pegboard.terminal import visible
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from pegboard_tui.boxed import Boxed
from pegboard_tui.drawing.look import Palette
from pegboard_tui.switching import SIGNS, WORDS, Open


class Switcher(Boxed[str | None]):
    """The open sessions. It returns the key of the one that is to be looked at, `+` for a new one, `-KEY` for one that is
    to be closed; None: nothing."""

    DEFAULT_CSS = """
    Switcher > Vertical { max-width: 90; }
    Switcher OptionList { height: auto; max-height: 15; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "close", id="switcher.close"),
        Binding("n", "dismiss('+')", "a new one", id="switcher.new"),
        Binding("delete,d,backspace", "end", "close the session", id="switcher.end"),
        *(Binding(str(n), f"number({n})", f"session {n}", id=f"switcher.n{n}", show=False) for n in range(1, 10)),
    ]

    HEADING, FOOT = "Open sessions", "enter goes there · n new · d closes · esc back"

    def __init__(self, palette: Palette, sessions: Sequence[Open]) -> None:
        super().__init__(palette)
        self._sessions = list(sessions)

    def inside(self) -> ComposeResult:
        """A row for each."""
        yield OptionList(*(Option(self._row(n, one)) for n, one in enumerate(self._sessions, 1)))

    def on_mount(self) -> None:
        shown = self.query_one(OptionList)
        shown.highlighted = next((n for n, one in enumerate(self._sessions) if one.here), 0)
        shown.focus()

    def _row(self, number: int, one: Open) -> Text:
        palette = self._palette
        row = Text(f"{number} {SIGNS.get(one.mark, ' ')} ", palette.accent, no_wrap=True, overflow="ellipsis")
        row.append(one.title, palette.strong if one.here else palette.text)
        return row.append(f"  {WORDS.get(one.mark, '')}  {visible(one.id)}", palette.dim)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._sessions[event.option_index].key)

    def action_number(self, number: int) -> None:
        """The one with this number."""
        if number <= len(self._sessions):
            self.dismiss(self._sessions[number - 1].key)

    def action_end(self) -> None:
        """Close the chosen one."""
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(f"-{self._sessions[at].key}")
