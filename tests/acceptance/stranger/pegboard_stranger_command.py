"""A sub-command as a plugin brings it."""

import typer

app = typer.Typer()


@app.command()
def hello(name: str) -> None:
    """Greet someone."""
    typer.echo(f"hello {name}")
