"""What a session has changed in files: one diff a file, from before its first call to now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pegboard_tools_core
import pegboard_tools_edit_plus
import pytest
from pegboard import port
from pegboard.blocks import Diff
from pegboard.changed import Changed, changed
from pegboard.events import Undone


@pytest.fixture
def board(pegboard_board: Any) -> Any:
    return pegboard_board(modules={"core": pegboard_tools_core, "edit-plus": pegboard_tools_edit_plus})


def found(board: Any) -> Changed:
    return changed(board.session.folder, board.session.read(), board.board.workspace)


def shape(diffs: list[Diff]) -> list[tuple[Any, ...]]:
    return [(diff.path, diff.to, diff.change, diff.added, diff.removed) for diff in diffs]


def undo(board: Any) -> None:
    async def undone() -> None:
        events = aiter(board.agent.events(board.session.last))
        await board.agent.send(port.Undo(id=f"u{board.session.last}"))
        async for event in events:
            if isinstance(event, Undone):
                assert event.error is None, event.error
                return

    board.run(undone())


def test_several_changes_of_a_file_are_one_diff_and_what_was_undone_is_none(board: Any, tmp_path: Path) -> None:
    assert found(board) == Changed([], [])
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    (tmp_path / "gone.txt").write_text("x\n")
    board.call("read_file", path="a.txt")
    board.call("edit_file", path="a.txt", old_string="one", new_string="1")
    board.call("edit_file", path="a.txt", old_string="three", new_string="3")
    board.call("write_file", path="new.txt", content="hello\n")
    board.call("delete_files", paths=["gone.txt"])
    board.call("edit_file", path="a.txt", old_string="two", new_string="2")
    undo(board)
    diffs, notes = found(board)
    assert shape(diffs) == [
        ("a.txt", None, "changed", 2, 2),
        ("gone.txt", None, "deleted", 0, 1),
        ("new.txt", None, "created", 1, 0),
    ]
    assert "-one\n+1\n two\n-three\n+3" in diffs[0].text and notes == []
    board.call("edit_file", path="a.txt", old_string="1", new_string="one")
    board.call("edit_file", path="a.txt", old_string="3", new_string="three")
    assert [diff.path for diff in found(board).diffs] == ["gone.txt", "new.txt"]  # it is as it was


def test_a_moved_file_is_told_of_once_with_where_it_went(board: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    board.call("read_file", path="a.txt")
    patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+1\n two\n*** End Patch\n"
    moved = board.call("apply_patch", patch=patch)
    assert moved.outcome == "ok", moved.text
    board.call("edit_file", path="b.txt", old_string="two", new_string="2")
    assert shape(found(board).diffs) == [("a.txt", "b.txt", "moved", 2, 2)]


def test_what_others_changed_since_is_said_and_each_calls_own_diff_is_shown(board: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    board.call("read_file", path="a.txt")
    board.call("edit_file", path="a.txt", old_string="one", new_string="1")
    (tmp_path / "a.txt").write_text("mine\n")
    board.call("bash", command="touch b.txt")
    board.call("write_file", path="bin", content="\0\1")
    diffs, notes = found(board)
    assert shape(diffs) == [("a.txt", None, "changed", 1, 1), ("bin", None, "created", 0, 0)]
    assert "+1" in diffs[0].text and diffs[1].text == ""
    assert any(note.startswith("a.txt: changed by others") for note in notes)
    assert any("commands ran" in note for note in notes)
