"""Lines of styled text, broken to fit a width that is counted in cells: wide characters take two, combining marks none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing.spelling import Line

PLAIN = Style()
LEAST = 8
"""Columns that must be left for text beside an indent; below that there is no indent."""


def cells(text: str) -> int:
    """How many columns a text takes."""
    return len(text) if text.isascii() else cell_len(text)


def width_of(line: Line) -> int:
    """How many columns a line takes."""
    return sum([len(text) if text.isascii() else cell_len(text) for text, _ in line])


def text_of(line: Line) -> str:
    """A line's letters."""
    return line[0][0] if len(line) == 1 else "".join([text for text, _ in line])


def strip(line: Line) -> Strip:
    """A line as Textual wants it."""
    return Strip([Segment(text, style) for text, style in line if text], width_of(line))


def strips(lines: Iterable[Line]) -> list[Strip]:
    """Lines as Textual wants them."""
    return [strip(line) for line in lines]


def padded(line: Line, width: int, style: Style) -> Line:
    """The line filled up to a width with blanks of a style."""
    missing = width - width_of(line)
    return [*line, (" " * missing, style)] if missing > 0 else line


def filled(line: Line, width: int, style: Style) -> Line:
    """Padded where the style has a background that should run to the edge; else as it is."""
    return padded(line, width, style) if style.bgcolor is not None else line


def expanded(line: Line, size: int = 8) -> Line:
    """Tabs as blanks up to the next column that `size` divides."""
    for text, _ in line:
        if "\t" in text:
            break
    else:
        return line
    column, found = 0, []
    for text, style in line:
        parts = text.split("\t")
        made = parts[0]
        column += cells(parts[0])
        for part in parts[1:]:
            blanks = size - column % size
            made += " " * blanks + part
            column += blanks + cells(part)
        found.append((made, style))
    return found


def indented(lines: Sequence[Line], first: Line, rest: Line | None = None) -> list[Line]:
    """Lines behind a lead: `first` before the first one, `rest` before the others; else as many blanks, at least two."""
    blank: Line = [(" " * (width_of(first) or 2), PLAIN)]
    found: list[Line] = []
    for number, line in enumerate(lines):
        lead = first if not number else blank if rest is None else rest
        found.append([*lead, *line] if line or lead is not blank else [])
    return found


def room(width: int, lead: int) -> int:
    """What a lead leaves of a width; 0 where that is too little to write in, so that the lead has to go."""
    return width - lead if width - lead >= LEAST else 0


def wrapped(line: Line, width: int, *, words: bool = True) -> list[Line]:
    """The line as several, none wider than `width`; at least one. words: break between words where that can be."""
    text = text_of(line)
    if text.isascii():
        return [line] if len(text) <= width else divided(line, _narrow_spans(text, max(width, 1), words))
    if cell_len(text) <= width:
        return [line]
    if width < 2:  # a wide character has no place at all
        line = [("".join([char if get_character_cell_size(char) < 2 else "?" for char in part]), s) for part, s in line]
        text = text_of(line)
    return divided(line, _wide_spans(text, max(width, 1), words))


def divided(line: Line, spans: Iterable[tuple[int, int]]) -> list[Line]:
    """The parts of a line from offset to offset, in their order."""
    found, at, offset = [], 0, 0
    for start, end in spans:
        while at < len(line) and offset + len(line[at][0]) <= start:
            offset += len(line[at][0])
            at += 1
        part: Line = []
        index, begin = at, offset
        while index < len(line) and begin < end:
            text, style = line[index]
            if piece := text[max(start - begin, 0) : end - begin]:
                part.append((piece, style))
            begin += len(text)
            index += 1
        found.append(part)
    return found


def over(line: Line, spans: Sequence[tuple[int, int]], style: Style) -> Line:
    """The line with a style laid over these parts of it."""
    if not spans:
        return line
    found: Line = []
    last = 0
    bounds = []
    for start, end in spans:
        bounds += [(last, start), (start, end)]
        last = end
    bounds.append((last, len(text_of(line))))
    for number, part in enumerate(divided(line, bounds)):
        found += [(text, own + style) for text, own in part] if number % 2 else part
    return found


def _narrow_spans(text: str, width: int, words: bool) -> list[tuple[int, int]]:
    """Where to break a text in which every character takes one column."""
    spans, start, length = [], 0, len(text)
    while length - start > width:
        cut = text.rfind(" ", start, start + width + 1) if words else -1
        if cut <= start or text[start:cut].isspace():
            spans.append((start, start + width))
            start += width
            continue
        end = cut
        while text[end - 1] == " ":
            end -= 1
        spans.append((start, end))
        start = cut + 1
        while start < length and text[start] == " ":
            start += 1
    if start < length:
        spans.append((start, length))
    return spans


def _wide_spans(text: str, width: int, words: bool) -> list[tuple[int, int]]:
    """Where to break any text: at blanks, and beside characters that take two columns."""
    spans: list[tuple[int, int]] = []
    size, length = get_character_cell_size, len(text)

    def blank(at: int) -> bool:
        """Whether a line may break here: at a blank that nothing combines with."""
        return text[at] == " " and (at + 1 == length or size(text[at + 1]) > 0)

    start = index = used = 0
    chance, inked = -1, False
    while index < length:
        char = text[index]
        columns = size(char)
        if used + columns > width and index > start:
            end = index if not words or blank(index) or chance <= start else chance
            spans.append((start, end))
            start = end
            while words and start < length and blank(start):
                start += 1
            index, used, chance, inked = start, 0, -1, False
            continue
        if blank(index):
            chance = index if inked else chance
        elif columns == 2 or (columns == 0 and chance == index):
            chance, inked = index + 1, True
        else:
            inked = True
        used += columns
        index += 1
    if start < length:
        spans.append((start, length))
    return spans
