"""One block as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from pegboard import blocks as kinds
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.drawing import texts
from pegboard_tui.drawing.cells import PLAIN, indented, room, strips, wrapped
from pegboard_tui.drawing.diffs import MOST as MOST_OF_DIFF
from pegboard_tui.drawing.diffs import diff
from pegboard_tui.drawing.images import image
from pegboard_tui.drawing.look import Look
from pegboard_tui.drawing.markdown import markdown
from pegboard_tui.drawing.spelling import Line, marked_line, settled
from pegboard_tui.drawing.tables import sides_of, table
from pegboard_tui.drawing.texts import clipped

if TYPE_CHECKING:
    from pegboard.blocks import AnyBlock

MOST_ROWS = 1_000
"""Rows of a table that are drawn at all."""
DEEPEST = 8
"""Blocks within blocks that are drawn."""


def lines(block: AnyBlock, look: Look, *, most: int | None = None, hint: str = "", depth: int = 0) -> list[Strip]:
    """A block, no line of it wider than there is room.

    most: of more rows the first part is drawn, and it is told how much follows; hint: how to see that. None: all, up to
    what a loop bears."""
    palette = look.palette
    match block:
        case kinds.Activity():
            return strips(activity(block, look))
        case kinds.Diff():
            return diff(block, look, most=most or MOST_OF_DIFF, hint=hint)
        case kinds.Note(text=text):
            return texts.text_rows(text, palette.note, look, most=most or texts.MOST, hint=hint)
        case kinds.Problem(text=text):
            lead: Line = [("! ", palette.problem)]
            return texts.text_rows(
                text, palette.problem, look, most=most or texts.MOST, hint=hint, lead=lead, hanging=True
            )
        case kinds.Markdown(text=text):
            return folded(markdown(text, look), look, most, hint)
        case kinds.Text(text=text, title=title):
            shown = texts.text_rows(text.rstrip("\n"), palette.text, look, most=most or texts.MOST, hint=hint)
            return [*strips(one_line(title, palette.strong, look)), *shown] if title else shown
        case kinds.Table(columns=columns, rows=rows):
            return folded(_table(columns, rows, look), look, most, hint)
        case kinds.Image():
            return image(block, look)
        case kinds.Custom(plain=plain):
            if depth >= DEEPEST:
                return strips(one_line("… blocks within blocks, too deep to be drawn", palette.dim, look))
            return [line for one in plain for line in lines(one, look, most=most, hint=hint, depth=depth + 1)]
        case _:
            assert_never(block)


def one_line(text: str, style: Style, look: Look) -> list[Line]:
    """What belongs on a line, as `terminal.visible` makes it, broken where there is no room."""
    return wrapped(settled([(marked_line(clipped(text)), style)], look.palette), look.width)


def activity(block: kinds.Activity, look: Look, after: Line | None = None, most: int | None = None) -> list[Line]:
    """`$ Run pytest [timeout=30]`, then what is to be said of it (`after`); what its details say in further lines is below.

    most: rows that the first line may take."""
    palette, width = look.palette, look.width
    details, _, more = block.details.partition("\n")
    head: Line = []
    for text, style in (
        (block.glyph, palette.accent),
        (block.verb, palette.strong),
        (block.subject, palette.text),
        (details, palette.dim),
    ):
        if text:
            head += [*([(" ", PLAIN)] if head else []), (marked_line(clipped(text)), style)]
    head = settled(head, palette)
    if after and head:
        after = [(" ", PLAIN), *after]
    inner = room(width, 2)
    rest: Line = [("  ", PLAIN)] if inner else []
    found = _hanging([*head, *(after or [])], width, inner)
    if most is not None and len(found) > most:
        found = [
            *found[: most - 1],
            *indented(wrapped([("…", palette.dim), *(after or [])], inner or width), rest, rest),
        ]
    for line in more.split("\n") if more else ():
        shown = settled([(marked_line(clipped(line), keep="\t").expandtabs(4), palette.dim)], palette)
        found += indented(wrapped(shown, inner or width), rest, rest)
    return found


def _hanging(line: Line, width: int, inner: int) -> list[Line]:
    """The line with its further rows behind two blanks."""
    found = wrapped(line, width)
    return found if len(found) == 1 or not inner else indented(wrapped(line, inner), [])


def folded(found: list[Strip], look: Look, most: int | None, hint: str) -> list[Strip]:
    """The first two thirds of what is allowed, where there is more than that, and how many rows follow."""
    if most is None or len(found) <= most:
        return found
    keep = most * 2 // 3
    told = f"… {len(found) - keep:,} more lines{hint}"
    return [*found[:keep], *strips(wrapped([(told, look.palette.dim)], look.width))]


def _table(columns: list[str], rows: list[list[str]], look: Look) -> list[Strip]:
    palette = look.palette
    shown, more = rows[:MOST_ROWS], len(rows) - MOST_ROWS
    made = table(
        [_cell(name, palette.strong, look) for name in columns],
        [[_cell(cell, palette.text, look) for cell in row] for row in shown],
        look.width,
        palette,
        sides_of(max([len(columns), *map(len, shown)]), shown),
    )
    if more > 0:
        made += wrapped([(f"… {more:,} more rows", palette.dim)], look.width)
    return strips(made)


def _cell(text: str, style: Style, look: Look) -> Line:
    return settled([(marked_line(clipped(text)), style)], look.palette)
