"""What lies outside the workspace, and pipes: not shown, not written to, not waited at."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard_tools_git import safely

Git = Callable[..., str]
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("git_commit", {"message": "m"}),
    ("git_commit", {"message": "m", "all": True}),
    ("git_branch_create", {"name": "made"}),
]


def outside(tmp_path: Path, git: Git) -> Path:
    """A repository outside of the workspace, with something to hide."""
    folder = tmp_path / "private"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "secret.txt").write_text("hush\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "evil commit")
    return folder


@pytest.mark.parametrize(
    "how", ["file", "link", "commondir", "objects", "packs", "refs", "alternates", "index", "include"]
)
def test_nothing_outside_the_workspace_is_shown(tools: Any, repo: Path, git: Git, tmp_path: Path, how: str) -> None:
    private = outside(tmp_path, git)
    own, theirs = repo / ".git", private / ".git"
    commit = git(private, "rev-parse", "HEAD").strip()
    match how:
        case "file":
            shutil.rmtree(own)
            own.write_text(f"gitdir: {theirs}\n")
        case "link":
            shutil.rmtree(own)
            own.symlink_to(theirs)
        case "commondir":
            (own / "commondir").write_text("../../private/.git\n")
        case "objects" | "refs":
            shutil.rmtree(own / how)
            (own / how).symlink_to(theirs / how)
        case "packs":
            git(private, "repack", "-q", "-a", "-d")
            shutil.rmtree(own / "objects" / "pack")
            (own / "objects" / "pack").symlink_to(theirs / "objects" / "pack")
        case "alternates":
            (own / "objects" / "info" / "alternates").write_text(f"{theirs}/objects\n")
        case "index":
            (own / "index").unlink()
            (own / "index").symlink_to(theirs / "index")
        case "include":
            (own / "config").write_text((own / "config").read_text() + f"[core]\n\tworktree = {private}\n")
    for name, arguments in (
        ("git_log", {}),
        ("git_status", {}),
        ("git_diff", {}),
        ("git_show", {"ref": commit}),
        ("git_show", {"ref": f"{commit}:secret.txt"}),
        ("git_blame", {"path": "a.txt"}),
    ):
        record = tools(name, **arguments)
        assert "hush" not in record.text and "evil commit" not in record.text and "secret.txt  " not in record.text
        assert record.outcome == "error" or how == "include"


def test_a_forged_index_shows_nothing_from_outside(tools: Any, repo: Path, tmp_path: Path, git: Git) -> None:
    (tmp_path / "hush.txt").write_text("hush\n")
    (repo / "aa").mkdir()
    (repo / "aa" / "hush.txt").write_text("x\n")
    git(repo, "add", "-A")
    index = (repo / ".git" / "index").read_bytes()[:-20].replace(b"aa/hush.txt", b"../hush.txt")
    (repo / ".git" / "index").write_bytes(index + hashlib.sha1(index, usedforsecurity=False).digest())

    for arguments in ({}, {"ref": "HEAD"}):
        assert "hush\n" not in tools("git_diff", **arguments).text + "\n"


def test_no_ref_or_object_is_read_through_a_link_that_leads_out(tools: Any, repo: Path, tmp_path: Path) -> None:
    other, elsewhere = repo / ".git" / "refs" / "heads" / "x", tmp_path / "elsewhere"
    elsewhere.write_text("0123456789" * 4 + "\n")
    other.symlink_to(elsewhere)
    assert "leads out of the workspace" in (refused := tools("git_rev_parse", ref="x")).text
    assert "01234567" not in refused.text
    other.unlink()
    (repo / ".git" / "inner").write_text((repo / ".git" / "refs" / "heads" / "main").read_text())
    other.symlink_to("../../inner")  # and what stays inside is read
    assert tools("git_rev_parse", ref="x").text == tools("git_rev_parse").text

    hop = repo / "hop"
    hop.mkdir()
    (hop / "y").symlink_to(elsewhere)
    other.unlink()
    other.symlink_to("../../../hop")
    assert "leads out of the workspace" in tools("git_branch").text
    other.unlink()

    folder = next(path for path in (repo / ".git" / "objects").iterdir() if len(path.name) == 2)
    blob = next(folder.iterdir())
    blob.rename(tmp_path / "blob")
    blob.symlink_to(tmp_path / "blob")
    assert "leads out of the workspace" in tools("git_log").text


@pytest.mark.parametrize(
    ("at", "to"),
    [
        ("logs/HEAD", "{out}/file"),
        ("logs/refs", "{out}"),
        ("logs/refs/heads", "{out}"),
        ("refs/heads/feature", "{out}"),
        ("refs/heads/feature", "{out}/file"),
        ("COMMIT_EDITMSG", "{out}/file"),
        ("COMMIT_EDITMSG", "../ci.yml"),
        ("COMMIT_EDITMSG", "config"),
        ("COMMIT_EDITMSG", "hooks/pre-commit"),
        ("objects/ab", "../info"),
        ("logs/HEAD", "../ci.yml"),
    ],
)
def test_nothing_is_written_through_a_link(tools: Any, repo: Path, git: Git, tmp_path: Path, at: str, to: str) -> None:
    out, link = tmp_path / "out", repo / ".git" / at
    out.mkdir()
    for file in (out / "file", repo / "ci.yml", repo / ".git" / "hooks" / "pre-commit"):
        file.write_text("as it was\n")
    (repo / "a.txt").write_text("changed\n")
    git(repo, "add", "a.txt")
    shutil.rmtree(link, ignore_errors=True)
    link.unlink(missing_ok=True)
    link.symlink_to(to.format(out=out))
    config = (repo / ".git" / "config").read_text()

    for name, arguments in WRITES:
        record = tools(name, **arguments)
        assert record.outcome == "error" and Path(at).name in record.text, record.text
    if "{out}" in to:
        assert "leads out of the workspace" in tools("git_rev_parse", ref="x").text

    assert os.listdir(out) == ["file"] and (out / "file").read_text() == "as it was\n"
    assert (repo / "ci.yml").read_text() == (repo / ".git/hooks/pre-commit").read_text() == "as it was\n"
    assert (repo / ".git" / "config").read_text() == config


@pytest.mark.parametrize("version", ["2", "4"])
def test_a_submodule_whose_repository_lies_outside_is_not_looked_at(
    tools: Any, built: Path, repo: Path, git: Git, tmp_path: Path, version: str
) -> None:
    secret = Path(shutil.copytree(built, tmp_path / "secret"))
    (repo / "d" / "sub").mkdir()
    head = git(secret, "rev-parse", "HEAD").strip()
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},d/sub")
    git(repo, "update-index", "--index-version", version)
    (repo / "d" / "sub" / ".git").write_text(f"gitdir: {secret}/.git\n")
    for name in ("git_diff", "git_status"):
        record = tools(name)
        assert record.outcome == "error" and "outside the workspace" in record.text
        assert head[:7] not in record.text


@pytest.mark.parametrize(
    ("at", "name", "arguments"),
    [
        (".git/refs/heads/x", "git_branch", {}),
        (".git/refs/heads/x", "git_status", {}),
        (".git/HEAD", "git_status", {}),
        (".gitignore", "git_status", {}),
        (".git/logs/HEAD", "git_commit", {"message": "m"}),
        ("d/.gitignore", "git_status", {}),
        ("d/.gitattributes", "git_diff", {}),
    ],
)
def test_a_fifo_is_named_and_not_waited_at(
    tools: Any, repo: Path, monkeypatch: pytest.MonkeyPatch, at: str, name: str, arguments: dict[str, Any]
) -> None:
    monkeypatch.setattr(safely, "_SLOW_SECONDS", 0.3, raising=False)
    (repo / "d" / "b.txt").write_text("changed\n")
    (repo / "d" / "new").write_text("new\n")
    (repo / at).unlink(missing_ok=True)
    os.mkfifo(repo / at)
    record = tools(name, **arguments)
    assert record.outcome == "error" and f"{at}" in record.text and "no regular file" in record.text


def test_a_folder_that_looks_like_a_bare_repository_is_not_entered(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "init", "-q", "--bare", "vendored")
    assert tools("git_log", path="vendored").text == "No commits."  # of the repository around it
    assert tools("git_status", path="vendored").text == "On main, 1 changed:\nvendored/  (untracked)"
