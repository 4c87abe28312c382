"""A change of files that could not be undone is not made: where what undoes it cannot be kept, it is put back."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, Literal

import pegboard_tools_core as core
import pegboard_tools_edit_plus as edit_plus
import pytest
from pegboard import Context, SyncContext, Writes, port, tool
from pegboard.calls import Record
from pegboard.editlock import EditLock, lock_folder
from pegboard.kit.aside import apart
from pegboard.kit.undo import all_or_none
from pegboard.session import Session, records
from pegboard.testing.bench import TestBoard
from pegboard.undoable import Entry

HERE, GO_ON = threading.Event(), threading.Event()
BACK = "so it was put back: nothing is changed."
PATCH = """*** Begin Patch
*** Add File: new/n.txt
+n
*** Delete File: b.txt
*** Update File: a.txt
*** Move to: moved.txt
@@
-one
+two
*** End Patch"""


def yes(_arguments: Any) -> Literal["allow"]:
    return "allow"


@tool(permission_fn=yes)
def threaded(path: Annotated[str, Writes("File")], ctx: SyncContext) -> str:
    """Write a file from a worker thread."""
    with ctx.commit() as files:
        files.write(path, b"two\n")
    return "written"


@tool(permission_fn=yes, touches=lambda arguments: [("edit", "a.txt"), ("edit", "b.txt")])
async def twice(ctx: Context, fail: bool = False) -> str:
    """Change two files by two commits."""
    async with ctx.commit() as files:
        files.write("a.txt", b"two\n")
    async with ctx.commit() as files:
        files.write("b.txt", b"two\n")
        if fail:
            raise ValueError("of its own")
    return "written"


@tool(permission_fn=yes, touches=lambda arguments: [("edit", "a.txt"), ("edit", "b.txt")])
async def halts(ctx: Context, whole: bool = False) -> str:
    """Change a file and wait in the commit, all or none."""

    def work() -> None:
        with all_or_none(ctx.workspace, files):
            files.write("a.txt", b"two\n")
            HERE.set()
            assert GO_ON.wait(60)
            if not whole:
                files.write("b.txt", b"two\n")

    async with ctx.commit() as files:
        await apart(work)
    return "written"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    HERE.clear()
    GO_ON.clear()
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    (root / "b.txt").write_text("bee\n")
    (root / "b.txt").chmod(0o750)
    return root


@pytest.fixture
def board(root: Path, tmp_path: Path) -> Any:
    tools, modules = [threaded, twice, halts], {"core": core, "edit-plus": edit_plus}
    board = TestBoard(root, tools=tools, modules=modules, state=tmp_path / "state", session="s1")
    yield board
    board.close()


def tree(root: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in root.rglob("*")
    }


class Full:
    """A disk that is full from the so-many-th record on that is not empty, until it is told otherwise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, first: int = 1) -> None:
        self.left, self.full, self._real = first, True, records.save
        monkeypatch.setattr(records, "save", self)

    def __call__(self, session: Path, id: str, changes: list[Any]) -> None:
        self.left -= bool(changes)
        if self.full and self.left <= 0 and changes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._real(session, id, changes)


def entries(board: TestBoard) -> list[Entry]:
    return board.board.undoing(board.session).entries()


def failed(record: Record) -> str:
    assert (record.outcome, record.data) == ("error", None), record
    return record.text


EDIT = {"path": "a.txt", "old_string": "one", "new_string": "two"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit_file", EDIT),
        ("delete_files", {"paths": ["a.txt", "b.txt"]}),
        ("apply_patch", {"patch": PATCH}),
        ("threaded", {"path": "a.txt"}),
        ("write_file", {"path": "new/deep.txt", "content": "n"}),
    ],
)
def test_what_could_not_be_undone_is_put_back(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, arguments: dict[str, Any]
) -> None:
    assert board.call("read_file", path="a.txt").outcome == "ok"
    before, disk = tree(root), Full(monkeypatch)
    text = failed(board.call(name, **arguments))
    assert "could not be kept (No space left on device)" in text and BACK in text
    assert text.endswith(f"Free space in {board.session.folder}, then call it again.")
    assert tree(root) == before
    assert entries(board) == []
    disk.full = False
    assert board.call(name, **arguments).outcome == "ok", (
        "what was read is not stale, though the file has another stamp"
    )
    assert tree(root) != before and [entry.state for entry in entries(board)] == ["ready"]


def test_an_edit_of_what_was_put_back_is_not_stale(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.call("read_file", path="a.txt")
    disk = Full(monkeypatch)
    for name, arguments in (("delete_files", {"paths": ["a.txt"]}), ("edit_file", EDIT)):
        assert BACK in failed(board.call(name, **arguments))
    disk.full = False
    done = board.call("edit_file", **EDIT)
    assert done.outcome == "ok" and "changed since" not in done.text and "not read" not in done.text
    assert (root / "a.txt").read_text() == "two\n"


def test_a_log_that_cannot_be_written_has_it_put_back(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard import events
    from pegboard.errors import SessionError

    board.call("read_file", path="a.txt")
    real = Session.append

    def append(self: Session, *entries: Any) -> Any:
        if any(isinstance(entry, events.Seen) for entry in entries):
            raise SessionError("the log is full")
        return real(self, *entries)

    monkeypatch.setattr(Session, "append", append)
    text = failed(board.call("edit_file", **EDIT))
    assert "(the log is full)" in text and BACK in text and (root / "a.txt").read_text() == "one\n"
    assert entries(board) == []


def test_what_cannot_be_put_back_is_named_and_the_rest_is(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard.kit.writer import Writer

    real = Writer.restore

    def restore(self: Writer, path: str, *given: Any, **more: Any) -> Any:
        if path == "a.txt":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(self, path, *given, **more)

    monkeypatch.setattr(Writer, "restore", restore)
    Full(monkeypatch)
    text = failed(board.call("delete_files", paths=["a.txt", "b.txt"]))
    assert "a.txt stays deleted" in text and "Input/output error" in text and "nothing is changed" not in text
    assert "b.txt" not in text and (root / "b.txt").read_text() == "bee\n" and not (root / "a.txt").exists()


def test_what_was_too_large_to_keep_stays_deleted(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(root / "big", "wb") as file:
        file.truncate((64 << 20) + 1)
    Full(monkeypatch)
    text = failed(board.call("delete_files", paths=["b.txt", "big"]))
    assert "big stays deleted" in text and "too large" in text and (root / "b.txt").exists()


def test_only_what_this_commit_did_is_put_back(board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Full(monkeypatch, first=2)
    text = failed(board.call("twice"))
    assert "so this was put back: b.txt. What this call changed before that stays: a.txt." in text
    assert (root / "a.txt").read_text() == "two\n" and (root / "b.txt").read_text() == "bee\n"
    assert [(entry.state, entry.files[0].path) for entry in entries(board)] == [("ready", "a.txt")]


def test_what_the_tool_said_itself_is_not_lost(board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Full(monkeypatch, first=2)
    text = failed(board.call("twice", fail=True))
    assert "of its own" in text and "so this was put back: b.txt." in text


def stopped(board: TestBoard, name: str, **arguments: Any) -> Record:
    async def work() -> Record:
        call = asyncio.ensure_future(board.agent.call(name, arguments, "program"))
        assert await asyncio.to_thread(HERE.wait, 10)
        await board.agent.send(port.Cancel())
        GO_ON.set()
        return await call

    record = board.run(work())
    assert record.outcome == "interrupted"
    return record


def test_a_stop_stays_a_stop(board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(root)
    Full(monkeypatch)
    text = stopped(board, "halts", whole=True).text
    assert text.endswith("What had been changed before was put back: nothing is changed.") and tree(root) == before


def test_a_stopped_call_that_was_put_back_is_not_in_the_way_of_undo(board: TestBoard, root: Path) -> None:
    board.call("edit_file", **EDIT)
    assert stopped(board, "halts").text.endswith("was put back: nothing is changed.")
    assert [(entry.id, entry.state) for entry in entries(board)] == [("c1", "ready")]
    board.run(board.board.undoing(board.session).undo())
    assert (root / "a.txt").read_text() == "one\n"


def test_nor_is_one_that_was_stopped_while_it_waited_for_others(board: TestBoard, root: Path) -> None:
    async def work() -> Record:
        async with EditLock(lock_folder(board.state), str(root)):
            call = asyncio.ensure_future(board.agent.call("edit_file", EDIT, "program"))
            await asyncio.sleep(0.05)
            await board.agent.send(port.Cancel())
            return await call

    assert board.run(work()).text.endswith("Nothing was changed.")
    assert entries(board) == []


def test_the_reasons_of_many_files_are_counted(board: TestBoard, root: Path) -> None:
    names = [f"n{number:02}" for number in range(30)]
    for name in names:
        (root / name).write_text("old\n")
    assert board.call("delete_files", paths=names).outcome == "ok"
    for name in names:
        (root / name).write_text("mine\n")
    (entry,) = entries(board)
    assert entry.state == "changed" and entry.in_the_way == names
    assert entry.why == "n00 exists again. n01 exists again. And 28 more files."


LIMITED = """import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (150_000,) * 2)
os.execv(sys.argv[1], sys.argv[1:])"""


def test_a_process_that_cannot_write_the_record_puts_the_files_back(tmp_path: Path, root: Path) -> None:
    for name in ("w", "x", "y", "z"):
        (root / name).write_bytes(os.urandom(60_000))
    before = tree(root)
    program = [str(Path(sys.executable).with_name("pegboard"))]
    environ = dict(os.environ) | {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"), "LC_ALL": "C.UTF-8"}
    call = [*program, "tool", "delete_files", 'paths:=["w","x","y","z"]', "--yes"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *call], cwd=root, env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "could not be kept (File too large)" in done.stderr and BACK in done.stderr
    assert tree(root) == before
    listed = [*program, "undo", "--list"]
    told = subprocess.run(listed, cwd=root, env=environ, capture_output=True, text=True, timeout=60)
    assert told.stdout == "Nothing to undo: no call changed files here.\n"
