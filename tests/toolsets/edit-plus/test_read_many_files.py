"""`read_many_files`, down the whole road of a real board: each file as it is read alone."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from calls import ok
from hypothesis import given
from hypothesis import strategies as st
from pegboard import Context, Reads, Writes, tool
from pegboard.calls import Deny, Record
from pegboard.events import CallStarted, Seen
from pegboard.kit.caps import Caps
from pegboard.kit.reading import read_shown
from pegboard.kit.shares import level, shares
from pegboard.testing.bench import TestBoard
from pegboard.tooling import BadTool, Tool
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import write_file
from pegboard_tools_edit_plus import reading
from pegboard_tools_edit_plus.reading import read_many_files

Make = Callable[..., TestBoard]
TOOLS = [read_file, read_many_files, write_file]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=TOOLS)


def blocks(record: Record) -> list[tuple[str, str]]:
    """(label, text) of each block."""
    parts = ok(record).removeprefix("===== ").split("\n\n===== ")
    return [(label, text) for label, _, text in (part.partition(" =====\n") for part in parts)]


@pytest.mark.row("S-028")
def test_at_most_twenty_files_each_with_its_own_window(board: TestBoard, tmp_path: Path) -> None:
    for n in range(21):
        (tmp_path / f"{n}.txt").write_text("".join(f"{n} {line}\n" for line in range(1, 6)))
    wanted: list[Any] = [f"{n}.txt" for n in range(20)]
    wanted[3] = {"path": "3.txt", "offset": 2, "limit": 2}
    wanted[4] = {"filePath": "4.txt", "startLine": 5}
    found = dict(blocks(board.call("read_many_files", files=wanted)))
    assert len(found) == 20
    assert found["3.txt"] == "# 3.txt - 5 lines, 20 chars (showing 2-3)\n2: 3 2\n3: 3 3\n... (more: offset=4)"
    assert found["4.txt"].endswith("(showing 5-5)\n5: 4 5")
    record = board.call("read_many_files", files=[*wanted, "20.txt"])
    assert (record.outcome, record.block) == ("blocked", "invalid_arguments") and "20" in record.text
    assert "0 1" not in record.text
    assert board.call("read_many_files", files=[]).block == "invalid_arguments"


@pytest.mark.row("S-029")
def test_reads_overlap_and_blocks_come_in_the_order_of_the_call(
    board: TestBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"text of {name}\n")
    b_is_read = threading.Event()
    real = read_shown

    def waiting(workspace: Any, path: str, **rest: Any) -> Any:
        if path == "a.txt":  # the first is done last: it waits until the second has been read
            assert b_is_read.wait(60), "one is read after the other"
        shown = real(workspace, path, **rest)
        if path == "b.txt":
            b_is_read.set()
        return shown

    monkeypatch.setattr(reading, "read_shown", waiting)
    assert ok(board.call("read_many_files", files=["a.txt", "b.txt", "a.txt"])) == (
        "===== a.txt =====\n# a.txt - 1 lines, 14 chars\n1: text of a.txt\n\n"
        "===== b.txt =====\n# b.txt - 1 lines, 14 chars\n1: text of b.txt\n\n"
        "===== a.txt =====\n# a.txt - 1 lines, 14 chars\n1: text of a.txt"
    )


@pytest.mark.row("S-030")
def test_a_missing_file_says_so_in_its_place(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    record = board.call("read_many_files", files=["nope.txt", "a.txt", "a.txt/x", "nope/x.txt"])
    found = blocks(record)
    assert found[0] == ("nope.txt", "[unreadable: No such file: nope.txt]")
    assert found[1] == ("a.txt", "# a.txt - 1 lines, 4 chars\n1: one")
    assert found[2][1].startswith("[unreadable: No such file: a.txt/x")
    assert record.data["files"][0] == {"path": "nope.txt", "error": "No such file: nope.txt"}
    assert record.data["files"][1]["lines"] == 1 and record.data["more"] is False


@pytest.mark.row("S-031")
def test_each_reads_as_it_does_alone(board: TestBoard, tmp_path: Path) -> None:
    contents = {
        "plain.txt": b"one\ntwo\n",
        "latin.txt": b"d\xe9j\xe0\nvu\n",
        "wide.txt": "\ufeffzwei\r\ndrei\n".encode("utf-16-le"),
        "mixed.txt": b"a\r\nb\n",
        "empty.txt": b"",
        "long.txt": b"x" * 100 + b"\n" + b"y\n" * 1500,
        "logo.png": b"\x89PNG\r\n\x1a\n" + bytes(1000),
        "data.bin": b"x\0y",
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    os.mkfifo(tmp_path / "pipe")
    names = [*contents, "pipe"]
    found = dict(blocks(board.call("read_many_files", files=names)))
    for name in names:
        alone = board.call("read_file", path=name)
        same = alone.text if alone.outcome == "ok" else f"[unreadable: {alone.text.removeprefix('Error: ')}]"
        assert found[name] == same, name
    assert "logo.png is binary (PNG image, 1,008 bytes)" in found["logo.png"]
    window = {"path": "long.txt", "offset": 3, "limit": 4}
    [(_, text)] = blocks(board.call("read_many_files", files=[window]))
    assert text == board.call("read_file", **window).text


@pytest.mark.row("S-090")
def test_a_bad_path_is_told_of_in_its_place_and_the_rest_is_read(pegboard_board: Make, tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (tmp_path / "outside.txt").write_text("TOPSECRET\n")
    (root / "a.txt").write_text("fine\n")
    (root / ".env").write_text("TOPSECRET\n")
    (root / "out").symlink_to("../outside.txt")
    (root / "env2").symlink_to(".env")
    os.link(root / ".env", root / "env3")
    (root / "loop").symlink_to("loop")
    board = TestBoard(root, tools=TOOLS, guards=[ProtectedPaths(Settings())])
    bad = [
        "../outside.txt",
        str(tmp_path / "outside.txt"),
        ".env",
        "sub/../.env",
        "out",
        "env2",
        "env3",
        "loop",
        "",
        "x\0y",
    ]
    try:
        record = board.call("read_many_files", files=[*bad, "a.txt"])
        found = blocks(record)
        assert "TOPSECRET" not in repr(record)
        assert all(text.startswith("[unreadable: ") for _, text in found[:-1]), found
        assert found[-1] == ("a.txt", "# a.txt - 1 lines, 5 chars\n1: fine")
        assert "Path escapes workspace: ../outside.txt" in found[0][1] and "is protected" in found[2][1]
        [started] = [event for event in board.events if isinstance(event, CallStarted)]
        assert {touch.at for touch in started.touches} == {"a.txt", "env3"}, "nothing but what may be read is touched"
        assert ok(board.call("read_many_files", files=["../outside.txt"])).startswith(
            "===== ../outside.txt =====\n[unr"
        )
    finally:
        board.close()


def test_rules_and_guards_on_the_call_hold_for_all_of_it(pegboard_board: Make, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("text\n")

    def no_b(call: Any, touches: Any) -> Deny | None:
        return Deny("mine", "not b") if any(touch.at == "b.txt" for touch in touches) else None

    guarded = pegboard_board(tools=TOOLS, guards=[no_b])
    assert guarded.call("read_many_files", files=["a.txt", {"path": "b.txt"}]).block == "guard"
    assert ok(guarded.call("read_many_files", files=["a.txt"]))
    denying = pegboard_board(tools=TOOLS, settings={"tool_permission.read": "deny"})
    for files in (["a.txt"], ["../x"]):
        assert denying.call("read_many_files", files=files).block == "denied"
    asking = pegboard_board(tools=TOOLS, settings={"paths.outside": "ask"}, answers="headless")
    assert asking.call("read_many_files", files=["a.txt", "../x"]).block == "denied", "outside is asked about"


def test_only_reading_tools_may_take_a_batch() -> None:
    @tool(batch=True)
    def careless(path: Annotated[str, Writes()], ctx: Context) -> str:
        """Write."""
        return ""

    with pytest.raises(BadTool, match="batch is for read_only tools"):
        Tool.of(careless)


def test_without_batch_a_path_outside_blocks_the_call(pegboard_board: Make, tmp_path: Path) -> None:
    @tool
    def several(paths: list[Annotated[str, Reads()]], ctx: Context) -> str:
        """Read."""
        return "ran"

    board = pegboard_board(tools=[several])
    assert board.call("several", paths=["a", "../x"]).block == "denied"


def test_short_files_are_whole_and_long_ones_share_what_is_left(pegboard_board: Make, tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("just this\n")
    for name in ("long.txt", "other.txt"):
        (tmp_path / name).write_text("".join(f"line {n} of a long file\n" for n in range(1, 3000)))
    board = pegboard_board(tools=TOOLS)
    record = board.call("read_many_files", files=["long.txt", "short.txt", "other.txt"])
    assert len(ok(record)) <= 30_000 and record.truncated and record.full_output is None
    found = dict(blocks(record))
    assert found["short.txt"] == "# short.txt - 1 lines, 10 chars\n1: just this"
    assert abs(len(found["long.txt"]) - len(found["other.txt"])) < 100 and len(found["long.txt"]) > 13_000
    last = record.data["files"][0]["last"]
    assert found["long.txt"].endswith(f"\n{last}: line {last} of a long file\n... (more: offset={last + 1})")
    again = board.call("read_file", path="long.txt", offset=last + 1, limit=1)
    assert f"\n{last + 1}: line {last + 1} of a long file" in again.text


def test_limits_on_lines_and_bytes_are_shared_too(pegboard_board: Make, tmp_path: Path) -> None:
    names = [f"{n}.txt" for n in range(4)]
    for name in names:
        (tmp_path / name).write_text("é\n" * 500)
    lines = pegboard_board(tools=TOOLS, settings={"output.max_lines": 100}).call("read_many_files", files=names)
    assert 60 <= ok(lines).count("\n") + 1 <= 100 and lines.full_output is None
    size = pegboard_board(tools=TOOLS, settings={"output.max_bytes": 8000, "output.max_chars": 0})
    small = size.call("read_many_files", files=names)
    assert 4000 < len(ok(small).encode()) <= 8000
    assert all("... (more: offset=" in text for _, text in blocks(small))


def test_what_was_shown_is_seen_and_no_more(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "big.txt").write_text("".join(f"line {n} of a long file\n" for n in range(1, 3000)))
    (tmp_path / "c.txt").write_text("two\n")
    ok(board.call("read_many_files", files=["a.txt", "big.txt", {"path": "c.txt", "limit": 0}, "nope"]))
    seen = {event.path: event.ranges for event in board.events if isinstance(event, Seen)}
    assert seen.keys() == {"a.txt", "big.txt"} and [list(one) for one in seen["a.txt"]] == [[0, 4]]
    (tmp_path / "a.txt").write_text("changed by someone\n")
    assert "was changed on disk" in board.call("write_file", path="a.txt", content="x").text
    assert "read only in part" in board.call("write_file", path="big.txt", content="x").text
    assert ok(board.call("write_file", path="c.txt", content="x"))


def test_names_and_shapes_of_other_dialects(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    caf = os.path.join(os.fsencode(tmp_path), b"caf\xe9\n")
    with open(caf, "wb") as file:
        file.write(b"two\n")
    text = "===== a.txt =====\n# a.txt - 1 lines, 4 chars\n1: one"
    for sent in (
        {"paths": ["a.txt"]}, {"files": '["a.txt"]'}, {"paths": '["a.txt"]'}, {"path": "a.txt"}, {"filePaths": ["a.txt"]},
        {"files": [{"file": "a.txt", "maxLines": "9"}]}, {"files": [{"path": "a.txt", "limit": None}]},
    ):  # fmt: skip
        assert ok(board.call("read_many_files", **sent)) == text, sent
    [(label, shown)] = blocks(board.call("read_many_files", files=["caf\\xe9\n"]))
    assert label == r"caf\xe9\n" and shown.endswith("\n1: two")
    record = board.call("read_many_files", files=[{"path": "a.txt", "offset": 0}, "a.txt", 7])
    assert record.block == "invalid_arguments"


def test_a_folder_in_a_batch_names_the_way_on(board: TestBoard, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    [(_, text)] = blocks(board.call("read_many_files", files=["src"]))
    assert text == "[unreadable: src is a folder, not a file. See what is in it with list_dir.]"


@given(st.lists(st.integers(0, 500), min_size=1, max_size=20), st.integers(1, 2000))
def test_shares_are_fair(needs: list[int], total: int) -> None:
    most = level(needs, total)
    given = [min(need, most) for need in needs]
    if total >= len(needs):
        assert sum(given) <= total
        if sum(needs) > total:  # one more for each would be too much
            assert sum(min(need, most + 1) for need in needs) > total
    assert sum(needs) > total or given == needs
    assert level(needs, 0) == 0


@given(st.lists(st.text(max_size=60), min_size=2, max_size=6), st.integers(1, 200), st.integers(0, 100))
def test_only_texts_above_their_share_become_shorter(texts: list[str], chars: int, lines: int) -> None:
    caps = Caps(max_chars=chars, max_bytes=0, max_lines=lines)
    shorter = shares(texts, caps)
    whole = "".join(f"{text}\n\n" for text in texts)
    assert bool(shorter) == caps.exceeded(
        chars=len(whole), size=0, lines=sum(text.count("\n") + bool(text and text[-1] != "\n") + 1 for text in texts)
    )
    assert set(shorter) <= set(range(len(texts)))
