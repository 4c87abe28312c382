"""`pegboard plugins`."""

from __future__ import annotations

import sys

import typer

from pegboard_cli import options

app = options.new_app()


@app.command()
def plugins(path: options.Path = None, json: options.Json = False, debug: options.Debug = False) -> None:
    """List installed plugins, ours and others, with what became of each. None but ours is imported for it.

    What others did when they were last looked at is kept; `pegboard doctor` looks at those that are new.
    """
    options.finish(_plugins(path, json=json), debug=debug)


async def _plugins(path: str | None, *, json: bool) -> int:
    from pegboard.terminal import visible

    from pegboard_cli.plugin_lines import plugin_lines
    from pegboard_cli.plugin_list import Installed
    from pegboard_cli.styles import Styles, columns, takes_colour

    installed = Installed(path)
    if installed.broken:
        typer.echo(f"note: the settings are passed over: {visible(installed.broken)}", err=True)
    listed = installed.rows()
    if json:
        options.print_json(listed)
    else:
        lines = plugin_lines(listed, Styles(takes_colour(sys.stdout)), width=columns(sys.stdout))
        sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0
