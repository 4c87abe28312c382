"""Undoing recorded changes: spans put back, deleted files made again, made ones removed, moved ones moved back.

A file is only touched while it holds exactly what the change wrote. Several changes are undone from the last to the first,
all of them or none: `View` looks first, and what fails on the way is put back. What is as it was before the change already
(by an undo whose process was killed, or by somebody's own hand) is not in the way and not touched.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from pegboard.errors import DoorError, ToolError
from pegboard.kit.changes import Change, not_kept, places_of
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import Hunk, Span, makes, revert
from pegboard.kit.plan import Plan
from pegboard.kit.target import target_of
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer


class Link(msgspec.Struct, frozen=True):
    """A symbolic link, by what it says."""

    to: str


ELSEWHERE = Link("")
"""In the place of a file: a folder, or what a path leads to that went another way before. No link says this."""


def undo(workspace: Workspace, writer: Writer, change: Change) -> Change:
    """Put a file back as it was before `change`; what that did is a change itself.

    Raises DoorError: stale when what was written is not there any more, and the door's own. Nothing is changed then.
    """
    if not change.undoable:
        raise DoorError(f"{not_kept(change.path)} Nothing was changed.", reason="too_large", path=change.path)
    match change.change:
        case "created":
            undone = writer.remove(change.path, before=_as_written(workspace, change.path, change)[2])
        case "deleted":
            undone = _restore(writer, change)
        case "moved":
            assert change.to is not None
            _, old, stamp = _as_written(workspace, change.to, change)
            # Both names are there where a process was killed between making the one and dropping the other.
            if _content(workspace, change.path)[0] == old:
                undone = writer.remove(change.to, before=stamp)
            else:
                data = old if change.spans else None
                undone = writer.move(change.to, change.path, data, before=stamp, escaped=change.escaped)
        case "changed":
            data, old, stamp = _as_written(workspace, change.path, change)
            plan = Plan(change.path, data, old, _hunks_back(change.spans), replaced=len(change.spans), exact=False)
            undone = writer.splice(change.path, plan, stamp)
    _remove_folders(workspace, change.folders)
    return undone


def undo_all(workspace: Workspace, writer: Writer, changes: Sequence[Change], view: View | None = None) -> list[Change]:
    """Undo changes, given in the order in which they were made; all of them or none. Returns what was done, in order.

    `view`: a fresh one, which knows then what was as before already.

    Raises ToolError: a file was changed since (all that were are named), or could not be written. Nothing is changed then,
    unless the text says what could not be put back.
    """
    view = view or View(workspace)
    problems = view.undo(changes)
    if problems:
        raise DoorError(
            f"{' '.join(problems.values())} Nothing was changed.", reason="stale", path=next(iter(problems))
        )
    with all_or_none(workspace, writer):
        left = [(at, change) for at, change in enumerate(changes) if at not in view.already]
        done = [undo(workspace, writer, change) for _, change in reversed(left)]
        for at in sorted(view.already, reverse=True):
            _remove_folders(workspace, changes[at].folders)
        return done


@contextmanager
def all_or_none(workspace: Workspace, writer: Writer) -> Iterator[None]:
    """What is changed in the block is put back if the block fails, and the writer then knows nothing of it.

    Raises ToolError in the place of the block's error where that fails, too: it says what stays changed.
    """
    mark = writer.mark()
    try:
        yield
    except BaseException as error:
        done = writer.forget(mark)
        writer.put_back = writer.put_back or bool(done)
        problem = put_back(workspace, done)
        if problem is not None:
            writer.changes += done
            text = f"{error} Putting back what had been done before failed too ({problem}): {staying(done)}."
            raise ToolError(f"{text} Look at it before you go on.") from error
        raise


def put_back(workspace: Workspace, done: list[Change]) -> Exception | None:
    """Undo what was done, the last first, and take it off the list; what stays on it could not be. Returns what went wrong
    first, if anything did.

    By a writer of its own: the one that failed may be the one of a call that was cancelled."""
    writer, stays, first = Writer(workspace, places=places_of(done)), list[Change](), None
    while done:
        change = done.pop()
        try:
            undo(workspace, writer, change)
        except (ToolError, OSError) as problem:
            first = first or problem
            stays.insert(0, change)
    done += stays
    return first


def staying(changes: Sequence[Change]) -> str:
    """What could not be put back, in words."""
    words = {"created": "is there still", "moved": "stays moved"}
    stay = {change.to or change.path: words.get(change.change, f"stays {change.change}") for change in changes}
    return ", ".join(f"{path} {how}" for path, how in stay.items())


class View:
    """A workspace as it would be if changes were undone. Nothing is written; files are read once each.

    `already`: which of the changes that were given to `undo` last, by their places in that list, need no undoing."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.already: frozenset[int] = frozenset()
        self._files: dict[str, bytes | Link | None] = {}

    def undo(self, changes: Sequence[Change], *, keep: bool = True) -> dict[str, str]:
        """Undo changes, given in the order in which they were made, in this view alone; with `keep` false not even there.

        Returns why it cannot be, by path; empty when it can. The view stays as it was where it cannot.
        """
        files, problems, already = dict(self._files), {}, set[int]()
        first: dict[str, int] = {}
        for at, change in enumerate(changes):
            for place in places_of([change]):
                first.setdefault(place, at)
        for at, change in reversed(list(enumerate(changes))):
            path = change.to if change.change == "moved" and change.to else change.path
            if path in problems:
                continue
            problem = self._step(files, change, path)
            if problem is not None and self._is_before(files, change, {p for p, n in first.items() if n < at}):
                already.add(at)
            elif problem is not None:
                problems[path] = problem
        self.already = frozenset(already)
        if not problems and keep:
            self._files = files
        return dict(sorted(problems.items()))

    def content(self, path: str) -> bytes | Link | None:
        """What stands at a path in this view; None: nothing.

        Raises:
            DoorError: it may not be read.
        """
        return self._now(self._files, path)

    def _step(self, files: dict[str, bytes | Link | None], change: Change, path: str) -> str | None:
        """Undo one change in `files`; why not, else."""
        if not change.undoable:
            return not_kept(change.path)
        try:
            now = self._now(files, path)
            other = self._now(files, change.path) if change.change == "moved" else None
        except DoorError as error:
            return str(error).replace(" Nothing was changed.", "")
        if change.change == "deleted":
            if now is not None:
                return f"{path} exists again."
            files[path] = _deleted(change)
            return None
        old = _before(now, change)
        if old is None:
            return f"{path} is not there any more." if now in (None, ELSEWHERE) else f"{path} was changed since."
        if other is not None and other != old:
            return f"{change.path}, from where {path} was moved, exists again."
        files[path] = None
        if change.change != "created":
            files[change.path] = old
        return None

    def _is_before(self, files: dict[str, bytes | Link | None], change: Change, earlier: Collection[str]) -> bool:
        """Whether a change that cannot be undone in `files` need not be: each of its places is as before it, or as before
        something that was done there earlier, which is looked at next (`earlier`: places of which that is so)."""
        if not change.undoable:
            return False
        try:
            for place in places_of([change]):
                if place not in earlier and not _was(self._now(files, place), change, place):
                    return False
        except DoorError:
            return False
        return True

    def _now(self, files: dict[str, bytes | Link | None], path: str) -> bytes | Link | None:
        if path not in files:
            files[path] = self._files[path] = _content(self.workspace, path)[0]
        return files[path]


def _content(workspace: Workspace, path: str) -> tuple[bytes | Link | None, Stamp | None]:
    """What stands at a path; links are not followed. A path that leads elsewhere by now has nothing of what it had."""
    try:
        with target_of(workspace, path, follow=False) as target:
            if target.info is None:
                return None, None
            if target.at != path:
                return ELSEWHERE, None
            if target.is_link:
                return Link(os.readlink(target.name, dir_fd=target.folder)), target.stamp
            with target.open() as opened:
                return opened.read(), opened.stamp
    except DoorError as error:
        if error.reason in ("missing", "folder"):
            return None if error.reason == "missing" else ELSEWHERE, None
        raise


def _as_written(workspace: Workspace, path: str, change: Change) -> tuple[bytes, bytes, Stamp]:
    """A file's content, its content before the change, and its stamp. It must hold what was written."""
    now, stamp = _content(workspace, path)
    old = _before(now, change)
    if old is None or stamp is None:
        text = f"{path} was changed since, so this was not undone. Nothing was changed."
        raise DoorError(text, reason="stale", path=path)
    return (now, old, stamp) if isinstance(now, bytes) else (b"", b"", stamp)


def _before(now: bytes | Link | None, change: Change) -> bytes | None:
    """The content before the change (of a link: nothing); None where there is not exactly what was written."""
    if change.link is not None and change.change == "created":
        return b"" if now == Link(change.link) else None
    if not isinstance(now, bytes) or change.after is None or len(now) != change.after.size:
        return None
    if change.check is not None and zlib.crc32(now) != change.check:
        return None
    return revert(now, change.spans)


def _was(now: bytes | Link | None, change: Change, place: str) -> bool:
    """Whether exactly that stands at a place of a change that stood there before it."""
    match change.change:
        case "created":
            return now is None
        case "deleted":
            return now == _deleted(change)
        case "moved" if place == change.to:
            return now is None
        case _:
            if not isinstance(now, bytes) or change.after is None or change.check is None:
                return False
            return makes(now, change.spans, change.after.size, change.check)


def _deleted(change: Change) -> bytes | Link:
    return Link(change.link) if change.link is not None else change.spans[0].old


def _hunks_back(spans: Sequence[Span]) -> list[Hunk]:
    """From what was written to what was there before."""
    hunks, grown = [], 0
    for span in spans:
        start = span.start + grown
        hunks.append(Hunk(span.start, span.start + span.length, start, start + len(span.old)))
        grown += len(span.old) - span.length
    return hunks


def _restore(writer: Writer, change: Change) -> Change:
    if change.link is not None:
        return writer.restore_link(change.path, change.link, escaped=change.escaped)
    return writer.restore(change.path, change.spans[0].old, change.nature, escaped=change.escaped)


def _remove_folders(workspace: Workspace, folders: Sequence[str]) -> None:
    """Remove folders that the change had made, as far as nothing else is in them by now."""
    for at in reversed(folders):
        try:
            with workspace.folder(os.path.dirname(at) or ".") as parent:
                os.rmdir(os.path.basename(at), dir_fd=parent.fd)
        except (DoorError, OSError):
            return
