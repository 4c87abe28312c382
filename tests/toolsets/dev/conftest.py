"""A board with the set dev, and what keeps the test runs that it starts quick and their own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pegboard_tools_dev as dev
import pytest
from pegboard.calls import Record

Call = Callable[..., Record]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the run around these tests reaches the runs inside them."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("npm_config_update_notifier", "false")
    for name in (
        "PYTEST_ADDOPTS",
        "PYTEST_XDIST_WORKER",
        "VIRTUAL_ENV",
        "NODE_TEST_CONTEXT",
        "NODE_OPTIONS",
        "CI",
        "PYTHONUNBUFFERED",
    ):
        monkeypatch.delenv(name, raising=False)
    without = [folder for folder in os.environ["PATH"].split(":") if not os.path.exists(f"{folder}/pytest")]
    monkeypatch.setenv("PATH", ":".join(without))  # which pytest is found there is no affair of these tests


@pytest.fixture
def board(pegboard_board: Callable[..., Any]) -> Callable[..., Any]:
    """Make a board with the set: `board(answers="--no", settings={"dev.test_cmd": "..."})`."""
    return lambda **given: pegboard_board(modules={"dev": dev}, **given)


@pytest.fixture
def call(board: Callable[..., Any]) -> Call:
    """Call a tool of the set, with consent and without settings."""
    return board().call  # type: ignore[no-any-return]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, str]], None]:
    """Make files in the workspace, with their folders."""

    def make(files: dict[str, str]) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return make
