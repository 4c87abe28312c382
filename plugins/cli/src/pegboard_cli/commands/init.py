"""`pegboard init`."""

from __future__ import annotations

import os

import typer
from pegboard.terminal import spelled, visible

from pegboard_cli import options

app = options.new_app()


@app.command()
def init(path: options.Path = None, json: options.Json = False, debug: options.Debug = False) -> None:
    """Write a settings file of your own, every line of it a comment, and say what to do next.

    A file that is there already is left as it is (exit 2). Nothing is written into a project.
    """
    options.finish(_init(path, json=json), debug=debug)


async def _init(path: str | None, *, json: bool) -> int:
    from pegboard.config.places import below_home, config_file
    from pegboard.config.write import create

    from pegboard_cli.starting import answering, first_file

    file = config_file(os.environ)
    found = answering(path)
    if not create(file, first_file()):
        told = f"pegboard: {file} is there already; nothing was changed. `pegboard config set KEY VALUE` changes it."
        typer.echo(visible(told), err=True)
        return 2
    if json:
        options.print_json({"file": str(file), "model": found.model, "why": found.why})
        return 0
    typer.echo(
        spelled(
            f"Wrote {below_home(file, os.environ)}: "
            "every line is a comment that shows a setting as it is shipped, or an example.\n"
            f"Model: {found.model} ({found.why}).\n"
            "\n"
            "Next:\n"
            '  pegboard run "list the python files"   ask something\n'
            "  pegboard config set model NAME         choose who answers\n"
            "  pegboard config show --origin          every setting, and where it comes from\n"
            "  pegboard tools                         what there is to work with"
        )
    )
    return 0
