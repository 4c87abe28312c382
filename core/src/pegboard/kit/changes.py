"""The record of what was done to a file, how it is undone, and what programs are told of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from pegboard.blocks import Diff
from pegboard.kit.diffs import ChangeName
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import Span
from pegboard.kit.nature import Nature


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to one file, and what undoes it (`kit.undo`).

    `added`, `removed`: lines. `to`: where a moved file is now. `mode`: the permission bits of a file that was deleted
    or moved. `owner`, `attributes`: of a deleted one, as in `Nature`. `link`: where a deleted link led, or one that was
    made again leads. `folders`: parents that were made. `note`: what the person and the model should know (other names,
    owner). `undoable` is false where the old content was too large to keep. `check`: the CRC-32 of all of the new
    content; None where there is none. `escaped`: of a file that was deleted or moved: its own name had bytes that are not
    UTF-8, for which `path` has `\\xNN`.
    """

    path: str
    change: ChangeName
    added: int = 0
    removed: int = 0
    to: str | None = None
    before: Stamp | None = None
    after: Stamp | None = None
    spans: list[Span] = []
    mode: int | None = None
    owner: tuple[int, int] | None = None
    attributes: dict[str, bytes] | None = None
    link: str | None = None
    folders: list[str] = []
    note: str | None = None
    diff: Diff | None = None
    undoable: bool = True
    check: int | None = None
    escaped: bool = False

    @property
    def matters(self) -> bool:
        """Whether anything was changed: a file that is written as it was is not."""
        return self.change != "changed" or bool(self.spans) or not self.undoable

    @property
    def nature(self) -> Nature | None:
        """What the file was beside its content; None where that was not kept."""
        if self.mode is None:
            return None
        return Nature(mode=self.mode, owner=self.owner, attributes=self.attributes)


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was changed; `added` and `removed` count lines, `to` is where a moved one is now."""

    path: str
    change: ChangeName
    added: int
    removed: int
    to: str | None


class FilesChanged(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of tools that change files. `undo`: what `pegboard undo` knows it by; null: not kept."""

    files: list[ChangedFile]
    undo: str | None


def told(changes: Sequence[Change], undo: str | None) -> FilesChanged:
    """What programs are told of changes."""
    files = [ChangedFile(path=c.path, change=c.change, added=c.added, removed=c.removed, to=c.to) for c in changes]
    return FilesChanged(files=files, undo=undo)


def places_of(changes: Iterable[Change]) -> set[str]:
    """Every path that changes are about, that of a moved file before and after it."""
    return {place for change in changes for place in (change.path, change.to) if place}


KEPT_ATTRIBUTES = 1 << 16
"""Bytes of access list and extended attributes that are kept of a deleted file."""


def not_kept(path: str) -> str:
    """Why the change of a file that is too large to be kept is never undone."""
    return f"The old content of {path} was too large to keep, so this cannot be undone."


def counts(added: int, removed: int) -> str:
    """`+3 -1`; empty where no line changed."""
    return " ".join(f"{sign}{n}" for sign, n in (("+", added), ("-", removed)) if n)
