"""What an edit did, as byte positions: hunks while planning, spans to undo it.

Spans hold only what was replaced, so the record of an edit of a large file is small, and undoing it needs no old copy.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

MAX_SPANS = 1024


class Hunk(NamedTuple):
    """Bytes `old_start:old_end` of the old content became `new_start:new_end` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class Span(msgspec.Struct, frozen=True):
    """One replaced place: to undo, put `old` in place of `length` bytes at `start` of the new file.

    `check` is the CRC-32 of those new bytes: what is undone must still be there.
    """

    start: int
    length: int
    old: bytes
    check: int = 0


def hunks_at(starts: Sequence[int], old_length: int, new_length: int) -> list[Hunk]:
    """Hunks of replacing `old_length` bytes at each of `starts` (ascending, apart) by `new_length`."""
    grown = new_length - old_length
    return [
        Hunk(start, start + old_length, start + i * grown, start + i * grown + new_length)
        for i, start in enumerate(starts)
    ]


def compose(first: Sequence[Hunk], second: Sequence[Hunk]) -> list[Hunk]:
    """Hunks from the oldest to the newest content, given those of two edits one after the other."""
    if not first or not second:
        return list(first or second)
    merged: list[Hunk] = []
    i = j = before = after = 0  # before, after: how far content moved up to here by `first`, by `second`
    while i < len(first) or j < len(second):
        starts = [first[i].new_start] if i < len(first) else []
        starts += [second[j].old_start] if j < len(second) else []
        low = high = min(starts)
        old, new = low - before, low + after
        while True:  # everything that touches low:high, in the middle content
            if i < len(first) and first[i].new_start <= high:
                high = max(high, first[i].new_end)
                before = first[i].new_end - first[i].old_end
                i += 1
            elif j < len(second) and second[j].old_start <= high:
                high = max(high, second[j].old_end)
                after = second[j].new_end - second[j].old_end
                j += 1
            else:
                break
        merged.append(Hunk(old, high - before, new, high + after))
    return merged


def joined(hunks: Sequence[Hunk]) -> list[Hunk]:
    """At most MAX_SPANS hunks: those with the least between them become one."""
    near = 16
    found = _join(hunks, near)
    while len(found) > MAX_SPANS:
        near *= 4
        found = _join(found, near)
    return found


def _join(hunks: Iterable[Hunk], near: int) -> list[Hunk]:
    found: list[Hunk] = []
    for hunk in hunks:
        if found and hunk.old_start - found[-1].old_end <= near:
            found[-1] = found[-1]._replace(old_end=hunk.old_end, new_end=hunk.new_end)
        else:
            found.append(hunk)
    return found


def spans_of(old: bytes, new: bytes, hunks: Sequence[Hunk]) -> list[Span]:
    view = memoryview(new)
    return [
        Span(
            h.new_start,
            h.new_end - h.new_start,
            old[h.old_start : h.old_end],
            zlib.crc32(view[h.new_start : h.new_end]),
        )
        for h in joined(hunks)
    ]


def revert(new: bytes, spans: Sequence[Span]) -> bytes | None:
    """The content before the edit; None when what the spans replaced is not there any more."""
    view, done = memoryview(new), 0
    pieces: list[bytes | memoryview] = []
    for span in spans:
        end = span.start + span.length
        if span.start < done or end > len(new) or zlib.crc32(view[span.start : end]) != span.check:
            return None
        pieces += [view[done : span.start], span.old]
        done = end
    return b"".join([*pieces, view[done:]])


def makes(old: bytes, spans: Sequence[Span], size: int, check: int) -> bool:
    """Whether the edit makes new content of this size and CRC-32 of `old`: what it replaced is there, and so is the rest.

    What was put in its place is not kept, but its checksums are, and CRC is linear."""
    view, done, grown, crc = memoryview(old), 0, 0, 0
    for span in spans:
        start = span.start + grown
        end = start + len(span.old)
        if start < done or view[start:end] != span.old:
            return False
        zeros = bytes(span.length)
        crc = zlib.crc32(zeros, zlib.crc32(view[done:start], crc)) ^ zlib.crc32(zeros) ^ span.check
        grown += len(span.old) - span.length
        done = end
    return len(old) - grown == size and zlib.crc32(view[done:], crc) == check


def difference(old: bytes, new: bytes) -> list[Hunk]:
    """The one hunk that holds every difference; none when there is no difference."""
    start = common_start(old, new)
    if start == len(old) == len(new):
        return []
    tail = min(len(old), len(new)) - start
    end = common_end(old, new, tail)
    return [Hunk(start, len(old) - end, start, len(new) - end)]


def common_start(old: bytes, new: bytes) -> int:
    """Length of the longest common beginning, by comparing blocks, then halves."""
    top = min(len(old), len(new))
    start, step = 0, 1 << 16
    while step:
        while start < top and old[start : min(start + step, top)] == new[start : min(start + step, top)]:
            start = min(start + step, top)
        step >>= 1
    return start


def common_end(old: bytes, new: bytes, top: int) -> int:
    """The same for the end, `top` at most."""
    found, step = 0, 1 << 16
    while step:
        while found < top:
            more = min(found + step, top)
            if old[len(old) - more : len(old) - found] != new[len(new) - more : len(new) - found]:
                break
            found = more
        step >>= 1
    return found
