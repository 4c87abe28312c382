"""`pegboard explain NAME k=v ...`."""

from __future__ import annotations

from typing import Annotated

import typer
from pegboard.terminal import plain

from pegboard_cli import options

app = options.new_app()


@app.command()
def explain(
    name: options.ToolName,
    words: options.Words = None,
    args: options.Args = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="FILE", help="Explain each line of this file, such as a command; - is stdin."),
    ] = None,
    path: options.Path = None,
    mode: options.Mode = None,
    strict: options.Strict = False,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Say what a call would get, and by which rule, without making it.

    Nobody is asked, and nothing is run or logged.
    """
    arguments = options.call_arguments(words, args)
    from pegboard_cli.explaining import explain_call
    from pegboard_cli.front import Wishes

    flags = options.approval_flags(strict=strict, mode=mode)
    wishes = Wishes(path=path, json=json, flags=flags, without_guard=without_guard or [])
    options.finish(explain_call(plain(name), arguments, wishes, file=file, words=args is None), debug=debug)
