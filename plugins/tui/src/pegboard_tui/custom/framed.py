"""A plugin's widget as the app shows it: lines that came from its process, and nothing of its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from pegboard.blocks import Custom
from pegboard.terminal import visible
from rich.color import Color, ColorParseError
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from pegboard_tui.custom import messages as told
from pegboard_tui.drawing.look import Palette

GUTTER = 2
"""Columns at its left, in which a bar stands while it has the keys."""
BAR = "▌ "
MOST_LINES = 1000
"""No painting has more, whatever its process says."""


class Framed(Widget, can_focus=False):
    """What one widget last painted. Keys and the mouse go to its process through `send`, but for those that lead out of it:
    Escape, Tab from its last part, and what is bound around it to a key with ctrl or alt."""

    DEFAULT_CSS = "Framed { layer: above; position: absolute; }"
    ALLOW_SELECT = False

    def __init__(self, block: Custom, palette: Palette, send: Callable[[Framed, told.AnyToChild], None]) -> None:
        super().__init__()
        self.block = block
        self.palette = palette
        self.pane = -1
        self.painted = False
        self.in_sight = True
        self.unseen = 0
        self.rows = 0
        self._send = send
        self._pieces: dict[int, list[told.Piece]] = {}
        self._stops, self._at, self._scrolls = 0, -1, False

    def paint(self, told_of: told.Painted) -> None:
        """Look like this from now on."""
        self._pieces.update((number, line) for number, line in told_of.lines.items() if 0 <= number < MOST_LINES)
        self.rows = min(max(told_of.height, 0), MOST_LINES)
        self._stops, self._at, self._scrolls = told_of.stops, told_of.at, told_of.scrolls
        self.can_focus = self._stops > 0 or self._scrolls
        self.painted = True
        self.refresh()

    def forget(self) -> None:
        """A new process paints anew; what was painted stays to be seen until then."""
        self._stops, self._at = 0, -1

    def render_line(self, y: int) -> Strip:
        """A line, made safe and cut to the room there is."""
        focused = self.has_focus
        gutter = Segment(BAR if focused else " " * GUTTER, self.palette.accent if focused else None)
        room = max(self.size.width - GUTTER, 0)
        line = strip_of(self._pieces.get(y, ()), self.palette.colour).adjust_cell_length(room, self.rich_style)
        return Strip([gutter, *line], GUTTER + room)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """All there is."""
        return container.width

    def scroll_visible(self, *_: object, **__: object) -> None:
        """The stage does it: around this nothing scrolls but the transcript."""

    # --- keys and the mouse -------------------------------------------------------------------------------------------

    def on_focus(self) -> None:
        self._send(self, told.Focus(pane=self.pane, on=True))

    def on_blur(self) -> None:
        self._send(self, told.Focus(pane=self.pane, on=False))

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape" or self.leads_out(event.key):
            return
        event.stop()
        event.prevent_default()
        self._send(self, told.Key(pane=self.pane, key=event.key, character=event.character))

    def leads_out(self, key: str) -> bool:
        """Whether a key is not the widget's, as it stands now."""
        if key == "tab":
            return self._at + 1 >= self._stops
        if key == "shift+tab":
            return self._at <= 0
        return key.startswith(("ctrl+", "alt+")) and key in self.screen.active_bindings

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self._send(self, told.Paste(pane=self.pane, text=event.text))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.capture_mouse()  # what is dragged out of it is still its own
        self._mouse(event)

    def on_mouse_up(self, event: events.MouseUp) -> None:
        self.release_mouse()
        self._mouse(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._mouse(event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event)

    def _wheel(self, event: events.MouseEvent) -> None:
        if self.has_focus and self._scrolls:  # else it is on the way, and the page goes on
            self._mouse(event)

    def _mouse(self, event: events.MouseEvent) -> None:
        event.stop()
        if event.x < GUTTER:
            return
        self._send(
            self,
            told.Mouse(
                pane=self.pane,
                what=type(event).__name__,
                x=event.x - GUTTER,
                y=event.y,
                button=event.button,
                shift=event.shift,
                meta=event.meta,
                ctrl=event.ctrl,
            ),
        )


def strip_of(pieces: Iterable[told.Piece], colour: bool) -> Strip:
    """Pieces as cells: nothing that a terminal obeys, no link, and without colours where none may be used."""
    return Strip(
        [
            Segment(visible(piece.text), _style(piece.colour, piece.background, piece.attributes, colour))
            for piece in pieces
        ]
    )


@lru_cache(2048)
def _style(front: str, back: str, attributes: str, coloured: bool) -> Style:
    kinds: dict[str, Any] = {name: True for letter, name in told.ATTRIBUTES.items() if letter in attributes}
    return Style(color=_colour(front) if coloured else None, bgcolor=_colour(back) if coloured else None, **kinds)


def _colour(name: str) -> Color | None:
    try:
        return Color.parse(name) if name else None
    except ColorParseError:
        return None
