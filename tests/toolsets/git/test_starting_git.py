"""Which git is started and for whom, and what a call leaves behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from typing import Any, cast

import pytest
from pegboard.calls import Record
from pegboard.port import Cancel
from pegboard_tools_git import reads, safely
from running import running

LASTING = "600.25"
"""Seconds that no other test sleeps for."""


def test_without_git_the_tools_say_so(tools: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no program git is on PATH" in tools("git_status").text
    assert reads.Settings().worktree_outside is False


def test_a_git_of_the_workspace_is_not_run_through_a_link_on_the_path(
    tools: Any, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = repo / "bin" / "git"
    planted.parent.mkdir()
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    planted.chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(planted)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert tools("git_status").outcome == "ok"
    assert not (tmp_path / "pwned").exists()


def test_a_repository_of_another_user_is_refused_unless_the_person_calls_it_safe(
    tools: Any, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 4711)
    record = tools("git_log")
    assert record.outcome == "error" and "dubious ownership" in record.text and "safe.directory" in record.text
    for value, allowed in ((repo, True), ("/elsewhere", False), ("*", True), (f"{repo.parent}/*", True)):
        (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {value}\n")
        assert (tools("git_log").outcome == "ok") is allowed, value
    (home / ".gitconfig").write_text("[safe]\n\tdirectory = *\n\tdirectory =\n")
    assert tools("git_log").outcome == "error"


def test_a_stopped_call_leaves_no_process_no_lock_and_no_folder(
    tools: Any, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "git").write_text(f"#!/bin/sh\nexec sleep {LASTING}\n")
    (bin_ / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    board = tools.board()

    async def stopped() -> Record:
        call = asyncio.ensure_future(board.agent.call("git_status", {}, "program"))
        while not running(f"sleep {LASTING}"):  # it may write nothing that would tell
            await asyncio.sleep(0.01)
        await board.agent.send(Cancel())
        return cast(Record, await call)

    record = board.run(stopped())

    assert (record.outcome, record.why) == ("interrupted", "person")
    assert not running(f"sleep {LASTING}")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert not list((repo / ".git").glob("*.lock"))


def test_folders_that_a_killed_process_left_are_swept(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime, kept = tmp_path / "run", tmp_path / "kept"
    runtime.mkdir()
    kept.mkdir()
    (kept / "object").write_text("x")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    dead = subprocess.Popen(["true"])
    dead.wait()
    long_ago = time.time() - 7200
    for pid, age in ((dead.pid, long_ago), (dead.pid, None), (os.getpid(), long_ago)):
        folder = runtime / f"pegboard-git-{pid}-{'new' if age is None else 'old'}"
        folder.mkdir()
        (folder / "config").write_text("")
        (folder / "objects").symlink_to(kept)
        if age is not None:
            os.utime(folder, (age, age))
    (runtime / "pegboard-git-oldest").mkdir()
    os.utime(runtime / "pegboard-git-oldest", (1, 1))
    (runtime / f"pegboard-git-{dead.pid}-link").symlink_to(kept)
    safely.swept.cache_clear()

    assert tools.board(watch_writes=False).call("git_status").outcome == "ok"

    left = {f"pegboard-git-{os.getpid()}-old", f"pegboard-git-{dead.pid}-new", f"pegboard-git-{dead.pid}-link"}
    assert set(os.listdir(runtime)) == left and (kept / "object").read_text() == "x"
