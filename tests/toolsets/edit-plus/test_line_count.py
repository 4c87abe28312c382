"""`line_count`, and reading a range of lines by the name that other agents have for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pegboard.testing.bench import TestBoard
from pegboard_tools_core.reading import read_file
from pegboard_tools_edit_plus.counting import line_count

Make = Callable[..., TestBoard]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=[line_count, read_file])


@pytest.mark.row("C-018")
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", 0),
        (b"x", 1),
        (b"x\n", 1),
        (b"a\nb\n\n", 3),
        (b"a\r\nb", 2),
        (b"a\rb\x0cc\n", 1),
        ("\ufeffa\nb\n".encode("utf-16-le"), 2),
        (b"\xe9\n\xe8\n", 2),
        (b"line\n" * 300_000, 300_000),
    ],
    ids=range(9),
)
def test_it_is_the_number_of_lines(board: TestBoard, tmp_path: Path, data: bytes, lines: int) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    record = board.call("line_count", path="a.txt")
    assert (record.outcome, record.text, record.data) == ("ok", str(lines), {"path": "a.txt", "lines": lines})
    assert board.call("read_file", path="a.txt", limit=0).data["lines"] == lines, "as read_file counts them"


def test_what_cannot_be_counted_is_an_error(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"a\0b\n")
    (tmp_path / "sub").mkdir()
    for path, why in (("x.bin", "is binary"), ("sub", "is a folder"), ("nope", "No such file: nope")):
        record = board.call("line_count", file_path=path)
        assert record.outcome == "error" and why in record.text
    assert board.call("line_count", path="../x").block == "denied"


@pytest.mark.row("C-017")
def test_read_file_range_gives_at_most_max_lines_from_start_line_on(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    record = board.call("read_file_range", path="a.txt", start_line=4, max_lines=3)
    assert record.text.split("\n")[1:] == ["4: line 4", "5: line 5", "6: line 6", "... (more: offset=7)"]
    assert (record.tool, record.data["first"], record.data["last"]) == ("read_file", 4, 6)
    tail = board.call("read_file_range", path="a.txt", startLine=9, maxLines=30)
    assert tail.text.split("\n")[1:] == ["9: line 9", "10: line 10"]
