"""What terminals send, where Textual reads it otherwise than a person means it, or slowly."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.drivers import linux_driver
from textual.message import Message
from textual.widget import Widget


class _Key(Enum):
    ALT_ENTER = "alt+enter"


def tell_alt_enter_apart() -> None:
    """Have Textual read Alt and Enter as `alt+enter` in every terminal. By itself it does so only in those that speak the
    newer protocol; tmux does not, and there Enter would send what was to get a line more."""
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    table.setdefault("\x1b\r", (_Key.ALT_ENTER,))


class Reader(XTermParser):
    """Takes a paste as it comes, in pieces. Textual's goes through it by the character: two seconds a megabyte, in which
    the rest of the program hardly runs; and escape codes in it become keys."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._held = ""

    def feed(self, data: str) -> Iterable[Message]:
        """What this much means; "" is the end."""
        if not data:
            yield from super().feed("")
            return
        data, self._held = self._held + data, ""
        while data:
            if self._pasted is None:
                keys, begun, data = data.partition(BRACKETED_PASTE_START)
                if begun:
                    self._pasted = []
                else:
                    keys, self._held = _cut(keys, BRACKETED_PASTE_START, 3)  # alone, Esc and Alt+[ are keys
                if keys:
                    yield from super().feed(keys)
            else:
                piece, ended, data = data.partition(BRACKETED_PASTE_END)
                if not ended:
                    piece, self._held = _cut(piece, BRACKETED_PASTE_END, 1)
                self._pasted.append(piece)
                if ended:
                    text, self._pasted = "".join(self._pasted), None
                    yield events.Paste(text.replace("\x00", ""))


def _cut(text: str, sign: str, least: int) -> tuple[str, str]:
    """What may be the beginning of the sign, taken off the end: at least so many characters of it."""
    held = next((size for size in range(len(sign) - 1, least - 1, -1) if text.endswith(sign[:size])), 0)
    return text[: len(text) - held], text[len(text) - held :]


async def pressed(widget: Widget, key: str, last: Widget) -> bool:
    """Do at once what a key is bound to by a widget or those around it, up to `last`. False: nothing. By itself Textual
    passes the key on to the app first, and does it when letters that came later are written: Enter sends them, too, and
    backspace deletes those. So it is for a widget that is written in, in the place where it takes the letters."""
    if widget.screen.focused is not widget:  # it was on its way when the focus went elsewhere
        return False
    for namespace, bindings in widget.screen._modal_binding_chain:
        for binding in bindings.key_to_bindings.get(key, ()):
            if not binding.priority and await widget.app.run_action(binding.action, namespace):
                return True
        if namespace is last:
            break
    return False


def read_pastes_whole() -> None:
    """Have Textual's drivers read with a `Reader`. It counts for those that begin to read later."""
    linux_driver.XTermParser = Reader  # type: ignore[attr-defined]
