"""Diffs: one pane, or two side by side where there is room; line numbers, signs, changed words, the colours of the code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing.cells import PLAIN, expanded, filled, indented, over, padded, strips, wrapped
from pegboard_tui.drawing.code import coloured, lexer_of_path
from pegboard_tui.drawing.hunks import Row, changes, mark_words, read
from pegboard_tui.drawing.look import Look
from pegboard_tui.drawing.spelling import Line, marked_line, settled
from pegboard_tui.drawing.texts import clipped

if TYPE_CHECKING:
    from pegboard.blocks import Diff

    from pegboard_tui.drawing.look import Palette

SIDE_BY_SIDE = 100
"""Columns from which the old and the new stand beside each other."""
MOST = 5_000
"""Lines of a diff that are drawn at all."""
_NUMBERS = 24
"""Columns from which lines are numbered."""


def diff(block: Diff, look: Look, *, most: int = MOST, hint: str = "", headed: bool = False) -> list[Strip]:
    """A diff, its head first, unless somebody wrote that already (headed).

    Of more than `most` rows the first two thirds are drawn, and it is told how many lines follow; hint: how to see them."""
    body = block.text.rstrip("\n")
    lines = marked_diff(body, 2 * most + 2) if body else []  # two of them may stand on one row
    endings = _crlf(lines)
    rows = read([line.removesuffix("\r") for line in lines] if endings else lines)
    mark_words(rows)
    pane = _Panes(rows, look, block.to or block.path)
    total = body.count("\n") + 1 if body else 0
    drawn, shown = pane.draw(most)
    if shown < total:
        told = f"… {total - shown:,} more line{'s' if total - shown > 1 else ''}{hint}"
        drawn += wrapped([(told, look.palette.dim)], look.width)
    above = [] if headed else wrapped(head(block, look.palette), look.width)
    if endings:
        above += wrapped([("lines end with \\r\\n", look.palette.dim)], look.width)
    return strips([*above, *drawn])


def head(block: Diff, palette: Palette) -> Line:
    """`path (created) +3 -1`; what moved as `a → b`."""
    line: Line = [(marked_line(clipped(block.path)), palette.strong)]
    if block.to:
        line += [(" → ", palette.dim), (marked_line(clipped(block.to)), palette.strong)]
    return settled([*line, (" ", PLAIN), *counts(block, palette)], palette)


def counts(block: Diff, palette: Palette) -> Line:
    """`(created) +3 -1`."""
    told = block.change != "changed" and not (block.change == "moved" and block.to)
    line: Line = [(f"({marked_line(block.change)}) ", palette.dim)] if told else []
    return [*line, (f"+{block.added}", signed(palette.good)), (f" -{block.removed}", signed(palette.problem))]


def signed(style: Style) -> Style:
    """The colour of a style, and nothing else of it."""
    return Style(color=style.color) if style.color else PLAIN


def marked_diff(text: str, most: int) -> list[str]:
    """The first lines of a diff, safe. A carriage return at the end of a line stays until it is known what it means."""
    lines = text.split("\n", most)[:most]
    return [
        marked_line(clipped(line.removesuffix("\r")), keep="\t") + ("\r" if line.endswith("\r") else "")
        for line in lines
    ]


class _Panes:
    def __init__(self, rows: list[Row], look: Look, path: str) -> None:
        self._rows = rows
        self._look = look
        self._palette = palette = look.palette
        self._width = look.width
        numbers = [number for row in rows for number in (row.old, row.new) if number is not None]
        self._digits = len(str(max(numbers))) if numbers and look.width >= _NUMBERS else 0
        self._styles = {"+": palette.added, "-": palette.removed}
        self._words = {"+": palette.added_word, "-": palette.removed_word}
        self._signs = {"+": signed(palette.good), "-": signed(palette.problem)}
        self._code = _highlighted(rows, lexer_of_path(path), palette, self._styles)

    def draw(self, most: int) -> tuple[list[Line], int]:
        """Lines, and how many rows of the diff they are of. They end early when there are more than `most`."""
        kinds = {row.kind for row in self._rows}
        beside = self._width >= SIDE_BY_SIDE and {"+", "-"} <= kinds
        found: list[Line] = []
        ends: list[tuple[int, int]] = []
        shown = 0
        for count, made in self._beside() if beside else self._below():
            shown += count
            found += made
            ends.append((len(found), shown))
            if len(found) > most:
                return _cut(found, ends, most * 2 // 3)
        return found, shown

    # --- one pane -----------------------------------------------------------------------------------------------------

    def _below(self) -> Iterator[tuple[int, list[Line]]]:
        for at, row in enumerate(self._rows):
            yield 1, self._row(row, at, self._width, row.old if row.kind == "-" else row.new)

    def _row(self, row: Row, at: int, width: int, number: int | None) -> list[Line]:
        """One row with its number and sign, filled up to the width where its background shows."""
        palette = self._palette
        if row.kind == "@":
            return self._gap(row, at, width)
        style = self._styles.get(row.kind, palette.text)
        if row.kind == "\\":
            code: Line = [(row.text, palette.dim)]
        else:
            code = self._code.get(at) or [(row.text, style if row.kind != "?" else palette.dim)]
        code = expanded(settled(over(code, row.changed, self._words.get(row.kind, PLAIN)), palette), 4)
        sign = row.kind if row.kind in "+-" else " "
        ground = Style(bgcolor=style.bgcolor) if style.bgcolor is not None else PLAIN
        lead: Line = [(f"{sign} ", style + self._signs.get(sign, PLAIN))]
        rest: Line = [("  ", ground)]
        if self._digits:
            told = str(number) if number is not None else ""
            lead.insert(0, (f"{told:>{self._digits}} ", palette.place + ground))
            rest = [(" " * (self._digits + 3), ground)]
        inner = width - len(rest[0][0])
        if inner < 4:
            lead, rest, inner = ([(sign, style)], [(" ", ground)], width - 1) if width > 1 else ([], [], width)
        made = indented(wrapped(code, inner, words=False), lead, rest)
        return [filled(line, width, ground) for line in made]

    def _gap(self, row: Row, at: int, width: int) -> list[Line]:
        """Between two hunks: what is left out, and where it is."""
        if not at and not row.text and (row.new or 0) <= 1:
            return []
        line: Line = [(f"{'⋯':>{max(self._digits, 1)}} {row.text}".rstrip(), self._palette.place)]
        return wrapped(expanded(settled(line, self._palette), 4), width)

    # --- two panes ----------------------------------------------------------------------------------------------------

    def _beside(self) -> Iterator[tuple[int, list[Line]]]:
        """The old on the left, the new on the right, each row as tall as the taller of the two."""
        half = (self._width - 3) // 2
        middle: Line = [(" │ ", self._palette.dim)]
        index = {id(row): at for at, row in enumerate(self._rows)}
        for group in changes(self._rows):
            for left, right in group:
                if left is right and left is not None and left.kind in "@?":
                    yield 1, self._row(left, index[id(left)], self._width, None)
                    continue
                old = self._row(left, index[id(left)], half, left.old) if left else []
                new = self._row(right, index[id(right)], half, right.new) if right else []
                lines = []
                for at in range(max(len(old), len(new))):
                    one = padded(old[at] if at < len(old) else [], half, _ground(old))
                    lines.append([*one, *middle, *(new[at] if at < len(new) else _filler(new, half))])
                yield (1 if left is right or not (left and right) else 2), lines


def _ground(lines: Sequence[Line]) -> Style:
    """The background of a row, for the lines that only its partner has."""
    style = lines[-1][-1][1] if lines and lines[-1] else PLAIN
    return Style(bgcolor=style.bgcolor) if style.bgcolor is not None else PLAIN


def _filler(lines: Sequence[Line], width: int) -> Line:
    ground = _ground(lines)
    return [(" " * width, ground)] if ground.bgcolor is not None else []


def _cut(lines: list[Line], ends: Sequence[tuple[int, int]], keep: int) -> tuple[list[Line], int]:
    """The lines of the first rows that have room, at least of one."""
    kept = [(end, shown) for end, shown in ends if end <= keep] or [ends[0]]
    end, shown = kept[-1]
    return lines[:end], shown


def _crlf(lines: Sequence[str]) -> bool:
    """Whether every line of the file ends with a carriage return, so that it need not be told for each."""
    of_file = [line for line in lines if line[:1] in ("+", "-", " ")]
    return bool(of_file) and all(line.endswith("\r") for line in of_file)


def _highlighted(rows: Sequence[Row], lexer: str, palette: Palette, styles: dict[str, Style]) -> dict[int, Line]:
    """The code of rows in colours, by their place. Where a side has no background of its own, its colour is its mark."""
    if not lexer or not palette.colour:
        return {}
    found: dict[int, Line] = {}
    for of_hunk, group in groupby(enumerate(rows), key=lambda one: one[1].kind != "@"):
        if of_hunk:
            part = list(group)
            new = [(at, row) for at, row in part if row.kind in " +"]
            if new:
                _lex(new, lexer, palette, styles, found)
            for gone, run in groupby(part, key=lambda one: one[1].kind == "-"):
                if gone:
                    _lex(list(run), lexer, palette, styles, found)
    return found


def _lex(
    rows: list[tuple[int, Row]], lexer: str, palette: Palette, styles: dict[str, Style], found: dict[int, Line]
) -> None:
    lines = coloured("\n".join(row.text for _, row in rows), lexer, palette, PLAIN)
    mixed: dict[tuple[str, int], Style] = {}  # adding styles takes longer than all else; there are few, and they stay
    for (at, row), line in zip(rows, lines, strict=True):
        kind = row.kind
        style = styles.get(kind, palette.text)
        if kind != " " and style.bgcolor is None:
            continue
        made: Line = []
        for text, own in line:
            both = mixed.get((kind, id(own)))
            if both is None:
                both = mixed[kind, id(own)] = style + own
            made.append((text, both))
        found[at] = made
