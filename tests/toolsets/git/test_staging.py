"""git_add: what is shown is what is staged, and what never is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Git = Callable[..., str]
CAME_UP = {"a link": "second", "a file": "many/more"}


def test_adding_shows_what_would_be_staged_and_stages_that(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("one\ntwo\nthree\n")
    (repo / "new.txt").write_text("new\n")
    (repo / "d" / "b.txt").unlink()
    (repo / "other").write_text("not this one\n")

    preview, record = tools.asked("git_add", paths=["a.txt", "new.txt", "d"])

    assert "would be staged: 3 files" in preview and "new.txt  (untracked)" in preview and "+three" in preview
    assert record.text == "Staged 3 files:\na.txt  (modified)\nd/b.txt  (deleted)\nnew.txt  (added)"
    assert git(repo, "status", "--porcelain").splitlines() == ["M  a.txt", "D  d/b.txt", "A  new.txt", "?? other"]


@pytest.mark.parametrize(
    "meanwhile", ["a link", "a file", "another target", "a mode", "one less", "one of many", "a content"]
)
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
            case "a content":
                (repo / "run").write_text("other\n")
            case _:
                (many / "599").write_text("y\n")

    preview, record = tools.asked("git_add", change, paths=["."])

    assert "many/001  (untracked)" in preview
    assert record.outcome == "error" and "while you were asked" in record.text, record.text
    assert meanwhile not in CAME_UP or f"{CAME_UP[meanwhile]} came up" in record.text
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_deleted_files_links_and_folders_in_the_place_of_files_are_staged(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").unlink()
    (repo / "a.txt").mkdir()
    (repo / "a.txt" / "inner").write_text("x\n")
    (repo / "d" / "b.txt").unlink()
    (repo / "link").symlink_to("a.txt/inner")
    record = tools.asked("git_add", paths=["."])[1]
    assert record.outcome == "ok", record.text
    assert git(repo, "diff", "--cached", "--name-status").splitlines() == [
        "D\ta.txt",
        "A\ta.txt/inner",
        "D\td/b.txt",
        "A\tlink",
    ]


def test_protected_files_and_files_of_a_repositorys_own_filter_are_not_staged(tools: Any, repo: Path, git: Git) -> None:
    (repo / ".env").write_text("TOKEN=1\n")
    board = tools.guarded()
    for paths in (["."], [".env"]):
        assert board.call("git_add", paths=paths).outcome in ("error", "blocked")
    assert git(repo, "status", "--porcelain") == "?? .env\n"
    (repo / ".env").unlink()

    (repo / ".gitattributes").write_text("*.secret filter=crypt\n")
    (repo / "x.secret").write_text("clear text\n")
    git(repo, "config", "filter.crypt.clean", "cat")
    record = tools("git_add", paths=["x.secret"])
    assert record.outcome == "error" and "the filter 'crypt'" in record.text
    assert "x.secret" not in git(repo, "ls-files")
    (Path.home() / ".gitconfig").write_text('[filter "crypt"]\n\tclean = sed s/clear/dark/\n')
    assert tools("git_add", paths=["x.secret"]).outcome == "ok"  # the person's own
    assert git(repo, "show", ":x.secret") == "dark text\n"


@pytest.mark.parametrize("how", ["worktree", "attributes"])
def test_filters_are_known_wherever_the_repository_names_them(tools: Any, repo: Path, git: Git, how: str) -> None:
    if how == "worktree":
        git(repo, "config", "extensions.worktreeConfig", "true")
        git(repo, "config", "--worktree", "filter.crypt.clean", "rev")
        (repo / ".gitattributes").write_text("secret filter=crypt\n")
    else:
        git(repo, "config", "filter.crypt.clean", "rev")
        git(repo, "config", "core.attributesFile", "d/attributes")
        (repo / "d" / "attributes").write_text("secret filter=crypt\n")
    (repo / "secret").write_text("clear\n")
    record = tools("git_add", paths=["secret"])
    assert record.outcome == "error" and "'crypt'" in record.text
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_a_file_of_ignored_names_counts_inside_and_stops_staging_outside(
    tools: Any, repo: Path, git: Git, tmp_path: Path
) -> None:
    (repo / "d" / "ignored").write_text("*.log\n")
    git(repo, "config", "core.excludesFile", "d/ignored")
    (repo / "x.log").write_text("x\n")
    assert "x.log" not in tools("git_status").text
    assert tools("git_add", paths=["."]).outcome == "ok"
    assert git(repo, "diff", "--cached", "--name-only") == "d/ignored\n"
    (tmp_path / "outside").write_text("*.log\n")
    git(repo, "config", "core.excludesFile", str(tmp_path / "outside"))
    record = tools("git_add", paths=["x.log"])
    assert record.outcome == "error" and "core.excludesFile" in record.text
    assert tools("git_status").outcome == "ok"
