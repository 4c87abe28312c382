"""How the app tells a person who looks elsewhere: that a long turn has ended, or that a question waits.

A terminal is told by a bell, and by OSC 9 or OSC 777, which it may show as a notification of the desktop. What is told is
text of ours: nothing a model or a tool wrote gets in it, and controls are spelled out all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from pegboard.terminal import visible

from pegboard_tui.items import Ended
from pegboard_tui.status import elapsed

How: TypeAlias = Literal["bell", "desktop", "both", "off"]

LONG_SECONDS = 10.0
"""A turn that took longer is told of when it ends: by then one looks elsewhere."""
BELL = "\a"
_LONGEST = 120
_TITLE = "pegboard"


class Notifier:
    """Tells of sessions while the terminal has not the focus or nobody knows whether it has.

    write: to the terminal. focused: None until the terminal has told of its focus, which many never do."""

    def __init__(self, how: How, environ: Mapping[str, str], write: Callable[[str], object]) -> None:
        self.how = how
        self.focused: bool | None = None
        self._environ = environ
        self._write = write

    def saw(self, *, ended: Ended | None = None, waiting: int = 0) -> None:
        """A turn has ended, or a question came up that makes it so many that wait."""
        if waiting:
            self.tell("a question waits" if waiting == 1 else f"{waiting} questions wait")
        elif ended is not None and ended.seconds is not None and ended.seconds > LONG_SECONDS:
            self.tell(f"{_HOW.get(ended.ended.status, 'ended')} after {elapsed(ended.seconds)}")

    def tell(self, text: str) -> None:
        """Tell this, unless the person looks at the app."""
        if self.focused is not True and (sequence := sequence_of(self.how, text, self._environ)):
            self._write(sequence)


_HOW = {"done": "done", "asked_back": "it asks something", "stopped": "stopped", "error": "it failed"}


def sequence_of(how: How, text: str, environ: Mapping[str, str]) -> str:
    """What is written to the terminal.

    tmux and screen keep such a sequence for themselves: it is wrapped so that they pass it on, and since they may be told
    not to, a bell goes with it."""
    if how == "off":
        return ""
    if how == "bell":
        return BELL
    note = _note(text, environ)
    if environ.get("TMUX"):
        return f"\x1bPtmux;{note.replace(chr(27), chr(27) * 2)}\x1b\\{BELL}"
    if environ.get("STY"):
        return f"\x1bP{note}\x1b\\{BELL}"
    return note + (BELL if how == "both" else "")


def _note(text: str, environ: Mapping[str, str]) -> str:
    """OSC 777 where a terminal is known to take that alone, else OSC 9. Its own text cannot end it, nor begin a field."""
    said = visible(text)[:_LONGEST].replace(";", ",")
    term = environ.get("TERM", "")
    if environ.get("VTE_VERSION") or term.startswith(("rxvt", "foot")):
        return f"\x1b]777;notify;{_TITLE};{said}{BELL}"
    return f"\x1b]9;{_TITLE}: {said}{BELL}"
