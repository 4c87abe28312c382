"""`pegboard run PROMPT`."""

from __future__ import annotations

from typing import Annotated

import typer

from pegboard_cli import options
from pegboard_cli.terminal import plain

app = options.new_app()


@app.command()
def run(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask; - reads it from stdin.")],
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model: provider/name, or offline.")
    ] = None,
    toolsets: Annotated[
        str | None,
        typer.Option("--toolsets", metavar="NAMES", help="Tool sets to load, with commas between; '' is core alone."),
    ] = None,
    session: options.Session = None,
    path: options.Path = None,
    yes: options.Yes = False,
    no: options.No = False,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Ask the agent something: one turn.

    The answer goes to stdout, everything else to stderr. At a terminal you are asked before anything is changed.
    """
    options.one_answer(yes=yes, no=no)
    text = options.text_or_stdin(prompt)
    from pegboard_cli.front import Wishes
    from pegboard_cli.turn import run_turn

    flags: dict[str, object] = {}
    if model is not None:
        flags["model"] = plain(model)
    if toolsets is not None:
        flags["toolSets"] = [name.strip() for name in plain(toolsets).split(",") if name.strip()]
    wishes = Wishes(
        path=path, session=session, yes=yes, no=no, json=json, flags=flags, without_guard=without_guard or []
    )
    options.finish(run_turn(text, wishes), debug=debug)
