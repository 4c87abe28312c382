"""Repositories within the repository: not looked into, not staged, and told of."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]


@pytest.fixture
def nested(repo: Path, git: Git, tmp_path: Path) -> Path:
    """A repository within the repository, known to it as a link, whose own configuration names programs; their canary."""
    canary, inner = tmp_path / "canary", repo / "d" / "sub"
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
    return canary


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.usefixtures("person")
def test_nothing_is_started_in_a_repository_within(
    traced: Any, repo: Path, tmp_path: Path, nested: Path, linked: bool
) -> None:
    inner = repo / "d" / "sub"
    (repo / "new").write_text("new\n")
    if linked:
        (inner / ".git").rename(tmp_path / "elsewhere")
        (inner / ".git").write_text(f"gitdir: {tmp_path}/elsewhere\n")
    commit = ("git_commit", {"message": "m"})
    calls = [("git_add", {"paths": ["d"]}), ("git_add", {"paths": ["."]}), commit, commit]

    answers, trace = traced(repo, [*calls, ("git_commit", {"message": "m", "all": True})])

    outcomes = [outcome for _, outcome, _ in answers]
    assert outcomes == (["error"] * 5 if linked else ["error", "ok", "ok", "error", "error"])
    assert not nested.exists()
    ran = re.findall(r'execve\("[^"]*/git", \[(.*)\]', trace)
    assert linked or ran
    assert [argv for argv in ran if '"--no-pager"' not in argv] == []  # each is one of ours; none has begun another


def test_staging_looks_into_no_repository_within(tools: Any, repo: Path, nested: Path) -> None:
    (repo / "new").write_text("new\n")
    preview, record = tools.asked("git_add", paths=["."])
    assert "new" in preview and record.outcome == "ok", record.text
    only = tools("git_add", paths=["d"])
    assert only.outcome == "error" and "there is nothing to stage" in only.text, only.text
    assert not nested.exists()


def test_a_commit_of_nothing_looks_into_no_submodule(tools: Any, repo: Path, nested: Path) -> None:
    for everything in (False, True):
        record = tools("git_commit", message="m", all=everything)
        assert record.outcome == "error" and "Nothing was committed" in record.text
    (repo / "a.txt").write_text("changed\n")
    assert tools("git_commit", message="m", all=True).outcome == "ok"
    assert not nested.exists()


def test_a_new_commit_within_is_told_of_and_not_staged(tools: Any, repo: Path, git: Git, nested: Path) -> None:
    git(repo / "d" / "sub", "-c", "filter.evil.clean=cat", "-c", "core.fsmonitor=false", "commit", "-qam", "more")
    record = tools("git_add", paths=["."])
    assert "d/sub: a repository of its own, which is not staged here" in record.text
    assert git(repo, "diff", "--cached", "--name-only") == ""


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
    preview, record = tools.asked("git_commit", message="m", all=True)
    assert "sub: a repository of its own" in preview and record.outcome == "ok"
    assert [line for line in preview.splitlines() if line.startswith("+++")] == ["+++ b/a.txt", "+++ b/staged"]
    assert git(repo, "show", "--format=", "--name-only") == "a.txt\nstaged\n"
