"""For plugin authors' tests: a board around functions, without discovery, network or model.

    def test_counts_words(pegboard_board, tmp_path):
        (tmp_path / "a.txt").write_text("one two")
        board = pegboard_board(tools=[word_count])
        assert board.call("word_count", path="a.txt").text == "2"

This is a pytest plugin (entry point `pytest11`); it imports nothing until it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pegboard.testing.bench import TestBoard


@pytest.fixture
def pegboard_board(tmp_path: Path) -> Iterator[Callable[..., TestBoard]]:
    """Make a `TestBoard` rooted at `tmp_path`: `pegboard_board(tools=[...], guards=[...], settings={...})`."""
    from pegboard.testing.bench import TestBoard

    made: list[TestBoard] = []

    def make(**given: Any) -> TestBoard:
        made.append(TestBoard(given.pop("root", tmp_path), **given))
        return made[-1]

    yield make
    for board in made:
        board.close()
