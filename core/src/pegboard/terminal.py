r"""What may reach a terminal. Text of models, tools and files is never trusted to be only text.

Nothing is taken out, for what is not shown cannot be judged: controls, zero-width and bidirectional characters become
`\x1b`, `\u202e` and the like. `visible` does it within a line, where a person decides (prompts, diffs, activity lines), and
spells odd spaces too; `spelled` does it in texts of several lines (answers, results). What a command printed may lose its
colours, and what it wrote over itself: `command_output`.
"""

from __future__ import annotations

import re
from functools import cache

_HARMLESS = re.compile(r"[\t\n\x20-\x7e]*")
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


@cache
def _shown(keep: str, colour: bool) -> _Shown:
    return _Shown(keep, colour)


_OUTPUT = _Shown("\n\t\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))), False)
"""For `spelled`: spaces of every width may stay."""
_COLOUR = re.compile(r"\x1b\[[0-9:;]*m")
_ERASE = re.compile(r"(\x1b\[[02]?K)")
"""The rest of the line, or all of it."""


def visible(text: str, *, keep: str = "", colour: bool = False) -> str:
    """Text in which nothing hides: every character that a terminal obeys, or does not draw, is spelled out.

    `keep`: characters that may stay as they are (a newline, a tab). `colour`: mark what was spelled out by inverse
    video, so that it is told apart from the same letters in the text."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_shown(keep, colour))


class Speller:
    """`spelled` for text that comes in pieces: a line end of two characters may begin in one and end in the next."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The part of what came so far that may be shown now."""
        text = self._held + piece
        self._held = "\r" if text.endswith("\r") else ""
        return spelled(text.removesuffix("\r") if self._held else text)

    def end(self) -> str:
        """What was held back."""
        held, self._held = self._held, ""
        return visible(held)


def spelled(text: str) -> str:
    r"""Text of several lines in which nothing hides: answers, results and the like. Every escape sequence, control, mark of
    direction and character without a width is spelled out. A line may end with `\r\n`; odd spaces stay as they are."""
    if text.isascii() and _HARMLESS.fullmatch(text):
        return text
    return text.replace("\r\n", "\n").translate(_OUTPUT)


def command_output(text: str) -> str:
    """`spelled` for what a command printed, `as_left` on a terminal: all else is spelled out."""
    return spelled(as_left(text))


def as_left(text: str) -> str:
    r"""What a command printed, without its colours (whole, well-formed ones), and a line that it wrote over by `\r`, as
    progress bars do, as it stood in the end. Not made safe."""
    text = _COLOUR.sub("", text) if "\x1b" in text else text
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_written_over(line) if "\r" in line else line for line in lines)


def _written_over(line: str) -> str:
    shown: list[str] = []
    for state in line.split("\r"):
        at = wiped = 0
        for part in _ERASE.split(state.expandtabs()):
            if _ERASE.fullmatch(part) is None:
                shown[at : at + len(part)] = part
                at += len(part)
            else:
                del shown[at:]
                if "2" in part:  # also what stands before the cursor
                    shown[wiped:at] = " " * (at - wiped)
                    wiped = at
    return "".join(shown).rstrip()
