"""Which lines of two contents differ: hunks of whole lines, in about linear time whatever the contents are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pegboard.kit.hunks import Hunk, difference

MAX_COMPARED = 500
"""Lines that are compared one by one, where no unique line ties old and new together. More count as replaced whole."""

Slices: TypeAlias = tuple[int, int, int, int]


def split_lines(data: bytes) -> list[bytes]:
    """Lines with their LF; only LF ends one."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def to_line_end(old: bytes, new: bytes, hunk: Hunk) -> int:
    """By how many bytes both sides of `hunk`, which begins a line, must grow to end with their lines.

    What follows a hunk is the same on both sides, so one number serves both.
    """
    if _whole(old, hunk.old_start, hunk.old_end) and _whole(new, hunk.new_start, hunk.new_end):
        return 0
    end = old.find(b"\n", hunk.old_end)
    return (len(old) if end < 0 else end + 1) - hunk.old_end


def _whole(data: bytes, start: int, end: int) -> bool:
    return start == end or data[end - 1] == 0x0A


def line_hunks(old: bytes, new: bytes) -> list[Hunk]:
    """The lines that differ between two contents."""
    found = difference(old, new)
    if not found:
        return []
    hunk = found[0]
    back = hunk.old_start - (old.rfind(b"\n", 0, hunk.old_start) + 1)
    hunk = hunk._replace(old_start=hunk.old_start - back, new_start=hunk.new_start - back)
    more = to_line_end(old, new, hunk)
    return list(refine(old, new, hunk._replace(old_end=hunk.old_end + more, new_end=hunk.new_end + more)))


def refine(old: bytes, new: bytes, hunk: Hunk) -> Iterator[Hunk]:
    """The parts of a hunk of whole lines that really differ."""
    before = split_lines(old[hunk.old_start : hunk.old_end])
    after = split_lines(new[hunk.new_start : hunk.new_end])
    old_at, new_at, i, j = hunk.old_start, hunk.new_start, 0, 0
    for a1, a2, b1, b2 in changes(before, after):
        old_at += sum(map(len, before[i:a1]))
        new_at += sum(map(len, after[j:b1]))
        old_end, new_end = old_at + sum(map(len, before[a1:a2])), new_at + sum(map(len, after[b1:b2]))
        yield Hunk(old_at, old_end, new_at, new_end)
        old_at, new_at, i, j = old_end, new_end, a2, b2


def changes(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Slices]:
    """Slices `old[a1:a2]`, `new[b1:b2]` that differ.

    Lines that are unique on both sides tie them together (patience diff); between ties the common ends are cut off and
    difflib compares what is small enough.
    """
    i = j = 0
    for a, b in [*_ties(old, new), (len(old), len(new))]:
        yield from _between(old, new, i, a, j, b)
        i, j = a + 1, b + 1


def _between(old: Sequence[bytes], new: Sequence[bytes], a1: int, a2: int, b1: int, b2: int) -> Iterator[Slices]:
    while a1 < a2 and b1 < b2 and old[a1] == new[b1]:
        a1, b1 = a1 + 1, b1 + 1
    while a1 < a2 and b1 < b2 and old[a2 - 1] == new[b2 - 1]:
        a2, b2 = a2 - 1, b2 - 1
    if a1 == a2 and b1 == b2:
        return
    if a1 == a2 or b1 == b2 or max(a2 - a1, b2 - b1) > MAX_COMPARED:
        yield a1, a2, b1, b2
        return
    import difflib  # only few diffs need it

    for tag, p, q, r, s in difflib.SequenceMatcher(None, old[a1:a2], new[b1:b2]).get_opcodes():
        if tag != "equal":
            yield a1 + p, a1 + q, b1 + r, b1 + s


def _ties(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """Pairs of equal lines that are unique on both sides: the longest list that is in order on both."""
    places = _unique(new)
    pairs = [(i, places[line]) for line, i in _unique(old).items() if line in places]
    lowest: list[int] = []  # the smallest new line that ends a run of this length
    ends: list[int] = []  # which pair that is
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        length = bisect_left(lowest, j)
        lowest[length : length + 1] = [j]
        ends[length : length + 1] = [number]
        before.append(ends[length - 1] if length else -1)
    run: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _unique(lines: Sequence[bytes]) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for number, line in enumerate(lines):
        found[line] = -1 if line in found else number
    return {line: number for line, number in found.items() if number >= 0}
