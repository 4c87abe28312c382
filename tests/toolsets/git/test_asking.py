"""git_add, git_commit, git_push, git_branch_create: always asked, and never done unseen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("git_add", {"paths": ["."]}),
    ("git_commit", {"message": "m"}),
    ("git_push", {}),
    ("git_branch_create", {"name": "topic"}),
]


@pytest.mark.row("R-042")
@pytest.mark.parametrize(("name", "arguments"), CALLS)
def test_every_call_asks_even_where_edits_are_allowed(
    tools: Any, repo: Path, remote: Path, git: Git, name: str, arguments: dict[str, Any]
) -> None:
    before = git(repo, "status", "--porcelain"), git(repo, "for-each-ref")
    (repo / "new.txt").write_text("new\n")
    board = tools.board(answers="headless", settings={"tool_permission.edit": "allow"})

    record = board.call(name, **arguments)

    assert (record.outcome, record.block, record.decision.action) == ("blocked", "denied", "ask")
    (repo / "new.txt").unlink()
    assert (git(repo, "status", "--porcelain"), git(repo, "for-each-ref")) == before
    assert tools.board(answers="headless").call("commit", message="m").tool == "git_commit"


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
    pipe = repo / ".git" / "pipe"  # before which git is not started
    os.mkfifo(pipe)
    record = tools.asked(name, pipe.unlink, **arguments)[1]
    assert record.outcome == "error" and "could not be shown" in record.text, record.text
    assert git(repo, "diff", "--cached", "--name-only") == "" == git(repo, "branch", "--list", "topic")
