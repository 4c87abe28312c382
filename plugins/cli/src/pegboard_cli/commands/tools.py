"""`pegboard tools`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from pegboard_cli import options

app = options.new_app()


@app.command()
def tools(
    cost: Annotated[bool, typer.Option("--cost", help="What each tool and set costs on every request.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show the tools that policy denies as well.")] = False,
    path: options.Path = None,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List the tools that a model is offered, with the set that each comes from."""
    options.finish(_tools(path, without_guard or [], cost=cost, all_=all_, json=json), debug=debug)


async def _tools(path: str | None, without_guard: list[str], *, cost: bool, all_: bool, json: bool) -> int:
    from pegboard.board import Board

    from pegboard_cli.listing import list_tools, tool_lines
    from pegboard_cli.styles import Styles, takes_colour
    from pegboard_cli.terminal import visible

    board = Board.build(path, without_guard=without_guard)
    try:
        listed = list_tools(board, all=all_)
        for note in board.notes:
            typer.echo(f"note: {visible(note)}", err=True)
    finally:
        await board.close()
    if json:
        options.print_json(listed)
    else:
        sys.stdout.write("\n".join(tool_lines(listed, Styles(takes_colour(sys.stdout)), cost=cost)) + "\n")
    return 0
