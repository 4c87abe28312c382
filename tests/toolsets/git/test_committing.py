"""git_commit: what is shown is what is committed, and what is told of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]


def side_branches(repo: Path, git: Git, *names: str) -> list[str]:
    """Branches beside main, each with a file of its name; their commits."""
    for name in names:
        git(repo, "checkout", "-q", "-b", name, "main")
        (repo / name).write_text("s\n")
        git(repo, "add", name)
        git(repo, "commit", "-qm", name)
    git(repo, "checkout", "-q", "main")
    return [git(repo, "rev-parse", name).strip() for name in names]


@pytest.mark.row("C-052")
def test_a_commit_shows_its_diff_and_tells_its_hash(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("one\ntwo\nthree\n")
    git(repo, "add", "a.txt")
    (repo / "d" / "b.txt").write_text("loose\n")

    preview, record = tools.asked("git_commit", message="Third\n\n# kept")

    assert "message\nThird" in preview and "+three" in preview and "loose" not in preview
    head = git(repo, "rev-parse", "HEAD").strip()
    assert record.text == f"Committed {head[:7]} on main: Third (1 file, +1)"
    assert record.data == {"hash": head, "branch": "main", "subject": "Third"}
    assert git(repo, "log", "-1", "--format=%an %B").strip() == "Test Third\n\n# kept"
    assert git(repo, "status", "--porcelain") == " M d/b.txt\n"

    assert "+loose" in tools.asked("git_commit", message="rest", all=True)[0]
    assert git(repo, "status", "--porcelain") == ""
    nothing = tools("git_commit", message="empty")
    assert nothing.outcome == "error" and "Nothing was committed." in nothing.text


def test_a_first_commit_a_merge_and_a_detached_head(
    tools: Any, tools_over: Callable[[Path], Any], repo: Path, git: Git, tmp_path: Path
) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q", "-b", "trunk")
    (fresh / "x").write_text("x\n")
    first = tools_over(fresh)
    assert first("git_add", paths=["."]).outcome == "ok"
    assert first("git_commit", message="start").text.endswith("on trunk: start (1 file, +1)")
    assert git(fresh, "reflog").count("\n") == 1

    git(repo, "checkout", "-q", "-b", "side", "HEAD^")
    git(repo, "commit", "-q", "--allow-empty", "-m", "side")
    git(repo, "merge", "-q", "--no-commit", "main")
    assert tools("git_commit", message="merged").outcome == "ok"
    assert len(git(repo, "log", "-1", "--format=%p").split()) == 2
    assert not (repo / ".git" / "MERGE_HEAD").exists()

    git(repo, "checkout", "-q", "--detach")
    (repo / "a.txt").write_text("detached\n")
    record = tools("git_commit", message="alone", all=True)
    assert "on a detached HEAD: alone" in record.text
    assert git(repo, "log", "-1", "--format=%s").strip() == "alone"
    assert git(repo, "log", "-1", "--format=%s", "side").strip() == "merged"


@pytest.mark.parametrize("names", [["one"], ["one", "two"]])
def test_every_commit_that_a_merge_brings_in_is_named(tools: Any, repo: Path, git: Git, names: list[str]) -> None:
    commits = side_branches(repo, git, *names)
    git(repo, "merge", "-q", "--no-commit", "--no-ff", *names)
    preview, record = tools.asked("git_commit", message="m")
    named = " and ".join(commit[:10] for commit in commits)
    become = "becomes a parent" if len(names) == 1 else "become parents"
    assert f"this concludes the merge of {named}" in preview and f"{become} of the commit" in preview
    assert f"(this concluded the merge of {named})" in record.text
    assert git(repo, "log", "-1", "--format=%P").split()[1:] == commits


def test_what_is_committed_is_what_was_shown(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("shown\n")
    git(repo, "add", "a.txt")

    def meanwhile() -> None:
        (repo / "a.txt").write_text("slipped in\n")
        git(repo, "add", "a.txt")

    record = tools.asked("git_commit", meanwhile, message="m")[1]
    assert record.outcome == "error" and "changed while you were asked" in record.text
    assert git(repo, "log", "-1", "--format=%s").strip() == "second"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda repo: (repo / "a.txt").write_text("other\n"), "a.txt was changed while you were asked"),
        (lambda repo: (repo / "d" / "b.txt").chmod(0o755), "d/b.txt came up while you were asked"),
    ],
)
def test_a_tracked_file_that_was_changed_meanwhile_is_not_committed(
    tools: Any, repo: Path, git: Git, change: Callable[[Path], object], said: str
) -> None:
    git(repo, "config", "core.fileMode", "true")
    (repo / "a.txt").write_text("shown\n")
    record = tools.asked("git_commit", lambda: change(repo), message="m", all=True)[1]
    assert record.outcome == "error" and said in record.text
    assert git(repo, "log", "-1", "--format=%s").strip() == "second"
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_a_merge_that_began_meanwhile_is_not_concluded(tools: Any, repo: Path, git: Git) -> None:
    (commit,) = side_branches(repo, git, "side")
    (repo / "a.txt").write_text("shown\n")
    git(repo, "add", "a.txt")
    merge = repo / ".git" / "MERGE_HEAD"
    record = tools.asked("git_commit", lambda: merge.write_text(commit + "\n"), message="m")[1]
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

    assert tools.asked("git_commit", refresh, message="m")[1].outcome == "ok"


def test_hooks_are_not_run_and_that_is_said(tools: Any, repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    hook.chmod(0o755)
    (repo / "a.txt").write_text("x\n")

    record = tools("git_commit", message="m", all=True)

    assert record.outcome == "ok" and record.text.endswith("(hooks were not run: pre-commit)")
    assert not (tmp_path / "ran").exists()
