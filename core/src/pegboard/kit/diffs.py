"""Diffs from known changes: what is shown of an edit costs what was changed, not what the file holds.

The text is a unified diff body with three lines of context. It is bounded: long lines are cut around their first
difference, and what does not fit is counted in a last line that begins with a backslash, as unified diffs mark remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from pegboard.blocks import Diff
from pegboard.kit.hunks import Hunk, common_start
from pegboard.kit.linediff import line_hunks, refine, split_lines, to_line_end
from pegboard.kit.text import line_text

CONTEXT = 3
MAX_LINES = 300
MAX_LINE = 400
"""Bytes of a line that are shown whole; a longer one is cut to half of this around what differs."""

ChangeName: TypeAlias = Literal["created", "changed", "deleted", "moved"]


def diff_of_hunks(
    old: bytes, new: bytes, hunks: Sequence[Hunk], path: str, change: ChangeName = "changed", to: str | None = None
) -> Diff:
    """The diff of a change that is known by its hunks. Both contents are in an encoding in which LF is one byte."""
    printer = _Printer(old, new)
    for region in _regions(old, new, hunks):
        printer.add(region)
    return printer.diff(path, change, to)


def diff_of_texts(old: bytes, new: bytes, path: str, change: ChangeName = "changed", to: str | None = None) -> Diff:
    """The diff of two contents of which nothing else is known."""
    printer = _Printer(old, new)
    for hunk in line_hunks(old, new):
        printer.show(hunk)
    return printer.diff(path, change, to)


def _regions(old: bytes, new: bytes, hunks: Sequence[Hunk]) -> Iterator[Hunk]:
    """Hunks grown to whole lines; those that share a line are one. Every byte is looked at once."""
    done = number = 0
    while number < len(hunks):
        hunk = hunks[number]
        start = max(old.rfind(b"\n", done, hunk.old_start) + 1, done)
        old_start, new_start = start, hunk.new_start - (hunk.old_start - start)
        line_end = -1
        while True:
            number += 1
            region = Hunk(old_start, hunk.old_end, new_start, hunk.new_end)
            if line_end <= hunk.old_end:
                line_end = hunk.old_end + to_line_end(old, new, region)
            following = hunks[number] if number < len(hunks) else None
            if following is None or following.old_start >= line_end:
                break
            hunk = following
        more = max(line_end - hunk.old_end, 0)
        yield Hunk(old_start, hunk.old_end + more, new_start, hunk.new_end + more)
        done = hunk.old_end + more


class _Printer:
    """Prints regions of changed lines, in order, with context, until MAX_LINES are full; then it only counts."""

    def __init__(self, old: bytes, new: bytes) -> None:
        self._old = old
        self._new = new
        self._lines: list[str] = []  # finished
        self._open: list[str] = []  # the hunk being written
        self._at = (0, 0)  # where the open hunk begins: lines before it in old and new
        self._sizes = [0, 0]
        self._counted = (0, 0)  # a byte of old, and the lines before it
        self._end: int | None = None  # of the last printed region, in old
        self._shown = 0
        self._cut = False  # the last region was not shown whole
        self.added = 0
        self.removed = 0

    @property
    def _full(self) -> bool:
        return len(self._lines) + len(self._open) >= MAX_LINES

    def add(self, region: Hunk) -> None:
        """Whole lines of which some may be the same on both sides."""
        small = region.old_end - region.old_start + region.new_end - region.new_start < 1 << 20
        for part in refine(self._old, self._new, region) if small and not self._full else [region]:
            self.show(part)

    def show(self, part: Hunk) -> None:
        """Whole lines that differ."""
        removed = _count(self._old, part.old_start, part.old_end)
        added = _count(self._new, part.new_start, part.new_end)
        if not self._full:
            self._print(part, removed, added)
        self.removed += removed
        self.added += added

    def diff(self, path: str, change: ChangeName, to: str | None) -> Diff:
        """What was printed, and the counts of all."""
        self.close()
        return Diff(path=path, change=change, added=self.added, removed=self.removed, to=to, text=self.text())

    def _print(self, part: Hunk, removed: int, added: int) -> None:
        start = self._end
        if start is None or self._old.count(b"\n", start, part.old_start) > 2 * CONTEXT:
            self.close()
            start = _lines_back(self._old, part.old_start, CONTEXT)
            line = self._line_of(start)
            self._at = (line, line + self.added - self.removed)
        self._context(split_lines(self._old[start : part.old_start]))
        room = max(MAX_LINES - len(self._lines) - len(self._open), 2)
        fewer = min(removed, max(room // 2, room - added))
        more = min(added, max(room - fewer, 1))
        before = _first_lines(self._old, part.old_start, part.old_end, fewer)
        after = _first_lines(self._new, part.new_start, part.new_end, more)
        self._changed("-", before, after)
        self._changed("+", after, before)
        self._sizes[0] += len(before)
        self._sizes[1] += len(after)
        self._shown += len(before) + len(after)
        self._cut = len(before) + len(after) < removed + added
        self._end = part.old_end

    def _changed(self, mark: str, lines: Sequence[bytes], others: Sequence[bytes]) -> None:
        for number, line in enumerate(lines):
            self._line(mark, line, others[number] if number < len(others) else b"")

    def _context(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            self._line(" ", line, b"")
        self._sizes[0] += len(lines)
        self._sizes[1] += len(lines)

    def _line(self, mark: str, line: bytes, other: bytes) -> None:
        self._open.append(mark + cut(line.removesuffix(b"\n"), other))
        if not line.endswith(b"\n"):
            self._open.append("\\ No newline at end of file")

    def close(self) -> None:
        """End the open hunk with its context."""
        if not self._open:
            return
        if self._end is not None and not self._cut:
            self._context(_first_lines(self._old, self._end, len(self._old), CONTEXT))
        (old, new), (less, more) = self._at, self._sizes
        header = f"@@ -{old + (less > 0)},{less} +{new + (more > 0)},{more} @@"
        self._lines += [header, *self._open]
        self._open, self._sizes = [], [0, 0]

    def _line_of(self, at: int) -> int:
        """Lines before a byte of old; asked in ascending order."""
        before, lines = self._counted
        lines += self._old.count(b"\n", before, at)
        self._counted = (at, lines)
        return lines

    def text(self) -> str:
        left = self.added + self.removed - self._shown
        remark = [f"\\ {left:,} more changed lines are not shown"] if left else []
        return "".join(line + "\n" for line in self._lines + remark)


def _count(data: bytes, start: int, end: int) -> int:
    return data.count(b"\n", start, end) + (end > start and data[end - 1] != 0x0A)


def _lines_back(data: bytes, at: int, lines: int) -> int:
    """The start of the line that many lines before the line that begins at `at`."""
    for _ in range(lines):
        if at == 0:
            break
        at = data.rfind(b"\n", 0, at - 1) + 1
    return at


def _first_lines(data: bytes, start: int, end: int, lines: int) -> list[bytes]:
    found: list[bytes] = []
    while len(found) < lines and start < end:
        stop = data.find(b"\n", start, end) + 1 or end
        found.append(data[start:stop])
        start = stop
    return found


def cut(line: bytes, other: bytes = b"") -> str:
    """A line for showing: whole, or the part around where it begins to differ from `other`, saying what is left out."""
    if len(line) <= MAX_LINE:
        return line_text(line)
    half = MAX_LINE // 2
    start = max(min(common_start(line, other) - half // 2, len(line) - half), 0)
    while start and line[start] & 0xC0 == 0x80:
        start -= 1
    end = min(start + half, len(line))
    while end < len(line) and line[end] & 0xC0 == 0x80 and end > start + half - 4:
        end -= 1
    left = f"[... {start:,} bytes]" if start else ""
    right = f"[... {len(line) - end:,} bytes]" if end < len(line) else ""
    return left + line_text(line[start:end]) + right
