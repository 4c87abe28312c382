"""The kit as a plugin of pytest (entry point `pytest11`). It imports nothing of Pegboard until it is used.

def test_counts_words(pegboard_board):
    board = pegboard_board(tools=[word_count], files={"a.txt": "one two"})
    board.call("word_count", path="a.txt").expect("ok", text="2", decision="allow", touches=["read a.txt"])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pegboard.testing.bench import TestBoard
    from pegboard.testing.files import Content

NO_NETWORK = "pegboard_no_network"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting `pegboard_no_network`."""
    parser.addini(NO_NETWORK, "refuse the network, other than loopback, to every test", type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse the network for the whole run, where the settings say so."""
    if config.getini(NO_NETWORK):
        config.pluginmanager.register(Throughout(), "pegboard-no-network")


@pytest.fixture
def pegboard_board(tmp_path: Path) -> Iterator[Callable[..., TestBoard]]:
    """Make a `TestBoard` rooted at `tmp_path`: `pegboard_board(tools=[...], guards=[...], settings={...}, files={...})`."""
    from pegboard.testing.bench import TestBoard

    made: list[TestBoard] = []

    def make(**given: Any) -> TestBoard:
        made.append(TestBoard(given.pop("root", tmp_path), **given))
        return made[-1]

    yield make
    problems = []
    for board in made:
        try:
            board.close()
        except AssertionError as problem:  # the others are closed first
            problems.append(str(problem))
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.fixture
def pegboard_workspace(tmp_path: Path) -> Callable[[Mapping[str, Content]], Path]:
    """Write files into `tmp_path`, where boards are rooted: `pegboard_workspace({"a.txt": "one"})`; returns the folder."""

    def make(files: Mapping[str, Content]) -> Path:
        from pegboard.testing.files import write_files

        return write_files(tmp_path, files)

    return make


@pytest.fixture
def pegboard_no_network() -> Iterator[None]:
    """Refuse the network, other than loopback, to this test, which fails at its end when it was tried."""
    with refused():
        yield


@contextmanager
def refused() -> Iterator[None]:
    """Refuse the network meanwhile. The test fails at the end where it was tried, also when something swallowed that."""
    from pegboard.testing import network

    network.attempts()
    network.hold()
    try:
        yield
    finally:
        network.let_go()
    if tried := network.attempts():
        pytest.fail(f"reached for the network: {'; '.join(tried)}", pytrace=False)


class Throughout:
    """A plugin of pytest that refuses the network for a whole run."""

    def __init__(self) -> None:
        from pegboard.testing import network

        network.hold()

    @pytest.fixture(autouse=True)
    def _pegboard_refuses_network(self) -> Iterator[None]:
        with refused():
            yield

    def pytest_unconfigure(self) -> None:
        """The run is over."""
        from pegboard.testing import network

        network.let_go()
