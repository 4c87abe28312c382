"""git_add, git_commit, git_push, git_branch_create: always asked, shown before, told after."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.calls import Record
from pegboard.events import ApprovalAsked
from pegboard.port import Answer
from pegboard.testing.bench import TestBoard

Git = Callable[..., str]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("git_add", {"paths": ["."]}),
    ("git_commit", {"message": "m"}),
    ("git_push", {}),
    ("git_branch_create", {"name": "topic"}),
]


@pytest.fixture
def remote(repo: Path, git: Git, tmp_path: Path) -> Path:
    """A bare repository beside the workspace, known as `origin`."""
    git(tmp_path, "clone", "-q", "--bare", str(repo), "remote.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(repo, "fetch", "-q", "origin")
    return tmp_path / "remote.git"


def asked(
    board: TestBoard, name: str, meanwhile: Callable[[], object] = lambda: None, /, **arguments: Any
) -> tuple[str, Record]:
    """What the person was shown, and what came of saying yes; `meanwhile` happens while they think."""

    async def answered() -> Record:
        call = asyncio.ensure_future(board.agent.call(name, arguments, "program"))
        while not (questions := [e for e in board.events if isinstance(e, ApprovalAsked)]):
            await asyncio.sleep(0.01)
        meanwhile()
        await board.agent.send(Answer(id=questions[-1].id, granted=True))
        return await call

    record = board.run(answered())
    question = [event for event in board.events if isinstance(event, ApprovalAsked)][-1]
    assert question.remember == []  # "always" is not offered
    return "\n".join(
        f"{getattr(block, 'title', '')}\n{getattr(block, 'text', '')}" for block in question.preview
    ), record


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


def test_adding_shows_what_would_be_staged_and_stages_that(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("one\ntwo\nthree\n")
    (repo / "new.txt").write_text("new\n")
    (repo / "d" / "b.txt").unlink()
    (repo / "other").write_text("not this one\n")

    preview, record = asked(tools.board(answers="person"), "git_add", paths=["a.txt", "new.txt", "d"])

    assert "would be staged: 3 files" in preview and "new.txt  (untracked)" in preview and "+three" in preview
    assert record.text == "Staged 3 files:\na.txt  (modified)\nd/b.txt  (deleted)\nnew.txt  (added)"
    assert git(repo, "status", "--porcelain").splitlines() == ["M  a.txt", "D  d/b.txt", "A  new.txt", "?? other"]


@pytest.mark.row("C-052")
def test_a_commit_shows_its_diff_and_tells_its_hash(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("one\ntwo\nthree\n")
    git(repo, "add", "a.txt")
    (repo / "d" / "b.txt").write_text("loose\n")

    preview, record = asked(tools.board(answers="person"), "git_commit", message="Third\n\n# kept")

    assert "message\nThird" in preview and "+three" in preview and "loose" not in preview
    head = git(repo, "rev-parse", "HEAD").strip()
    assert record.text == f"Committed {head[:7]} on main: Third (1 file, +1)"
    assert record.data == {"hash": head, "branch": "main", "subject": "Third"}
    assert git(repo, "log", "-1", "--format=%an %B").strip() == "Test Third\n\n# kept"
    assert git(repo, "status", "--porcelain") == " M d/b.txt\n"

    assert "+loose" in asked(tools.board(answers="person"), "git_commit", message="rest", all=True)[0]
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


def test_what_was_shown_is_what_is_committed(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("shown\n")
    git(repo, "add", "a.txt")

    def meanwhile() -> None:
        (repo / "a.txt").write_text("slipped in\n")
        git(repo, "add", "a.txt")

    before = git(repo, "rev-parse", "HEAD")
    record = asked(tools.board(answers="person"), "git_commit", meanwhile, message="m")[1]
    assert record.outcome == "error" and "changed while you were asked" in record.text
    assert git(repo, "rev-parse", "HEAD") == before

    (repo / "new").write_text("shown\n")
    record = asked(
        tools.board(answers="person"), "git_add", lambda: (repo / "new").write_text("other\n"), paths=["new"]
    )[1]
    assert record.outcome == "error" and git(repo, "status", "--porcelain", "new") == "?? new\n"


def test_hooks_are_not_run_and_that_is_said(tools: Any, repo: Path, tmp_path: Path) -> None:
    hook = repo / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\nexit 1\n")
    hook.chmod(0o755)
    (repo / "a.txt").write_text("x\n")

    record = tools("git_commit", message="m", all=True)

    assert record.outcome == "ok" and record.text.endswith("(hooks were not run: pre-commit)")
    assert not (tmp_path / "ran").exists()


def test_protected_files_and_files_of_a_repositorys_own_filter_are_not_staged(tools: Any, repo: Path, git: Git) -> None:
    from pegboard_guard.protected import ProtectedPaths
    from pegboard_guard.settings import Settings

    (repo / ".env").write_text("TOKEN=1\n")
    board = tools.board(guards=[ProtectedPaths(Settings())])
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


@pytest.mark.row("C-053")
def test_a_push_shows_which_ref_moves_and_moves_it(tools: Any, repo: Path, remote: Path, git: Git) -> None:
    old = git(repo, "rev-parse", "--short=7", "HEAD").strip()
    git(repo, "commit", "-q", "--allow-empty", "-m", "third")
    new = git(repo, "rev-parse", "HEAD").strip()

    preview, record = asked(
        tools.board(answers="person"), "git_push", remote="origin", branch="main", set_upstream=True
    )

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


def test_a_branch_is_made_and_not_switched_to(tools: Any, repo: Path, git: Git) -> None:
    first = git(repo, "rev-parse", "HEAD^").strip()
    preview, record = asked(tools.board(answers="person"), "git_branch_create", name="topic", start="HEAD^")

    assert f"branch topic at {first[:7]} first" in preview
    assert record.text == f"Made the branch topic at {first[:7]}."
    assert git(repo, "rev-parse", "topic").strip() == first
    assert git(repo, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    for name, start in (("topic", "HEAD"), ("-d", "HEAD"), ("a..b", "HEAD"), ("new", "nowhere")):
        again = tools("git_branch_create", name=name, start=start)
        assert again.outcome == "error" and ("was made" in again.text), name


# --- what adversaries found: repositories within, links, hashes of files, what came up meanwhile ----------------------


@pytest.fixture
def nested(repo: Path, git: Git, tmp_path: Path) -> Path:
    """A repository within the repository, known to it as a link, whose own configuration names a program; its canary."""
    canary, inner = tmp_path / "canary", repo / "d" / "sub"
    git(repo, "init", "-q", "d/sub")
    (inner / ".gitattributes").write_text("*.f filter=evil\n")
    (inner / "z.f").write_text("one\n")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "inner")
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "-A")
    git(repo, "commit", "-qm", "outer")
    git(inner, "config", "filter.evil.clean", f"touch {canary}; cat")
    (inner / "z.f").write_text("two\n")
    os.utime(inner / "z.f", (1, 1))
    return canary


def test_staging_looks_into_no_repository_within(tools: Any, repo: Path, nested: Path) -> None:
    (repo / "new").write_text("new\n")
    preview, record = asked(tools.board(answers="person"), "git_add", paths=["."])
    assert "new" in preview and record.outcome == "ok", record.text
    assert asked(tools.board(answers="person"), "git_add", paths=["d"])[1].outcome == "ok"
    assert not nested.exists()


def test_a_commit_of_nothing_looks_into_no_submodule(tools: Any, repo: Path, git: Git, nested: Path) -> None:
    (repo / ".gitmodules").write_text('[submodule "s"]\n\tpath = d/sub\n\turl = x\n\tignore = none\n')
    git(repo, "add", ".gitmodules")
    git(repo, "commit", "-qm", "modules")
    for everything in (False, True):
        record = tools("git_commit", message="m", all=everything)
        assert record.outcome == "error" and "Nothing was committed" in record.text
    (repo / "a.txt").write_text("changed\n")
    assert tools("git_commit", message="m", all=True).outcome == "ok"
    assert not nested.exists()


def test_a_new_commit_within_is_told_of_and_not_staged(tools: Any, repo: Path, git: Git, nested: Path) -> None:
    git(repo / "d" / "sub", "-c", "filter.evil.clean=cat", "commit", "-qam", "more")
    record = tools("git_add", paths=["."])
    assert "d/sub: a repository of its own, which is not staged here" in record.text
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_files_that_came_up_while_the_person_was_asked_are_not_staged(tools: Any, repo: Path, git: Git) -> None:
    (repo / "one").write_text("1\n")
    meanwhile = lambda: (repo / "two").write_text("2\n")  # noqa: E731
    record = asked(tools.board(answers="person"), "git_add", meanwhile, paths=["."])[1]
    assert record.outcome == "error" and "two came up while you were asked" in record.text
    (repo / "two").unlink()
    change = lambda: (repo / "a.txt").write_text("other\n")  # noqa: E731
    (repo / "d" / "b.txt").write_text("B\n")
    record = asked(tools.board(answers="person"), "git_commit", change, message="m", all=True)[1]
    assert record.outcome == "error" and "a.txt" in record.text
    assert git(repo, "diff", "--cached", "--name-only") == ""


def test_deleted_files_links_and_folders_in_the_place_of_files_are_staged(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").unlink()
    (repo / "a.txt").mkdir()
    (repo / "a.txt" / "inner").write_text("x\n")
    (repo / "d" / "b.txt").unlink()
    (repo / "link").symlink_to("a.txt/inner")
    record = asked(tools.board(answers="person"), "git_add", paths=["."])[1]
    assert record.outcome == "ok", record.text
    assert git(repo, "diff", "--cached", "--name-status").splitlines() == [
        "D\ta.txt",
        "A\ta.txt/inner",
        "D\td/b.txt",
        "A\tlink",
    ]


def test_a_commit_that_concludes_a_merge_says_so(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "checkout", "-qb", "side")
    (repo / "side").write_text("s\n")
    git(repo, "add", "side")
    git(repo, "commit", "-qm", "side")
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-commit", "--no-ff", "side")
    other = git(repo, "rev-parse", "side")[:10]
    preview, record = asked(tools.board(answers="person"), "git_commit", message="m")
    assert f"concludes the merge of {other}" in preview and f"concluded the merge of {other}" in record.text
    assert len(git(repo, "log", "-1", "--format=%P").split()) == 2


@pytest.mark.parametrize(
    ("at", "leads"),
    [("logs/HEAD", "notes"), ("refs/heads/x", "notes"), ("COMMIT_EDITMSG", "notes"), ("logs/refs", "folder")],
)
def test_links_among_what_git_writes_are_refused(tools: Any, repo: Path, tmp_path: Path, at: str, leads: str) -> None:
    (tmp_path / "notes").write_text("0" * 40 + "\n")
    (tmp_path / "folder").mkdir()
    link = repo / ".git" / at
    if link.is_dir():
        link.rename(link.with_name("gone"))
    link.unlink(missing_ok=True)
    link.symlink_to(tmp_path / leads)
    (repo / "a.txt").write_text("changed\n")
    for name, arguments in [
        ("git_commit", {"message": "m", "all": True}),
        ("git_branch_create", {"name": "nn"}),
        ("git_rev_parse", {"ref": "x"}),
    ]:
        record = tools(name, **arguments)
        assert record.outcome == "error", (name, record.text)
    assert (tmp_path / "notes").read_text() == "0" * 40 + "\n" and not list((tmp_path / "folder").iterdir())


def test_a_fifo_among_the_refs_is_refused_at_once(tools: Any, repo: Path) -> None:
    os.mkfifo(repo / ".git" / "refs" / "heads" / "pipe")
    assert "pipe" in tools("git_branch").text


def test_hashes_of_files_show_nothing(tools: Any, repo: Path, git: Git) -> None:
    (repo / "secret").write_text("hunter2\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "s")
    blob, tree = git(repo, "rev-parse", "HEAD:secret").strip(), git(repo, "rev-parse", "HEAD:d").strip()
    other = git(repo, "rev-parse", "HEAD:a.txt").strip()
    git(repo, "tag", "-a", "-m", "t", "tagged", blob)
    for ref in (f"{blob}..{other}", f"{tree}..{tree}", f"HEAD...{blob}"):
        record = tools("git_diff", ref=ref)
        assert record.outcome == "error" and "hunter2" not in record.text and "is no commit" in record.text
    for ref in ("tagged", blob):
        record = tools("git_show", ref=ref)
        assert record.outcome == "error" and "hunter2" not in record.text
    assert "is no revision" in tools("git_diff", ref="nowhere..HEAD").text


def test_names_with_line_ends_make_no_lines_of_their_own(tools: Any, repo: Path) -> None:
    (repo / "zz\nOn main, clean.").write_text("x")
    record = tools("git_status")
    assert '"zz\\nOn main, clean."  (untracked)' in record.text.splitlines()
    assert "zz\nOn main, clean." in [entry["path"] for entry in record.data["entries"]]


def test_a_push_into_the_workspace_is_refused_however_it_is_spelled(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "clone", "-q", "--bare", ".", "inner.git")
    spelled = str(repo).replace("repo", "%72epo")
    for url in (f"file://{spelled}/inner.git", f"{repo}/inner"):
        git(repo, "remote", "remove", "origin") if "origin" in git(repo, "remote") else None
        git(repo, "remote", "add", "origin", url)
        record = tools("git_push")
        assert record.outcome == "error" and "lies in the workspace" in record.text, record.text
