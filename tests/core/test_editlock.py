"""The edit lock between processes: one folder, folders that lie in each other, and files outside of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from pegboard import editlock
from pegboard.editlock import EditLock
from pegboard.errors import ToolError

COUNT = """
import sys
from pathlib import Path
from pegboard import Context, Writes, tool
from pegboard.testing.bench import TestBoard
from typing import Annotated

@tool(permission_fn=lambda arguments: "allow")
async def bump(path: Annotated[str, Writes("File")], ctx: Context) -> str:
    '''Add one.'''
    async with ctx.commit() as files:
        files.write(path, str(int(ctx.workspace.read_text(path)) + 1).encode())
    return "done"

root, path, state, outside = sys.argv[1:]
board = TestBoard(Path(root), tools=[bump], state=Path(state), settings={"paths.outside": outside})
print("ready", flush=True)
sys.stdin.readline()
for _ in range(60):
    record = board.call("bump", path=path)
    assert record.outcome == "ok", record.text
board.close()
"""


def counting(root: Path, path: str, state: Path, outside: str = "refuse") -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", COUNT, str(root), path, str(state), outside]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def together(*processes: subprocess.Popen[str]) -> None:
    """Let them begin at the same moment, and end well."""
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n", process.communicate()[1]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    outer = tmp_path / "outer"
    (outer / "mid" / "inner").mkdir(parents=True)
    (outer / "beside").mkdir()
    (outer / "mid" / "inner" / "n").write_text("0")
    return outer


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    return tmp_path / "locks"


def test_two_processes_whose_folders_lie_in_each_other_lose_no_edit(outer: Path, tmp_path: Path) -> None:
    inner = outer / "mid" / "inner"
    state = tmp_path / "state"
    together(counting(outer, "mid/inner/n", state), counting(inner, "n", state))
    assert (inner / "n").read_text() == "120"


def test_a_file_outside_the_folder_is_under_the_lock_of_where_it_lies(outer: Path, tmp_path: Path) -> None:
    other, state = tmp_path / "other", tmp_path / "state"
    other.mkdir()
    file = outer / "mid" / "inner" / "n"
    together(counting(other, str(file), state, "allow"), counting(outer, "mid/inner/n", state))
    assert file.read_text() == "120"


def held(locks: Path, root: Path, *outside: str) -> bool:
    """Whether somebody has what this lock needs."""
    lock = EditLock(locks, str(root), outside)
    try:
        return not lock.attempt()
    finally:
        lock.release()


def test_it_shuts_out_those_above_and_below_and_nobody_beside(outer: Path, locks: Path) -> None:
    with EditLock(locks, str(outer / "mid")):
        assert held(locks, outer) and held(locks, outer / "mid") and held(locks, outer / "mid" / "inner")
        assert not held(locks, outer / "beside") and held(locks, Path("/"))
        assert not held(locks, outer.parent / "outer2")
        assert held(locks, outer / "beside", str(outer / "mid" / "new" / "file")), "a file outside, that lies in it"
        assert held(locks, outer / "beside", str(outer / "file")), "a file outside, in a folder around it"
    assert not held(locks, outer) and not held(locks, Path("/"))
    with EditLock(locks, str(outer / "beside"), [str(outer / "mid" / "inner" / "n"), str(outer / "mid" / "x")]):
        assert held(locks, outer) and held(locks, outer / "mid") and held(locks, outer / "mid" / "inner")
        assert not held(locks, outer / "mid2")


def test_a_name_that_is_no_text_is_one_folder_in_both_spellings(outer: Path, locks: Path) -> None:
    odd = os.fsdecode(os.fsencode(str(outer)) + b"/caf\xe9")
    with EditLock(locks, odd):
        assert held(locks, outer / "beside", str(outer) + r"/caf\xe9/file"), "as a touch has it"


def test_who_waits_for_the_outer_folder_gets_in_between_many_edits_further_in(outer: Path, locks: Path) -> None:
    stop = threading.Event()

    def edits(root: Path) -> None:
        while not stop.is_set():
            with EditLock(locks, str(root)):
                time.sleep(0.002)
            time.sleep(0.002)

    threads = [threading.Thread(target=edits, args=(outer / name,)) for name in ("mid", "beside", "third")]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            with EditLock(locks, str(outer)):
                pass
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_giving_up_lets_go_of_what_was_had(outer: Path, locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(editlock, "WAIT", 0.05)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with EditLock(locks, str(outer / "mid" / "inner")):
        with pytest.raises(ToolError, match="another process has been changing files in or around this workspace"):
            EditLock(locks, str(outer / "mid")).__enter__()
        assert not held(locks, outer / "beside")
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
