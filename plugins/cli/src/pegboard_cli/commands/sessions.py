"""`pegboard sessions list` and `pegboard sessions show ID`. Reading locks nothing."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer

from pegboard_cli import options

app = options.new_app(help="List past sessions, or show one.", no_args_is_help=True)


@app.command("list")
def list_sessions(json: options.Json = False, debug: options.Debug = False) -> None:
    """List past sessions, the latest first."""
    options.finish(_list(json=json), debug=debug)


@app.command("show")
def show_session(
    id: Annotated[
        str, typer.Argument(metavar="ID", callback=options.session_name, help="The session, as the list names it.")
    ],
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Show a session as it can be read; with --json, its events."""
    options.finish(_show(id, json=json), debug=debug)


async def _list(*, json: bool) -> int:
    from pegboard.session import sessions

    from pegboard_cli.listing import session_lines

    found = sessions(_store())
    if json:
        options.print_json({"sessions": found})
    else:
        _print(session_lines(found))
    return 0


async def _show(id: str, *, json: bool) -> int:
    from pegboard.session import read_events

    from pegboard_cli.listing import conversation_lines
    from pegboard_cli.styles import Styles, takes_colour

    folder = _store() / id
    if not folder.is_dir():
        typer.echo(f"pegboard: there is no session {id!r}. `pegboard sessions list` names those there are.", err=True)
        return 2
    events = read_events(folder)
    if json:
        options.print_json({"session": id, "events": events})
    else:
        _print(list(conversation_lines(events, Styles(takes_colour(sys.stdout)))))
    return 0


def _store() -> Any:
    """Where sessions are kept."""
    from pegboard.config.places import state_folder

    return state_folder(os.environ) / "sessions"


def _print(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
