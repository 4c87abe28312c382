"""A list to choose from, above the input: drawn over what is there, so that nothing moves, and never over the line that is
being written. The focus stays in the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from pegboard_tui.composer.completing import Choice, shown

MOST = 50
"""Choices that a list has at most: who needs more writes another letter."""
_ROWS = 8
_POINTER = "> "


class Choices(Widget):
    """Hidden while there is nothing to choose. `moved`: the person has gone to a choice that was not the first."""

    DEFAULT_CSS = """
    Choices {
        display: none; overlay: screen; constrain: none; width: 100%; height: auto;
        background: $surface; border-top: solid $border; border-title-color: $text-muted;
        &.-low { border: none; }
        & > .choices--current {
            color: $block-cursor-foreground; background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .choices--hit { text-style: bold underline; }
        & > .choices--help { color: $text-muted; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choices--current", "choices--hit", "choices--help"}

    class Taken(Message):
        """One was chosen with the mouse."""

        def __init__(self, choice: Choice) -> None:
            super().__init__()
            self.choice = choice

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.moved = False
        self._choices: Sequence[Choice] = ()
        self._at = 0
        self._top = 0
        self._note = ""
        self._rows = 1
        self._names = 0

    @property
    def open(self) -> bool:
        """Whether it is on the screen."""
        return bool(self.display)

    @property
    def current(self) -> Choice | None:
        """What Enter takes; None: there is nothing to take."""
        return self._choices[self._at] if self.open and self._choices else None

    def put(self, choices: Sequence[Choice], *, title: str, over: Widget, note: str = "") -> None:
        """Show these, the first one chosen; none and no note: hide. title: for the line above them. note: told in place of
        choices. over: it stands right above this."""
        same = self.open and [one.text for one in choices] == [one.text for one in self._choices]
        self._choices = list(choices)
        self._note = "" if choices else note
        if not same:
            self._at = self._top = 0
            self.moved = False
        self._names = min(max((cell_len(shown(one).label) for one in self._choices), default=0), 60)
        self.border_title = f" {title} "
        room = over.region.y
        if room < 1 or not (choices or note):
            self.hide()
            return
        self.set_class(low := room < 6, "-low")
        self._rows = max(1, min(len(self._choices), _ROWS, room - (not low)))
        aside, above = over.content_region.offset - over.region.offset
        self.styles.width, self.styles.height = over.region.width, self._rows + (not low)
        self.styles.padding = (0, aside)
        self.styles.offset = (-aside, -self._rows - (not low) - above)
        self._scroll()
        self.display = True
        self.refresh(layout=True)

    def hide(self) -> None:
        """Take it off the screen."""
        self._choices, self._note, self.moved = (), "", False
        self.display = False

    def move(self, by: int) -> None:
        """Go on by so many choices, round at the ends."""
        if self._choices:
            self._at = (self._at + by) % len(self._choices)
            self.moved = True
            self._scroll()
            self.refresh()

    def _scroll(self) -> None:
        self._top = min(max(self._top, self._at - self._rows + 1), self._at)

    def render_line(self, y: int) -> Strip:
        """A choice, or the note."""
        width, base = self.content_size.width, self.rich_style
        if self._note:
            text = set_cell_size(f"  {self._note}", width) if y == 0 else " " * width
            return Strip([Segment(text, self.get_component_rich_style("choices--help"))], width)
        at = self._top + y
        if not 0 <= at < len(self._choices):
            return Strip.blank(width, base)
        return self._drawn(shown(self._choices[at]), width, at == self._at).apply_style(base)

    def _drawn(self, choice: Choice, width: int, current: bool) -> Strip:
        hit = self.get_component_rich_style("choices--hit", partial=True)
        muted = Style() if current else self.get_component_rich_style("choices--help")
        names = min(max(self._names, 8), max(8, width * 3 // 5)) if choice.help else width
        label = _ended(choice.label, max(1, names - 2 if not choice.help else names))
        hits = set(choice.hits)
        parts = [Segment(_POINTER if current else "  ")]
        parts += [Segment(char, hit if at in hits else None) for at, char in enumerate(label)]
        used = 2 + cell_len(label)
        if choice.help and (room := width - names - 4) > 3:
            gap = names + 4 - used
            help = _ended(choice.help, room)
            parts += [Segment(" " * gap), Segment(help, muted)]
            used += gap + cell_len(help)
        parts.append(Segment(" " * max(0, width - used)))
        strip = Strip(parts).crop(0, width)
        return strip.apply_style(self.get_component_rich_style("choices--current", partial=True)) if current else strip

    def on_click(self, event: events.Click) -> None:
        """Take the one under the mouse."""
        at = self._top + event.y - self.gutter.top
        if 0 <= at < len(self._choices):
            event.stop()
            self.post_message(self.Taken(self._choices[at]))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go on."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go back."""
        event.stop()
        self.move(-1)


def _ended(text: str, width: int) -> str:
    return text if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
