"""Undo: taking back what a call of a session did to files.

Undoing is a change of files like a call's: it holds the workspace's edit lock from the first look to the last rename, goes
through the workspace's door, and is kept so that it can be undone itself. It needs no turn lock: a turn that runs meanwhile,
here or in another process, changes files under the same lock, and compares them with what its session was shown first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard import events
from pegboard.editlock import EditLock
from pegboard.errors import DoorError, Interrupted, SessionError, UndoError
from pegboard.keeping import seen_event, seen_of
from pegboard.kit.aside import apart
from pegboard.kit.changes import Change, places_of
from pegboard.kit.undo import View, all_or_none, undo_all
from pegboard.kit.writer import Writer
from pegboard.session import records
from pegboard.session.deeds import Deed, Deeds
from pegboard.session.store import elsewhere, works_in
from pegboard.undoable import Entry, listed

if TYPE_CHECKING:
    from pegboard.kit.workspace import Workspace
    from pegboard.session import Session


class Undoing:
    """Undoing in one session."""

    def __init__(self, session: Session, workspace: Workspace, locks: Path | None) -> None:
        self._session = session
        self._workspace = workspace
        self._locks = locks
        self._stopped = False

    def stop(self) -> None:
        """Stop an undo that runs, between two files: what it did is put back, and it ends in UndoError (interrupted). One
        that has come to its end stays done."""
        self._stopped = True

    def _alive(self) -> None:
        if self._stopped:
            raise Interrupted("person", "The undo was stopped. Nothing was changed.")

    def entries(self) -> list[Entry]:
        """What the session did to files, the newest first.

        Raises:
            UndoError: nothing is kept of a session in memory, or this one works in another root.
        """
        return list(self._listed(self._folder()))

    async def undo(self, call: str | None = None, *, id: str | None = None) -> events.Undone:
        """Take back what a call, or an earlier undo, did to files: all of it or nothing. The event is in the log then.

        `call`: the last one that stands, if left out. `id`: what this undo is to be called.

        Raises:
            UndoError: it cannot be, or was stopped; nothing was changed.
            ToolError: it failed on the way; the text says if anything stays changed.
        """
        try:
            return await self._locked(call, id)
        except Interrupted as stopped:
            raise UndoError(str(stopped), reason="interrupted", call=call) from stopped

    async def _locked(self, call: str | None, id: str | None) -> events.Undone:
        outside: set[str] = set()
        while True:  # which files it is about is known for certain under the lock, and is part of what is locked
            async with EditLock(self._locks, self._workspace.root, outside, alive=self._alive):
                folder = self._folder()
                deeds = Deeds(self._session.read())
                entry = chosen(self._listed(folder), call)
                deed = deeds.get(entry.id)
                changes = records.load(folder, entry.id)
                assert deed is not None and changes is not None, "a ready entry has them"
                about = {place for place in places_of(changes) if place.startswith("/")}
                if about <= outside:
                    name = id or f"u{deeds.undos + 1}"
                    return await self._undo(folder, deed, changes, name, redone=_redone(deeds, deed))
            outside |= about

    async def _undo(self, folder: Path, deed: Deed, changes: list[Change], id: str, *, redone: bool) -> events.Undone:
        writer, view = Writer(self._workspace, places=places_of(changes), alive=self._alive), View(self._workspace)
        with all_or_none(self._workspace, writer):
            try:
                done = await apart(lambda: undo_all(self._workspace, writer, changes, view), stop=self.stop)
            except Interrupted as stopped:
                text = f"{deed.id} ({deed.tool}) was not undone, no file of it: {stopped}"
                raise UndoError(text, reason="interrupted", call=deed.id) from stopped
            except DoorError as error:
                text = f"{deed.id} ({deed.tool}) was not undone, no file of it: {error}"
                reason = "changed" if error.reason in ("stale", "exists", "changed") else "failed"
                raise UndoError(text, reason=reason, call=deed.id, paths=[error.path]) from error
            undone = events.Undone(
                id=id, undoes=deed.id, call=deed.call, tool=deed.tool, files=list(map(_file, done)), redone=redone,
                already=_already(changes, view, done),
            )  # fmt: skip
            try:
                records.save(folder, id, done)
                self._session.append(*self._seen(writer), undone)
            except (OSError, SessionError) as error:
                text = f"the undo could not be written down ({getattr(error, 'strerror', None) or error})"
                raise UndoError(f"{text}, so nothing was undone", reason="failed", call=deed.id) from error
        return undone

    def _listed(self, folder: Path) -> Iterator[Entry]:
        return listed([(folder, self._session.read())], self._workspace)

    def _seen(self, writer: Writer) -> list[events.Seen]:
        """What the session knows of the files now, so that its own next edit is not one of a file it never saw."""
        known = self._session.fold.seen
        return [seen_event(seen) for seen in writer.seen(lambda path: seen_of(known.get(path)))]

    def _folder(self) -> Path:
        folder = self._session.folder
        if folder is None:
            raise UndoError("this session is in memory only: nothing is kept of it to undo", reason="nothing")
        other = works_in(folder, self._workspace.root)
        if other is not None:
            raise UndoError(elsewhere(folder.name, other, self._workspace.root), reason="root")
        return folder


def chosen(entries: Iterable[Entry], call: str | None) -> Entry:
    """The entry to undo: the one with this id, or the newest call that stands.

    Raises:
        UndoError: there is none, or it cannot be undone.
    """
    if call is not None:
        entry = next((entry for entry in entries if entry.id == call), None)
        if entry is None:
            text = f"no {call} of this session changed files. Nothing was changed. --list shows what did"
            raise UndoError(text, reason="unknown", call=call)
    else:
        entry = next((e for e in entries if e.undoes is None and e.state not in ("undone", "command")), None)
        if entry is None:
            raise UndoError("nothing to undo: no change of files stands", reason="nothing")
    if entry.state != "ready":
        raise _refused(entry)
    return entry


def _refused(entry: Entry) -> UndoError:
    name = f"{entry.id} ({entry.tool})"
    match entry.state:
        case "undone":
            text = (
                f"{name} is undone already, {entry.why}. Undo {(entry.why or '').removeprefix('by ')} to have it again"
            )
        case "command":
            text = f"{name} ran a command; what commands change is not followed and cannot be undone"
        case "running":
            text = f"{name} has not finished; wait for it, or stop it"
        case "lost":
            text = f"{name} cannot be undone: {entry.why}. An older one can be named"
        case "behind":
            text = f"{name} cannot be undone before newer changes of the same files are"
        case _:
            text = f"{name} cannot be undone: {entry.why}".removesuffix(".")
    reason = "changed" if entry.state == "behind" else entry.state
    return UndoError(f"{text}. Nothing was changed.", reason=reason, call=entry.id, paths=entry.in_the_way)


def _redone(deeds: Deeds, deed: Deed) -> bool:
    """Whether undoing it brings a call's change back: it is an undo itself, or the undo of an undo of an undo ..."""
    redone = False
    while deed.undoes is not None and (before := deeds.get(deed.undoes)) is not None:
        redone, deed = not redone, before
    return redone


def _already(changes: Sequence[Change], view: View, done: Iterable[Change]) -> list[str]:
    """Files of changes that needed no undoing, and were not touched."""
    touched = places_of(done)
    files = (changes[at].path for at in sorted(view.already) if changes[at].matters)
    return [path for path in dict.fromkeys(files) if path not in touched]


def _file(change: Change) -> events.UndoneFile:
    return events.UndoneFile(
        path=change.path, change=change.change, added=change.added, removed=change.removed, to=change.to
    )
