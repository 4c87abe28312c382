"""`pegboard tool NAME k=v ...`."""

from __future__ import annotations

from pegboard.terminal import plain

from pegboard_cli import options

app = options.new_app()


@app.command()
def tool(
    name: options.ToolName,
    words: options.Words = None,
    args: options.Args = None,
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
    arguments = options.call_arguments(words, args)
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
