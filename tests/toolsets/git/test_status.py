"""git_status: the states a repository can be in, in words and as data."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]


@pytest.mark.row("S-067")
def test_changes_are_told_in_words(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("staged\n")
    git(repo, "add", "a.txt")
    (repo / "a.txt").write_text("more\n")
    (repo / "new.ts").write_text("")

    record = tools("git_status")

    assert record.text == "On main, 2 changed:\na.txt  (staged modified, modified)\nnew.ts  (untracked)"
    assert record.data == {
        "branch": "main",
        "upstream": None,
        "ahead": None,
        "behind": None,
        "state": None,
        "entries": [
            {"path": "a.txt", "from": None, "index": "modified", "worktree": "modified"},
            {"path": "new.ts", "from": None, "index": None, "worktree": "untracked"},
        ],
    }


def test_a_clean_tree_and_an_unborn_branch(
    tools: Any, tools_over: Callable[[Path], Any], tmp_path: Path, git: Git
) -> None:
    assert tools("git_status").text == "On main, clean."

    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q", "-b", "trunk")
    record = tools_over(fresh)("git_status")
    assert record.text == "On trunk, no commits yet, clean."
    assert (record.data["branch"], record.data["state"]) == ("trunk", "unborn")


def test_a_rename_names_both_sides(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "mv", "a.txt", "z.txt")

    record = tools("git_status")

    assert record.text.splitlines()[1] == "z.txt  (staged renamed from a.txt)"
    assert record.data["entries"] == [{"path": "z.txt", "from": "a.txt", "index": "renamed", "worktree": None}]


def test_upstream_with_what_is_ahead_and_behind(tools: Any, repo: Path, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", "repo", "remote.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(repo, "fetch", "-q", "origin")
    git(repo, "branch", "-q", "--set-upstream-to=origin/main")
    assert tools("git_status").text == "On main (level with origin/main), clean."

    git(repo, "reset", "-q", "--hard", "HEAD^")
    git(repo, "commit", "-q", "--allow-empty", "-m", "own")
    record = tools("git_status")
    assert record.text == "On main (1 ahead of, 1 behind origin/main), clean."
    assert (record.data["upstream"], record.data["ahead"], record.data["behind"]) == ("origin/main", 1, 1)

    git(repo, "update-ref", "-d", "refs/remotes/origin/main")
    assert tools("git_status").text == "On main (upstream gone: origin/main), clean."


def diverged(repo: Path, git: Git) -> None:
    """`other` and `main` both changed a.txt."""
    git(repo, "checkout", "-q", "-b", "other", "HEAD^")
    (repo / "a.txt").write_text("theirs\n")
    git(repo, "commit", "-q", "-a", "-m", "theirs")
    git(repo, "checkout", "-q", "main")


def test_detached_and_merging_with_a_conflict(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "checkout", "-q", "--detach")
    record = tools("git_status")
    assert record.text == f"Detached at {git(repo, 'rev-parse', '--short=7', 'HEAD').strip()}, clean."
    assert record.data["branch"] is None
    git(repo, "checkout", "-q", "main")

    diverged(repo, git)
    subprocess.run(["git", "merge", "-q", "other"], cwd=repo, capture_output=True)
    record = tools("git_status")
    other = git(repo, "rev-parse", "--short=7", "other").strip()
    assert record.text == f"On main, merging {other}, 1 changed:\na.txt  (conflict: both modified)"
    assert (record.data["state"], record.data["entries"][0]["worktree"]) == ("merging", "conflict: both modified")


@pytest.mark.parametrize(
    ("argv", "state", "words"),
    [
        (["rebase", "other"], "rebasing", "rebasing main onto "),
        (["cherry-pick", "other"], "cherry-picking", "cherry-picking "),
        (["revert", "--no-edit", "HEAD^"], "reverting", "reverting "),
        (["bisect", "start", "HEAD", "HEAD^"], "bisecting", "bisecting"),
    ],
)
def test_what_is_under_way_is_named(tools: Any, repo: Path, git: Git, argv: list[str], state: str, words: str) -> None:
    diverged(repo, git)
    subprocess.run(["git", *argv], cwd=repo, capture_output=True)

    record = tools("git_status")

    assert record.data["state"] == state
    assert words in record.text
    assert state != "rebasing" or "(1/1)" in record.text


def test_a_submodule_that_moved_on_is_told_and_not_entered(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "init", "-q", "-b", "main", "sub")
    git(repo / "sub", "commit", "-q", "--allow-empty", "-m", "one")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "sub")
    git(repo, "commit", "-q", "-m", "with sub")
    git(repo / "sub", "commit", "-q", "--allow-empty", "-m", "two")
    (repo / "sub" / "x").write_text("dirt")

    assert tools("git_status").text == "On main, 1 changed:\nsub  (submodule: new commits)"
    (repo / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n')
    assert "(changes inside submodules are not looked for; path=SUBMODULE tells of them)" in tools("git_status").text
    assert tools("git_status", path="sub").text == "On main, 1 changed:\nsub/x  (untracked)"


@pytest.mark.row("C-050")
def test_the_repository_is_the_one_that_the_path_lies_in(tools: Any, repo: Path, git: Git) -> None:
    inner = repo / "d" / "inner"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "deep")
    git(inner, "commit", "-q", "--allow-empty", "-m", "inner commit")
    (inner / "deep.txt").write_text("deep\n")

    assert tools("git_status", path="d/inner/deep.txt").text == "On deep, 1 changed:\nd/inner/deep.txt  (untracked)"
    assert "inner commit" in tools("git_log", path="d/inner").text
    assert "second" in tools("git_log").text and "inner" not in tools("git_log").text
    assert tools("git_rev_parse", path="d/inner").text == git(inner, "rev-parse", "HEAD").strip()


def test_a_further_work_tree_and_a_bare_repository(
    tools_over: Callable[[Path], Any], repo: Path, git: Git, tmp_path: Path
) -> None:
    (repo.parent / "both").mkdir()
    repo.rename(repo.parent / "both" / "repo")
    both = repo.parent / "both"
    git(both / "repo", "worktree", "add", "-q", "-b", "side", "../side")
    (both / "side" / "a.txt").write_text("changed\n")
    record = tools_over(both)("git_status", path="side")
    assert record.text == "On side, 1 changed:\nside/a.txt  (modified)"

    git(tmp_path, "clone", "-q", "--bare", str(both / "repo"), "bare.git")
    bare = tools_over(tmp_path / "bare.git")
    assert (bare("git_status").outcome, "has no work tree" in bare("git_status").text) == ("error", True)
    assert "second" in bare("git_log").text


def test_a_work_tree_of_a_repository_elsewhere_needs_the_setting_and_to_be_listed_there(
    tools_over: Callable[[Path], Any], repo: Path, git: Git, tmp_path: Path
) -> None:
    git(repo, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = tools_over(tmp_path / "side")
    assert side("git_log").outcome == "error"
    assert "git.worktree_outside" in side("git_log").text

    allowed = side.board(settings={"git.worktree_outside": True})
    assert allowed.call("git_status").text == "On side, clean."

    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {repo}/.git\n")
    board = tools_over(forged).board(settings={"git.worktree_outside": True})
    record = board.call("git_log")
    assert record.outcome == "error" and "second" not in record.text


def test_names_that_are_not_utf8_are_shown_and_taken_back(tools: Any, repo: Path, git: Git) -> None:
    name = os.fsencode(repo) + b"/caf\xe9.txt"
    Path(os.fsdecode(name)).write_text("1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "name")
    Path(os.fsdecode(name)).write_text("2\n")

    assert tools("git_status").text == "On main, 1 changed:\ncaf\\xe9.txt  (modified)"
    diff = tools("git_diff", path="caf\\xe9.txt").text
    assert "+++ b/caf\\xe9.txt" in diff and diff.endswith("-1\n+2")


def test_a_name_with_a_line_end_forges_no_line(tools: Any, repo: Path, git: Git) -> None:
    names = ["n\nfake.txt  (untracked)\tx", "zz\nOn main, clean."]
    for name in names:
        (repo / name).write_text("x\n")
    git(repo, "mv", "a.txt", "a\nforged.txt")
    status = tools("git_status")
    assert '"zz\\nOn main, clean."  (untracked)' in status.text.splitlines()
    assert set(names) <= {entry["path"] for entry in status.data["entries"]}
    for record in (status, added := tools("git_add", paths=["."])):
        assert record.outcome == "ok"
        assert not any(
            line.startswith(("fake.txt", "forged.txt", "On main, clean.")) for line in record.text.splitlines()
        )
    assert set(names) <= {entry["path"] for entry in added.data["entries"]}


def test_many_changes_stop_at_the_caps_and_say_how_many_more(tools: Any, repo: Path) -> None:
    for number in range(60):
        (repo / f"file{number:02}").write_text("")

    record = tools.board(settings={"output.max_lines": 20}).call("git_status")

    lines = record.text.splitlines()
    assert lines[0] == "On main, 60 changed:" and len(lines) <= 20
    assert lines[-1] == f"... ({60 - (len(lines) - 2)} more; path narrows it)"
    assert len(record.data["entries"]) == 60


def test_more_names_than_a_pipe_or_a_result_holds_are_all_counted(
    tools: Any, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6_000):
        (repo / f"{number:04}{'x' * 196}").touch()

    record = tools("git_status")

    assert record.text.startswith("On main, 6000 changed:") and record.truncated
    monkeypatch.setattr("pegboard_tools_git.safely.MOST_PRINTED", 100_000)
    assert "Name a path." in tools("git_status").text
    assert tools("git_status", path="a.txt").outcome == "ok"


@pytest.mark.row("S-068")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("git_status", {}),
        ("git_diff", {}),
        ("git_log", {}),
        ("git_show", {"ref": "HEAD"}),
        ("git_blame", {"path": "x"}),
        ("git_branch", {}),
        ("git_rev_parse", {}),
    ],
)
def test_outside_a_repository_each_tool_says_so(
    tools_over: Callable[[Path], Any], tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    record = tools_over(plain)(name, **arguments)
    assert record.outcome == "error"
    assert f"{plain} is not a git repository." in record.text


def test_a_repository_that_begins_above_the_workspace_is_named_and_not_entered(
    tools_over: Callable[[Path], Any], repo: Path
) -> None:
    record = tools_over(repo / "d")("git_log")
    assert record.outcome == "error"
    assert f"It lies in the one of {repo}" in record.text and "second" not in record.text
