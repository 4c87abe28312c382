"""One item whole, on a screen of its own: for results that are too long to be read between others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pegboard.blocks import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Static

from pegboard_tui.items import AnyItem, Made, Shown
from pegboard_tui.selecting import source

if TYPE_CHECKING:
    from pegboard_tui.transcript import Transcript

LINES, CHARACTERS = 100, 8_000
"""Of a piece, at most."""
WHOLE = 60_000
"""Characters up to which an item is drawn as a whole."""


class Viewer(ModalScreen[None]):
    """Items on a whole screen. What is copied there is told to the transcript that it was opened from."""

    DEFAULT_CSS = """
    Viewer > Static {
        height: 1;
        padding: 0 1;
        background: $panel;
        text-style: bold;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,escape", "dismiss(None)", "back", id="viewer.close")]

    def __init__(self, body: Transcript, items: list[AnyItem], origin: Transcript) -> None:
        super().__init__()
        self._body = body
        self._items = items
        self._origin = origin

    def compose(self) -> ComposeResult:
        yield Static("Esc back · / search · y copy", markup=False)
        yield self._body

    def on_mount(self) -> None:
        self._body.window.following = False
        self._body.show(self._items)
        self._body.focus()

    def on_transcript_left(self) -> None:
        """Back to where it was opened."""
        self.dismiss(None)

    def on_transcript_copied(self, message: Transcript.Copied) -> None:
        """Have it told by the one below, for the app knows that one."""
        message.stop()
        self._origin.post_message(type(message)(message.text, message.what))


def pieces(item: AnyItem) -> list[AnyItem]:
    """An item as several that are quickly drawn; one alone where it is short enough."""
    text = source(item)
    if len(text) <= WHOLE and text.count("\n") < WHOLE // 40:
        return [replace(item, folded=False)]
    head: list[AnyItem] = [replace(item, finished=None)] if isinstance(item, Made) else []
    parts = [Shown(key=f"piece {number}", blocks=[Text(text=part)]) for number, part in enumerate(parts_of(text))]
    return [*head, *parts]


def parts_of(text: str) -> Iterator[str]:
    """A text in parts of some lines each; a very long line is several."""
    part: list[str] = []
    size = 0
    for line in text.split("\n"):
        for start in range(0, max(len(line), 1), CHARACTERS):
            piece = line[start : start + CHARACTERS]
            if part and (len(part) >= LINES or size + len(piece) > CHARACTERS):
                yield "\n".join(part)
                part, size = [], 0
            part.append(piece)
            size += len(piece)
    yield "\n".join(part)
