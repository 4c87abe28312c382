"""`find`: files by their name."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import Record
from pegboard.events import CallOutput
from pegboard.kit.walk.paths import PathGlob
from pegboard.testing.bench import TestBoard
from pegboard.tooling import Tool
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_core.search import glob, grep
from pegboard_tools_edit_plus.finding import _anywhere, find

Make = Callable[..., TestBoard]
TREE = ["main.py", "test_main.py", "src/Main.java", "src/domain.txt", "src/deep/remains.md", "a[1].txt", "src/x.log"]


@pytest.fixture
def board(pegboard_board: Make, tmp_path: Path) -> TestBoard:
    for name in TREE:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    return pegboard_board(tools=[find, grep])


def found(record: Record) -> list[str]:
    assert record.outcome == "ok", record.text
    return list(record.data["paths"])


@pytest.mark.row("C-029")
def test_a_part_of_the_name_finds_files_at_any_depth_in_any_case(board: TestBoard) -> None:
    everything = ["main.py", "src/Main.java", "src/deep/remains.md", "src/domain.txt", "test_main.py"]
    record = board.call("find", pattern="MAIN")
    assert found(record) == everything and record.text == "\n".join(everything)
    assert found(board.call("find", pattern="deep")) == [], "folders on the way are no names of files"
    assert found(board.call("find", pattern="main", path="src")) == everything[1:4]
    assert found(board.call("find", pattern="src/main")) == ["src/Main.java", "src/domain.txt"]
    assert board.call("find", pattern="zzz").text == '(no matches for "zzz")'
    tool = Tool.of(find)
    assert tool.effect == "read_only" and "glob" in tool.description


@pytest.mark.row("C-030")
def test_wildcards_are_seen_and_the_call_may_say_otherwise(board: TestBoard) -> None:
    assert found(board.call("find", pattern="*.py")) == ["main.py", "test_main.py"]
    assert found(board.call("find", pattern="?ain.*")) == ["main.py", "src/Main.java"]
    assert found(board.call("find", pattern="{main,domain}.*")) == ["main.py", "src/domain.txt"]
    assert found(board.call("find", pattern="main.py", glob=True)) == ["main.py"], "the whole name"
    assert found(board.call("find", pattern="main.py", glob=False)) == ["main.py", "test_main.py"]
    assert found(board.call("find", pattern="a[1].txt")) == []
    assert found(board.call("find", pattern="a[1].txt", glob=False)) == ["a[1].txt"]
    assert found(board.call("find", pattern="*.py", glob="false")) == []


@pytest.mark.row("C-028")
def test_results_are_capped_for_find_and_grep(board: TestBoard, pegboard_board: Make) -> None:
    record = board.call("find", pattern="main", limit=2)
    assert found(record) == ["main.py", "src/Main.java"] and record.truncated and "... (more:" in record.text
    assert len(found(board.call("find", pattern="main", max_results=3))) == 3
    assert {"limit"} < set(Tool.of(find).parameters["properties"]) & set(Tool.of(glob).parameters["properties"])
    few = pegboard_board(tools=[find, grep], settings={"search.max_hits": 1})
    assert len(found(few.call("find", pattern="main"))) == 1
    hits = few.call("grep", pattern="needle")
    assert len(hits.data["hits"]) == 1 and hits.truncated


@pytest.mark.row("C-027")
def test_find_and_grep_pass_over_ignored_hidden_and_binary_files(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\nout/\n")
    for name in ("out/main.txt", ".hidden/main.txt", ".main", ".git/main", "node_modules/main.js"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    (tmp_path / "main.bin").write_bytes(b"\0needle\n")
    names = found(board.call("find", pattern="main"))
    assert not {"out/main.txt", ".hidden/main.txt", ".main", ".git/main", "node_modules/main.js"} & set(names)
    assert found(board.call("find", pattern=".log")) == []
    hits = {hit["path"] for hit in board.call("grep", pattern="needle").data["hits"]}
    assert hits == {name for name in TREE if not name.endswith(".log")}, "grep passes over binary files as well"
    assert "out/main.txt" in found(board.call("find", pattern="main", includeIgnored=True))
    hidden = found(board.call("find", pattern="main", include_hidden=True))
    assert {".hidden/main.txt", ".main"} <= set(hidden) and ".git/main" not in hidden
    assert found(board.call("find", pattern=".mai")) == [".main"], "a leading dot names hidden files"


def watched(board: TestBoard, name: str, pattern: str, seen: Callable[[], Any] = int) -> tuple[Record, list[str]]:
    """A call, and what is seen of its output while it runs; `seen` is called each time."""
    told: list[str] = []

    async def both() -> Record:
        viewer = board.session.watch(board.session.last)

        async def look() -> None:
            async for event in viewer:
                if isinstance(event, CallOutput):
                    told.append(event.text)
                    seen()

        looking = asyncio.create_task(look())
        record = await board.agent.call(name, {"pattern": pattern}, "program")
        viewer.end()
        await looking
        return record

    return board.run(both()), told


@pytest.mark.row("C-005")
def test_what_is_found_is_seen_while_the_search_runs(pegboard_board: Make, tmp_path: Path) -> None:
    """The engine is a program that prints one name and then waits until that name was seen by whoever watches."""
    (tmp_path / "one.txt").write_text("needle\n")
    seen = tmp_path / "seen"
    slow = tmp_path / "slow-rg"
    slow.write_text(
        "#!/bin/sh\n"
        "case \"$*\" in *--version*) echo 'ripgrep 15.0.0'; exit;; esac\n"
        "case \"$*\" in *--files*) printf './one.txt\\0';; *) printf './one.txt\\0001:1:0:needle\\n';; esac\n"
        f"for i in $(seq 200); do [ -e {seen} ] && exit 0; sleep 0.05; done; exit 2\n"
    )
    slow.chmod(0o755)
    board = pegboard_board(tools=[find, grep], settings={"search.rg": str(slow), "search.engine": "rg"})
    for name, line in (("find", "one.txt\n"), ("grep", "one.txt:1\n")):
        seen.unlink(missing_ok=True)
        record, told = watched(board, name, "one" if name == "find" else "needle", seen.touch)
        assert record.outcome == "ok" and "broke down" not in record.text, record.text
        assert told[:1] == [line]


def test_watching_grep_tells_nothing_of_second_names_of_protected_files(pegboard_board: Make, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("needle\n")
    os.link(tmp_path / ".env", tmp_path / "copy.txt")
    (tmp_path / "plain.txt").write_text("needle\n")
    board = pegboard_board(tools=[grep], guards=[ProtectedPaths(Settings())])
    record, told = watched(board, "grep", "needle")
    assert [hit["path"] for hit in record.data["hits"]] == ["plain.txt"]
    assert "".join(told) == "plain.txt:1\n"


def test_protected_files_are_left_out_and_outside_is_refused(pegboard_board: Make, tmp_path: Path) -> None:
    (tmp_path / "server.pem").write_text("x")
    (tmp_path / "server.py").write_text("x")
    board = pegboard_board(tools=[find], guards=[ProtectedPaths(Settings())])
    record = board.call("find", pattern="server")
    assert found(record) == ["server.py"] and "1 protected file was left out" in record.text
    assert board.call("find", pattern="x", path="..").block == "denied"
    for pattern in ("/etc/passwd", "../x", "../*", "a/../../x"):
        refused = board.call("find", pattern=pattern)
        assert refused.outcome == "error" or found(refused) == [], pattern
    for pattern in ("", "/", "//", "a\0b"):
        assert board.call("find", pattern=pattern).outcome == "error", pattern


LETTERS = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=6)


@settings(max_examples=150)
@given(LETTERS, LETTERS, LETTERS, LETTERS)
def test_plain_text_is_taken_letter_for_letter(before: str, part: str, after: str, folder: str) -> None:
    visible = f"v{before}{part}{after}"
    if part.startswith(".") and part.strip(".") == "":
        return
    pattern = PathGlob(_anywhere(part, False))
    assert pattern.match(visible) and pattern.match(f"v{folder}/{visible}")
    assert not pattern.match("~") or part.lower() in "~"
    if part.lower() == part.upper() and part not in "vwxyz":
        assert not pattern.match("vwxyz")


def test_a_name_that_is_not_utf8_is_found_as_it_is_shown(board: TestBoard, tmp_path: Path) -> None:
    for name in (b"caf\xe9.txt", b"two\nlines.txt"):
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
            pass
    assert found(board.call("find", pattern=r"CAF\xe9")) == [r"caf\xe9.txt"]
    record = board.call("find", pattern="two\nl")
    assert (found(record), record.text) == (["two\nlines.txt"], r"two\nlines.txt")


def test_every_letter_may_be_of_either_case() -> None:
    assert PathGlob(_anywhere("rEadMe", False)).match("docs/README.md")
    assert PathGlob(_anywhere("straße", False)).match("straße.txt")
    assert PathGlob(_anywhere("ÉTÉ", False)).match("été.txt")
