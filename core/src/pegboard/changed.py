"""What a session has changed in files, as diffs: each file as it was before the session's first call, and as it is now.

It goes by what is kept for undoing, so it needs no version control. What commands changed is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pegboard.blocks import Diff
from pegboard.errors import DoorError, SessionError
from pegboard.kit.changes import Change, places_of
from pegboard.kit.diffs import ChangeName, diff_of_texts
from pegboard.kit.undo import Link, View
from pegboard.session import records
from pegboard.session.deeds import UNREACHED, Deeds

if TYPE_CHECKING:
    from pegboard.events import AnyEvent
    from pegboard.kit.workspace import Workspace

MOST_FILES = 200
"""Files whose changes are shown."""


class Changed(NamedTuple):
    """The diffs by path, and what should be known of them."""

    diffs: list[Diff]
    notes: list[str]


def changed(folder: Path, log: Iterable[AnyEvent], workspace: Workspace) -> Changed:
    """What stands of a session's changes. `folder`: the session's. It reads files, so call it in a thread.

    A file that somebody else has changed since cannot be put back in thought: of that one each call's own diff is shown."""
    deeds, made, notes = Deeds(log), list[Change](), list[str]()
    for deed in deeds:
        try:
            made += [change for change in records.load(folder, deed.id) or () if change.matters]
        except SessionError as error:
            notes.append(str(error).removesuffix("; nothing was changed"))
    now, before = View(workspace), View(workspace)
    broken = _undone(made, before)
    diffs = [*_net(made, now, before, broken), *_each(made, broken)]
    diffs.sort(key=lambda diff: diff.path)
    if broken:
        names = ", ".join(sorted(broken)[:3]) + (f" and {len(broken) - 3} more" if len(broken) > 3 else "")
        notes.append(f"{names}: changed by others since, or too large to keep; what each call did there is shown")
    if any(deed.kinds & UNREACHED and deed.wrote and records.saved_at(folder, deed.id) is None for deed in deeds):
        notes.append("commands ran in this session; what they changed is not followed")
    if len(diffs) > MOST_FILES:
        notes.append(f"{len(diffs) - MOST_FILES} more are not shown")
    return Changed(diffs[:MOST_FILES], notes)


def _undone(made: list[Change], view: View) -> set[str]:
    """Undo in thought, the newest first; the places that cannot be followed all the way back."""
    broken: set[str] = set()
    for change in reversed(made):
        places = places_of([change])
        if places & broken or view.undo([change]):
            broken |= places
    return broken


def _net(made: list[Change], now: View, before: View, broken: set[str]) -> Iterator[Diff]:
    """One diff a file that is another than it was."""
    from_: dict[str, str] = {}
    for change in made:
        if change.change == "moved" and change.to:
            from_[change.to] = from_.pop(change.path, change.path)
    places = places_of(made) - broken
    for path in sorted(places):
        with suppress(DoorError):  # nobody may read it any more
            old, new = before.content(path), now.content(path)
            source = from_.get(path)
            if source is not None and source in places and old is None and new is not None:
                old = before.content(source)
                if old is not None and now.content(source) is None and source != path:
                    yield _diff(old, new, source, "moved", path)
                    continue
                old = None
            if old != new and not _moved_away(path, from_, now, before):
                yield _diff(old, new, path, "created" if old is None else "deleted" if new is None else "changed")


def _moved_away(path: str, from_: dict[str, str], now: View, before: View) -> bool:
    """Whether a file that is gone is told of where it went."""
    return any(
        source == path and now.content(path) is None and before.content(to) is None and now.content(to) is not None
        for to, source in from_.items()
        if to != path
    )


def _diff(
    old: bytes | Link | None, new: bytes | Link | None, path: str, change: ChangeName, to: str | None = None
) -> Diff:
    """The diff of two contents; without a text for links and for what is no text."""
    parts = [b"" if part is None else part for part in (old, new)]
    if any(isinstance(part, Link) or b"\0" in part for part in parts):
        return Diff(path=path, change=change, added=0, removed=0, text="", to=to)
    return diff_of_texts(_bytes(parts[0]), _bytes(parts[1]), path, change, to)


def _bytes(part: bytes | Link) -> bytes:
    assert isinstance(part, bytes)
    return part


def _each(made: list[Change], broken: set[str]) -> Iterator[Diff]:
    """What each call did to the files that cannot be followed all the way back."""
    for change in made:
        if places_of([change]) & broken:
            yield change.diff or Diff(
                path=change.path,
                change=change.change,
                added=change.added,
                removed=change.removed,
                text="",
                to=change.to,
            )
