"""Searching a transcript: what is looked for, where it stands next, and the line in which it is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import Input

from pegboard_tui.drawing.look import Look
from pegboard_tui.drawn import draw
from pegboard_tui.selecting import searched
from pegboard_tui.window import Window


class Match(NamedTuple):
    """Where words stand: an item, and one of its drawn rows; None: in what is not drawn of it."""

    number: int
    row: int | None


class Find:
    """A search for words as they are. Capitals count where there are any in them."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.pattern = re.compile(re.escape(words), re.IGNORECASE if words == words.lower() else 0)
        self._last: Match | None = None

    def next(self, window: Window, look: Look, at: int | None, direction: int) -> Match | None:
        """The next match after the last one, or from item `at` on, downwards (1) or upwards (-1), and around the end.

        An item that holds the words in what is folded of it is unfolded. None: they stand nowhere."""
        count = len(window.items)
        start = at if at is not None else 0 if direction > 0 else count - 1
        last, self._last = self._last if self._last and self._last.number == start else None, None
        for step in range(count + 1 if count else 0):
            index = (start + direction * step) % count
            rows = self._rows(window, look, index)
            if last and not step:
                rows = [row for row in rows if row is not None and (row - (last.row or 0)) * direction > 0]
            if rows:
                self._last = Match(index, rows[0 if direction > 0 else -1])
                return self._last
        return None

    def _rows(self, window: Window, look: Look, index: int) -> Sequence[int | None]:
        item = window.items[index]
        if not self._stands_in(searched(item)):
            return []
        rows = self._in(window.strips(index))
        if not rows and item.folded is not False and self._in(draw(replace(item, folded=False), look)):
            item.folded = False
            item.touch()
            window.take(item)
            rows = self._in(window.strips(index))
        return rows or [None]

    def _in(self, strips: Sequence[Strip]) -> list[int]:
        return [row for row, strip in enumerate(strips) if self.pattern.search(strip.text)]

    def _stands_in(self, texts: Iterator[str]) -> bool:
        words = self.words.lower()
        return any(words in text.lower() and self.pattern.search(text) for text in texts)


class SearchBar(ModalScreen[str | None]):
    """A line at the bottom in which words are typed. It returns them, or None when there is to be no search."""

    DEFAULT_CSS = """
    SearchBar {
        align: left bottom;
        background: transparent;
    }
    SearchBar Input {
        width: 100%;
        height: 1;
        border: none;
        padding: 0 1;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "no search", id="search.cancel")]

    def compose(self) -> ComposeResult:
        yield Input(placeholder="search the transcript: words, then Enter; n goes on, N goes back, Esc ends it")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Search for what was typed."""
        message.stop()
        self.dismiss(message.value or None)
