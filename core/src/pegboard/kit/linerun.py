"""Runs of whole lines in a file, found at the speed of `bytes.find`, whatever the lines are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate


def starts(lines: Iterable[bytes], begin: int = 0) -> list[int]:
    """Where each line begins, the first at `begin`, and where one after the last would: each has an LF behind it."""
    return list(accumulate(map((1).__add__, map(len, lines)), initial=begin))


class LineRuns:
    """The lines of a file, none of which holds an LF, for finding runs of them. `starts`: where each line begins."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._text = b"\n".join([b"", *lines, b""])
        self.starts = starts(lines)

    def find(self, wanted: Sequence[bytes], start: int = 0) -> Iterator[int]:
        """The index of each line, from `start` on, where the wanted lines stand one after the other. They may overlap."""
        if not wanted or start >= len(self.starts):
            return
        needle = b"\n".join([b"", *wanted, b""])
        at = self._text.find(needle, self.starts[start])
        while at >= 0:
            yield bisect_left(self.starts, at)
            at = self._text.find(needle, at + 1)
