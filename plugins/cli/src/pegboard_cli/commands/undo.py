"""`pegboard undo`: list what calls did to files, and take it back. It is the person's own: nobody is asked."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pegboard.terminal import plain, spelled, visible

from pegboard_cli import options

if TYPE_CHECKING:
    from pathlib import Path

    from pegboard.board import Board
    from pegboard.errors import UndoError
    from pegboard.events import Undone
    from pegboard.session import Session

WRONG = ("unknown", "root")
"""Reasons why an undo is refused that are about the command line: as for all usage errors, nothing on stdout, exit 2."""
app = options.new_app()


@app.command()
def undo(
    call: Annotated[
        str | None,
        typer.Argument(
            metavar="[CALL]", help="The call (c3), or an undo, to have its changes again; --list names both."
        ),
    ] = None,
    call_option: Annotated[str | None, typer.Option("--call", metavar="CALL", help="The same.")] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="ID",
            callback=options.session_name,
            help="Of this session; else of the one that changed files here last.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only list what was changed, and what can be undone.")] = False,
    path: options.Path = None,
    without_guard: options.WithoutGuard = None,
    json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Put files back as they were before the last call that changed them; again goes further back.

    All files of a call or none: a file that was changed since is left alone, and so are the others; one that is as before
    the call already is not in the way. What commands changed is not followed and not undone; the list says which ran.
    """
    if call is not None and call_option is not None:
        raise typer.BadParameter("name one call", param_hint="CALL")
    named = call if call is not None else call_option
    if list_ and named:
        raise typer.BadParameter("--list takes no call; nothing was undone")
    without = without_guard or []
    if list_:
        work = _list(session, path, without, json=json)
    else:
        work = _undo(plain(named) if named else None, session, path, without, json=json)
    options.finish(work, debug=debug)


async def _list(session: str | None, path: str | None, without: list[str], *, json: bool) -> int:
    from pegboard.session.store import elsewhere, readable_events, works_in
    from pegboard.undoable import Source, listed, sources

    from pegboard_cli.styles import columns
    from pegboard_cli.undo_lines import list_lines

    async with _board(path, without) as board:
        store = board.sessions_folder
        if store is None or (session is not None and _missing(store, session)):
            return 2
        if session is not None:
            folder = store / session
            other = works_in(folder, board.root)
            if other or (other is not None and path is None):  # one that lost its root takes the one that is named
                typer.echo(f"pegboard: {spelled(elsewhere(session, other, board.root))}", err=True)
                return 2
            logs: list[Source] = [(folder, readable_events(folder)[0])]
        else:
            logs = sources(store, board.root)
        entries = list(listed(logs, board.workspace))
    if json:
        options.print_json({"session": session, "calls": entries})
    else:
        _print(list_lines(entries, width=columns(sys.stdout), sessions=session is None))
    return 0


async def _undo(call: str | None, session: str | None, path: str | None, without: list[str], *, json: bool) -> int:
    from pegboard.errors import UndoError

    from pegboard_cli.interrupts import listening

    async with _board(path, without) as board:
        store = board.sessions_folder
        if store is None or (session is not None and _missing(store, session)):
            return 2
        try:
            session = session or _session_of(store, board, call)
            with closing(board.session(session)) as opened:
                undoing = board.undoing(opened)
                with listening(undoing.stop, lambda _signal: undoing.stop()):
                    undone = await undoing.undo(call)
                    _tell(undone, opened, undoing.entries(), json=json)
        except UndoError as error:
            return _refused(error, session, json=json)
    return 0


def _session_of(store: Path, board: Board, call: str | None) -> str:
    """The session that is meant where none was named.

    Raises:
        UndoError: there is none, or more than one has this call.
    """
    from pegboard.errors import UndoError
    from pegboard.undoable import last_session, listed, sources

    if call is None:
        id = last_session(store, board.root)
        if id is None:
            raise UndoError(f"nothing to undo: no change of files stands in {board.root}", reason="nothing")
        return id
    found = [entry.session for entry in listed(sources(store, board.root), board.workspace) if entry.id == call]
    if len(found) == 1:
        return found[0]
    if not found:
        text = f"no {call} of this folder changed files. Nothing was changed. pegboard undo --list shows what did"
        raise UndoError(text, reason="unknown", call=call)
    text = f"{call} is in {len(found)} sessions ({', '.join(found[:4])}). Nothing was changed. Say which: --session ID"
    raise UndoError(text, reason="unknown", call=call)


def _tell(undone: Undone, session: Session, entries: Any, *, json: bool) -> None:
    from pegboard_cli.styles import Styles, takes_colour
    from pegboard_cli.undo_lines import undone_lines, unreached_line

    if json:
        options.print_json(_document(session.id, undone))
        return
    _print(undone_lines(undone, Styles(takes_colour(sys.stdout)), session.id))
    if line := unreached_line(entries, undone):
        typer.echo(f"note: {line}", err=True)


def _refused(error: UndoError, session: str | None, *, json: bool) -> int:
    if error.reason not in WRONG and json:
        options.print_json(_document(session, None, error))
    else:
        typer.echo(f"pegboard: {spelled(str(error))}", err=True)
    return 2 if error.reason in WRONG else 130 if error.reason == "interrupted" else 1


def _document(session: str | None, undone: Undone | None, error: UndoError | None = None) -> dict[str, Any]:
    """What `--json` prints, whatever became of it."""
    return {
        "session": session,
        "undo": undone.id if undone else None,
        "undoes": undone.undoes if undone else error and error.call,
        "call": undone.call if undone else None,
        "tool": undone.tool if undone else None,
        "redone": bool(undone and undone.redone),
        "files": undone.files if undone else [],
        "error": str(error) if error else None,
        "reason": error.reason if error else None,
        "in_the_way": error.paths if error else [],
        "already": undone.already if undone else [],
    }


def _board(path: str | None, without: list[str]) -> Any:
    """A board without further tool sets: none is called. Its guards say where files may be changed."""
    from pegboard_cli.front import Wishes, built

    return built(Wishes(path=path, without_guard=without, flags={"toolSets": []}))


def _missing(store: Path, session: str) -> bool:
    from pegboard.session.store import is_session

    if is_session(store / session):
        return False
    told = f"pegboard: there is no session {session!r}. `pegboard sessions list --all` names those there are."
    typer.echo(visible(told), err=True)
    return True


def _print(lines: list[str]) -> None:
    typer.echo("".join(f"{line}\n" for line in lines), nl=False)
