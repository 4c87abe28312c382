"""The line that a reason, a pattern or an answer is written in."""

from __future__ import annotations

from textual import events
from textual.widgets import Input

from pegboard_tui.composer.keyboards import pressed


class OneLine(Input):
    """Textual's, which does its keys in the order they came, and takes in all lines of a paste, as one."""

    async def _on_key(self, event: events.Key) -> None:
        if not event.is_printable and await pressed(self, event.key, self):
            event.stop()
            event.prevent_default()

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.replace(" ".join(event.text.split()), *self.selection)
