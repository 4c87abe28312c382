"""What led out of the workspace, past a guard or into a wait without end, each as it was found."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_git import safely

Git = Callable[..., str]
WRITES = [("git_commit", {"message": "m"}), ("git_branch_create", {"name": "made"})]


@pytest.mark.parametrize(
    ("at", "to"),
    [
        ("logs/HEAD", "{out}/file"),
        ("logs/refs", "{out}"),
        ("logs/refs/heads", "{out}"),
        ("refs/heads/feature", "{out}"),
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

    assert os.listdir(out) == ["file"] and (out / "file").read_text() == "as it was\n"
    assert (repo / "ci.yml").read_text() == (repo / ".git/hooks/pre-commit").read_text() == "as it was\n"
    assert (repo / ".git" / "config").read_text() == config


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


def test_what_may_not_be_read_is_not_had_by_its_hash(tools: Any, repo: Path, git: Git) -> None:
    (repo / ".env").write_text("TOKEN=hunter2\n")
    (repo / ".ssh").mkdir()
    (repo / ".ssh" / "id_rsa").write_text("hunter2\n")
    git(repo, "add", "-A", "-f")
    git(repo, "commit", "-q", "-m", "secrets")
    blob, tree = (git(repo, "rev-parse", f"HEAD:{name}").strip() for name in (".env", ".ssh"))
    git(repo, "tag", "-a", "-m", "t", "of-blob", blob)
    git(repo, "tag", "-a", "-m", "t", "of-tree", tree)

    tools = tools.board(guards=[ProtectedPaths(Settings())]).call
    assert tools("git_rev_parse", ref="HEAD:.env").outcome == "blocked"
    assert tools("git_rev_parse", ref="HEAD:a.txt").outcome == "ok"
    for ref in (f"{blob}..HEAD:a.txt", f"HEAD..{blob}", f"{tree}..{tree}", blob, "of-blob", f":/secrets..{blob}"):
        assert tools("git_diff", ref=ref).outcome == "error", ref
    for ref in (blob, tree, "of-blob", "of-tree", f"{tree}:id_rsa", "HEAD^{tree}", "of-tree:id_rsa"):
        record = tools("git_show", ref=ref)
        assert record.outcome in ("error", "blocked") and "hunter2" not in record.text, ref
    git(repo, "tag", "-a", "-m", "a release", "v1")
    for ref in ("v1", "HEAD^!", ":/second", "HEAD^..HEAD", "HEAD~1:a.txt", "HEAD^{/sec}", ":a.txt", ":0:a.txt"):
        assert tools("git_show", ref=ref).outcome == "ok", ref
    assert "usage:" not in tools("git_diff", ref="HEAD HEAD").text


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


def test_a_name_with_a_line_end_forges_no_line(tools: Any, repo: Path, git: Git) -> None:
    (repo / "n\nfake.txt  (untracked)\tx").write_text("x\n")
    git(repo, "mv", "a.txt", "a\nforged.txt")
    for record in (tools("git_status"), tools("git_add", paths=["."])):
        assert record.outcome == "ok"
        assert not any(line.startswith(("fake.txt", "forged.txt")) for line in record.text.splitlines()), record.text
    assert "n\nfake.txt  (untracked)\tx" in [entry["path"] for entry in record.data["entries"]]


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
