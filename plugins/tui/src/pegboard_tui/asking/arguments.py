"""A call's arguments as rows: a name a line, text of several lines behind a gutter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec
from rich.segment import Segment

from pegboard_tui.asking.cells import Row, folded, shown
from pegboard_tui.drawing.look import Look

GUTTER, ON = "│ ", "┊ "
"""Before a line of text, and before the rest of one that is too long for a row."""
DEEPEST = 20
"""Levels that are drawn each by itself; what lies deeper is shown as JSON."""
_LONG = 5
"""Rows that a text of one line may take where arguments are shown in short."""


def argument_rows(arguments: Any, look: Look, *, full: bool = True) -> Iterator[Row]:
    """All arguments. full: nothing of them is left out; otherwise long texts are told by their length."""
    drawing = _Drawing(look, full)
    if isinstance(arguments, Mapping):
        return drawing.fields(arguments, 0)
    return drawing.value("arguments", arguments, 0)


def has_long(arguments: Any, width: int, depth: int = 0) -> bool:
    """Whether any text of them would be told by its length, where they are not shown in full."""
    if isinstance(arguments, str):
        return "\n" in arguments or len(arguments) > _LONG * width
    if depth > DEEPEST or not isinstance(arguments, Mapping | list | tuple):
        return False
    held = arguments.values() if isinstance(arguments, Mapping) else arguments
    return any(has_long(one, width, depth + 1) for one in held)


class _Drawing:
    def __init__(self, look: Look, full: bool) -> None:
        self._palette = look.palette
        self._width = look.width
        self._full = full

    def fields(self, fields: Mapping[Any, Any], depth: int) -> Iterator[Row]:
        for name, value in fields.items():
            yield from self.value(str(name), value, depth)

    def value(self, label: str, value: Any, depth: int) -> Iterator[Row]:
        held: Iterator[tuple[str, Any]] | None = None
        if depth < DEEPEST and isinstance(value, Mapping) and value:
            held = ((str(name), one) for name, one in value.items())
        elif depth < DEEPEST and isinstance(value, list | tuple) and value:
            held = ((str(number), one) for number, one in enumerate(value, 1))
        if held is not None:
            yield from self._line(label, "", depth)
            for name, one in held:
                yield from self.value(name, one, depth + 1)
        elif isinstance(value, str):
            yield from self._text(label, value, depth)
        else:
            yield from self._line(label, msgspec.json.encode(value).decode(), depth)

    def _text(self, label: str, text: str, depth: int) -> Iterator[Row]:
        lines = text.split("\n")
        if len(lines) == 1:
            if self._full or len(text) <= _LONG * self._width:
                yield from self._line(label, text if text and text == text.strip() else f'"{text}"', depth)
            else:
                yield from self._told(label, f"{len(text)} characters", depth)
            return
        unfinished = lines.pop() if lines[-1] == "" else None
        if not self._full:
            yield from self._told(label, f"{len(lines)} lines, {len(text)} characters", depth)
            return
        yield from self._line(label, "", depth)
        dim, indent = self._palette.dim, "  " * (depth + 1)
        first, then = [Segment(indent + GUTTER, dim)], [Segment(indent + ON, dim)]
        for line in lines:
            yield from folded(shown(line, self._palette.text, self._palette.hidden), self._width, first, then)
        if unfinished is None:
            yield from folded([Segment("(no newline at the end)", dim)], self._width, [Segment(indent)])

    def _line(self, label: str, text: str, depth: int) -> Iterator[Row]:
        palette, indent = self._palette, "  " * depth
        name = [*shown(label, palette.strong, palette.hidden), Segment(": " if text else ":", palette.dim)]
        value = shown(text, palette.text, palette.hidden)
        return folded(chain(name, value), self._width, [Segment(indent)], [Segment(indent + ON, palette.dim)])

    def _told(self, label: str, length: str, depth: int) -> Iterator[Row]:
        palette = self._palette
        name = [*shown(label, palette.strong, palette.hidden), Segment(": ", palette.dim)]
        return folded([*name, Segment(f"({length}: not shown)", palette.note)], self._width, [Segment("  " * depth)])
