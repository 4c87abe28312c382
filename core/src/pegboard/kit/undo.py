"""Undoing a recorded change: spans put back, deleted files made again, made ones removed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pegboard.errors import DoorError
from pegboard.kit.changes import Change
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import revert
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer


def undo(workspace: Workspace, writer: Writer, change: Change) -> Change:
    """Put a file back as it was before `change`; what that did is a change itself.

    Raises DoorError: stale when what was written is not there any more, and the door's own. Nothing is changed then.
    """
    if not change.undoable:
        text = f"The old content of {change.path} was too large to keep, so this cannot be undone. Nothing was changed."
        raise DoorError(text, reason="too_large", path=change.path)
    match change.change:
        case "created":
            undone = writer.remove(
                change.path, before=None if change.link else _same(workspace, change.path, change)[1]
            )
        case "deleted":
            undone = _restore(writer, change)
        case "moved":
            assert change.to is not None
            old, stamp = _same(workspace, change.to, change)
            undone = writer.move(change.to, change.path, old if change.spans else None, before=stamp)
        case "changed":
            old, stamp = _same(workspace, change.path, change)
            undone = writer.write(change.path, old, before=stamp)
    _remove_folders(workspace, change.folders)
    return undone


def _restore(writer: Writer, change: Change) -> Change:
    if change.link is not None:
        return writer.restore_link(change.path, change.link)
    return writer.restore(change.path, change.spans[0].old, change.mode)


def _same(workspace: Workspace, path: str, change: Change) -> tuple[bytes, Stamp]:
    """The content before the change, and the file's stamp now; the file must still hold what was written."""
    with workspace.open(path, "edit") as opened:
        data, stamp = opened.read(), opened.stamp
    sized = change.after is not None and stamp.size == change.after.size
    old = revert(data, change.spans) if sized else None
    if old is None:
        text = f"{path} was changed since, so this was not undone. Nothing was changed."
        raise DoorError(text, reason="stale", path=path)
    return old, stamp


def _remove_folders(workspace: Workspace, folders: Sequence[str]) -> None:
    """Remove folders that the change had made, as far as nothing else is in them by now."""
    for at in reversed(folders):
        try:
            with workspace.folder(os.path.dirname(at) or ".") as parent:
                os.rmdir(os.path.basename(at), dir_fd=parent.fd)
        except (DoorError, OSError):
            return
