"""A new tool: the columns of a CSV file."""

import csv
from typing import Annotated

import msgspec
from pegboard import Reads, SyncContext, ToolError, hookimpl, tool


class Columns(msgspec.Struct):
    """The columns of a file, and how many rows stand below them."""

    names: list[str]
    rows: int

    def __str__(self) -> str:
        return f"{', '.join(self.names)}; {self.rows} rows"


@tool(examples=["which columns has {path}"])
def csv_columns(path: Annotated[str, Reads("CSV file, relative to the workspace root")], ctx: SyncContext) -> Columns:
    """Name the columns of a CSV file, and count its rows."""
    lines = list(csv.reader(ctx.workspace.read_text(path).splitlines()))
    if not lines:
        raise ToolError(f"{path} is empty; nothing was changed. Name a file with a line of headings.")
    return Columns(names=lines[0], rows=len(lines) - 1)


@hookimpl
def pegboard_tools():
    return [csv_columns]
