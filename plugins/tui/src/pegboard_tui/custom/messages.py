"""What the app and the process of a plugin's widgets tell each other: JSON, an object a line.

`pane`: one widget for one block; a process may hold several of the same kind.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

MOST_BYTES = 1024 * 1024
"""A longer line of a widget's process is nonsense: a painting has at most some hundred lines."""


class _ToChild(msgspec.Struct, frozen=True, kw_only=True, tag_field="to", tag=str.lower):
    pane: int


class Open(_ToChild, frozen=True, kw_only=True):
    """Make a widget for this data. height: lines it may have; what it has beyond them is scrolled.

    theme: the fields of a `textual.theme.Theme`. background: the colour behind it."""

    data: Any
    width: int
    height: int
    theme: dict[str, Any]
    background: str


class Size(_ToChild, frozen=True, kw_only=True):
    """There is so much room from now on."""

    width: int
    height: int


class Dress(_ToChild, frozen=True, kw_only=True):
    """These colours are on from now on."""

    theme: dict[str, Any]
    background: str


class Key(_ToChild, frozen=True, kw_only=True):
    """A key was pressed."""

    key: str
    character: str | None


class Mouse(_ToChild, frozen=True, kw_only=True):
    """The mouse did something. what: the name of Textual's event. x, y: cells from the widget's corner."""

    what: str
    x: int
    y: int
    button: int
    shift: bool
    meta: bool
    ctrl: bool


class Paste(_ToChild, frozen=True, kw_only=True):
    """A text was pasted."""

    text: str


class Focus(_ToChild, frozen=True, kw_only=True):
    """Keys go to it from now on, or no longer. last: the last thing in it that takes keys comes first."""

    on: bool
    last: bool = False


class Close(_ToChild, frozen=True, kw_only=True):
    """It is not seen any more."""


class Ping(_ToChild, frozen=True, kw_only=True):
    """Say that you are there: `pane` comes back in a `Pong`."""


AnyToChild: TypeAlias = Open | Size | Dress | Key | Mouse | Paste | Focus | Close | Ping


class _FromChild(msgspec.Struct, frozen=True, kw_only=True, tag_field="from", tag=str.lower):
    pane: int


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """A run of cells in one style. attributes: of `ATTRIBUTES`, each by its first letter."""

    text: str
    colour: str = ""
    background: str = ""
    attributes: str = ""


ATTRIBUTES = {"b": "bold", "d": "dim", "i": "italic", "u": "underline", "r": "reverse", "s": "strike"}


class Painted(_FromChild, frozen=True, kw_only=True):
    """How a widget looks. height: lines it has, scrolled ones left out; lines: those that have changed, by number.

    stops: how many things in it take keys; at: which of them has them, from 0; -1: none. scrolls: the wheel moves it."""

    height: int
    lines: dict[int, list[Piece]]
    stops: int
    at: int
    scrolls: bool


class Failed(_FromChild, frozen=True, kw_only=True):
    """A widget is gone, and why: `raised ValueError: no data`."""

    error: str


class Pong(_FromChild, frozen=True, kw_only=True):
    """The process is there."""


AnyFromChild: TypeAlias = Painted | Failed | Pong

encode = msgspec.json.Encoder().encode
read_to_child = msgspec.json.Decoder(AnyToChild).decode
read_from_child = msgspec.json.Decoder(AnyFromChild).decode
