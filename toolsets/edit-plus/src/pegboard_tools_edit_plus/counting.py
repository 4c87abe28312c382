"""`line_count`: how many lines a file has."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from pegboard import Context, Reads, tool
from pegboard.kit.aside import PATH_ALIASES, apart
from pegboard.kit.readlines import read_window
from pegboard.kit.workspace import Workspace


class LineCount(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a file, a last one without a line end counted too."""

    path: str
    lines: int

    def __str__(self) -> str:
        return str(self.lines)


@tool(
    replay="safe",
    overlap="parallel",
    param_aliases=PATH_ALIASES,
    category="read",
    verb="Count lines of",
    short="count the lines of a file",
    examples=[
        "count the lines of {path}",
        "how many lines does {path} have",
        "how many lines are in {path}",
        "how long is the file {path}, in lines",
        "line count of {path}",
        "number of lines in {path}",
    ],
)
async def line_count(path: Annotated[str, Reads("File, relative to the workspace root")], ctx: Context) -> LineCount:
    """Count the lines of a text file, without reading it out."""
    return await apart(partial(_count, ctx.workspace, path))


def _count(workspace: Workspace, path: str) -> LineCount:
    with workspace.open(path) as opened:
        return LineCount(path=opened.at, lines=read_window(opened, limit=0).total_lines)
