"""The record of what was done to a file, and how it is undone."""

from __future__ import annotations

import msgspec

from pegboard.blocks import Diff
from pegboard.kit.diffs import ChangeName
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import Span


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to one file, and what undoes it (`kit.undo`).

    `added`, `removed`: lines. `to`: where a moved file is now. `mode`: the permission bits of a file that was deleted
    or moved. `link`: where a deleted link led. `folders`: parents that were made. `note`: what the person and the model
    should know (other names, owner). `undoable` is false where the old content was too large to keep.
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
    link: str | None = None
    folders: list[str] = []
    note: str | None = None
    diff: Diff | None = None
    undoable: bool = True
