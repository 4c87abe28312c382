"""What calls of sessions did to files, newest first, and whether each can be undone (`undoing` does it)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import msgspec

from pegboard import events
from pegboard.errors import SessionError
from pegboard.kit.changes import Change, ChangedFile, told
from pegboard.kit.undo import View
from pegboard.session import records
from pegboard.session.deeds import FILES, UNREACHED, Deed, Deeds
from pegboard.session.presence import is_open
from pegboard.session.store import folders, readable_events, works_in

if TYPE_CHECKING:
    from pegboard.kit.workspace import Workspace

State: TypeAlias = Literal["ready", "behind", "changed", "undone", "lost", "command", "running"]
"""ready: it can be undone. behind: once newer ones are. changed: files were changed since. undone: it was. lost: what it
would take was not kept. command: a program ran, and what that changed is not followed. running: it has not finished."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A call, or an undo, in the list. `undoes`: what an undo took back. `why`: the state in words, where there is more to
    say. `when`: seconds since 1970; of a command, those of the change before it. `in_the_way`: files changed since."""

    session: str
    id: str
    tool: str
    summary: str
    undoes: str | None
    state: State
    why: str | None
    when: float | None
    files: list[ChangedFile]
    in_the_way: list[str] = []


_NOT_KEPT = {
    "interrupted": "what it changed, if anything, was not kept",
    None: "its process was ended before it was done, and what it changed, if anything, was not kept: look at the files",
}
"""Why there is nothing to undo a call by, going by its outcome."""
_REASONS = 2
"""Files whose reason is given; `in_the_way` has all of them."""
Source: TypeAlias = tuple[Path, Iterable[events.AnyEvent]]
"""A session's folder, and its log."""


def listed(sources: Iterable[Source], workspace: Workspace) -> Iterator[Entry]:
    """What calls of these sessions did to files, the newest first. Files are read as the entries are asked for."""
    rows = [_rows(folder, Deeds(log)) for folder, log in sources]
    fresh, view = View(workspace), View(workspace)
    for row in heapq.merge(*rows, key=lambda row: -(row.when or 0.0)):
        entry = _entry(row, fresh, view)
        if entry is not None:
            yield entry


class _Row(NamedTuple):
    folder: Path
    deeds: Deeds
    deed: Deed
    when: float | None


def _rows(folder: Path, deeds: Deeds) -> list[_Row]:
    """What may be listed of a session, the newest first."""
    rows: list[_Row] = []
    last = None
    for deed in deeds:
        kept = records.saved_at(folder, deed.id)
        if kept is not None or deed.kinds & (FILES | UNREACHED) or deed.undoes:
            last = max(kept or 0.0, last or 0.0) or None
            rows.append(_Row(folder, deeds, deed, last))
    return rows[::-1]


def _entry(row: _Row, fresh: View, view: View) -> Entry | None:
    """A deed as the list has it; None where it did nothing to files. `view`: with all newer entries undone, as far as they
    can be; this one is undone in it too."""
    deed, why = row.deed, None
    in_the_way: list[str] = []
    try:
        kept = records.load(row.folder, deed.id)
    except SessionError as error:
        kept, why = [], str(error).removesuffix("; nothing was changed")
    state: State
    if not row.deeds.in_force(deed):
        state, why = "undone", f"by {deed.by}"
    elif why is not None:
        state = "lost"
    elif kept is None and deed.kinds & UNREACHED:
        if not deed.wrote:
            return None
        state = "command"
    elif deed.outcome is None and is_open(row.folder):
        state = "running"
    elif kept is None and (deed.outcome in ("error", "blocked") or not deed.wrote):
        return None
    elif kept is None:
        state, why = "lost", _NOT_KEPT.get(deed.outcome, "what it changed was not kept")
    elif not any(change.matters for change in kept):
        return None
    else:
        state, why, in_the_way = _reachable(kept, fresh, view)
    return Entry(
        session=row.folder.name, id=deed.id, tool=deed.tool, summary=deed.summary, undoes=deed.undoes, state=state,
        why=why, when=row.when, files=told(kept or [], None).files,
        in_the_way=in_the_way,
    )  # fmt: skip


def _reachable(changes: Sequence[Change], fresh: View, view: View) -> tuple[State, str | None, list[str]]:
    """Whether changes can be undone now, or would be once all newer ones were."""
    if not all(change.undoable for change in changes):
        large = ", ".join(change.path for change in changes if not change.undoable)
        return "lost", f"the old content of {large} was too large to keep", []
    problems = fresh.undo(changes, keep=False)
    later = view.undo(changes)
    # what is as before only because newer ones made it so has to wait for them
    if not problems and (later or fresh.already <= view.already):
        return "ready", None, []
    if not later:
        return "behind", "once newer ones are undone", []
    return "changed", _counted(list(problems.values())), list(problems)


def _counted(problems: Sequence[str]) -> str:
    """The first of them, and how many there are more."""
    more = len(problems) - _REASONS
    rest = [f"And {more} more file{'s' * (more > 1)}."] if more > 0 else []
    return " ".join([*problems[:_REASONS], *rest])


def sources(store: Path, root: str, most: int | None = None) -> list[Source]:
    """The sessions of a root that kept anything to undo, the one that did so last first; at most so many."""
    return [(folder, readable_events(folder)[0]) for _, folder in _keeping(store, root)[:most]]


def last_session(store: Path, root: str) -> str | None:
    """The session of a root whose last change of files that stands is the newest; None where there is none."""
    best: tuple[float, str] | None = None
    for newest, folder in _keeping(store, root):
        if best is not None and newest < best[0]:
            break
        when = _last_change(folder)
        if when is not None and (best is None or when > best[0]):
            best = when, folder.name
    return best[1] if best is not None else None


def _keeping(store: Path, root: str) -> list[tuple[float, Path]]:
    """Sessions of a root that kept anything for undoing, with when they last did; the last one first."""
    found = [(newest, path) for path in folders(store) if (newest := records.newest(path)) is not None]
    return [(newest, Path(path)) for newest, path in sorted(found, reverse=True) if works_in(Path(path), root) is None]


def _last_change(folder: Path) -> float | None:
    """When the last change of files was made in a session that stands and was kept."""
    deeds = Deeds(readable_events(folder)[0])
    for deed in reversed(list(deeds)):
        if deed.undoes is None and deeds.in_force(deed) and (when := records.saved_at(folder, deed.id)) is not None:
            try:
                if any(change.matters for change in records.load(folder, deed.id) or ()):
                    return when
            except SessionError:
                return when
    return None
