r"""What may reach a terminal. Text of models, tools and files is never trusted to be only text.

`strip` takes out escape sequences and control characters (answers, results, output as it comes). `visible` shows them
instead (prompts, diffs, activity lines): a person who decides must see every character that is there, so controls,
zero-width and bidirectional characters and odd spaces become `\x1b`, `\u202e` and the like.
"""

from __future__ import annotations

import re

_SUSPECT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_STRING_STARTS = "PX]^_"
_C1_STRINGS = "\x90\x98\x9d\x9e\x9f"
_BLANK = {0x00AD, 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
"""Characters that Python calls printable, or that some terminals draw as nothing."""
_IGNORABLE = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
MARK, UNMARK = "\x1b[7m", "\x1b[27m"


def code(char: str) -> str:
    r"""How a character is spelled where it may not stand: `\t`, `\x1b`, `\u202e`; an undecodable byte as `\xe9`."""
    point = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if 0xDC80 <= point <= 0xDCFF:
        return f"\\x{point - 0xDC00:02x}"
    return f"\\x{point:02x}" if point <= 0xFF else f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def plain(text: str) -> str:
    r"""Text as valid Unicode: what was no UTF-8 on the command line (lone surrogates) is spelled `caf\xe9`."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", lambda found: code(found[0]), text)
    return text


class _Shown(dict[int, str]):
    """A table for `str.translate` that fills itself."""

    def __init__(self, keep: str, colour: bool) -> None:
        super().__init__({ord(char): char for char in keep})
        self._colour = colour

    def __missing__(self, point: int) -> str:
        char = chr(point)
        hidden = not char.isprintable() or point in _BLANK or any(point in block for block in _IGNORABLE)
        shown = char if not hidden else f"{MARK}{code(char)}{UNMARK}" if self._colour else code(char)
        self[point] = shown
        return shown


_TABLES: dict[tuple[str, bool], _Shown] = {}


def visible(text: str, *, keep: str = "", colour: bool = False) -> str:
    """Text in which nothing hides: every character that a terminal obeys, or does not draw, is spelled out.

    `keep`: characters that may stay as they are (a newline, a tab). `colour`: mark what was spelled out by inverse
    video, so that it is told apart from the same letters in the text."""
    if text.isascii() and text.isprintable():
        return text
    table = _TABLES.setdefault((keep, colour), _Shown(keep, colour))
    return text.translate(table)


def strip(text: str) -> str:
    """Text without escape sequences and without control characters other than newline and tab."""
    return Stripper().feed(text)


class Stripper:
    """`strip` for text that comes in pieces: a sequence may begin in one piece and end in the next.

    A sequence that is broken off ends where its form does, and one that never ends (a title, say) ends with its line:
    nothing more than that can be hidden by it. A carriage return counts as the end of a line."""

    def __init__(self) -> None:
        self._state = "text"
        self._after_return = False

    def feed(self, piece: str) -> str:
        """The part of this piece that may be shown."""
        if self._state == "text" and not self._after_return and not _SUSPECT.search(piece):
            return piece
        return "".join(map(self._next, piece))

    def _next(self, char: str) -> str:
        if self._state != "text":
            if self._inside(char):
                return ""
            self._state = "text"
        after_return, self._after_return = self._after_return, char == "\r"
        if char == "\r":
            return "\n"
        if char == "\n":
            return "" if after_return else char
        return self._outside(char)

    def _outside(self, char: str) -> str:
        if char == "\x1b":
            self._state = "escape"
        elif char == "\x9b":
            self._state = "csi"
        elif char in _C1_STRINGS:
            self._state = "string"
        elif char == "\t" or not _SUSPECT.match(char):
            return char
        elif char >= "\ud800":
            return code(char)
        return ""

    def _inside(self, char: str) -> bool:
        """Whether the character belongs to the sequence that is open; sets what comes after it."""
        match self._state:
            case "escape" if char == "[":
                self._state = "csi"
            case "escape" if char in _STRING_STARTS:
                self._state = "string"
            case "escape" | "intermediate" if " " <= char <= "/":
                self._state = "intermediate"
            case "escape" | "intermediate" if "0" <= char <= "~":
                self._state = "text"
            case "csi" if " " <= char <= "?":
                pass
            case "csi" if "@" <= char <= "~":
                self._state = "text"
            case "string" if char in "\x07\x18\x1a\x9c":
                self._state = "text"
            case "string" if char == "\x1b":
                self._state = "escape"  # ESC \ ends it; any other sequence ends it too
            case "string" if char not in "\r\n":
                pass
            case _:
                return False
        return True
