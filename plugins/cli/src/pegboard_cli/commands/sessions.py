"""`pegboard sessions list` and `pegboard sessions show ID`. Reading locks nothing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pegboard_cli import options

if TYPE_CHECKING:
    from pegboard.session import SessionInfo

app = options.new_app(help="List past sessions, or show one.", no_args_is_help=True)


@app.command("list")
def list_sessions(
    all_: Annotated[bool, typer.Option("--all", help="List every session, not only the newest 20.")] = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List past sessions, the latest first."""
    options.finish(_list(all_=all_, json=json), debug=debug)


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


async def _list(*, all_: bool, json: bool) -> int:
    from pegboard.session import sessions

    from pegboard_cli.history import NEWEST, session_lines
    from pegboard_cli.styles import columns

    found = sessions(_store())
    if json:
        options.print_json({"sessions": found})
        return 0
    shown = [_titled(info) for info in (found if all_ else found[:NEWEST])]
    _print(session_lines(shown, more=len(found) - len(shown), width=columns(sys.stdout)))
    return 0


def _titled(info: SessionInfo) -> SessionInfo:
    """A session of single calls has no request: its title is what the first of them did."""
    import msgspec
    from pegboard.errors import SessionError
    from pegboard.events import CallAsked
    from pegboard.session import read_events

    if info.title or not info.events:
        return info
    try:
        events = read_events(_store() / info.id)
    except SessionError:
        return info
    asked = next((event for event in events if isinstance(event, CallAsked)), None)
    return msgspec.structs.replace(info, title=asked.summary.split("\n", 1)[0] or asked.requested) if asked else info


async def _show(id: str, *, json: bool) -> int:
    from pegboard.session import read_events

    from pegboard_cli.history import conversation_lines
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
