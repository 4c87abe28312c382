r"""Text made safe before it is laid out, with what was spelled out told apart from the same letters in the text.

`terminal.visible` marks what it spells out by inverse video, which is cells' business here: the two marks become two
characters of the private use area, which no text can bring in (they are spelled out themselves), pass through Markdown and
Pygments as letters, and are turned into a style last of all, by `settled`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from pegboard.terminal import MARK, UNMARK, as_left, spelled, visible

if TYPE_CHECKING:
    from rich.style import Style

    from pegboard_tui.drawing.look import Palette

Piece: TypeAlias = "tuple[str, Style]"
"""Text in one style, on one line."""
Line: TypeAlias = list[Piece]

BEGIN, END = "\ue000", "\ue001"
"""Around what is spelled out, until it is settled."""
_SPACES = "\n\t\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What `terminal.spelled` leaves as it is."""
_SETTLED = _SPACES + BEGIN + END
_EITHER = re.compile(f"([{_SETTLED[-2:]}])")


def marked(text: str) -> str:
    """Text of several lines, as `terminal.spelled` makes it, with marks."""
    shown = spelled(text)
    return text if shown == text else _marks(visible(text.replace("\r\n", "\n"), keep=_SPACES, colour=True))


def marked_line(text: str, keep: str = "") -> str:
    """Text within a line, as `terminal.visible` makes it, with marks."""
    return _marks(visible(text, keep=keep, colour=True))


def marked_output(text: str) -> str:
    """What a command printed, as `terminal.command_output` makes it, with marks."""
    return marked(as_left(text))


def settled(line: Line, palette: Palette) -> Line:
    """The line with its marks turned into style; what was decoded after it was made safe is made safe here."""
    whole = "".join([text for text, _ in line])
    if whole.isascii() and whole.isprintable():
        return line
    found: Line = []
    style_of_hidden, inside = palette.hidden, False
    for text, style in line:
        if text.isascii() and text.isprintable():
            if text:
                found.append((text, style + style_of_hidden if inside else style))
            continue
        for part in _EITHER.split(_marks(visible(text, keep=_SETTLED, colour=True))):
            if part in (BEGIN, END):
                inside = part == BEGIN
            elif part:
                found.append((part, style + style_of_hidden if inside else style))
    return found


def _marks(text: str) -> str:
    return text.replace(MARK, BEGIN).replace(UNMARK, END) if MARK in text else text


def unmarked(text: str) -> str:
    """Without the marks: for addresses, which nobody styles."""
    return text.replace(BEGIN, "").replace(END, "")
