"""Undoing several changes: looked at as a whole first, all or none, and put back when it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pegboard.errors import DoorError, Interrupted
from pegboard.kit.changes import Change
from pegboard.kit.undo import View, all_or_none, undo, undo_all
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_bytes(b"one\n")
    (tmp_path / "b.txt").write_bytes(b"two\n")
    return tmp_path


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_view_undoes_without_writing(root: Path) -> None:
    workspace, writer = Workspace(str(root)), Writer(Workspace(str(root)))
    first, second = writer.write("a.txt", b"1\n"), writer.write("a.txt", b"2\n")
    view = View(workspace)
    assert view.undo([first]) == {"a.txt": "a.txt was changed since."}
    assert view.undo([second], keep=False) == {} and view.undo([first]) != {}, "it was not kept"
    assert view.undo([second]) == {} and view.undo([first]) == {}
    assert contents(root)["a.txt"] == b"2\n"
    undo_all(workspace, Writer(workspace), [first, second])
    assert contents(root)["a.txt"] == b"one\n"


def test_every_file_in_the_way_is_named_and_none_is_touched(root: Path) -> None:
    workspace, writer = Workspace(str(root)), Writer(Workspace(str(root)))
    writer.write("a.txt", b"1\n")
    writer.remove("b.txt")
    writer.write("n/c.txt", b"c\n")
    writer.write("d.txt", b"d\n")
    (root / "a.txt").write_bytes(b"3\n")
    (root / "b.txt").write_bytes(b"again\n")
    (root / "n/c.txt").write_bytes(b"mine\n")
    (root / "d.txt").unlink()
    before = contents(root)
    with pytest.raises(DoorError) as caught:
        undo_all(workspace, Writer(workspace), writer.changes)
    assert str(caught.value) == (
        "a.txt was changed since. b.txt exists again. n/c.txt was changed since. Nothing was changed."
    )
    assert contents(root) == before


@pytest.mark.parametrize("over", ["a.txt", "b.txt"])
def test_a_moved_file_needs_both_its_names(root: Path, over: str) -> None:
    workspace, writer = Workspace(str(root)), Writer(Workspace(str(root)))
    change = writer.move("a.txt", "m.txt", b"moved\n")
    if over == "a.txt":
        (root / "a.txt").write_bytes(b"mine\n")
        problem = {"m.txt": "a.txt, from where m.txt was moved, exists again."}
    else:
        (root / "m.txt").write_bytes(b"mine\n")
        problem = {"m.txt": "m.txt was changed since."}
    assert View(workspace).undo([change]) == problem


def test_a_link_that_leads_elsewhere_by_now_is_in_the_way(root: Path) -> None:
    workspace = Workspace(str(root))
    (root / "link").symlink_to("a.txt")
    removed = Writer(workspace).remove("link")
    (made,) = undo_all(workspace, Writer(workspace), [removed])
    (root / "link").unlink()
    (root / "link").symlink_to("b.txt")
    assert View(workspace).undo([made]) == {"link": "link was changed since."}
    assert os.readlink(root / "link") == "b.txt"


def test_what_is_stopped_half_way_is_put_back_though_its_writer_may_not_write(root: Path) -> None:
    workspace, before, alive = Workspace(str(root)), contents(root), [True]

    def check() -> None:
        if not alive:
            raise Interrupted("person", "stopped")

    writer = Writer(workspace, alive=check)
    with pytest.raises(Interrupted), all_or_none(workspace, writer):
        writer.write("a.txt", b"1\n")
        writer.move("b.txt", "new/b.txt")
        alive.clear()
        writer.write("c.txt", b"3\n")
    assert contents(root) == before and not (root / "new").exists()
    assert writer.changes == [] and list(writer.seen(lambda path: None)) == [], "nothing of it is written down"


def test_what_was_done_before_stays(root: Path) -> None:
    workspace = Workspace(str(root))
    writer = Writer(workspace)
    writer.write("a.txt", b"1\n")
    with pytest.raises(ValueError), all_or_none(workspace, writer):
        writer.write("b.txt", b"2\n")
        raise ValueError
    assert contents(root) == {"a.txt": b"1\n", "b.txt": b"two\n"}
    assert [change.path for change in writer.changes] == ["a.txt"]


@pytest.mark.parametrize("name", [b"caf\xe9", rb"caf\xe9"])
@pytest.mark.parametrize("what", ["deleted", "moved", "moved anew", "link"])
def test_a_name_comes_back_byte_for_byte(root: Path, name: bytes, what: str) -> None:
    r"""Both names are shown as `caf\xe9`; the record tells which it was, also when what undid it is undone."""
    path = os.path.join(os.fsencode(root), name)
    os.symlink(b"a.txt", path) if what == "link" else os.replace(root / "a.txt", path)
    workspace, writer, again = (Workspace(str(root)), Writer(Workspace(str(root))), Writer(Workspace(str(root))))
    shown = r"caf\xe9"
    before = set(os.listdir(os.fsencode(root)))
    match what:
        case "moved":
            writer.move(shown, "m.txt")
        case "moved anew":
            writer.move(shown, "m.txt", b"moved\n")
        case _:
            writer.remove(shown)
    after = set(os.listdir(os.fsencode(root)))

    undone = undo_all(workspace, again, writer.changes)
    assert set(os.listdir(os.fsencode(root))) == before
    redone = undo_all(workspace, Writer(workspace), undone)
    assert set(os.listdir(os.fsencode(root))) == after
    undo_all(workspace, Writer(workspace), redone)
    assert set(os.listdir(os.fsencode(root))) == before


# --- what is as before already -------------------------------------------------------------------------------------------

STEPS = 7


def many_changes(root: Path) -> list[Change]:
    """All kinds of changes, several of the same files."""
    (root / "x.sh").write_bytes(b"run\n")
    (root / "link").symlink_to("a.txt")
    writer = Writer(Workspace(str(root)))
    writer.write("a.txt", b"ONE\nand more\n")
    writer.append("a.txt", b"and more\n")
    writer.remove("x.sh")
    writer.write("n/made.txt", b"made\n")
    writer.write("n/made.txt", b"made again\n")
    writer.move("b.txt", "m/b.txt", b"two, moved\n")
    writer.remove("link")
    assert len(writer.changes) == STEPS
    return writer.changes


@pytest.mark.parametrize("done", range(STEPS + 1))
def test_what_an_earlier_undo_came_to_is_not_in_the_way(root: Path, done: int) -> None:
    workspace, before = Workspace(str(root)), contents(root)
    changes = many_changes(root)
    for change in reversed(changes[STEPS - done :]):
        undo(workspace, Writer(workspace), change)
    undone = undo_all(workspace, Writer(workspace), changes)
    assert len(undone) == STEPS - done, "what was done is what it says"
    assert contents(root) == before | {"x.sh": b"run\n", "link": b"one\n"}
    assert not (root / "n").exists() and not (root / "m").exists()


@pytest.mark.parametrize("path", ["a.txt", "x.sh", "n/made.txt", "m/b.txt", "b.txt", "link"])
def test_other_content_is_in_the_way_wherever_an_undo_was_left(root: Path, path: str) -> None:
    workspace = Workspace(str(root))
    changes = many_changes(root)
    for left in range(STEPS, -1, -1):
        if left < STEPS:
            undo(workspace, Writer(workspace), changes[left])
        at = root / path
        was = at.read_bytes() if at.is_file() and not at.is_symlink() else None
        link = os.readlink(at) if at.is_symlink() else None
        made = not at.parent.exists()
        at.parent.mkdir(exist_ok=True)
        at.unlink(missing_ok=True)
        at.write_bytes(b"theirs\n")
        before = contents(root)
        with pytest.raises(DoorError, match="Nothing was changed"):
            undo_all(workspace, Writer(workspace), changes)
        assert contents(root) == before, left
        at.unlink()
        if link is not None:
            at.symlink_to(link)
        elif was is not None:
            at.write_bytes(was)
        if made:
            at.parent.rmdir()


def test_what_a_person_brought_back_is_not_taken_away_by_undoing_the_undo(root: Path) -> None:
    workspace, writer = Workspace(str(root)), Writer(Workspace(str(root)))
    writer.remove("a.txt")
    writer.write("b.txt", b"2\n")
    (root / "a.txt").write_bytes(b"one\n")
    view = View(workspace)
    undone = undo_all(workspace, Writer(workspace), writer.changes, view)
    assert [change.path for change in undone] == ["b.txt"] and view.already == {0}
    undo_all(workspace, Writer(workspace), undone)
    assert contents(root) == {"a.txt": b"one\n", "b.txt": b"2\n"}


@pytest.mark.parametrize("data", [None, b"two, moved\n"])
def test_a_file_left_under_both_names_is_under_its_old_one_then(root: Path, data: bytes | None) -> None:
    """A process was killed after it had made the one and before it dropped the other."""
    workspace, writer, before = Workspace(str(root)), Writer(Workspace(str(root))), contents(root)
    writer.move("b.txt", "m.txt", data)
    os.link(root / "m.txt", root / "b.txt") if data is None else (root / "b.txt").write_bytes(b"two\n")
    both = contents(root)
    undone = undo_all(workspace, Writer(workspace), writer.changes)
    assert contents(root) == before
    undo_all(workspace, Writer(workspace), undone)
    assert contents(root) == both


def test_the_same_bytes_elsewhere_are_not_taken_for_the_content_before(root: Path) -> None:
    """The place that was replaced is as before; the rest, of which nothing is kept but a checksum, is not."""
    (root / "a.txt").write_bytes(b"one two three\n")
    workspace, writer = Workspace(str(root)), Writer(Workspace(str(root)))
    writer.write("a.txt", b"one 2 three\n")
    (root / "a.txt").write_bytes(b"one two THREE\n")
    assert View(workspace).undo(writer.changes) == {"a.txt": "a.txt was changed since."}
    (root / "a.txt").write_bytes(b"one two three\n")
    assert View(workspace).undo(writer.changes) == {}
