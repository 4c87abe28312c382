"""The tools `glob` and `grep`, through the whole road of a real board."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from pegboard.calls import Deny, Record, Touch, TouchKind
from pegboard.port import Cancel
from pegboard.tooling import Tool
from pegboard_tools_core.search import glob, grep
from running import running

Board = Callable[..., Any]
LASTING = "600.125"
"""Seconds that no other test sleeps for."""


@pytest.fixture
def board(pegboard_board: Board, tmp_path: Path) -> Any:
    (tmp_path / "src").mkdir()
    (tmp_path / "a.py").write_text("Needle = 1\nneedle()\n")
    (tmp_path / "src/b.rs").write_text("x\nneedle!()\n")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "x.log").write_text("needle\n")
    return pegboard_board(tools=[glob, grep])


@pytest.mark.row("U-004", "R-036", "S-043")
def test_glob_is_a_read_only_search_tool(board: Any) -> None:
    tool = Tool.of(glob)
    assert (tool.effect, tool.declaration.category, tool.declaration.permission) == ("read_only", "search", "read")
    record = board.call("glob", pattern="**/*.{py,rs}")
    assert (record.outcome, record.text) == ("ok", "a.py\nsrc/b.rs")
    assert record.data["paths"] == ["a.py", "src/b.rs"]
    assert record.decision.rule == "tool_permission.read"


@pytest.mark.row("U-005", "R-037", "C-026")
def test_grep_is_a_read_only_search_tool_with_a_regular_expression(board: Any) -> None:
    tool = Tool.of(grep)
    assert (tool.effect, tool.declaration.category, tool.declaration.permission) == ("read_only", "search", "read")
    record = board.call("grep", pattern=r"^needle\W*\(")
    assert (record.outcome, record.text) == ("ok", "a.py:2: needle()\nsrc/b.rs:2: needle!()")
    hit = record.data["hits"][0]
    assert (hit["path"], hit["line"], hit["text"], hit["cut"]) == ("a.py", 2, "needle()", False)
    assert record.data["engine"] == "rg"


def places(record: Record) -> list[tuple[str, int]]:
    assert record.outcome == "ok", record.text
    return [(hit["path"], hit["line"]) for hit in record.data["hits"]]


@pytest.mark.row("Z-051", "C-025", "S-048")
def test_arguments_of_other_dialects_are_understood(board: Any) -> None:
    both = [("a.py", 1), ("a.py", 2)]
    for arguments in ({"ignoreCase": True}, {"case_insensitive": True}, {"-i": True}, {"caseSensitive": False}):
        assert places(board.call("grep", pattern="NEEDLE", include="*.py", **arguments)) == both
    for name in ("include", "glob", "include_pattern"):
        assert places(board.call("grep", pattern="needle", **{name: "*.rs"})) == [("src/b.rs", 2)]
    assert places(board.call("grep", pattern="needle", directory="src")) == [("src/b.rs", 2)]
    assert places(board.call("grep", pattern="needle", includeIgnored=True))[-1] == ("x.log", 1)
    assert board.call("find_files", pattern="*.py").data["paths"] == ["a.py"]


@pytest.mark.row("C-024")
def test_a_literal_flag_of_another_dialect_means_no_regex(board: Any, pegboard_board: Board, tmp_path: Path) -> None:
    for arguments in ({"regex": False}, {"fixed": True}, {"literal": "true"}, {"fixed_strings": 1}):
        assert places(board.call("grep", pattern="needle()", **arguments)) == [("a.py", 2)]
    assert places(board.call("grep", pattern="e+dl", literal=False))
    literal = pegboard_board(tools=[grep], settings={"search.grep_default": "literal"})
    assert places(literal.call("grep", pattern="needle()")) == [("a.py", 2)]
    assert places(literal.call("grep", pattern="e+dl", regex=True))


def test_settings_reach_the_search(pegboard_board: Board, board: Any) -> None:
    small = pegboard_board(tools=[glob, grep], settings={"search.max_hits": 1, "search.engine": "python"})
    record = small.call("grep", pattern="needle")
    assert len(record.data["hits"]) == 1 and record.truncated and "more: showing" in record.text
    assert record.data["engine"] == "python"
    assert not board.call("grep", pattern="needle").truncated


@pytest.mark.row("S-056")
def test_errors_say_what_to_do(board: Any) -> None:
    assert re.match(r"Error: Invalid regex: .*regex=false", board.call("grep", pattern="(").text)
    assert board.call("grep", pattern="").outcome == "error"
    missing = board.call("glob", pattern="*", path="nosuch")
    assert missing.outcome == "error" and "nosuch" in missing.text
    assert board.call("grep", pattern="x", path="..").outcome == "blocked"
    assert board.call("grep", pattern="x", output_mode="lines").block == "invalid_arguments"


def test_no_match_is_a_note(board: Any) -> None:
    assert board.call("grep", pattern="zebra").text == '(no matches for "zebra")'
    assert board.call("glob", pattern="*.zig").text == '(no matches for "*.zig")'


class NoKeys:
    """A guard that protects keys."""

    def __call__(self, call: Any, touches: list[Touch]) -> None:
        return None

    def path(self, kind: TouchKind, path: str) -> Deny | None:
        return Deny("keys", "It is protected.") if path.endswith(".key") else None


def test_protected_files_are_left_out_and_counted(pegboard_board: Board, tmp_path: Path) -> None:
    (tmp_path / "a.key").write_text("needle\n")
    (tmp_path / "b").write_text("needle\n")
    board = pegboard_board(tools=[glob, grep], guards=[NoKeys()])
    assert board.call("grep", pattern="needle").text == "b:1: needle\n(1 protected file was left out)"
    assert board.call("glob", pattern="*").text == "b\n(1 protected file was left out)"


def test_a_long_answer_stops_at_the_caps_and_spills_nothing(pegboard_board: Board, tmp_path: Path) -> None:
    (tmp_path / "long").write_text(("needle " + "x" * 290 + "\n") * 190)
    board = pegboard_board(tools=[grep], settings={"output.max_chars": 5000})
    record = board.call("grep", pattern="needle")
    assert len(record.text) <= 5000 and record.truncated and record.full_output is None
    assert len(record.data["hits"]) == record.text.count("long:")


@pytest.mark.row("U-024")
def test_cancelling_the_call_stops_rg(pegboard_board: Board, tmp_path: Path) -> None:
    fake = tmp_path / "rg"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "ripgrep 14.1.0" && exit\nexec sleep {LASTING}\n')
    fake.chmod(0o755)
    board = pegboard_board(tools=[grep], settings={"search.rg": str(fake)})

    async def cancelled() -> Record:
        call = asyncio.ensure_future(board.agent.call("grep", {"pattern": "x"}, "program"))
        while not running(f"sleep {LASTING}"):  # it may write nothing that would tell
            await asyncio.sleep(0.01)
        await board.agent.send(Cancel())
        return cast(Record, await call)

    record = board.run(cancelled())
    assert (record.outcome, record.why) == ("interrupted", "person")
    assert not running(f"sleep {LASTING}")
