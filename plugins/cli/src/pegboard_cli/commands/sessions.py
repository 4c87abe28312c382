"""`pegboard sessions`: list, show, export, audit, delete, prune. Reading locks nothing."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pegboard.terminal import visible

from pegboard_cli import options, pruning

if TYPE_CHECKING:
    from pathlib import Path

    from pegboard.session import SessionInfo
    from pegboard.session.files import Damage

app = options.new_app(help="List past sessions; show, export, audit, delete or prune them.", no_args_is_help=True)

_Id = Annotated[
    str, typer.Argument(metavar="ID", callback=options.session_name, help="The session, as the list names it.")
]
_Sure = Annotated[bool, typer.Option("--yes", help="Do it without asking; needed where nobody can be asked.")]


@app.command("list")
def list_sessions(
    all_: Annotated[
        bool, typer.Option("--all", help="List every session, not only the newest 20 that had a turn.")
    ] = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """List past sessions, the latest first."""
    options.finish(_list(all_=all_, json=json), debug=debug)


@app.command("show")
def show_session(id: _Id, json: options.Json = False, debug: options.Debug = False) -> None:
    """Show a session as it can be read; with --json, its events."""
    options.finish(_show(id, json=json), debug=debug)


@app.command("export")
def export_session(
    id: _Id,
    format: Annotated[
        Literal["markdown", "json"], typer.Option("--format", help="A page for a person, or the events for a program.")
    ] = "markdown",
    output: Annotated[
        str | None, typer.Option("--output", metavar="FILE", help="Write a new file, readable by you alone.")
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Write a session down for others: Markdown or JSON, on stdout or in a file.

    Credentials are taken out (sessions.redact). Kept outputs and what undo needs are never exported.
    """
    options.finish(_export(id, format, output), debug=debug)


@app.command("audit")
def audit_session(
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            callback=options.session_name,
            help="The session, as the list names it; left out: the last one of this folder.",
        ),
    ] = None,
    path: options.Path = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Show what each call of a session was allowed by, or refused by: rules, guards, answers, the sandbox."""
    options.finish(_audit(id, path, json=json), debug=debug)


@app.command("delete")
def delete_sessions(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The sessions, as the list names them.")],
    yes: _Sure = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Delete sessions and all that is kept with them. One that a process uses is left alone."""
    for id in ids:
        options.session_name(id)
    options.finish(_delete(list(dict.fromkeys(ids)), yes=yes, json=json), debug=debug)


@app.command("prune")
def prune_sessions(
    older_than: Annotated[
        str | None, typer.Option(metavar="AGE", callback=pruning.age, help="Last changed longer ago: 30d, 12h, 2w.")
    ] = None,
    keep: Annotated[int | None, typer.Option(metavar="N", min=0, help="All but the newest N.")] = None,
    max_bytes: Annotated[
        str | None, typer.Option(metavar="SIZE", callback=pruning.size, help="The oldest beyond this much: 500M, 2G.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be deleted.")] = False,
    yes: _Sure = False,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Delete old sessions: those that any of the limits names. Those in use are left alone."""
    if older_than is None and keep is None and max_bytes is None:
        raise typer.BadParameter("say which: --older-than AGE, --keep N or --max-bytes SIZE; nothing was deleted")
    limits = {
        "older_than": pruning.seconds_of(older_than),
        "keep": keep,
        "max_bytes": pruning.bytes_of(max_bytes),
    }
    options.finish(_prune(limits, dry_run=dry_run, yes=yes, json=json), debug=debug)


async def _list(*, all_: bool, json: bool) -> int:
    from pegboard.session import sessions

    from pegboard_cli.history import chosen_for_list, session_lines
    from pegboard_cli.styles import columns

    found = sessions(_store())
    if json:
        options.print_json({"sessions": found})
        return 0
    shown, more, single = (found, 0, 0) if all_ else chosen_for_list(found)
    _print(session_lines(shown, more=more, single=single, width=columns(sys.stdout)))
    return 0


async def _show(id: str, *, json: bool) -> int:
    from pegboard.session.store import readable_events

    from pegboard_cli.history import conversation_lines
    from pegboard_cli.styles import Styles, takes_colour

    if _missing(id):
        return 2
    events, damage = readable_events(_store() / id)
    _told_of(damage)
    if json:
        options.print_json({"session": id, "events": events})
    else:
        lines = list(conversation_lines(events, Styles(takes_colour(sys.stdout))))
        _print(lines[1:] if lines[:1] == [""] else lines)
    return 0


async def _audit(id: str | None, path: str | None, *, json: bool) -> int:
    from pegboard.session.store import latest, readable_events

    from pegboard_cli.auditing import audit_lines, audited, document
    from pegboard_cli.styles import columns

    if id is None:
        from pegboard.config.places import find_root

        root, _ = find_root(path)
        id = latest(_store(), root)
        if id is None:
            typer.echo(
                visible(f"pegboard: no session of {root} had a turn. Name one: pegboard sessions list"), err=True
            )
            return 2
        if not json:
            typer.echo(f"pegboard: session {id}", err=True)
    if _missing(id):
        return 2
    events, damage = readable_events(_store() / id)
    _told_of(damage)
    calls = audited(events)
    if json:
        options.print_json({"session": id, **document(calls)})
    else:
        _print(audit_lines(calls, columns(sys.stdout)))
    return 0


async def _export(id: str, format: str, output: str | None) -> int:
    from pegboard.session.store import info_of, readable_events

    from pegboard_cli.exported import redactor, write_new
    from pegboard_cli.exporting import exported

    info = None if _missing(id) else info_of(_store() / id)
    if info is None:
        return 2
    found, damage = readable_events(_store() / id)
    _told_of(damage)
    data = exported(info, found, format, redactor())
    if output is None:
        sys.stdout.buffer.write(data)
        return 0
    return write_new(output, data)


def _told_of(damage: list[Damage]) -> None:
    """Say which lines of the log were passed over."""
    if not damage:
        return
    more = f", and {len(damage) - 8} more" if len(damage) > 8 else ""
    lines = ", ".join(f"{one.line}" for one in damage[:8]) + more
    which = f"line {lines} of its log was" if len(damage) == 1 else f"lines {lines} of its log were"
    text = f"pegboard: {which} passed over: not an event this version knows ({damage[0].why})"
    typer.echo(visible(text), err=True)


async def _delete(ids: list[str], *, yes: bool, json: bool) -> int:
    from pegboard.session.store import info_of

    found: list[SessionInfo] = []
    for id in ids:
        info = None if _missing(id) else info_of(_store() / id)
        if info is None:
            return 2
        found.append(info)
    return _remove(found, yes=yes, json=json, named=True)


async def _prune(limits: dict[str, Any], *, dry_run: bool, yes: bool, json: bool) -> int:
    from pegboard.session.removal import Removed, in_use, to_prune

    chosen = to_prune(_store(), **limits)
    if dry_run:
        used = {info.id for info in chosen if in_use(_store(), info.id)}
        told = [
            Removed(id=i.id, size=0, outcome="in use")
            if i.id in used
            else Removed(id=i.id, size=i.size, outcome="would be deleted")
            for i in chosen
        ]
        return _told(told, json=json)
    if not yes and not json:
        typer.echo("".join(f"{line}\n" for line in pruning.doomed_lines(chosen)), err=True, nl=False)
    return _remove(chosen, yes=yes, json=json) if chosen else _told([], json=json)


def _remove(chosen: list[SessionInfo], *, yes: bool, json: bool, named: bool = False) -> int:
    """Ask, delete, and say what became of each. `named`: one by one, so that to pass one over is an error."""
    from pegboard.session.removal import delete_all

    if not yes:
        answer = None if json else pruning.agreed(pruning.question(chosen))
        if not answer:
            why = (
                "nobody is there to ask; nothing was deleted. Say --yes." if answer is None else "nothing was deleted."
            )
            typer.echo(f"pegboard: {why}", err=True)
            return 2 if answer is None else 0
    return _told(list(delete_all(_store(), chosen)), json=json, named=named)


def _told(removed: list[Any], *, json: bool, named: bool = False) -> int:
    if json:
        freed = sum(one.size for one in removed if one.outcome == "deleted")
        options.print_json({"sessions": removed, "freed": freed})
    else:
        _print(pruning.removed_lines(removed))
    wrong = ("failed", "in use") if named else ("failed",)
    return 1 if any(one.outcome in wrong for one in removed) else 0


def _missing(id: str) -> bool:
    """Whether there is no such session; said on stderr."""
    from pegboard.session.store import is_session

    if is_session(_store() / id):
        return False
    typer.echo(f"pegboard: there is no session {id!r}. `pegboard sessions list` names those there are.", err=True)
    return True


def _store() -> Path:
    """Where sessions are kept."""
    from pegboard.config.places import state_folder

    return state_folder(os.environ) / "sessions"


def _print(lines: list[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
