"""The index over heights against a plain list of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pegboard_tui.heights import Heights

HEIGHTS = st.lists(st.integers(0, 9), max_size=70)


def plain_find(heights: list[int], line: int) -> tuple[int, int]:
    """Which one lies at a line, by counting."""
    lines = [(index, at) for index, height in enumerate(heights) for at in range(height)]
    return lines[min(max(line, 0), len(lines) - 1)] if lines else (0, 0)


def same(index: Heights, plain: list[int]) -> None:
    assert (len(index), index.total) == (len(plain), sum(plain))
    assert [index.before(at) for at in range(len(plain) + 1)] == [sum(plain[:at]) for at in range(len(plain) + 1)]
    lines = range(-1, sum(plain) + 2)
    assert [index.find(line) for line in lines] == [plain_find(plain, line) for line in lines]


@given(HEIGHTS, st.lists(st.one_of(st.integers(0, 9), st.tuples(st.integers(0, 69), st.integers(0, 9)))))
def test_it_answers_like_a_plain_list_while_heights_come_and_change(
    begin: list[int], changes: list[int | tuple[int, int]]
) -> None:
    index, plain = Heights(begin), list(begin)
    same(index, plain)
    for change in changes:
        if isinstance(change, int):
            index.append(change)
            plain.append(change)
        elif change[0] < len(plain):
            index[change[0]] = plain[change[0]] = change[1]
    same(index, plain)


class Counting(list[int]):
    """Nodes that count how often one is read or written."""

    used = 0

    def __getitem__(self, at: int) -> int:  # type: ignore[override]
        self.used += 1
        return super().__getitem__(at)


def test_a_change_at_the_end_touches_one_sum_and_one_elsewhere_few() -> None:
    index = Heights([3] * 10_000)
    index._tree = counting = Counting(index._tree)
    for height in range(100):
        index[9_999] = height
    assert counting.used == 100
    index[0] = 7
    assert counting.used <= 100 + 14
    counting.used = 0
    for _ in range(1_000):
        index.append(2)
    assert counting.used <= 2 * 1_000
