"""`pegboard tools`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pegboard.terminal import plain

from pegboard_cli import options

app = options.new_app()


@app.command()
def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show this tool alone: what it does, and its parameters.")
    ] = None,
    cost: Annotated[bool, typer.Option("--cost", help="What each tool and set costs on every request.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Show the tools that policy denies as well.")] = False,
    path: options.Path = None,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List the tools that a model is offered, with the set that each comes from; or show one, with its parameters."""
    named = plain(name) if name is not None else None
    options.finish(_tools(named, path, without_guard or [], cost=cost, all_=all_, json=json), debug=debug)


async def _tools(
    name: str | None, path: str | None, without_guard: list[str], *, cost: bool, all_: bool, json: bool
) -> int:
    from pegboard.board import Board
    from pegboard.terminal import visible

    from pegboard_cli.describing import tool_page
    from pegboard_cli.listing import list_tools, only, tool_lines
    from pegboard_cli.styles import Styles, columns, takes_colour

    board = Board.build(path, without_guard=without_guard)
    try:
        listed = list_tools(board, all=all_ or name is not None)
        if name is not None:
            listed = only(listed, name, board.registry)
        for note in board.notes:
            typer.echo(f"note: {visible(note)}", err=True)
    finally:
        await board.close()
    styles, width = Styles(takes_colour(sys.stdout)), columns(sys.stdout)
    if json:
        options.print_json(listed)
    elif name is not None:
        sys.stdout.write("\n".join(tool_page(listed.tools[0], styles, min(width or 100, 100))) + "\n")
    else:
        sys.stdout.write("\n".join(tool_lines(listed, styles, cost=cost, width=width)) + "\n")
    return 0
