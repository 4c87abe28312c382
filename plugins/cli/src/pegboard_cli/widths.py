"""How many columns a text takes at a terminal. For text that is safe to show (see `terminal`): one line, no controls."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def columns_of(text: str) -> int:
    """Columns that a line takes: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def fitted(text: str, width: int) -> str:
    """The line, or as much of its beginning as `width` columns hold together with the `…` that says so."""
    if columns_of(text) <= width:
        return text
    used = 1
    for index, char in enumerate(text):
        used += _width(char)
        if used > width:
            return f"{text[:index]}…" if width > 0 else ""
    return text


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The line with spaces up to a width; `right`: before it."""
    space = " " * (width - columns_of(text))
    return space + text if right else text + space


def shortened(text: str, width: int) -> str:
    """Like `fitted`, cut at a word where there is one."""
    cut = fitted(text, width)
    if cut == text:
        return text
    head, gap, _ = cut[:-1].rpartition(" ")
    return f"{head.rstrip()}…" if gap and len(head) > width // 2 else cut
