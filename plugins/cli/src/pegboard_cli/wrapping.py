"""Long lines in rows of a terminal's width, so that what stands in them cannot begin a row of its own.

A terminal goes on at the very left, where our own lines begin: without this, an argument of the right length could draw
what looks like another line of the prompt.
"""

from __future__ import annotations

import re
from unicodedata import combining, east_asian_width

LEAST = 20
"""Below this many columns nothing is wrapped: there is no room for it."""
_PIECES = re.compile(r"\x1b\[[0-9;]*m|.", re.DOTALL)
_HEAD = re.compile(r"(?:\x1b\[[0-9;]*m)*( *)(│ )?")
_TAB = 8


def wrapped(line: str, width: int | None) -> list[str]:
    """A line (made safe already, perhaps painted) as rows of less than `width` columns; None: as it is.

    Rows after the first are indented further than the line, or go on behind its gutter. Nothing is left out."""
    if width is None or width < LEAST or (len(line) < width and line.isascii() and "\t" not in line):
        return [line]
    head = _HEAD.match(line)
    assert head is not None
    indent = head[1][: width // 2] + (head[2] or "  ")
    rows, row, used, gap = [""], 0, 0, 0
    for piece in _PIECES.findall(line):
        columns = _columns(piece, used)
        if used + columns >= width:
            kept, carried = (rows[row][:gap], rows[row][gap:]) if gap > len(indent) else (rows[row], "")
            rows[row] = kept
            rows.append(indent + carried)
            row, used, gap = row + 1, sum(_columns(p, 0) for p in _PIECES.findall(indent + carried)), 0
            columns = _columns(piece, used)
        rows[row] += piece
        used += columns
        if piece == " " and used > width // 2:
            gap = len(rows[row])
    return rows


def _columns(piece: str, at: int) -> int:
    """How many columns a piece takes that begins in column `at`."""
    if piece == "\t":
        return _TAB - at % _TAB
    if len(piece) > 1 or combining(piece):
        return 0
    return 2 if east_asian_width(piece) in "WF" else 1
