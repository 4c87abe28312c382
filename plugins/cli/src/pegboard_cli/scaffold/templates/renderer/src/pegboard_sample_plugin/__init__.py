"""A renderer: what a tool returned goes in, blocks come out, and each front end draws them its way.

It is chosen by the type that a tool returns, whoever wrote the tool. This one draws `Hits`, which
the search of text returns; put the type of your own tools in its place.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta
from pegboard import hookimpl
from pegboard.blocks import AnyBlock, Note, Table
from pegboard.hooks import Renderer
from pegboard.kit.walk.query import Hits

pegboard_api = 1  # the version of Pegboard's hooks that this was written for


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [sample-plugin] of a person's settings."""

    rows: Annotated[int, Meta(ge=1, description="Lines that are shown; the rest is counted.")] = 50


def draw(found: Hits, rows: int) -> list[AnyBlock] | None:
    """Lines as a table, each file named once. None: there are no lines, so the text is shown.

    The blocks are data: nothing is printed here, and nothing read. It has a quarter of a second.
    """
    lines = [hit for hit in found.hits if hit.line is not None]
    if not lines:
        return None
    shown: list[list[str]] = []
    last = ""
    for hit in lines[:rows]:
        shown.append([hit.path if hit.path != last else "", str(hit.line), hit.text.strip()])
        last = hit.path
    blocks: list[AnyBlock] = [Table(columns=["file", "line", "text"], rows=shown)]
    hidden = len(lines) - len(shown)
    if hidden or found.more:
        blocks.append(Note(text=f"{hidden}{' or more' if found.more else ''} further lines match"))
    return [*blocks, *(Note(text=note) for note in found.notes)]


@hookimpl
def pegboard_renderers(settings: Settings) -> dict[type, Renderer]:
    """The renderers, by the type that they draw."""
    return {Hits: lambda found: draw(found, settings.rows)}
