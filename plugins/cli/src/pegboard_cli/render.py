"""From values to lines for a terminal. Everything that comes from a model, a tool or a file is made safe here.

Functions return lines without their ends; nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, assert_never

import msgspec
from pegboard.blocks import Activity, AnyBlock, Custom, Diff, Image, Markdown, Note, Problem, Table, Text
from pegboard.terminal import spelled, visible

from pegboard_cli.styles import Styles
from pegboard_cli.widths import columns_of, padded, shortened

MOST_SUBJECT = 240
GUTTER = "│ "


def activity_line(activity: Activity, name: str, styles: Styles, *, glyphs: bool = True) -> list[str]:
    """`← Read a.py [limit=3]`, or `[name: a.py]` for a tool without a category; status lines dimmed below."""
    details, _, more = activity.details.partition("\n")
    subject = _cut(visible(activity.subject, colour=styles.colour))
    if glyphs and (activity.glyph or activity.verb):
        head = " ".join(filter(None, (visible(activity.glyph), visible(activity.verb))))
        line = " ".join(filter(None, (styles.bold(head), subject, styles.dim(visible(details)))))
    else:
        line = f"[{visible(name)}: {subject}]" if subject and activity.subject != name else f"[{visible(name)}]"
    return [line, *(styles.dim("  " + visible(part, keep="\t")) for part in more.split("\n") if more)]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SUBJECT else text[: MOST_SUBJECT - 1] + "…"


def argument_lines(arguments: Any, styles: Styles) -> list[str]:
    """The whole arguments, a name a line; text of several lines in full, line by line. Nothing is left out."""
    if isinstance(arguments, Mapping):
        return list(_fields(arguments, styles))
    return list(_value("arguments", arguments, styles))


def _fields(fields: Mapping[str, Any], styles: Styles) -> Iterator[str]:
    for name, value in fields.items():
        yield from _value(visible(str(name), colour=styles.colour), value, styles)


def _value(label: str, value: Any, styles: Styles) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield f"{label}:"
        yield from ("  " + line for line in _fields(value, styles))
    elif isinstance(value, list | tuple) and value:
        yield f"{label}:"
        for number, item in enumerate(value, 1):
            yield from ("  " + line for line in _value(f"{number}", item, styles))
    elif isinstance(value, str):
        yield from _text(label, value, styles)
    else:
        yield f"{label}: {visible(msgspec.json.encode(value).decode())}"


def _text(label: str, value: str, styles: Styles) -> Iterator[str]:
    if "\n" not in value:
        shown = visible(value, colour=styles.colour)
        yield f"{label}: {shown}" if value and value == value.strip() else f'{label}: "{shown}"'
        return
    lines = value.split("\n")
    unfinished = lines.pop() if lines[-1] == "" else None
    yield f"{label}:"
    yield from (f"  {GUTTER}{visible(line, keep=chr(9), colour=styles.colour)}" for line in lines)
    if unfinished is None:
        yield "  " + styles.dim("(no newline at the end)")


def diff_lines(diff: Diff, styles: Styles) -> list[str]:
    """The file with its counts, and the changes under it: what goes in red, what comes in green."""
    name = visible(diff.path, colour=styles.colour) + (
        f" → {visible(diff.to, colour=styles.colour)}" if diff.to else ""
    )
    change = "" if diff.change == "changed" else f" ({diff.change})"
    counts = f"{styles.good(f'+{diff.added}')} {styles.bad(f'-{diff.removed}')}"
    return [
        f"{name}{change} {counts}",
        *(_changed(line, styles) for line in diff.text.rstrip("\n").split("\n") if line),
    ]


def _changed(line: str, styles: Styles) -> str:
    shown = visible(line, keep="\t", colour=styles.colour)
    paint = {"+": styles.good, "-": styles.bad, "@": styles.place}.get(line[:1])
    return paint(shown) if paint else shown


def all_visible(text: str) -> str:
    """`visible` for text of several lines."""
    return visible(text, keep="\n\t")


def block_lines(
    block: AnyBlock, styles: Styles, safe: Callable[[str], str] = spelled, *, width: int | None = None
) -> list[str]:
    """A block as lines; a diff is drawn, a picture is named. `safe`: `all_visible` where a person decides by it.

    `width`: columns that there are, None for any number. A table that would need more is written a cell a line; other lines
    are left whole, for the terminal wraps them."""
    match block:
        case Diff():
            return diff_lines(block, styles)
        case Activity():
            return activity_line(block, block.verb, styles)
        case Note(text=text):
            return [styles.dim(line) for line in safe(text).split("\n")]
        case Problem(text=text):
            return [styles.bad(line) for line in safe(text).split("\n")]
        case Markdown(text=text):
            return safe(text).split("\n")
        case Text(text=text, title=title):
            return [*([styles.bold(visible(title))] if title else []), *safe(text).split("\n")]
        case Table(columns=columns, rows=rows):
            return list(_table(columns, rows, styles, width))
        case Image(media_type=kind, alt=alt):
            return [styles.dim(f"[picture, {visible(kind)}{': ' + visible(alt) if alt else ''}]")]
        case Custom(plain=plain):
            return [line for one in plain for line in block_lines(one, styles, safe, width=width)]
        case _:
            assert_never(block)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], styles: Styles, width: int | None) -> Iterator[str]:
    """Columns side by side, or, where there is no room for that, a paragraph a row. Nothing is cut."""
    lines = table_lines([columns, *rows])
    if width is None or not rows or max(map(columns_of, lines)) <= width:
        yield styles.bold(lines[0])
        yield from lines[1:]
        return
    for number, row in enumerate(rows):
        if number:
            yield ""
        for name, cell in zip_longest(columns, row, fillvalue=""):
            yield f"{styles.bold(visible(name))}: {visible(cell)}"


def table_lines(
    rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset(), width: int | None = None
) -> list[str]:
    """Rows in columns, two spaces apart; the columns in `right` end in line. Beyond `width` the last cell is cut."""
    safe = [[visible(cell) for cell in row] for row in rows]
    count = max((len(row) for row in safe), default=0)
    widths = [max((columns_of(row[i]) for row in safe if i < len(row)), default=0) for i in range(count)]
    if width is not None and count:
        room = max(width - sum(widths[:-1]) - 2 * (count - 1), 1)
        safe = [[*row[:-1], shortened(row[-1], room)] if len(row) == count else row for row in safe]
    return ["  ".join(padded(cell, widths[i], right=i in right) for i, cell in enumerate(row)).rstrip() for row in safe]
