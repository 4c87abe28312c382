"""What git-write ran, staged or committed beyond what the person was shown, each as it was found."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.calls import Record
from pegboard.events import ApprovalAsked
from pegboard.port import Answer
from pegboard.testing.bench import TestBoard

Git = Callable[..., str]
TRACED = ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", "trace=execve", "-o"]
PROGRAM = """\
import sys
from pathlib import Path
from pegboard.testing.bench import TestBoard
from pegboard_tools_git import reads, writes
board = TestBoard(Path(sys.argv[1]), modules={"git": reads, "git-write": writes}, state=Path(sys.argv[2]))
for name, arguments in [("git_add", {"paths": ["d"]}), ("git_add", {"paths": ["."]}), ("git_commit", {"message": "m"}),
                        ("git_commit", {"message": "m"}), ("git_commit", {"message": "m", "all": True})]:
    print(board.call(name, **arguments).outcome)
board.close()
"""


def asked(
    board: TestBoard, name: str, meanwhile: Callable[[], object] = lambda: None, /, **arguments: Any
) -> tuple[str, Record]:
    """What the person was shown, and what came of saying yes; `meanwhile` happens while they think."""
    seen = len(board.events)

    async def answered() -> Record:
        call = asyncio.ensure_future(board.agent.call(name, arguments, "program"))
        while not (questions := [e for e in board.events[seen:] if isinstance(e, ApprovalAsked)]):
            await asyncio.sleep(0.01)
        meanwhile()
        await board.agent.send(Answer(id=questions[-1].id, granted=True))
        return await call

    record = board.run(answered())
    question = [event for event in board.events[seen:] if isinstance(event, ApprovalAsked)][-1]
    return "\n".join(str(getattr(block, "text", "")) for block in question.preview), record


def side_branches(repo: Path, git: Git, *names: str) -> list[str]:
    """Branches beside main, each with a file of its name; their commits."""
    for name in names:
        git(repo, "checkout", "-q", "-b", name, "main")
        (repo / name).write_text("s\n")
        git(repo, "add", name)
        git(repo, "commit", "-qm", name)
    git(repo, "checkout", "-q", "main")
    return [git(repo, "rev-parse", name).strip() for name in names]


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("linked", [False, True])
def test_nothing_is_started_in_a_repository_within(
    repo: Path, git: Git, tmp_path: Path, home: Path, linked: bool
) -> None:
    (home / ".gitconfig").write_text("[user]\n\tname = Person\n\temail = person@example.com\n")
    inner, canary = repo / "d" / "sub", tmp_path / "canary"
    git(repo, "init", "-q", "d/sub")
    (inner / ".gitattributes").write_text("*.f filter=evil\n")
    (inner / "z.f").write_text("one\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "inner")
    (repo / ".gitmodules").write_text('[submodule "s"]\n\tpath = d/sub\n\turl = x\n\tignore = none\n')
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "-A")
    git(repo, "commit", "-qm", "outer")
    for command in ("filter.evil.clean", "core.fsmonitor"):
        git(inner, "config", command, f"touch {canary}; cat")
    (inner / "z.f").write_text("two\n")
    os.utime(inner / "z.f", (1, 1))
    (repo / "new").write_text("new\n")
    if linked:
        (inner / ".git").rename(tmp_path / "elsewhere")
        (inner / ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")
    trace = tmp_path / "trace"

    done = subprocess.run(
        [*TRACED, trace, sys.executable, "-c", PROGRAM, repo, tmp_path / "state"],
        capture_output=True,
        text=True,
        timeout=100,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == (["error"] * 5 if linked else ["ok", "ok", "ok", "error", "error"])
    assert not canary.exists()
    ran = re.findall(r'execve\("[^"]*/git", \[(.*)\]', trace.read_text())
    assert linked or ran
    assert [argv for argv in ran if '"--no-pager"' not in argv] == []  # each is one of ours; none has begun another


@pytest.mark.parametrize("meanwhile", ["a link", "a file", "another target", "a mode", "one less", "one of many"])
def test_what_is_staged_is_what_was_shown(tools: Any, repo: Path, git: Git, meanwhile: str) -> None:
    link, many = repo / "link", repo / "many"
    link.symlink_to("a.txt")
    (repo / "run").write_text("#!/bin/sh\n")
    many.mkdir()
    for number in range(600 if meanwhile == "one of many" else 2):
        (many / f"{number:03}").write_text("x\n")

    def change() -> None:
        match meanwhile:
            case "a link":
                (repo / "second").symlink_to("a.txt")
            case "a file":
                (many / "more").write_text("x\n")
            case "another target":
                link.unlink()
                link.symlink_to("d/b.txt")
            case "a mode":
                (repo / "run").chmod(0o755)
            case "one less":
                link.unlink()
            case _:
                (many / "599").write_text("y\n")

    preview, record = asked(tools.board(answers="person"), "git_add", change, paths=["."])

    assert "many/001  (untracked)" in preview
    assert record.outcome == "error" and "while you were asked" in record.text, record.text
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_a_tracked_file_that_came_to_be_changed_meanwhile_is_not_committed(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "config", "core.fileMode", "true")
    (repo / "a.txt").write_text("shown\n")
    change = lambda: (repo / "d" / "b.txt").chmod(0o755)  # noqa: E731
    record = asked(tools.board(answers="person"), "git_commit", change, message="m", all=True)[1]
    assert record.outcome == "error" and "d/b.txt came up while you were asked" in record.text
    assert git(repo, "log", "-1", "--format=%s").strip() == "second"


def test_a_merge_that_began_meanwhile_is_not_concluded(tools: Any, repo: Path, git: Git) -> None:
    (commit,) = side_branches(repo, git, "side")
    (repo / "a.txt").write_text("shown\n")
    git(repo, "add", "a.txt")
    merge = repo / ".git" / "MERGE_HEAD"
    board = tools.board(answers="person")
    record = asked(board, "git_commit", lambda: merge.write_text(commit + "\n"), message="m")[1]
    assert record.outcome == "error" and "while you were asked" in record.text
    assert git(repo, "log", "-1", "--format=%s").strip() == "second"


def test_reading_the_repository_meanwhile_is_no_change_of_it(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("staged\n")
    git(repo, "add", "a.txt")
    before = (repo / ".git" / "index").read_bytes()

    def refresh() -> None:
        os.utime(repo / "d" / "b.txt", (5, 5))
        git(repo, "status")
        assert (repo / ".git" / "index").read_bytes() != before

    assert asked(tools.board(answers="person"), "git_commit", refresh, message="m")[1].outcome == "ok"


def test_a_branch_begins_where_it_was_shown_to(tools: Any, repo: Path, git: Git) -> None:
    move = lambda: git(repo, "commit", "-q", "--allow-empty", "-m", "third")  # noqa: E731
    record = asked(tools.board(answers="person"), "git_branch_create", move, name="topic")[1]
    assert record.outcome == "error" and "HEAD was changed while you were asked" in record.text
    assert git(repo, "branch", "--list", "topic") == ""
    board = tools.board(answers="person")
    assert asked(board, "git_branch_create", move, name="topic", start="main~1")[1].outcome == "error"
    assert asked(board, "git_branch_create", name="topic")[1].outcome == "ok"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("git_add", {"paths": ["."]}),
        ("git_commit", {"message": "m", "all": True}),
        ("git_branch_create", {"name": "topic"}),
    ],
)
def test_what_could_not_be_shown_is_not_done(
    tools: Any, repo: Path, git: Git, name: str, arguments: dict[str, Any]
) -> None:
    (repo / "a.txt").write_text("changed\n")
    index, aside = repo / ".git" / "HEAD", repo / "aside"
    index.rename(aside)
    record = asked(tools.board(answers="person"), name, lambda: aside.rename(index), **arguments)[1]
    assert record.outcome == "error" and "could not be shown" in record.text, record.text
    assert git(repo, "diff", "--cached", "--name-only") == "" == git(repo, "branch", "--list", "topic")


def test_every_commit_that_a_merge_brings_in_is_named(tools: Any, repo: Path, git: Git) -> None:
    first, second = side_branches(repo, git, "one", "two")
    git(repo, "merge", "-q", "--no-commit", "--no-ff", "one", "two")
    preview, record = asked(tools.board(answers="person"), "git_commit", message="m")
    names = f"{first[:10]} and {second[:10]}"
    assert f"this concludes the merge of {names}" in preview and "become parents of the commit" in preview
    assert f"(this concluded the merge of {names})" in record.text
    assert git(repo, "log", "-1", "--format=%P").split()[1:] == [first, second]


def test_a_repository_within_is_told_of_where_all_is_committed(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "init", "-q", "sub")
    git(repo / "sub", "commit", "-q", "--allow-empty", "-m", "inner")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(repo, "commit", "-qm", "outer")
    git(repo / "sub", "commit", "-q", "--allow-empty", "-m", "more")
    git(repo, "init", "-q", "staged")
    git(repo / "staged", "commit", "-q", "--allow-empty", "-m", "inner")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "staged")
    (repo / "a.txt").write_text("changed\n")
    preview, record = asked(tools.board(answers="person"), "git_commit", message="m", all=True)
    assert "sub: a repository of its own" in preview and record.outcome == "ok"
    assert [line for line in preview.splitlines() if line.startswith("+++")] == ["+++ b/a.txt", "+++ b/staged"]
    assert git(repo, "show", "--format=", "--name-only") == "a.txt\nstaged\n"


def test_folders_that_a_killed_process_left_are_swept(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard_tools_git import safely

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

    assert tools("git_status").outcome == "ok"

    left = {f"pegboard-git-{os.getpid()}-old", f"pegboard-git-{dead.pid}-new", f"pegboard-git-{dead.pid}-link"}
    assert set(os.listdir(runtime)) == left and (kept / "object").read_text() == "x"
