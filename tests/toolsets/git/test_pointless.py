"""Calls of git-write that can do nothing: told so at once, and nobody is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.calls import Record
from pegboard.events import ApprovalAsked

Git = Callable[..., str]


@pytest.fixture
def unasked(tools: Any) -> Callable[..., Record]:
    """A call that must end in an error, by a board that says yes to every question; there must be none."""
    board = tools.board(answers="--yes")

    def call(name: str, /, **arguments: Any) -> Record:
        record: Record = board.call(name, **arguments)
        assert [event for event in board.events if isinstance(event, ApprovalAsked)] == []
        assert record.outcome == "error", record.text
        return record

    return call


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["nosuch.txt"], "nosuch.txt is not there, and git knows no file of that name"),
        (["a.txt", "nosuch.txt"], "nosuch.txt is not there"),
        (["a.txt"], "there is nothing to stage"),
        (["."], "there is nothing to stage"),
    ],
)
def test_where_there_is_nothing_to_stage_nobody_is_asked(unasked: Any, paths: list[str], said: str) -> None:
    text = unasked("git_add", paths=paths).text
    assert said in text and "Nothing was staged." in text


def test_what_is_staged_already_is_told_apart(unasked: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("staged\n")
    git(repo, "add", "a.txt")
    assert "What is staged already, git_commit commits" in unasked("git_add", paths=["a.txt"]).text
    assert git(repo, "status", "--porcelain") == "M  a.txt\n"


def test_one_that_is_missing_beside_one_that_changed_stages_none(unasked: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("changed\n")
    assert "nosuch.txt is not there" in unasked("git_add", paths=["a.txt", "nosuch.txt"]).text
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_where_there_is_nothing_to_commit_nobody_is_asked(unasked: Any, repo: Path, git: Git) -> None:
    assert "there is nothing to commit" in unasked("git_commit", message="m", all=True).text
    (repo / "a.txt").write_text("changed\n")
    text = unasked("git_commit", message="m").text
    assert "nothing is staged. Nothing was committed. Stage changes with git_add" in text
    assert "the message is empty" in unasked("git_commit", message=" \n").text
    assert git(repo, "log", "-1", "--format=%s").strip() == "second"


def test_what_the_remote_has_already_is_not_asked_about(unasked: Any, repo: Path, remote: Path, git: Git) -> None:
    before = git(remote, "for-each-ref")
    assert "origin/main, as last seen, is at " in unasked("git_push").text
    git(repo, "reset", "-q", "--hard", "HEAD^")
    text = unasked("git_push", branch="main").text
    assert "has all of main" in text and "Nothing was pushed." in text
    assert git(remote, "for-each-ref") == before


def test_a_push_that_only_sets_what_is_followed_is_asked_about(
    tools: Any, unasked: Any, repo: Path, remote: Path, git: Git
) -> None:
    preview, record = tools.asked("git_push", set_upstream=True)
    assert "0 commits ahead" in preview and record.outcome == "ok", record.text
    assert git(repo, "rev-parse", "--abbrev-ref", "main@{upstream}").strip() == "origin/main"
    assert "Nothing was pushed." in unasked("git_push", set_upstream=True).text, "it is followed already"
    git(repo, "checkout", "-q", "-b", "topic")
    assert tools.asked("git_push")[1].outcome == "ok", "a branch that is new there, though its commits are not"


def test_branches_that_cannot_be_made_are_not_asked_about(unasked: Any, repo: Path, git: Git) -> None:
    assert "there is a branch main already" in unasked("git_branch_create", name="main").text
    assert "is no name for a branch" in unasked("git_branch_create", name="a..b").text
    assert "No branch was made." in unasked("git_branch_create", name="new", start="nowhere").text
    assert git(repo, "branch", "--list", "--format=%(refname:short)") == "main\n"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("git_add", {"paths": ["a.txt"]}),
        ("git_commit", {"message": "m"}),
        ("git_push", {}),
        ("git_branch_create", {"name": "x"}),
    ],
)
def test_where_there_is_no_repository_nobody_is_asked(
    tools_over: Callable[[Path], Any], tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    (tmp_path / "plain").mkdir()
    board = tools_over(tmp_path / "plain").board(answers="--yes")
    record = board.call(name, **arguments)
    assert record.outcome == "error" and "is not a git repository" in record.text
    assert [event for event in board.events if isinstance(event, ApprovalAsked)] == []


def test_a_file_that_may_not_be_read_is_not_asked_about_when_it_is_among_others(tools: Any, repo: Path) -> None:
    (repo / ".env").write_text("TOKEN=1\n")
    board = tools.guarded()
    record = board.call("git_add", paths=["."])
    assert record.outcome == "error" and ".env may not be read" in record.text
    assert [event for event in board.events if isinstance(event, ApprovalAsked)] == []
