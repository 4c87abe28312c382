"""`pegboard tui`: the one module here that builds a board."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

app = typer.Typer(rich_markup_mode=None, add_completion=False, pretty_exceptions_enable=False)


@app.command()
def tui(
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model: provider/name, or offline.")
    ] = None,
    path: Annotated[str | None, typer.Option("--path", metavar="FOLDER", help="The workspace root.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="Continue this session.")] = None,
) -> None:
    """Talk with the agent in an app."""
    raise typer.Exit(asyncio.run(_run(model, path, session)))


async def _run(model: str | None, path: str | None, session: str | None) -> int:
    from pegboard.board import Board
    from pegboard.hosting import Hosted

    from pegboard_tui.app import PegboardApp

    board = Board.build(root=path, flags={"model": model} if model else {})
    try:
        host = Hosted(board)
        return await PegboardApp(host, host.open(session)).run_async() or 0
    finally:
        await board.close()
