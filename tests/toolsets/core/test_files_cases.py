"""The shared cases of paths and edits for `read_file`, `write_file` and `edit_file`, down the road of a real board."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.testing.bench import TestBoard
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import edit_file, write_file
from shared_cases import RUN, cases, check

NAMES = ("read_file", "write_file", "edit")
TOOLS = [read_file, write_file, edit_file]


@pytest.mark.parametrize("case", cases(NAMES, "paths", "edits"))
def test_case(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(case, TOOLS, monkeypatch)


@pytest.mark.parametrize(("tool", "args"), [(name, RUN.GOOD[name]) for name in NAMES])
def test_a_plain_good_call_is_ok(tool: str, args: dict[str, Any], pegboard_board: Callable[..., TestBoard]) -> None:
    board = pegboard_board(tools=TOOLS)
    (Path(board.board.root) / "a.txt").write_bytes(b"one\ntwo\n")
    record = board.call(tool, **args)
    assert record.outcome == "ok", record.text
