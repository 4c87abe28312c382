"""A command: `pegboard longest FILE` says which line of a file is the longest."""

from typing import Annotated

import typer

app = typer.Typer(help="Find the longest line of a file.")


@app.command()
def longest(file: Annotated[str, typer.Argument(help="File, relative to the workspace root.")]) -> None:
    """Find the longest line of a file."""
    import asyncio

    from pegboard import Board

    async def look() -> str:
        async with Board.build() as board:
            record = await board.call("read_file", {"path": file})
        if record.outcome != "ok":
            typer.echo(f"Error: {record.text}", err=True)
            raise typer.Exit(1)
        numbered = record.text.splitlines()[1:]  # the first says how much is shown
        return max((line.partition(": ")[2] for line in numbered), key=len, default="")

    typer.echo(asyncio.run(look()))
