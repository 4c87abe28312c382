"""What a session has seen of a file, and whether that is still there.

Kept are the file's stamp and a digest of the byte ranges that were shown. Equal stamps are fresh; else those ranges are
hashed again, so a touch, or a change elsewhere in the file, is not stale. No digest of whole files: it would cost more
than the read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

import msgspec

from pegboard.errors import DoorError
from pegboard.kit.handles import OpenFile, Stamp
from pegboard.kit.hunks import Hunk
from pegboard.kit.settings import EditSettings

MAX_RANGES = 64
Range: TypeAlias = tuple[int, int]
"""Bytes `start` to `end` of a file."""


class Seen(msgspec.Struct, frozen=True):
    """The byte ranges of one file that were shown (ascending, apart), the digest of their bytes, the stamp then."""

    path: str
    stamp: Stamp
    ranges: list[Range]
    digest: str

    @property
    def whole(self) -> bool:
        """All of the file was shown."""
        return self.stamp.size == 0 or self.ranges == [(0, self.stamp.size)]


class SeenFiles(Protocol):
    """Where a session keeps what was seen, by real path."""

    def get(self, path: str) -> Seen | None: ...
    def put(self, seen: Seen) -> None: ...


def seen_in(opened: OpenFile, ranges: Iterable[Range], before: Seen | None = None) -> Seen:
    """What is known after `ranges` of a file were shown, together with what was seen `before` and still holds."""
    if before is not None and _holds(opened, before):
        ranges = [*ranges, *before.ranges]
    return _seen(opened.at, opened.stamp, ranges, opened.digest)


def seen_written(path: str, stamp: Stamp, data: bytes) -> Seen:
    """What is known after a whole file was written."""
    return _seen(path, stamp, [(0, len(data))], _digest_in(data))


def seen_kept(path: str, stamp: Stamp, data: bytes, before: Seen | None) -> Seen | None:
    """What is known of a file that was put back: what had been seen of it, if it is that content."""
    if before is None or not holds_in(data, before):
        return None
    return Seen(path, stamp, before.ranges, before.digest)


def seen_edited(
    path: str, stamp: Stamp, data: bytes, hunks: Sequence[Hunk], before: Seen | None, *, exact: bool = True
) -> Seen:
    """What is known after an edit: what was seen moves along, what was put in is known.

    `before` is None when nothing was seen, or what was seen did not hold. Without `exact`, hunks hold more than what
    was put in, and count as seen only where they were seen before.
    """
    ranges = _moved(before.ranges if before is not None else [], hunks)
    ranges += [
        (hunk.new_start, hunk.new_end)
        for hunk in hunks
        if exact or (before is not None and _covers(before.ranges, hunk.old_start, hunk.old_end))
    ]
    return _seen(path, stamp, ranges, _digest_in(data))


def _moved(ranges: Sequence[Range], hunks: Sequence[Hunk]) -> list[Range]:
    """The parts of `ranges` that no hunk replaced, where they are now. Both ascend: one pass."""
    found: list[Range] = []
    number, shift = 0, 0
    for start, end in ranges:
        while start < end:
            while number < len(hunks) and hunks[number].old_end <= start:
                shift = hunks[number].new_end - hunks[number].old_end
                number += 1
            hunk = hunks[number] if number < len(hunks) else None
            stop = end if hunk is None else min(end, max(hunk.old_start, start))
            if stop > start:
                found.append((start + shift, stop + shift))
            start = stop if hunk is None or stop == end else min(end, hunk.old_end)
    return found


def check_fresh(opened: OpenFile, seen: Seen | None, settings: EditSettings, *, whole: bool) -> str | None:
    """Refuse to change what is not what the session saw. `whole`: all of the file is about to be replaced.

    Returns a warning where `edit.staleness` only warns. Raises DoorError (stale).
    """
    if seen is None:
        if settings.require_read:
            text = f"{opened.at} was not read in this session, and edit.require_read is on. {_REFUSED}"
            raise DoorError(text, reason="stale", path=opened.at)
        return None
    if settings.staleness == "off":
        return None
    problem = _problem(opened, seen, whole)
    if problem is None:
        return None
    if settings.staleness == "warn":
        return f"Warning: {problem}."
    raise DoorError(f"{problem}. {_REFUSED}", reason="stale", path=opened.at)


_REFUSED = "Nothing was changed. Read it first, then repeat the change."


def _problem(opened: OpenFile, seen: Seen, whole: bool) -> str | None:
    if not _holds(opened, seen):
        return f"{opened.at} was changed on disk since this session last read it"
    if whole and not (seen.whole and opened.size == seen.stamp.size):
        return f"{opened.at} was read only in part in this session, and all of it would be replaced"
    return None


def holds_in(data: bytes, seen: Seen) -> bool:
    """Whether what was seen is still there, in a file's whole content."""
    return _digest(seen.ranges, _digest_in(data)) == seen.digest


def _holds(opened: OpenFile, seen: Seen) -> bool:
    return opened.stamp == seen.stamp or _digest(seen.ranges, opened.digest) == seen.digest


def _seen(path: str, stamp: Stamp, ranges: Iterable[Range], digest: Callable[[int, int], str]) -> Seen:
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    if len(merged) > MAX_RANGES:  # to forget is safe, to claim is not
        merged = sorted(sorted(merged, key=lambda pair: pair[0] - pair[1])[:MAX_RANGES])
    return Seen(path, stamp, merged, _digest(merged, digest))


def _digest(ranges: Sequence[Range], digest: Callable[[int, int], str]) -> str:
    found = hashlib.sha256()
    for start, end in ranges:
        found.update(f"{start} {end} {digest(start, end)}\n".encode())
    return found.hexdigest()[:32]


def _digest_in(data: bytes) -> Callable[[int, int], str]:
    view = memoryview(data)
    return lambda start, end: hashlib.sha256(view[start:end]).hexdigest()


def _covers(ranges: Sequence[Range], start: int, end: int) -> bool:
    return any(low <= start and end <= high for low, high in ranges)
