"""The widget beneath the transcript: it shows a `Window` of items, scrolls it, and repaints what has changed, no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from time import monotonic

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.timer import Timer

from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.drawn import DrawnItems
from pegboard_tui.items import AnyItem
from pegboard_tui.painting import GUTTER, Marks, painted
from pegboard_tui.window import Gap, Row, Window, spaced

FRAME = 1 / 8
"""Seconds between two repaints while much is going on."""
BURST = 4
"""How many may come at once after a rest."""
SEEN = 1_000
"""Lines of cells that are kept for the next repaint."""
NEAR = 3
"""Screens that a scroll may go and still be counted line by line."""


class Scrolling(ScrollView, can_focus=True, inherit_bindings=False):
    """Items below one another, of which only those in view are drawn."""

    DEFAULT_CSS = """
    Scrolling {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    # A change of the height alone lays out and repaints nothing: the lines in view are the same.
    virtual_size = Reactive(Size(0, 0), layout=False, repaint=False)

    def __init__(self, palette: Palette, *, gap: Gap = spaced, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn = DrawnItems(Look(width=80, palette=palette))
        self.window = Window(self._drawn, gap)
        self._waiting: dict[str, AnyItem] = {}
        self._painted: list[Row] = []
        self._marks: Marks | None = None
        self._across = 0
        self._barred = False
        self._cells: dict[tuple[int, int | None, bool, int], tuple[Strip | None, Strip]] = {}
        self._known = 0
        self.hint = ""
        """What stands on the last line while there is more below it."""
        self._syncing = False
        self._timer: Timer | None = None
        self._budget = float(BURST)
        self._last = monotonic()
        self._frame = FRAME

    # --- what is shown ------------------------------------------------------------------------------------------------

    @property
    def look(self) -> Look:
        """How items are drawn; its width follows the widget's. Another one draws what is in view anew."""
        return self._drawn.look

    @look.setter
    def look(self, look: Look) -> None:
        look = replace(look, width=self._drawn.look.width)
        if look != self._drawn.look:
            self._drawn.look = look
            self.window.forget()
            self.settle()
            self.refresh()

    def show(self, items: Sequence[AnyItem]) -> None:
        """Show these items, and no others."""
        self._waiting.clear()
        self.window.show(items)
        self.settle()
        self.refresh()

    def take(self, changed: Sequence[AnyItem]) -> None:
        """Show items that are new, and draw those anew that have changed: at once, or with the next repaint."""
        for item in changed:
            self._waiting[item.key] = item
        if self._waiting and self._timer is None:
            self._soon()

    def flush(self) -> None:
        """Show now what waits for the next repaint."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        waiting, self._waiting = self._waiting, {}
        for item in waiting.values():
            self.window.take(item)
        began = monotonic()
        self.settle()
        self._frame = max(FRAME, 4 * (monotonic() - began))

    def _soon(self) -> None:
        now = monotonic()
        self._budget = min(self._budget + (now - self._last) / self._frame, BURST)
        self._last = now
        if self._budget >= 1 or not self.is_attached:
            self._budget -= 1
            self.flush()
        else:
            self._budget -= 1
            self._timer = self.set_timer(-self._budget * self._frame, self.flush)

    # --- scrolling ----------------------------------------------------------------------------------------------------

    def scroll_lines(self, lines: int) -> None:
        """Down by so many lines; up, when negative."""
        self.window.move(lines)
        self.settle()

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self.window.following = True
        self.settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value
        lines = round(new_value) - round(old_value)
        if (
            self._syncing or not lines or old_value > self.max_scroll_y
        ):  # the last: nobody scrolled, there is more room now
            return
        if abs(lines) <= NEAR * self.size.height:
            self.window.move(lines)
        elif new_value >= self.max_scroll_y:
            self.window.following = True
        else:
            self.window.jump(round(new_value))
        self.settle()

    def on_resize(self, event: events.Resize) -> None:
        """Another width draws what is in view anew, but not for each step on the way to it."""
        if self._width != self._drawn.look.width:
            if self._timer is None:
                self._soon()
        else:
            self.settle()
        self.refresh()

    @property
    def _width(self) -> int:
        """Columns that there are for rows."""
        return max(self.scrollable_size.width - GUTTER, 1)

    def settle(self) -> None:
        """Draw what is in view, and let the scroll bar and the screen know what has changed by it."""
        size = self.scrollable_size  # without the scroll bar
        if not size:
            return
        if self._width != self._drawn.look.width:
            self._drawn.look = replace(self._drawn.look, width=self._width)
            self.window.forget()
        before, self._painted = self._painted, list(self.window.settle(size.height))
        self._sync(Size(size.width, self.window.total), self.window.y)
        for region in changed_lines(before, self._painted, size):
            self.refresh(region)
        hint = self._hint()
        if hint != self.hint:
            self.hint = hint
            self.refresh(Region(0, size.height - 1, size.width, 1))

    def _hint(self) -> str:
        window = self.window
        if window.following:
            self._known = len(window.items)
            return ""
        new = len(window.items) - self._known
        return f" {window.below or 'more'} below{f', {new} new' if new > 0 else ''} · End "

    def _sync(self, size: Size, y: int) -> None:
        self._syncing = True
        try:
            self.virtual_size = size
            if self.show_vertical_scrollbar:
                moved(self.vertical_scrollbar, size.height, y, whole=not self._barred)
                self._barred = self.vertical_scrollbar.is_mounted  # before it is, nothing that it is told shows
            if round(self.scroll_y) != y:  # else it keeps the fraction of a line that a drag has come to
                self.scroll_y = y
                self.scroll_target_y = y
        finally:
            self._syncing = False

    # --- painting -----------------------------------------------------------------------------------------------------

    def marks(self) -> Marks:
        """What is marked, and how."""
        return Marks(text=self.visual_style.rich_style)

    def render_lines(self, crop: Region) -> list[Strip]:
        marks = self.marks()
        self._across = self.scrollable_size.width  # asked for once: it takes longer than most lines do
        if marks != self._marks or len(self._cells) > SEEN:
            self._marks = marks
            self._cells.clear()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        width, marks = self._across or self.scrollable_size.width, self._marks or self.marks()
        if self.hint and y == self.size.height - 1:
            hint = Strip([Segment(self.hint, marks.text + self.look.palette.focus)]).crop(0, width)
            return Strip.join([Strip.blank(width - hint.cell_length, marks.text), hint])
        row = self._painted[y] if 0 <= y < len(self._painted) else None
        if row is None:
            return Strip.blank(width, marks.text)
        above = self._painted[y - 1] if y else None
        first = above is None or above.row is None or above.number != row.number
        key = (row.number, row.row, first, width)
        strip, found = self._cells.get(key, (None, None))
        if found is None or strip is not row.strip:
            found = painted(row, width, marks, first=first)
            self._cells[key] = (row.strip, found)
        return found


def moved(bar: ScrollBar, lines: int, y: int, *, whole: bool) -> None:
    """Let a vertical scroll bar know where one is in how many lines. Of it only what shows that is drawn anew: drawing all
    of it takes as long as drawing the lines beside it. whole: draw all of it nevertheless."""
    before = _thumb(bar)
    bar.set_reactive(ScrollBar.window_virtual_size, lines)
    bar.set_reactive(ScrollBar.position, float(y))
    after = _thumb(bar)
    if whole or before is None or after is None:
        if whole or before != after:
            bar.refresh()
        return
    for old, new in zip(before, after, strict=True):
        if old != new:
            first, last = min(old, new) // 8, max(old, new) // 8
            bar.refresh(Region(0, first, bar.size.width, last - first + 1))


def _thumb(bar: ScrollBar) -> tuple[int, int] | None:
    """The eighths of lines at which its thumb begins and ends, as `ScrollBarRender` counts them; None: it has none."""
    room, lines, window = bar.size.height, int(bar.window_virtual_size), int(bar.window_size)
    if not (room and window) or lines <= window or lines == room:
        return None
    size = max(1.0, window * room / lines)
    begins = int((room - size) * bar.position / (lines - window) * 8)
    return begins, begins + ceil(size * 8)


def changed_lines(before: Sequence[Row], after: Sequence[Row], size: Size) -> Iterator[Region]:
    """The parts of a widget that show something else now: as few as there are runs of lines."""
    begins: int | None = None
    for y in range(size.height + 1):
        old = before[y] if y < len(before) else None
        new = after[y] if y < len(after) else None
        same = y == size.height or old == new
        if same and begins is not None:
            yield Region(0, begins, size.width, y - begins)
            begins = None
        elif not same and begins is None:
            begins = y
