"""`delete_files`: by name and by pattern, all or none, and exactly what was approved."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls import approved, failed, ok, write
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.blocks import Diff, Text
from pegboard.events import CallStarted
from pegboard.kit.undo import undo_all
from pegboard.kit.writer import Writer
from pegboard.session import records
from pegboard.testing.bench import TestBoard
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_core.reading import read_file
from pegboard_tools_edit_plus.deleting import delete_files

Make = Callable[..., TestBoard]
TOOLS = [delete_files, read_file]
TREE = ["a.py", "b.py", "src/a.py", "src/deep/c.py", "src/d.txt", "a[1].txt", "a1.txt", ".hidden.py", "build/x.py"]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=TOOLS, guards=[ProtectedPaths(Settings())])


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in TREE:
        write(tmp_path, name, f"{name}\n")
    write(tmp_path, ".gitignore", "build/\n")
    return tmp_path


def left(folder: Path) -> set[str]:
    """The files and links that are there."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file()}


def gone(folder: Path) -> set[str]:
    return {*TREE, ".gitignore"} - left(folder)


@pytest.mark.row("C-022")
def test_an_argument_with_wildcards_is_a_pattern_and_all_others_are_names(board: TestBoard, files: Path) -> None:
    record = board.call("delete_files", paths=["src/*.py", "b.py"])
    assert gone(files) == {"src/a.py", "b.py"}
    assert ok(record).split("\n") == ["2 files:", "  deleted src/a.py (-1 lines)", "  deleted b.py (-1 lines)"]
    assert record.data == {
        "files": [
            {"path": "src/a.py", "change": "deleted", "added": 0, "removed": 1, "to": None},
            {"path": "b.py", "change": "deleted", "added": 0, "removed": 1, "to": None},
        ],
        "undo": record.id,
    }
    ok(board.call("delete_files", paths=["?.py"]))
    assert gone(files) == {"src/a.py", "b.py", "a.py", "src/deep/c.py"}
    ok(board.call("delete_files", paths=["src/[cd].txt"]))
    assert "src/d.txt" in gone(files)


@pytest.mark.row("C-023")
def test_a_pattern_without_a_slash_is_for_names_and_one_with_it_for_paths(board: TestBoard, files: Path) -> None:
    ok(board.call("delete_files", paths=["a*.py"]))
    assert gone(files) == {"a.py", "src/a.py"}
    ok(board.call("delete_files", paths=["src/**/*.py"]))
    assert gone(files) == {"a.py", "src/a.py", "src/deep/c.py"}
    ok(board.call("delete_files", paths=["./*.py"]))
    assert gone(files) == {"a.py", "src/a.py", "src/deep/c.py", "b.py"}
    ok(board.call("delete_files", paths=[f"{files}/*/d.*"]))
    assert "src/d.txt" in gone(files)


def test_a_name_that_is_there_is_no_pattern(board: TestBoard, files: Path) -> None:
    ok(board.call("delete_files", paths=["a[1].txt"]))
    assert gone(files) == {"a[1].txt"}
    ok(board.call("delete_files", paths=["a[1].txt"]))  # now it is one
    assert gone(files) == {"a[1].txt", "a1.txt"}


def test_an_exclamation_mark_does_not_turn_a_pattern_around(board: TestBoard, files: Path) -> None:
    write(files, "!a.py", "x")
    ok(board.call("delete_files", paths=["!*.py"]))
    assert gone(files) == set() and not (files / "!a.py").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"paths": ["*.py"]}, {"a.py", "b.py", "src/a.py", "src/deep/c.py"}),
        ({"paths": [".*.py"]}, {".hidden.py"}),
        ({"paths": ["*.py"], "include_hidden": True}, {"a.py", "b.py", "src/a.py", "src/deep/c.py", ".hidden.py"}),
        ({"paths": ["*.py"], "include_ignored": True}, {"a.py", "b.py", "src/a.py", "src/deep/c.py", "build/x.py"}),
        ({"paths": ["build/x.py", ".hidden.py"]}, {"build/x.py", ".hidden.py"}),
    ],
)
def test_patterns_pass_over_hidden_and_ignored_files_as_searches_do(
    board: TestBoard, files: Path, arguments: dict[str, Any], expected: set[str]
) -> None:
    write(files, ".git/x.py", "x")
    write(files, "node_modules/x.py", "x")
    (files / "link.py").symlink_to("a.py")
    ok(board.call("delete_files", **arguments))
    assert gone(files) == expected
    assert {".git/x.py", "node_modules/x.py", "link.py"} <= left(files)


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        (["a.py", "missing.py"], "No such file: missing.py. Nothing was deleted."),
        (["a.py", "*.rs"], 'No file matches "*.rs". Nothing was deleted. Hidden or ignored files count only with'),
        (["a.py", "src"], "src is a folder"),
        (["a.py", "src/"], "src/ is a folder"),
        (["a.py", "sr*/"], "names folders"),
        (["a.py", "readonly"], "readonly is read-only"),
        (["a.py", "fifo"], "fifo is a FIFO"),
        (["a.py", "build/*"], "No file matches"),
        (["a.py", ""], "A path cannot be empty"),
    ],
)
def test_when_one_cannot_be_deleted_none_is(board: TestBoard, files: Path, paths: list[str], problem: str) -> None:
    write(files, "readonly", "x").chmod(0o444)
    os.mkfifo(files / "fifo")
    assert problem in failed(board.call("delete_files", paths=paths))
    assert gone(files) == set()


@pytest.mark.parametrize(
    "path", [".env", "keys/server.pem", "keys/*", "**/*.pem", ".git/config", "../out.txt", "../*.txt", "out/x"]
)
def test_protected_and_outside_names_are_refused_before_anything_runs(board: TestBoard, files: Path, path: str) -> None:
    for name in (".env", "keys/server.pem", ".git/config", "../out.txt", "../beside/x"):
        write(files, name, "keep\n")
    (files / "out").symlink_to("../beside")
    record = board.call("delete_files", paths=["a.py", path])
    assert record.outcome == "blocked" and record.block in ("guard", "denied"), record.text
    assert gone(files) == set()
    assert all((files / name).exists() for name in (".env", "keys/server.pem", ".git/config", "../out.txt", "out/x"))


def test_of_a_link_the_link_is_deleted(board: TestBoard, files: Path) -> None:
    for name, target in (("link", "a.py"), ("folder", "src"), ("broken", "nowhere")):
        (files / name).symlink_to(target)
    assert "deleted link" in ok(board.call("delete_files", paths=["link", "folder", "broken"]))
    assert gone(files) == set()
    assert {"link", "folder", "broken"}.isdisjoint(left(files)) and not (files / "folder").is_symlink()
    changes = records.load(board.session.folder, "c1")
    assert changes is not None
    undo_all(board.board.workspace, Writer(board.board.workspace), changes)
    assert {name: os.readlink(files / name) for name in ("link", "folder", "broken")} == {
        "link": "a.py",
        "folder": "src",
        "broken": "nowhere",
    }


def test_it_can_be_undone(board: TestBoard, files: Path) -> None:
    (files / "a.py").chmod(0o750)
    write(files, "b.py", b"\0\xff")
    ok(board.call("delete_files", paths=["a.py", "b.py", "a.py"]))
    changes = records.load(board.session.folder, "c1")
    assert changes is not None and len(changes) == 2
    undo_all(board.board.workspace, Writer(board.board.workspace), changes)
    assert (files / "a.py").read_text() == "a.py\n" and (files / "a.py").stat().st_mode & 0o777 == 0o750
    assert (files / "b.py").read_bytes() == b"\0\xff"


def test_the_person_is_shown_what_is_deleted_and_nothing_else_is(pegboard_board: Make, files: Path) -> None:
    board = pegboard_board(tools=TOOLS, answers="person")
    change = partial(write, files, "new.py", "x")
    record, asked = approved(board, change, "delete_files", paths=["a.py", "src/**/*.py"])
    ok(record)
    text, *diffs = asked.preview
    assert isinstance(text, Text) and text.title == "Deletes 3 files"
    assert text.text.split("\n") == ["a.py (5 bytes)", "src/a.py (9 bytes)", "src/deep/c.py (14 bytes)"]
    assert [(d.path, d.change, d.removed) for d in diffs if isinstance(d, Diff)] == [
        ("a.py", "deleted", 1),
        ("src/a.py", "deleted", 1),
        ("src/deep/c.py", "deleted", 1),
    ]
    assert (files / "new.py").exists() and gone(files) == {"a.py", "src/a.py", "src/deep/c.py"}
    change = partial(write, files, "new.py", "other")
    record, _ = approved(board, change, "delete_files", paths=["b.py", "new.py"])
    assert "new.py was changed while you were asked" in failed(record)
    assert (files / "b.py").exists() and (files / "new.py").exists()
    record, _ = approved(board, (files / "new.py").unlink, "delete_files", paths=["b.py", "new.*"])
    assert "No such file: new.py. Nothing was deleted." in failed(record)
    assert (files / "b.py").exists()


def test_a_file_that_became_a_link_while_the_person_was_asked_is_not_deleted(pegboard_board: Make, files: Path) -> None:
    board = pegboard_board(tools=TOOLS, answers="person")

    def swap() -> None:
        (files / "a.py").unlink()
        (files / "a.py").symlink_to("b.py")

    record, _ = approved(board, swap, "delete_files", paths=["a.py"])
    assert "a.py was changed while you were asked" in failed(record)
    assert (files / "a.py").is_symlink() and (files / "b.py").exists()


def test_touches_name_each_file(board: TestBoard, files: Path) -> None:
    ok(board.call("delete_files", paths=["src/*", "./b.py"]))
    (started,) = [event for event in board.events if isinstance(event, CallStarted)]
    assert [(t.kind, t.what, t.at) for t in started.touches] == [
        ("edit", "src/a.py", "src/a.py"),
        ("edit", "src/d.txt", "src/d.txt"),
        ("edit", "./b.py", "b.py"),
    ]


def test_what_changed_since_it_was_read_is_not_deleted(board: TestBoard, files: Path) -> None:
    board.call("read_file", path="b.py")
    write(files, "b.py", "other\n")
    assert "b.py was changed on disk since" in failed(board.call("delete_files", paths=["a.py", "b.py"]))
    assert gone(files) == set()


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_failure_on_the_way_puts_all_back(
    board: TestBoard, files: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    look, calls = Writer._last_look, []

    def failing(*given: Any) -> None:
        calls.append(given)
        if len(calls) == number + 1:
            raise OSError(errno.EROFS, "Read-only file system")
        look(*given)

    monkeypatch.setattr(Writer, "_last_look", failing)
    text = failed(board.call("delete_files", paths=["a.py", "b.py", "src/a.py"]))
    assert gone(files) == set() and (files / "src/a.py").read_text() == "src/a.py\n"
    assert ("was put back: nothing is changed" in text) == (number > 0)


def test_too_many_at_once(board: TestBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard_tools_edit_plus.deleting.MOST", 3)
    for name in "abcd":
        write(tmp_path, f"{name}.txt", "x")
    assert "more than 3 files. Nothing was deleted" in failed(board.call("delete_files", paths=["*.txt"]))
    ok(board.call("delete_files", paths=["[abc].txt"]))
    assert left(tmp_path) == {"d.txt"}


@pytest.mark.parametrize("sent", ["a.py", '["a.py"]'])
def test_one_path_and_other_names(board: TestBoard, files: Path, sent: str) -> None:
    ok(board.call("rm", file_path=sent))
    assert gone(files) == {"a.py"}
    assert board.call("delete_files", paths=[]).block == "invalid_arguments"


def test_names_that_are_not_utf_8(board: TestBoard, files: Path) -> None:
    name = os.fsencode(files) + b"/caf\xe9.tmp"
    with open(name, "wb") as file:
        file.write(b"x")
    assert r"deleted caf\xe9.tmp" in ok(board.call("delete_files", paths=["*.tmp"]))
    assert not os.path.exists(name)


@pytest.mark.parametrize("folder", [b"", b"d\xff/"])
def test_a_file_that_is_called_as_another_is_shown_is_not_deleted_in_its_place(
    board: TestBoard, tmp_path: Path, folder: bytes
) -> None:
    """`caf\\xe9` is how a name with that byte is shown, and another file may be called so letter for letter."""
    root = os.fsencode(tmp_path)
    with_byte = os.path.join(root, folder, b"caf\xe9.tmp")
    as_shown = os.path.join(root, folder.replace(b"\xff", rb"\xff"), rb"caf\xe9.tmp")
    for name in (with_byte, as_shown):
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as file:
            file.write(b"x")
    text = failed(board.call("delete_files", paths=["*.tmp"]))
    assert r"caf\xe9.tmp" in text and "Nothing was deleted" in text
    assert os.path.exists(with_byte) and os.path.exists(as_shown)
    ok(board.call("delete_files", paths=[os.fsdecode(as_shown[len(root) + 1 :])]))
    assert os.path.exists(with_byte) and not os.path.exists(as_shown), "by its name it is the one called so"
    ok(board.call("delete_files", paths=["*.tmp"]))
    assert not os.path.exists(with_byte)


def test_a_file_that_its_shown_name_does_not_lead_to_is_not_deleted_as_another(
    board: TestBoard, tmp_path: Path
) -> None:
    """In the folder that is called `d\\xff` letter for letter lies a name with a byte; one as it is shown lies elsewhere."""
    inner, outer = (os.path.join(os.fsencode(tmp_path), part, b"caf\xe9.tmp") for part in (rb"d\xff", b"d\xff"))
    for name in (inner, outer):
        os.mkdir(os.path.dirname(name))
        with open(name, "wb") as file:
            file.write(b"x")
    assert "Nothing was deleted" in failed(board.call("delete_files", paths=["*.tmp"]))
    assert os.path.exists(inner) and os.path.exists(outer)


class TestAnyPattern:
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.text("a*?[]!./\\{},-b", min_size=1, max_size=6), min_size=1, max_size=2))
    def test_what_was_judged_is_what_is_gone(self, tmp_path_factory: pytest.TempPathFactory, paths: list[str]) -> None:
        root = tmp_path_factory.mktemp("root")
        for name in ("a", "b", "ab/a", "ab/.b", "[a]", "!a", "-"):
            write(root, name, "x")
        before = left(root)
        board = TestBoard(root, tools=[delete_files])
        try:
            record = board.call("delete_files", paths=paths)
            started = [event for event in board.events if isinstance(event, CallStarted)]
        finally:
            board.close()
        judged = {touch.at for event in started for touch in event.touches}
        if record.outcome == "ok":
            assert before - left(root) == judged == {file["path"] for file in record.data["files"]}
        else:
            assert left(root) == before


@pytest.mark.parametrize("leads", ["../linked-to/secret.txt", ".env", ".git/config", "nowhere/at/all", "link"])
def test_a_link_may_go_wherever_it_leads(board: TestBoard, files: Path, leads: str) -> None:
    write(files, ".env", "KEY=1\n")
    write(files, ".git/config", "[core]\n")
    write(files.parent / "linked-to", "secret.txt", "keep\n")
    (files / "link").symlink_to(leads)
    record = board.call("delete_files", paths=["./link"])
    assert "deleted link" in ok(record) and not (files / "link").is_symlink()
    [start] = [event for event in board.events if isinstance(event, CallStarted)]
    assert [(touch.what, touch.at, touch.outside) for touch in start.touches] == [("./link", "link", False)]
    assert (files / ".env").read_text() == "KEY=1\n" and (files / ".git/config").exists()
    assert (files.parent / "linked-to/secret.txt").read_text() == "keep\n"


def test_what_lies_behind_a_link_to_elsewhere_may_not(board: TestBoard, files: Path) -> None:
    write(files.parent / "linked-to", "secret.txt", "keep\n")
    (files / "out").symlink_to("../linked-to")
    inner = files.parent / "linked-to/inner"
    inner.unlink(missing_ok=True)
    inner.symlink_to("secret.txt")
    for path in ("out/secret.txt", "out/inner", "out/../linked-to/inner"):
        record = board.call("delete_files", paths=[path])
        assert record.outcome in ("blocked", "error"), record.text
    assert (files.parent / "linked-to/inner").is_symlink() and (files.parent / "linked-to/secret.txt").exists()


def test_two_names_of_one_file_go_in_one_call(board: TestBoard, files: Path) -> None:
    os.link(files / "a.py", files / "a2.py")
    assert "2 files:" in ok(board.call("delete_files", paths=["a.py", "a2.py"]))
    assert not (files / "a.py").exists() and not (files / "a2.py").exists()


def test_a_line_end_in_a_name_makes_no_line_of_its_own(board: TestBoard, files: Path) -> None:
    name = "a\n  deleted b.py (-9 lines)"
    write(files, name, "x\n")
    assert ok(board.call("delete_files", paths=[name])) == r"1 file: deleted a\n  deleted b.py (-9 lines) (-1 lines)"
