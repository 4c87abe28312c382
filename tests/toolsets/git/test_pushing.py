"""git_push and git_branch_create: which refs move, and which addresses are reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]


@pytest.mark.row("C-053")
def test_a_push_shows_which_ref_moves_and_moves_it(tools: Any, repo: Path, remote: Path, git: Git) -> None:
    old = git(repo, "rev-parse", "--short=7", "HEAD").strip()
    git(repo, "commit", "-q", "--allow-empty", "-m", "third")
    new = git(repo, "rev-parse", "HEAD").strip()

    preview, record = tools.asked("git_push", remote="origin", branch="main", set_upstream=True)

    assert f"main {new[:7]} -> origin/main, {old} (as last seen)\nto {remote}\n1 commit ahead:" in preview
    assert "third" in preview
    assert record.text == f"Pushed main to origin: {old} -> {new[:7]}\nmain follows origin/main"
    assert git(remote, "rev-parse", "main").strip() == new
    assert git(repo, "rev-parse", "main@{upstream}").strip() == new

    git(repo, "checkout", "-q", "-b", "topic")
    assert tools("git_push").text == f"Pushed topic to origin: new -> {new[:7]}"
    assert "topic" not in (repo / ".git" / "config").read_text()


def test_a_push_that_is_refused_changes_nothing_and_passes_the_reason_on(
    tools: Any, repo: Path, remote: Path, git: Git
) -> None:
    git(repo, "reset", "-q", "--hard", "HEAD^")
    git(repo, "commit", "-q", "--allow-empty", "-m", "diverged")
    before = git(remote, "rev-parse", "main")

    record = tools("git_push", branch="main")

    assert record.outcome == "error" and "non-fast-forward" in record.text
    assert "The remote was not changed." in record.text and git(remote, "rev-parse", "main") == before


def test_what_could_not_be_shown_is_not_pushed(tools: Any, repo: Path, remote: Path, git: Git) -> None:
    broken = repo / ".git" / "refs" / "remotes" / "origin" / "gone"
    broken.write_text("1" * 40 + "\n")  # nobody can say what the remote has
    git(repo, "checkout", "-q", "-b", "topic")
    before = git(remote, "for-each-ref")

    record = tools.asked("git_push", broken.unlink, branch="topic")[1]

    assert record.outcome == "error" and "could not be shown, so it was not done" in record.text
    assert git(remote, "for-each-ref") == before
    assert tools.asked("git_push", branch="topic")[1].outcome == "ok"


def test_the_commit_that_was_shown_is_the_one_pushed(tools: Any, repo: Path, remote: Path, git: Git) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "shown")
    before = git(remote, "for-each-ref")
    meanwhile = {
        "main": lambda: git(repo, "commit", "-q", "--allow-empty", "-m", "third"),
        "the address": lambda: git(repo, "config", "remote.origin.pushurl", "/nowhere"),
    }
    for what, happens in meanwhile.items():
        record = tools.asked("git_push", happens)[1]
        assert record.outcome == "error" and "while you were asked" in record.text, what
    assert git(remote, "for-each-ref") == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"remote": "nowhere"}, "there is no remote 'nowhere'"),
        ({"remote": "--receive-pack=x"}, "there is no remote"),
        ({"branch": "main:other"}, "there is no branch"),
        ({"branch": "+main"}, "there is no branch"),
        ({"branch": "--mirror"}, "begins with a dash"),
        ({"remote": "helper"}, "reached by 'ext'"),
        ({"remote": "plain"}, "reached by 'http'"),
        ({"remote": "inside"}, "lies in the workspace"),
    ],
)
def test_pushing_reaches_only_what_it_should(
    tools: Any, repo: Path, remote: Path, git: Git, arguments: dict[str, Any], said: str
) -> None:
    git(repo, "remote", "add", "helper", "ext::sh -c 'touch ran'")
    git(repo, "remote", "add", "plain", "http://127.0.0.1:9/x.git")
    git(repo, "init", "-q", "--bare", "inside.git")
    git(repo, "remote", "add", "inside", "./inside.git")
    before = git(remote, "for-each-ref")

    record = tools("git_push", **arguments)

    assert record.outcome == "error" and said in record.text
    assert git(remote, "for-each-ref") == before and not (repo / "ran").exists()


def test_an_address_in_the_workspace_is_known_in_every_spelling(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "clone", "-q", "--bare", ".", "inner.git")
    git(repo, "remote", "add", "origin", "x")
    spelled = str(repo).replace("repo", "%72epo")
    gitfile = repo.parent / "gitfile"
    gitfile.write_text(f"gitdir: {repo}/inner.git\n")
    (repo.parent / "link.git").symlink_to(repo / "inner.git")
    for url in (
        f"file://{spelled}/inner.git",
        f"file://host{spelled}/inner",
        f"{repo}/inner",
        str(repo.parent / "link"),
        str(gitfile),
    ):
        git(repo, "config", "remote.origin.url", url)
        record = tools("git_push")
        assert record.outcome == "error" and "lies in the workspace" in record.text, (url, record.text)


def test_several_addresses_are_refused_and_what_the_remote_had_is_told(
    tools: Any, repo: Path, git: Git, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "away.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "away.git"))
    assert tools("git_push").text == "Pushed main to origin: was up to date already"  # though it was not fetched
    git(repo, "commit", "-q", "--allow-empty", "-m", "third")
    old, new = (git(repo, "rev-parse", "--short=7", name).strip() for name in ("HEAD^", "HEAD"))
    git(repo, "config", "--add", "remote.origin.pushurl", str(tmp_path / "away.git"))
    git(repo, "config", "--add", "remote.origin.pushurl", "/nowhere")
    assert "Nothing was pushed" in tools("git_push").text
    git(repo, "config", "--unset-all", "remote.origin.pushurl")
    assert tools("git_push").text == f"Pushed main to origin: {old} -> {new}"


def test_a_branch_is_made_and_not_switched_to(tools: Any, repo: Path, git: Git) -> None:
    first = git(repo, "rev-parse", "HEAD^").strip()
    preview, record = tools.asked("git_branch_create", name="topic", start="HEAD^")

    assert f"branch topic at {first[:7]} first" in preview
    assert record.text == f"Made the branch topic at {first[:7]}."
    assert git(repo, "rev-parse", "topic").strip() == first
    assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    for name, start in (("topic", "HEAD"), ("-d", "HEAD"), ("a..b", "HEAD"), ("new", "nowhere")):
        again = tools("git_branch_create", name=name, start=start)
        assert again.outcome == "error" and ("was made" in again.text), name


def test_a_branch_begins_where_it_was_shown_to(tools: Any, repo: Path, git: Git) -> None:
    move = lambda: git(repo, "commit", "-q", "--allow-empty", "-m", "third")  # noqa: E731
    record = tools.asked("git_branch_create", move, name="topic")[1]
    assert record.outcome == "error" and "HEAD was changed while you were asked" in record.text
    assert git(repo, "branch", "--list", "topic") == ""
    assert tools.asked("git_branch_create", move, name="topic", start="main~1")[1].outcome == "error"
    assert tools.asked("git_branch_create", name="topic")[1].outcome == "ok"
