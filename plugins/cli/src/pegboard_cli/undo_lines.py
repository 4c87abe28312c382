"""What `pegboard undo` and `/undo` show: what can be undone, and what was. Library code: it prints nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pegboard.terminal import visible

from pegboard_cli.render import table_lines
from pegboard_cli.styles import Styles

if TYPE_CHECKING:
    from pegboard.events import Undone, UndoneFile
    from pegboard.undoable import Entry

NEWEST = 20
"""Entries that a list shows to a person."""
_FILES = 3
_STATES = {
    "ready": "can be undone",
    "behind": "can be undone after newer ones",
    "changed": "cannot be undone: {why}",
    "undone": "undone {why}",
    "lost": "cannot be undone: {why}",
    "command": "not undone: what commands change is not followed",
    "running": "has not finished",
}
_DEEDS = {"created": "made", "changed": "restored", "deleted": "removed", "moved": "moved"}


def list_lines(entries: Sequence[Entry], *, width: int | None, sessions: bool = True) -> list[str]:
    """The calls of the list, the newest first. `sessions`: say of which session each is."""
    shown = entries[:NEWEST]
    if not shown:
        return ["Nothing to undo: no call changed files here."]
    rows = [
        [entry.id, *([entry.session] if sessions else []), entry.tool, _when(entry), _state(entry), _what(entry)]
        for entry in shown
    ]
    head = ["call", *(["session"] if sessions else []), "tool", "changed", "state", "files"]
    left = len(entries) - len(shown)
    return [
        *table_lines([head, *rows], width=width),
        *([f"and {left} more: pegboard undo --list --json has all"] if left else []),
    ]


def undone_lines(event: Undone, styles: Styles, session: str | None = None) -> list[str]:
    """What was undone, a line a file, and the name by which it can be undone itself."""
    where = f" of session {visible(session)}" if session else ""
    count = "1 file" if len(event.files) == 1 else f"{len(event.files)} files"
    back = [styles.dim(visible(f"  (undo {event.id} takes this back)"))] if event.files else []
    already = [f"  {line}"] if (line := _already(event)) else []
    return [
        f"{_heading(event)}{where}: {count}",
        *(f"  {_file(file, styles)}" for file in event.files),
        *already,
        *back,
    ]


def undone_line(event: Undone) -> str:
    """The same in a line, for a session that is read."""
    return f"{_heading(event)}: {', '.join(filter(None, (*map(_deed, event.files), _already(event))))}"


def unreached_line(entries: Iterable[Entry], undone: Undone) -> str | None:
    """That commands ran after the call, and that what they changed is as they left it."""
    ran: list[str] = []
    for entry in entries:
        if entry.id == undone.undoes:
            break
        if entry.state == "command":
            ran.append(visible(f"{entry.id} {entry.tool}"))
    if not ran:
        return None
    return f"commands ran since ({', '.join(reversed(ran[:_FILES]))}): what they changed is not undone"


def _heading(event: Undone) -> str:
    again = f" again, by undoing {event.undoes}" if event.redone else ""
    return visible(f"{'Made' if event.redone else 'Undid'} {event.call} ({event.tool}){again}")


def _file(file: UndoneFile, styles: Styles) -> str:
    added = styles.good(f" +{file.added}") if file.added else ""
    removed = styles.bad(f" -{file.removed}") if file.removed else ""
    return f"{_deed(file)}{added}{removed}"


def _deed(file: UndoneFile) -> str:
    to = f" to {file.to}" if file.to else ""
    return visible(f"{_DEEDS.get(file.change, file.change)} {file.path}{to}")


def _already(event: Undone) -> str:
    """What was as it was to be; of many files only how many."""
    few = len(event.already) <= _FILES
    names = visible(", ".join(event.already)) if few else f"{len(event.already)} files"
    return f"was so already: {names}" if event.already else ""


def _when(entry: Entry) -> str:
    if entry.when is None or entry.state == "command":
        return ""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.when))


def _state(entry: Entry) -> str:
    return _STATES[entry.state].format(why=(entry.why or "").removesuffix("."))


def _what(entry: Entry) -> str:
    if entry.undoes is not None:
        return f"(undo of {entry.undoes}) {_names(entry)}"
    return _names(entry) or entry.summary


def _names(entry: Entry) -> str:
    names = list(dict.fromkeys(file.to or file.path for file in entry.files))
    more = f", {len(names) - _FILES} more" if len(names) > _FILES else ""
    return ", ".join(names[:_FILES]) + more
