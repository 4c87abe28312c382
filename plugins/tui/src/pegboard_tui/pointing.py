"""The mouse in the transcript: what is selected by dragging, and what clicks do."""

from __future__ import annotations

import re
from dataclasses import replace

from rich.cells import cell_len
from textual import events
from textual.geometry import Offset
from textual.selection import Selection

from pegboard_tui.drawn import draw
from pegboard_tui.painting import GUTTER
from pegboard_tui.scrolling import Scrolling
from pegboard_tui.selecting import Spot, span_of

_WORD = re.compile(r"[\w./~:@%+#=-]+")
_LONG = 1 << 30
"""A column beyond the end of every line."""


class Pointing(Scrolling):
    """A transcript that can be selected from. Clicks leave the focus where it is."""

    ALLOW_SELECT = True
    FOCUS_ON_CLICK = False

    def selected_text(self) -> str | None:
        """What is selected with the mouse, without gutter and padding; None: nothing."""
        selection = self.text_selection
        return (self._extract(selection) if selection is not None else "") or None

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return self._extract(selection), "\n"

    def text_select_all(self) -> None:
        """Nothing: ten thousand items are not selected by a double click. `on_click` has what clicks do."""

    def on_click(self, event: events.Click) -> None:
        """One click folds or unfolds at an item's first or last line, two select a word, three an item. On the hint it
        goes to the end."""
        event.prevent_default()  # Textual would select everything there is
        row = self._painted[event.y] if 0 <= event.y < len(self._painted) else None
        if self.hint and event.y == self.size.height - 1:
            self.follow()
        elif row is None or row.row is None or (event.chain == 1 and self.text_selection):
            return
        elif event.chain == 1:
            self._click(row.number, row.row)
        elif event.chain == 2:
            start, end = word_at(row.strip.text if row.strip else "", event.x - GUTTER)
            y = Spot(row.number, row.row).y
            self._select(Offset(start, y), Offset(end, y))
        else:
            last = len(self.window.strips(row.number)) - 1
            self._select(Offset(0, Spot(row.number, 0).y), Offset(_LONG, Spot(row.number, last).y))

    def toggle(self, number: int) -> None:
        """Fold an item, or unfold it. Its beginning stays where it is, or comes into view."""
        item, now = self.window.items[number], len(self.window.strips(number))
        if item.folded is None:  # whether it is folded now is drawing's affair: it is, if it could be longer
            item.folded = len(draw(replace(item, folded=False), self.look)) <= now
        else:
            item.folded = not item.folded
        item.touch()
        if (self.window.begins(number) or 0) < 0:
            self.window.at_top(number)
        self.window.following = False
        self.window.take(item)
        self.settle()
        if not item.folded:
            self.window.reveal(number)
            self.settle()
        self.refresh()

    def _click(self, number: int, row: int) -> None:
        item, now = self.window.items[number], len(self.window.strips(number))
        if row in (0, now - 1):
            heights = {len(draw(replace(item, folded=folded), self.look)) for folded in (True, False)}
            if heights != {now}:
                self.toggle(number)

    def _select(self, start: Offset, end: Offset) -> None:
        self.screen.selections = {self: Selection(start, end)}

    def _extract(self, selection: Selection) -> str:
        rows = self.window.rows
        if not rows:
            return ""
        first, last = rows[0], rows[-1]
        # A drag that left the widget has no end: then it is what was in view, not all ten thousand items.
        start = selection.start or Offset(0, Spot(first.number, first.row or 0).y)
        end = selection.end or Offset(_LONG, Spot(last.number, last.row or 0).y)
        found: list[str] = []
        for number in range(Spot.of(start).number, min(Spot.of(end).number + 1, len(self.window.items))):
            for row, strip in enumerate(self.window.strips(number)):
                if (span := span_of(Selection(start, end), Spot(number, row), strip)) is not None:
                    found.append(strip.text[slice(*span)])
        return "\n".join(found)


def word_at(text: str, column: int) -> tuple[int, int]:
    """The word that lies at a column of a line; without one, the whole line."""
    for match in _WORD.finditer(text):
        if cell_len(text[: match.start()]) <= column < cell_len(text[: match.end()]):
            return match.span()
    return 0, len(text)
