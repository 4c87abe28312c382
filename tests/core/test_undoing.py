"""Undo over a session: which call, all of its files or none, who is told, and undone itself."""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import Context, Writes, events, port, tool
from pegboard.calls import Decision
from pegboard.editlock import EditLock, lock_folder
from pegboard.errors import PegboardError, SessionError, ToolError, UndoError
from pegboard.kit import atomic
from pegboard.kit.workspace import Workspace
from pegboard.session import Session
from pegboard.session.store import readable_events
from pegboard.testing.bench import TestBoard
from pegboard.undoable import last_session, listed, sources
from pegboard.undoing import Undoing


def yes(_arguments: Any) -> str:
    return "allow"


@tool(permission_fn=yes)
async def put(path: Annotated[str, Writes("File")], text: str, ctx: Context) -> str:
    """Write a file."""
    async with ctx.commit() as files:
        files.write(path, text.encode())
    return "written"


@tool(permission_fn=yes, touches=lambda arguments: [])
async def shuffle(ctx: Context) -> str:
    """Change, make, delete and move files in one call."""
    async with ctx.commit() as files:
        files.write("a.txt", b"A\n")
        files.write("made/deep/n.txt", b"n\n")
        files.remove("gone.sh")
        files.remove("link")
        files.move("old.txt", "made/new.txt", b"moved\n")
    async with ctx.commit() as files:
        files.append("a.txt", b"more\n")
    return "done"


@tool(permission_fn=yes)
def sneak(path: Annotated[str, Writes("File")], ctx: Context) -> str:
    """Change a file behind the writer's back, as a command does."""
    Path(ctx.workspace.root, path).write_text("sneaked\n")
    return "done"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    (root / "gone.sh").write_text("#!/bin/sh\n")
    (root / "gone.sh").chmod(0o750)
    (root / "link").symlink_to("a.txt")
    (root / "old.txt").write_text("old\n")
    return root


@pytest.fixture
def make(root: Path, tmp_path: Path) -> Iterator[Callable[..., TestBoard]]:
    made: list[TestBoard] = []

    def build(**more: Any) -> TestBoard:
        board = TestBoard(root, tools=[put, shuffle, sneak], state=tmp_path / "state", **more)
        made.append(board)
        return board

    yield build
    for board in made:
        board.close()


@pytest.fixture
def board(make: Callable[..., TestBoard]) -> TestBoard:
    return make(session="s1")


def snapshot(top: Path) -> dict[str, object]:
    """Modes, links and bytes of all below."""
    found: dict[str, object] = {}
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(top))] = (stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), what)
    return found


def undo(board: TestBoard, call: str | None = None) -> events.Undone:
    return board.run(board.board.undoing(board.session).undo(call))


def states(board: TestBoard) -> dict[str, str]:
    return {entry.id: entry.state for entry in board.board.undoing(board.session).entries()}


# --- what is undone ---------------------------------------------------------------------------------------------------


def test_all_files_of_a_call_are_as_before_it(board: TestBoard, root: Path) -> None:
    before = snapshot(root)
    assert board.call("shuffle").outcome == "ok"
    after = snapshot(root)
    assert after != before and (root / "a.txt").read_text() == "A\nmore\n", "two commits of one call"
    undone = undo(board)
    assert snapshot(root) == before
    assert (undone.id, undone.undoes, undone.call, undone.tool, undone.redone) == ("u1", "c1", "c1", "shuffle", False)
    assert {file.path for file in undone.files} >= {"a.txt", "made/deep/n.txt", "gone.sh", "link", "made/new.txt"}
    assert undo(board, "u1").redone and snapshot(root) == after, "an undo is undone like a call"
    assert not undo(board, "u2").redone and snapshot(root) == before


def test_each_undo_goes_further_back(board: TestBoard, root: Path) -> None:
    for text in ("1", "2", "3"):
        board.call("put", path="a.txt", text=text)
    assert states(board) == {"c3": "ready", "c2": "behind", "c1": "behind"}
    assert [undo(board).undoes for _ in range(3)] == ["c3", "c2", "c1"]
    assert (root / "a.txt").read_text() == "a\n"
    with pytest.raises(UndoError, match="nothing to undo") as caught:
        undo(board)
    assert caught.value.reason == "nothing"
    board.call("put", path="a.txt", text="4")
    assert undo(board).undoes == "c4"


def test_what_was_undone_says_so(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")
    undo(board)
    with pytest.raises(UndoError, match=r"c1 \(put\) is undone already, by u1. Undo u1 to have it again") as caught:
        undo(board, "c1")
    assert caught.value.reason == "undone"
    undo(board, "u1")
    assert states(board) == {"u2": "ready", "u1": "undone", "c1": "ready"}
    assert undo(board, "c1").id == "u3", "what was put back can be undone again"
    assert (root / "a.txt").read_text() == "a\n"


def test_a_file_that_changed_since_is_named_and_nothing_is_changed(board: TestBoard, root: Path) -> None:
    board.call("shuffle")
    (root / "a.txt").write_text("mine\n")
    (root / "gone.sh").write_text("mine\n")
    before = snapshot(root)
    with pytest.raises(UndoError) as caught:
        undo(board)
    text = str(caught.value)
    assert "c1 (shuffle) cannot be undone: " in text and text.endswith("Nothing was changed.")
    assert "a.txt was changed since." in text and "gone.sh exists again" in text and "new.txt" not in text
    assert caught.value.reason == "changed" and caught.value.paths == ["a.txt", "gone.sh"]
    assert snapshot(root) == before and states(board) == {"c1": "changed"}


def test_an_older_call_can_be_named(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")
    board.call("put", path="b.txt", text="2")
    assert undo(board, "c1").undoes == "c1"
    assert (root / "a.txt").read_text() == "a\n" and (root / "b.txt").read_text() == "2"
    with pytest.raises(UndoError, match=r"no c9 of this session changed files"):
        undo(board, "c9")
    with pytest.raises(UndoError, match=r"no \.\./c1 of"):
        undo(board, "../c1")


def test_what_is_as_before_already_is_said_and_not_in_the_way(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")
    (root / "a.txt").write_text("a\n")
    undone = undo(board)
    assert (undone.files, undone.already) == ([], ["a.txt"]) and states(board) == {"c1": "undone"}
    assert (root / "a.txt").read_text() == "a\n"


def test_a_newer_call_that_made_it_as_before_is_undone_first(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")
    board.call("put", path="a.txt", text="a\n")
    assert states(board) == {"c2": "ready", "c1": "behind"}
    assert [undo(board).undoes for _ in range(2)] == ["c2", "c1"]


def test_an_undo_in_a_front_end_is_interrupted_and_put_back(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.call("shuffle")
    before, real = snapshot(root), atomic.Beside.write
    first, go = threading.Event(), threading.Event()

    def waits(self: Any, data: bytes) -> None:
        real(self, data)
        first.set()
        go.wait(60)

    monkeypatch.setattr(atomic.Beside, "write", waits)

    async def interrupted() -> events.Undone:
        watching = board.agent.events(board.session.last)
        await board.agent.send(port.Undo(id="x1"))
        await asyncio.to_thread(first.wait, 20)
        await board.agent.send(port.Interrupt())
        go.set()
        async for event in watching:
            if isinstance(event, events.Undone):
                return event
        raise AssertionError

    undone = board.run(interrupted())
    assert undone.seq is None and undone.error is not None
    assert undone.error == "c1 (shuffle) was not undone, no file of it: The undo was stopped. Nothing was changed."
    assert snapshot(root) == before and states(board) == {"c1": "ready"}


@pytest.mark.parametrize("step", ["write", "replace", "create", "unlink"])
def test_a_failure_in_the_middle_puts_back_what_was_undone(
    board: TestBoard, root: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.call("shuffle")
    before = snapshot(root)
    real, failed = getattr(os if step == "unlink" else atomic.Beside, step), []

    def fails(*args: Any, **more: Any) -> Any:
        if not failed and (step != "unlink" or "n.txt" in args):
            failed.append(args)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*args, **more)

    monkeypatch.setattr(os if step == "unlink" else atomic.Beside, step, fails)
    with pytest.raises(UndoError, match=r"c1 \(shuffle\) was not undone, no file of it: The disk is full"):
        undo(board)
    monkeypatch.undo()
    assert failed and snapshot(root) == before and states(board) == {"c1": "ready"}
    assert not [event for event in board.events if isinstance(event, events.Undone)]


def test_what_cannot_be_put_back_is_said(board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board.call("shuffle")
    real, calls = atomic.Beside.write, []

    def fails(self: Any, data: bytes) -> None:
        calls.append(data)
        if len(calls) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(self, data)

    monkeypatch.setattr(atomic.Beside, "write", fails)
    with pytest.raises(ToolError, match=r"Putting back what had been done before failed too .*: a.txt stays changed"):
        undo(board)


def test_an_undo_that_cannot_be_written_down_is_none(
    board: TestBoard, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.call("shuffle")
    before = snapshot(root)

    def full(*_entries: Any) -> Any:
        raise SessionError("the log could not be written (No space left)")

    monkeypatch.setattr(board.session, "append", full)
    with pytest.raises(UndoError, match=r"could not be written down .* nothing was undone"):
        undo(board)
    monkeypatch.undo()
    assert snapshot(root) == before
    assert undo(board).id == "u1"


# --- what is not kept, or not reached ---------------------------------------------------------------------------------


def test_what_was_not_kept_is_said(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")
    board.call("put", path="b.txt", text="2")
    board.call("sneak", path="a.txt")
    assert board.session.folder is not None
    record = board.session.folder / "undo" / "c2.msgpack"
    record.write_bytes(b"\x93\x01")
    assert states(board) == {"c3": "lost", "c2": "lost", "c1": "changed"}
    with pytest.raises(UndoError, match=r"c3 \(sneak\) cannot be undone: what it changed was not kept. An older"):
        undo(board)
    with pytest.raises(UndoError, match=r"c2 \(put\) cannot be undone: .*cannot be read"):
        undo(board, "c2")
    record.unlink()
    with pytest.raises(UndoError, match=r"c2 \(put\) cannot be undone: what it changed was not kept"):
        undo(board, "c2")
    record.symlink_to("c1.msgpack")
    with pytest.raises(UndoError, match=r"c2 \(put\) cannot be undone: .*it is a link"):
        undo(board, "c2")


def test_calls_that_changed_nothing_are_not_listed(board: TestBoard, root: Path) -> None:
    assert board.call("put", path="../x", text="1").outcome in ("error", "blocked")
    board.call("put", path="a.txt", text="a\n")
    assert states(board) == {}


def test_old_content_too_large_to_keep_is_said(root: Path, tmp_path: Path) -> None:
    session = Session.open(tmp_path / "store", "s1", str(root))
    session.append(
        events.CallAsked(lane="root", id="c1", tool="put", requested="put", set=None, arguments={}, summary="put"),
        events.CallStarted(
            lane="root", id="c1", touches=[], decision=Decision(action="allow", rule="x", layer="default")
        ),
    )
    from pegboard.kit.writer import Writer

    workspace = Workspace(str(root))
    writer = Writer(workspace, keep=1)
    writer.write("a.txt", b"new\n")
    session.save_undo("c1", writer.changes)
    undoing = Undoing(session, workspace, None)
    assert [(entry.state, entry.why) for entry in undoing.entries()] == [("running", None)]
    session.close()
    again = Session.open(tmp_path / "store", "s1", str(root))
    entry = Undoing(again, workspace, None).entries()[0]
    assert (entry.state, entry.why) == ("lost", "the old content of a.txt was too large to keep")
    again.close()


@pytest.mark.parametrize("kept", [False, True])
def test_a_call_whose_process_was_killed_does_not_run(root: Path, tmp_path: Path, kept: bool) -> None:
    store = tmp_path / "store"
    code = f"""
import os, signal
from pathlib import Path
from pegboard import events
from pegboard.calls import Decision, Touch
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer
from pegboard.session import Session
session = Session.open(Path({str(store)!r}), "s1", {str(root)!r})
allowed = Decision(action="allow", rule="x", layer="default")
session.append(
    events.CallAsked(lane="root", id="c1", tool="put", requested="put", set=None, arguments={{}}, summary="put"),
    events.CallStarted(lane="root", id="c1", touches=[Touch("edit", "a.txt", "a.txt")], decision=allowed),
)
if {kept}:
    writer = Writer(Workspace({str(root)!r}))
    writer.write("a.txt", b"half\\n")
    session.save_undo("c1", writer.changes)
print("there", flush=True)
input()
"""
    workspace = Workspace(str(root))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "there\n"
        (entry,) = listed([(store / "s1", readable_events(store / "s1")[0])], workspace)
        assert (entry.state, entry.why) == ("running", None)
        process.kill()
    (entry,) = listed([(store / "s1", readable_events(store / "s1")[0])], workspace)
    if kept:
        assert (entry.state, [file.path for file in entry.files]) == ("ready", ["a.txt"])
    else:
        assert entry.state == "lost" and "its process was ended before it was done" in (entry.why or "")
    session = Session.open(store, "s1", str(root))
    undoing = Undoing(session, workspace, None)
    if kept:
        assert asyncio.run(undoing.undo()).undoes == "c1" and (root / "a.txt").read_text() == "a\n"
    else:
        with pytest.raises(UndoError, match=r"c1 \(put\) cannot be undone: what it changed, if anything, was not kept"):
            asyncio.run(undoing.undo("c1"))
    session.close()


def test_a_session_in_memory_keeps_nothing(root: Path) -> None:
    session = Session("memory", str(root))
    with pytest.raises(UndoError, match="in memory only"):
        asyncio.run(Undoing(session, Workspace(str(root)), None).undo())


def test_a_session_of_another_root_is_refused(board: TestBoard, root: Path, tmp_path: Path) -> None:
    board.call("put", path="a.txt", text="1")
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("1")
    with pytest.raises(UndoError, match=r"session s1 worked in .*root; this is .*other. Nothing was done. Say --path"):
        asyncio.run(Undoing(board.session, Workspace(str(other)), None).undo())
    assert (other / "a.txt").read_text() == "1"


def test_the_door_is_the_tools_own(make: Callable[..., TestBoard], root: Path) -> None:
    board = make(session="s1")
    board.call("put", path="secret/key.txt", text="1")
    board.close()

    class Closed:
        def __call__(self, call: Any, touches: Any) -> None:
            return None

        def path(self, kind: str, path: str) -> Any:
            from pegboard.hooks import Deny

            return Deny(rule="keys", text="keys are protected") if path.startswith("secret") else None

    guarded = make(session="s1", guards=[Closed()])
    with pytest.raises(PegboardError, match="keys are protected"):
        undo(guarded)
    assert (root / "secret/key.txt").read_text() == "1"


def test_a_folder_that_became_a_link_is_not_followed(board: TestBoard, root: Path) -> None:
    board.call("put", path="d/n.txt", text="1")
    (root / "d").rename(root / "e")
    (root / "d").symlink_to("e")
    with pytest.raises(UndoError, match=r"d/n\.txt is not there any more"):
        undo(board)
    assert (root / "e/n.txt").read_text() == "1"


# --- who is told ------------------------------------------------------------------------------------------------------


def test_the_log_has_it_and_resuming_knows_it(board: TestBoard, make: Callable[..., TestBoard], root: Path) -> None:
    board.call("put", path="a.txt", text="1")
    undone = undo(board)
    assert board.events[-1] == undone and undone.seq == len(board.events)
    board.close()
    again = make(session="s1")
    assert states(again) == {"u1": "ready", "c1": "undone"}


def test_the_model_is_told_once_before_what_is_asked(make: Callable[..., TestBoard]) -> None:
    board = make(session="s1", steps=[("put", {"path": "a.txt", "text": "1"}), "done", "again", "more"])
    board.prompt("first")
    undo(board)
    board.prompt("second")
    board.prompt("third")
    heard = [message.text for message in board.model.requests[-1].messages if message.role == "user"]
    told = "The person undid c1 (put). Now as before that call: a.txt.\n"
    told += "Read these files again before you rely on what is in them."
    assert heard == ["first", told, "second", "third"]


def test_an_edit_after_an_undo_is_not_stale(make: Callable[..., TestBoard], root: Path) -> None:
    import pegboard_tools_core

    board = make(session="s1", modules={"core": pegboard_tools_core})
    assert board.call("read_file", path="a.txt").outcome == "ok"
    assert board.call("edit_file", path="a.txt", old_string="a", new_string="b").outcome == "ok"
    undo(board)
    again = board.call("edit_file", path="a.txt", old_string="a", new_string="c")
    assert again.outcome == "ok", again.text
    (root / "a.txt").write_text("theirs\n")
    assert "changed on disk" in board.call("edit_file", path="a.txt", old_string="theirs", new_string="c").text


def test_a_front_end_is_answered_by_id(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")

    async def both() -> list[events.Undone]:
        found = []
        watching = board.agent.events(board.session.last)
        for id in ("x1", "x2"):
            await board.agent.send(port.Undo(id=id))
            async for event in watching:
                if isinstance(event, events.Undone) and event.id == id:
                    found.append(event)
                    break
        return found

    done, refused = board.run(both())
    assert (done.undoes, done.error) == ("c1", None) and done.seq is not None
    assert refused.seq is None and "nothing to undo" in (refused.error or "")
    assert (root / "a.txt").read_text() == "a\n"
    assert [event.id for event in board.events if isinstance(event, events.Undone)] == ["x1"]


# --- beside others ----------------------------------------------------------------------------------------------------


def test_undo_waits_for_the_edit_lock_and_needs_no_turn(board: TestBoard, root: Path) -> None:
    board.call("put", path="a.txt", text="1")

    async def both() -> None:
        async with board.session.turn():
            async with EditLock(lock_folder(board.state), str(root)):
                task = asyncio.ensure_future(board.board.undoing(board.session).undo())
                await asyncio.sleep(0.1)
                assert not task.done() and (root / "a.txt").read_text() == "1"
            await task

    board.run(both())
    assert (root / "a.txt").read_text() == "a\n"


def test_undo_waits_for_whoever_works_around_a_file_outside(
    make: Callable[..., TestBoard], root: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    board = make(session="s1", settings={"paths.outside": "allow"})
    assert board.call("put", path=str(other / "x.txt"), text="1").outcome == "ok"

    async def both() -> None:
        async with EditLock(lock_folder(board.state), str(other)):
            task = asyncio.ensure_future(board.board.undoing(board.session).undo())
            await asyncio.sleep(0.1)
            assert not task.done() and (other / "x.txt").read_text() == "1"
        await task

    board.run(both())
    assert not (other / "x.txt").exists()


def test_a_lock_that_cannot_be_had_changes_nothing_and_says_where(root: Path, tmp_path: Path) -> None:
    (tmp_path / "locks").write_text("in the way")
    said = r"cannot be had in .*locks \(Not a directory\); nothing was changed"
    with pytest.raises(ToolError, match=said), EditLock(tmp_path / "locks", str(root)):
        pass


def test_the_newest_change_that_stands_says_which_session(
    make: Callable[..., TestBoard], root: Path, tmp_path: Path
) -> None:
    first, second = make(session="s1"), make(session="s2")
    for number, board in enumerate([first, second, first]):
        board.call("put", path="a.txt", text=f"{number}")
        for kept in (tmp_path / "state/sessions").glob("*/undo/*.msgpack"):  # times apart on any clock
            if kept.stat().st_mtime > 1e6:
                os.utime(kept, (number + 1, number + 1))
    store = tmp_path / "state" / "sessions"
    found = []
    while (id := last_session(store, str(root))) is not None:
        found.append(id)
        undo({"s1": first, "s2": second}[id])
    assert found == ["s1", "s2", "s1"] and (root / "a.txt").read_text() == "a\n"
    entries = list(listed(sources(store, str(root)), Workspace(str(root))))
    calls = {(entry.session, entry.state) for entry in entries if entry.undoes is None}
    assert calls == {("s1", "undone"), ("s2", "undone")}
    assert last_session(store, str(tmp_path)) is None
