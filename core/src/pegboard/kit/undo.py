"""Undoing recorded changes: spans put back, deleted files made again, made ones removed, moved ones moved back.

A file is only touched while it holds exactly what the change wrote. Several changes are undone from the last to the first,
all of them or none: `View` looks first, and what fails on the way is put back.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from pegboard.errors import DoorError, ToolError
from pegboard.kit.changes import Change, not_kept, places_of
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import Hunk, Span, revert
from pegboard.kit.plan import Plan
from pegboard.kit.target import target_of
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer


class Link(msgspec.Struct, frozen=True):
    """A symbolic link, by what it says."""

    to: str


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
            data = old if change.spans else None
            undone = writer.move(change.to, change.path, data, before=stamp, escaped=change.escaped)
        case "changed":
            data, old, stamp = _as_written(workspace, change.path, change)
            plan = Plan(change.path, data, old, _hunks_back(change.spans), replaced=len(change.spans), exact=False)
            undone = writer.splice(change.path, plan, stamp)
    _remove_folders(workspace, change.folders)
    return undone


def undo_all(workspace: Workspace, writer: Writer, changes: Sequence[Change]) -> list[Change]:
    """Undo changes, given in the order in which they were made; all of them or none. Returns what was done, in order.

    Raises ToolError: a file was changed since (all that were are named), or could not be written. Nothing is changed then,
    unless the text says what could not be put back.
    """
    problems = View(workspace).undo(changes)
    if problems:
        raise DoorError(
            f"{' '.join(problems.values())} Nothing was changed.", reason="stale", path=next(iter(problems))
        )
    with all_or_none(workspace, writer):
        return [undo(workspace, writer, change) for change in reversed(changes)]


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
        problem = _put_back(workspace, done)
        if problem is not None:
            writer.changes += done
            stay = ", ".join(dict.fromkeys(change.to or change.path for change in done))
            text = f"{error} Putting back what had been done before failed too ({problem}): {stay} stays changed."
            raise ToolError(f"{text} Look at it before you go on.") from error
        raise


def _put_back(workspace: Workspace, done: list[Change]) -> Exception | None:
    """Undo what was done, the last first, and take it off the list; what keeps it from going on, if anything does.

    By a writer of its own: the one that failed may be the one of a call that was cancelled."""
    writer = Writer(workspace, places=places_of(done))
    while done:
        try:
            undo(workspace, writer, done[-1])
        except (ToolError, OSError) as problem:
            return problem
        done.pop()
    return None


class View:
    """A workspace as it would be if changes were undone. Nothing is written; files are read once each."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._files: dict[str, bytes | Link | None] = {}

    def undo(self, changes: Sequence[Change], *, keep: bool = True) -> dict[str, str]:
        """Undo changes, given in the order in which they were made, in this view alone; with `keep` false not even there.

        Returns why it cannot be, by path; empty when it can. The view stays as it was where it cannot.
        """
        files, problems = dict(self._files), {}
        for change in reversed(changes):
            path = change.to if change.change == "moved" and change.to else change.path
            if path in problems:
                continue
            problem = self._step(files, change, path)
            if problem is not None:
                problems[path] = problem
        if not problems and keep:
            self._files = files
        return dict(sorted(problems.items()))

    def _step(self, files: dict[str, bytes | Link | None], change: Change, path: str) -> str | None:
        """Undo one change in `files`; why not, else."""
        if not change.undoable:
            return not_kept(change.path)
        try:
            now = self._now(files, path)
            free = change.change != "moved" or self._now(files, change.path) is None
        except DoorError as error:
            return str(error).replace(" Nothing was changed.", "")
        if change.change == "deleted":
            if now is not None:
                return f"{path} exists again."
            files[path] = _deleted(change)
            return None
        old = _before(now, change)
        if old is None:
            return f"{path} was changed since." if now is not None else f"{path} is not there any more."
        if not free:
            return f"{change.path}, from where {path} was moved, exists again."
        files[path] = None
        if change.change != "created":
            files[change.path] = old
        return None

    def _now(self, files: dict[str, bytes | Link | None], path: str) -> bytes | Link | None:
        if path not in files:
            files[path] = self._files[path] = _content(self.workspace, path)[0]
        return files[path]


def _content(workspace: Workspace, path: str) -> tuple[bytes | Link | None, Stamp | None]:
    """What stands at a path; links are not followed. A path that leads elsewhere by now has nothing of what it had."""
    try:
        with target_of(workspace, path, follow=False) as target:
            if target.info is None or target.at != path:
                return None, None
            if target.is_link:
                return Link(os.readlink(target.name, dir_fd=target.folder)), target.stamp
            with target.open() as opened:
                return opened.read(), opened.stamp
    except DoorError as error:
        if error.reason in ("missing", "folder"):
            return None, None
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
