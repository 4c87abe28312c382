"""What a call would do, as rows: everything that a person should see before they answer."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from pegboard import blocks as kinds
from pegboard.blocks import Activity, AnyBlock
from pegboard.events import ApprovalAsked
from pegboard.terminal import visible
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from pegboard_tui.asking.arguments import argument_rows
from pegboard_tui.asking.cells import Row, prose, shown
from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.items import Made

SCOPES = {"session": "this session", "project": "this project", "user": "every project of yours"}
"""How long "always" may stand, of what this program knows to offer."""

LONGEST = 1000
"""Characters of what a call is about that are shown in its line; all of it is among its arguments."""


def scopes_of(event: ApprovalAsked) -> list[str]:
    """How long "always" may stand here; empty: it is not offered."""
    return [scope for scope in SCOPES if scope in event.scopes] if event.remember else []


def tool_of(event: ApprovalAsked, made: Made | None) -> str:
    """The name of the tool that asks."""
    return made.described.tool if made is not None else event.call


def arguments_of(event: ApprovalAsked, made: Made | None) -> object:
    """The arguments that the call would run with."""
    return event.arguments if event.arguments is not None or made is None else made.described.arguments


def activity_segments(activity: Activity, palette: Palette) -> list[Segment]:
    """The line that says what a call does, with nothing hidden in it; status lines below it are left out."""
    details = activity.details.partition("\n")[0]
    parts: list[list[Segment]] = [
        list(shown(_clipped(text), style, palette.hidden))
        for text, style in (
            (f"{activity.glyph} {activity.verb}".strip(), palette.strong),
            (activity.subject, palette.text),
            (details, palette.dim),
        )
        if text
    ]
    return [segment for number, part in enumerate(parts) for segment in ([Segment(" ")] if number else []) + part]


def _clipped(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… and {len(text) - LONGEST} more characters, below"


def call_rows(event: ApprovalAsked, made: Made | None, look: Look, *, full: bool, edited: bool) -> Iterator[Row]:
    """The whole call: what it does, the rule that asks, what "always" would keep, what would change, every argument.

    full: long texts among the arguments are shown too. edited: the person has made them what they are."""
    palette = look.palette
    if made is not None:
        activity = made.described.activity
        yield from prose(activity_segments(activity, palette), look.width, 0, 2)
        for line in filter(None, activity.details.partition("\n")[2].split("\n")):
            yield from _noted(line, palette.dim, look)
    yield from _noted(f"{tool_of(event, made)} asks: {event.rule} ({event.layer})", palette.warning, look)
    if edited:
        yield from _noted("edited by you, and judged again", palette.note, look)
    if made is not None and made.described.ignored:
        left = ", ".join(made.described.ignored)
        yield from _noted(f"left out, for it takes no such argument: {left}", palette.note, look)
    for kept in event.remember if scopes_of(event) else ():
        yield from _noted(f"always would allow: {kept}", palette.text, look)
    for block in event.preview:
        for one in all_visible(block):
            yield from lines(one, look)
    yield from argument_rows(arguments_of(event, made), look, full=full)


def _noted(text: str, style: Style, look: Look) -> list[Strip]:
    return prose(shown(text, style, look.palette.hidden), look.width, 2, 2)


def all_visible(block: AnyBlock) -> list[AnyBlock]:
    """The same with nothing hidden in it, odd spaces neither: a person decides by it. So Markdown is shown as it is written,
    and a plugin's own block by its plain form."""
    replace = msgspec.structs.replace
    match block:
        case kinds.Diff(text=text, path=path, to=to):
            return [replace(block, text=_lines(text), path=visible(path), to=None if to is None else visible(to))]
        case kinds.Note(text=text) | kinds.Problem(text=text):
            return [replace(block, text=_lines(text))]
        case kinds.Markdown(text=text):
            return [kinds.Text(text=_lines(text))]
        case kinds.Text(text=text, title=title):
            return [replace(block, text=_lines(text), title=visible(title))]
        case kinds.Table(columns=columns, rows=rows):
            return [replace(block, columns=[*map(visible, columns)], rows=[[*map(visible, row)] for row in rows])]
        case kinds.Custom(plain=plain):
            return [safe for one in plain for safe in all_visible(one)]
        case _:
            return [block]  # an activity, a picture: each is a line, and drawn as one


def _lines(text: str) -> str:
    return visible(text, keep="\n\t")
