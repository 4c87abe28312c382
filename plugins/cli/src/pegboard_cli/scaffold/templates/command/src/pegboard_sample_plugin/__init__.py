"""A command: it counts the lines that hold certain words, by file.

The entry point says how it is called: `pegboard sample-plugin`.
It looks at files through a tool, as an agent does: so the person's rules and guards hold for it.
"""

from __future__ import annotations

import asyncio
import json
import re
from typing import Annotated

import typer
from pegboard import Board, PegboardError
from pegboard.terminal import visible

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class SearchError(Exception):
    """The tool did not run, or failed: its own words."""


async def count(board: Board, words: list[str]) -> dict[str, int]:
    """Lines that hold one of the words, by file, most first.

    Raises:
        SearchError: the search was not allowed, or went wrong.
    """
    pattern = "|".join(re.escape(word) for word in words)
    record = await board.call("grep", {"pattern": pattern, "regex": True, "output_mode": "count"})
    if record.outcome != "ok":
        raise SearchError(record.text)
    found = {hit["path"]: hit["count"] for hit in record.data["hits"]}
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


@app.command()
def main(
    words: Annotated[list[str] | None, typer.Argument(help="Words [TODO FIXME].")] = None,
    path: Annotated[str | None, typer.Option("--path", help="The workspace root.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Count the lines of the workspace that hold certain words, by file."""
    try:
        found = asyncio.run(_counted(path, words or ["TODO", "FIXME"]))
    except (PegboardError, SearchError) as error:
        typer.echo(f"sample-plugin: {visible(str(error))}", err=True)
        raise typer.Exit(1) from None
    if as_json:
        typer.echo(json.dumps({"files": found, "lines": sum(found.values())}))
        return
    for file, lines in found.items():
        typer.echo(f"{lines:5}  {visible(file)}")  # names of files may hold anything
    typer.echo(f"{sum(found.values()):5}  in {len(found)} files")


async def _counted(path: str | None, words: list[str]) -> dict[str, int]:
    board = Board.build(path)
    try:
        return await count(board, words)
    finally:
        await board.close()
