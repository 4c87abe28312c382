"""`pegboard tool NAME k=v ...`."""

from __future__ import annotations

from typing import Annotated

import typer
from pegboard.terminal import plain

from pegboard_cli import options

app = options.new_app()


@app.command()
def tool(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tool: its name, SET:NAME, or an alias.")],
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[K=V]...", help="Arguments: k=text, k:=JSON, k=@file (@- is stdin).")
    ] = None,
    args: Annotated[
        str | None,
        typer.Option("--args", metavar="JSON", help="All arguments as one JSON object; - reads it from stdin."),
    ] = None,
    session: options.Session = None,
    path: options.Path = None,
    yes: options.Yes = False,
    no: options.No = False,
    strict: options.Strict = False,
    mode: options.Mode = None,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Make one call of a tool, down the same road that a model's calls take.

    A key that is repeated makes a list. `pegboard tools` lists the tools, `pegboard tools NAME` shows one's parameters.
    """
    options.one_answer(yes=yes, no=no)
    from pegboard_cli.arguments import BadWord, read_arguments

    try:
        arguments = read_arguments(words or [], args)
    except BadWord as error:
        raise typer.BadParameter(str(error), param_hint="K=V") from None
    from pegboard_cli.call import call_tool
    from pegboard_cli.front import Wishes

    wishes = Wishes(
        path=path,
        session=session,
        yes=yes,
        no=no,
        json=json,
        flags=options.approval_flags(strict=strict, mode=mode),
        without_guard=without_guard or [],
    )
    options.finish(call_tool(plain(name), arguments, wishes, words=args is None), debug=debug)
