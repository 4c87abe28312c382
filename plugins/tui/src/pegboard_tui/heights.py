"""How high the items of a transcript are, and which of them lies at a line: an index over ten thousand heights and more."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """Heights in order, with their sums. A change at the end takes constant time on average, one elsewhere and every
    question the logarithm of how many there are.

    It is a Fenwick tree: the node `n` (from 1) holds the sum of the `n & -n` heights that end at the n-th."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._tree = [0, *self._heights]
        for node in range(1, len(self._tree)):
            above = node + (node & -node)
            if above < len(self._tree):
                self._tree[above] += self._tree[node]
        self._total = sum(self._heights)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        change = height - self._heights[index]
        if not change:
            return
        self._heights[index] = height
        self._total += change
        node = index + 1
        while node < len(self._tree):
            self._tree[node] += change
            node += node & -node

    @property
    def total(self) -> int:
        """All of them together."""
        return self._total

    def append(self, height: int) -> None:
        """One more at the end."""
        node = len(self._tree)
        held, below, least = height, node - 1, node - (node & -node)
        while below > least:
            held += self._tree[below]
            below -= below & -below
        self._heights.append(height)
        self._tree.append(held)
        self._total += height

    def before(self, index: int) -> int:
        """The heights of those before this one, together: the line at which it begins."""
        if index >= len(self._heights):
            return self._total
        found = 0
        while index:
            found += self._tree[index]
            index -= index & -index
        return found

    def find(self, line: int) -> tuple[int, int]:
        """Which one lies at a line, and at which of its own lines that is. A line before the first is the first, one after
        the last is the last; without any line it is (0, 0)."""
        if not self._total:
            return 0, 0
        rest = min(max(line, 0), self._total - 1)
        node = 0
        step = 1 << (len(self._tree) - 1).bit_length()
        while step:
            if node + step < len(self._tree) and self._tree[node + step] <= rest:
                node += step
                rest -= self._tree[node]
            step >>= 1
        return node, rest
