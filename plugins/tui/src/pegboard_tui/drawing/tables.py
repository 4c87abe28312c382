"""Tables: columns side by side while they fit, folded within their cells while that reads well, else a paragraph a row.
Nothing is ever cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from pegboard_tui.drawing.cells import PLAIN, indented, padded, room, width_of, wrapped
from pegboard_tui.drawing.spelling import Line

if TYPE_CHECKING:
    from pegboard_tui.drawing.look import Palette

GAP = 2
"""Columns between two cells."""
_NARROW = 12
"""A column that is folded keeps at least as much."""
_NUMBER = re.compile(r"[-+~]?[$€£]?[\d,. _]*\d[\d,. ]*(?:%|[a-zA-Zµ]{1,3})?")


def table(
    header: Sequence[Line], rows: Sequence[Sequence[Line]], width: int, palette: Palette, aligned: Sequence[str] = ()
) -> list[Line]:
    """A table's lines. Cells are safe, and on one line each; rows may be of any length. aligned: left, right, center."""
    count = max([len(header), *map(len, rows)])
    if not count:
        return []
    names = [*header, *[[] for _ in range(count - len(header))]]
    full = [[*row, *[[] for _ in range(count - len(row))]] for row in rows]
    widths = fitted([max(map(width_of, column)) for column in zip(names, *full, strict=True)], width)
    if widths is None:
        return _paragraphs(names, rows, width, palette)
    sides = [*aligned, *[""] * (count - len(aligned))]
    lines = _row(names, widths, sides) if any(map(width_of, names)) else []
    if lines:
        rule: Line = []
        for number, columns in enumerate(widths):
            rule += [(" " * GAP, PLAIN)] * bool(number) + [("─" * columns, palette.dim)]
        lines.append(rule)
    tall = False
    for number, row in enumerate(full):
        made = _row(row, widths, sides)
        if number and (tall or len(made) > 1):
            lines.append([])  # a folded row stands apart from its neighbours
        tall = len(made) > 1
        lines += made
    return lines


def sides_of(columns: int, rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns that hold nothing but numbers stand to the right."""
    found = []
    for at in range(columns):
        texts = [row[at].strip() for row in rows if at < len(row) and row[at].strip()]
        found.append("right" if texts and all(len(t) < 40 and _NUMBER.fullmatch(t) for t in texts) else "")
    return found


def fitted(natural: Sequence[int], width: int) -> list[int] | None:
    """How wide each column becomes: what it needs, the widest folded where that is too much; None: that cannot be read."""
    space = width - GAP * (len(natural) - 1)
    if sum(natural) <= space:
        return [max(columns, 1) for columns in natural] if len(natural) <= space else None
    kept = [min(columns, _NARROW) for columns in natural]
    if sum(kept) > space:
        return None
    wanting = [at for at, columns in enumerate(natural) if columns > kept[at]]
    left = space - sum(kept)
    while wanting and left:  # share what is left evenly; who needs less than that leaves the rest to others
        share, more = divmod(left, len(wanting))
        least = min(natural[at] - kept[at] for at in wanting)
        if not share or least > share:
            for number, at in enumerate(wanting):
                kept[at] += share + (number < more)
            break
        for at in wanting:
            kept[at] += least
        left -= least * len(wanting)
        wanting = [at for at in wanting if natural[at] > kept[at]]
    return [max(columns, 1) for columns in kept]


def _row(cells: Sequence[Line], widths: Sequence[int], sides: Sequence[str]) -> list[Line]:
    folded = [wrapped(cell, columns) for cell, columns in zip(cells, widths, strict=True)]
    lines = []
    for parts in zip_longest(*folded, fillvalue=None):
        line: Line = []
        for at, part in enumerate(parts):
            aligned = _placed(part or [], widths[at], sides[at])
            line += [(" " * GAP, PLAIN), *aligned] if at else aligned
        while line and not line[-1][0].strip(" ") and line[-1][1] is PLAIN:
            line.pop()
        lines.append(line)
    return lines


def _placed(line: Line, width: int, side: str) -> Line:
    missing = width - width_of(line)
    if missing <= 0 or side not in ("right", "center"):
        return padded(line, width, PLAIN)
    left = missing if side == "right" else missing // 2
    return padded([(" " * left, PLAIN), *line] if left else line, width, PLAIN)


def _paragraphs(names: Sequence[Line], rows: Sequence[Sequence[Line]], width: int, palette: Palette) -> list[Line]:
    """A paragraph a row, a cell a line, behind the name of its column."""
    lines: list[Line] = []
    for number, row in enumerate(rows):
        if number:
            lines.append([])
        for name, cell in zip(names, row, strict=False):
            if not width_of(cell):
                continue
            head: Line = [*name, (": ", palette.dim)] if width_of(name) else []
            inner = room(width, 2)
            first, *rest = wrapped([*head, *cell], width)
            if rest and inner:
                first, *rest = wrapped([*head, *cell], inner)
                rest = indented(rest, [("  ", PLAIN)], [("  ", PLAIN)])
            lines += [first, *rest]
    return lines or [line for name in names if width_of(name) for line in wrapped(name, width)]
