"""Texts in cells: cut to a width, and on a terminal that is not UTF-8 with a sign as wide for each that it lacks."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_PLAIN = {
    "─━═╌╍┄┅╴╶▔▁▂▃‾—–": "-",
    "│┃║╎╏┆┇▏▎▍▌▐▕": "|",
    "╭╮╰╯┌┐└┘├┤┬┴┼╔╗╚╝╠╣╦╩╬┏┓┗┛┣┫┳┻╋": "+",
    "█▉▊▋▄▅▆▇▀■▪◆◇": "#",
    "░▒▓": ":",
    "●•·∙○◦": "*",
    "▶▸›»→❯": ">",
    "◀◂‹«←❮": "<",
    "▼▾↓": "v",
    "▲▴↑": "^",
    "✓✔": "+",
    "✗✘×": "x",
    "…": "~",
    "↳⏎": ">",
    "“”": '"',
    "‘’": "'",
    "\N{NO-BREAK SPACE}": " ",
}
_TABLE = {ord(sign): plain for signs, plain in _PLAIN.items() for sign in signs}


class Encoded(LineFilter):
    """In the place of each character that the terminal's encoding lacks it puts one as wide: its like in ASCII, or `?`."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments, with text that can be written."""
        return [Segment(fitting(text, self._encoding), style, control) for text, style, control in segments]


@lru_cache(4096)
def fitting(text: str, encoding: str) -> str:
    """Text of which each character is in the encoding, cell for cell."""
    if text.isascii():
        return text
    try:
        text.encode(encoding)
        return text
    except UnicodeEncodeError:
        return "".join(_one(char, encoding) for char in text)


def _one(char: str, encoding: str) -> str:
    try:
        char.encode(encoding)
        return char
    except UnicodeEncodeError:
        return _TABLE.get(ord(char)) or "?" * cell_len(char)


def unicode_fits(encoding: str | None) -> bool:
    """Whether everything can be written in it. None (nobody knows): it is tried."""
    return encoding is None or encoding.lower().replace("-", "").replace("_", "").startswith("utf")


def cut(text: str, width: int) -> str:
    """Text of at most so many cells; `…` says that there is more."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""
