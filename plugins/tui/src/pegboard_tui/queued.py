"""What the person said while the agent worked: prompts that wait for the turn's end, and what the running turn is told."""

from __future__ import annotations

from typing import ClassVar

from pegboard.terminal import visible
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message

from pegboard_tui.drawing.look import Palette
from pegboard_tui.painted import Painted

MOST = 5
"""Prompts that are shown; of more, how many they are."""
LEAST = 8
"""Lines of a screen below which they are shown only while one of them is chosen."""


class Queued(Painted, can_focus=True):
    """Texts above the input, oldest first. Hidden while there is none.

    texts: prompts that wait. steered: what was said to the turn that runs, and no request of it held yet."""

    DEFAULT_CSS = """
    Queued { height: auto; max-height: 8; display: none; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "the one before", id="queue.up", show=False),
        Binding("down", "move(1)", "the next one", id="queue.down", show=False),
        Binding("enter,e", "take_back", "take it back into the input", id="queue.edit"),
        Binding("delete,backspace,d", "remove", "remove it", id="queue.remove"),
        Binding("escape", "leave", "back to the input", id="queue.leave", show=False),
    ]

    class Changed(Message):
        """Other prompts wait than before."""

        def __init__(self, waiting: int) -> None:
            super().__init__()
            self.waiting = waiting

    class TakenBack(Message):
        """This prompt goes back into the input; empty: the person does."""

        def __init__(self, text: str = "") -> None:
            super().__init__()
            self.text = text

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(palette, id=id)
        self.texts: list[str] = []
        self.steered: list[str] = []
        self._at = self._told = 0

    def add(self, text: str) -> None:
        """A prompt that waits."""
        self.texts.append(text)
        self.redraw()

    def put_first(self, text: str) -> None:
        """A prompt that could not be sent, before all others."""
        self.texts.insert(0, text)
        self.redraw()

    def steer(self, text: str) -> None:
        """What the running turn is told."""
        self.steered.append(text)
        self.redraw()

    def heard(self, text: str) -> None:
        """The turn has taken in what it was told; of texts that are alike, the first."""
        if text in self.steered:
            self.steered.remove(text)
            self.redraw()

    def unheard(self) -> None:
        """The turn is over: what it was told and did not take in waits before all other prompts."""
        if self.steered:
            self.texts[:0], self.steered = self.steered, []
            self.redraw()

    def next(self) -> str | None:
        """The prompt that is to be sent now; it waits no longer."""
        return self._pop(0) if self.texts else None

    def recall(self) -> str | None:
        """The prompt that came last; it waits no longer."""
        return self._pop(len(self.texts) - 1) if self.texts else None

    def _pop(self, at: int) -> str:
        text = self.texts.pop(at)
        self.redraw()
        if not self.texts and self.has_focus:
            self.post_message(self.TakenBack())
        return text

    def action_move(self, by: int) -> None:
        """Choose another."""
        self._at = min(max(self._at + by, 0), max(len(self.texts) - 1, 0))
        self.redraw()

    def action_take_back(self) -> None:
        """Put the chosen one into the input."""
        if self.texts:
            self.post_message(self.TakenBack(self._pop(self._at)))

    def action_remove(self) -> None:
        """Take the chosen one away."""
        if self.texts:
            self._pop(self._at)

    def action_leave(self) -> None:
        """Back to the input."""
        self.post_message(self.TakenBack())

    def on_focus(self) -> None:
        self._at = max(len(self.texts) - 1, 0)
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Show what waits now."""
        self._at = min(self._at, max(len(self.texts) - 1, 0))
        if len(self.texts) != self._told:
            self._told = len(self.texts)
            self.post_message(self.Changed(self._told))
        palette, lines, height = self.palette, list[Text](), self.app.size.height
        most = MOST if height >= 24 or self.has_focus else max(height // 6 - 1, 1)
        self.display = bool(self.texts or self.steered) and (height >= LEAST or self.has_focus)
        for text in self.steered[-most:]:
            lines.append(Text("told    ", palette.dim).append(_line(text), palette.text))
        first = max(min(self._at - most + 1, len(self.texts) - most), 0) if self.has_focus else 0
        for number, text in enumerate(self.texts[first : first + most], first):
            chosen = self.has_focus and number == self._at
            lines.append(Text("queued  ", palette.dim).append(_line(text), palette.focus if chosen else palette.text))
        if len(self.texts) > most:
            lines.append(Text(f"        and {len(self.texts) - most} more", palette.dim))
        if self.has_focus:
            lines.append(Text("        enter takes it back, delete removes it, esc leaves", palette.dim))
        self.update(Text("\n").join(lines))


def _line(text: str) -> str:
    first, _, more = text.strip().partition("\n")
    return visible(first[:400]) + (f" (+{more.count(chr(10)) + 1} lines)" if more else "")
