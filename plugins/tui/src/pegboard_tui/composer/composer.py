"""The input at the foot of a session."""

from __future__ import annotations

from typing import ClassVar

from pegboard.port import Conversation, Host
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import TextArea


class Composer(Widget):
    """Text of one or several lines. busy: a turn runs, so that what is sent waits or steers it."""

    DEFAULT_CSS = "Composer { height: auto; } Composer TextArea { height: 4; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "submit", "send", priority=True, id="input.send")]

    class Submitted(Message):
        """What was written, with everything that was folded in it. steer: it is said to the running turn, not after it."""

        def __init__(self, text: str, *, steer: bool = False) -> None:
            super().__init__()
            self.text = text
            self.steer = steer

    def __init__(self, host: Host, conversation: Conversation, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.busy = False
        self._host = host
        self._conversation = conversation

    def compose(self) -> ComposeResult:
        yield TextArea()

    def focus(self, scroll_visible: bool = True) -> Composer:
        """Write here from now on."""
        self.query_one(TextArea).focus(scroll_visible)
        return self

    def action_submit(self) -> None:
        """Send what is written."""
        area = self.query_one(TextArea)
        if area.text.strip():
            self.post_message(self.Submitted(area.text))
            area.clear()

    @property
    def text(self) -> str:
        """What is written and was not sent."""
        return self.query_one(TextArea).text

    def write(self, text: str) -> None:
        """Put a text in the place of what is written."""
        self.query_one(TextArea).load_text(text)
