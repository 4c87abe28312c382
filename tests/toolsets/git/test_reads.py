"""git_diff, git_log, git_show, git_blame, git_branch, git_rev_parse and the dispatcher, over real repositories."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.events import CallAsked
from pegboard.testing.bench import TestBoard

Git = Callable[..., str]


@pytest.mark.row("S-070")
def test_the_diff_is_of_unstaged_changes_and_of_staged_ones_where_asked(tools: Any, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("one\ntwo\nstaged\n")
    git(repo, "add", "a.txt")
    (repo / "a.txt").write_text("one\ntwo\nstaged\nloose\n")

    assert "+loose" in tools("git_diff").text and "+staged" not in tools("git_diff").text
    assert "+staged" in tools("git_diff", staged=True).text and "+loose" not in tools("git_diff", cached=True).text
    both = tools("git_diff", ref="HEAD").text
    assert both.startswith("diff --git a/a.txt b/a.txt\n") and "+staged\n+loose" in both
    assert "-two" in tools("git_diff", ref="HEAD..HEAD^").text
    assert "Give the file as path." in tools("git_diff", ref="HEAD:a.txt").text


def test_an_empty_diff_says_what_there_is_none_of(tools: Any) -> None:
    assert tools("git_diff").text.startswith("No unstaged changes.")
    assert tools("git_diff", staged=True).text == "Nothing is staged."
    assert tools("git_diff", ref="HEAD").text == "No difference from HEAD."


@pytest.mark.row("C-051")
def test_pathspecs_limit_the_diff_and_are_literal(tools: Any, repo: Path) -> None:
    (repo / "a.txt").write_text("A\n")
    (repo / "d" / "b.txt").write_text("B\n")

    assert "+A" not in tools("git_diff", pathspec=["d/b.txt"]).text
    assert "+B" in tools("git_diff", pathspec=["d/b.txt"]).text
    several = tools("git_diff", path=["a.txt", "d"]).text
    assert "+A" in several and "+B" in several
    for magic in ("*.txt", ":(glob)**", ":!a.txt", ":/"):
        assert "+A" not in tools("git_diff", path=magic).text


def test_a_long_diff_is_cut_at_a_line_end_and_goes_on_from_there(tools: Any, repo: Path) -> None:
    (repo / "a.txt").write_text("".join(f"line {n}\n" for n in range(300)))
    board = tools.board(settings={"output.max_lines": 50})
    whole = tools("git_diff").text.splitlines()

    got: list[str] = []
    record = board.call("git_diff")
    while record.truncated:
        *lines, last = record.text.splitlines()
        got += lines
        assert last == f"... (more: offset={len(got) + 1})"
        record = board.call("git_diff", offset=len(got) + 1)
    assert got + record.text.splitlines() == whole
    assert record.data["last"] == len(whole)
    assert "there is no line 9999" in board.call("git_diff", offset=9999).text


def test_a_line_longer_than_a_page_is_cut(tools: Any, repo: Path) -> None:
    (repo / "a.txt").write_text("x" * 200_000 + "\n")
    record = tools("git_diff", offset=8)
    assert record.text.endswith(" ... (cut)\n... (more: offset=9)") and len(record.text) < 20_000


def test_files_that_may_not_be_read_are_left_out_of_diffs(repo: Path, tools: Any, git: Git) -> None:
    (repo / ".env").write_text("TOKEN=old\n")
    git(repo, "add", "-f", ".env")
    git(repo, "commit", "-q", "-m", "env")
    (repo / ".env").write_text("TOKEN=new\n")
    (repo / "a.txt").write_text("A\n")
    board = tools.guarded()

    for name, arguments in (
        ("git_diff", {"ref": "HEAD^"}),
        ("git_diff", {}),
        ("git_show", {}),
        ("git_log", {"patch": True, "limit": 2}),
        ("git_show", {"ref": "HEAD:.env"}),
        ("git_show", {"ref": ":.env"}),
        ("git_blame", {"path": ".env"}),
        ("git_show", {"ref": git(repo, "rev-parse", "HEAD:.env").strip()}),
    ):
        record = board.call(name, **arguments)
        assert "TOKEN" not in record.text, (name, arguments)
    assert "(left out, because they may not be read: .env)" in board.call("git_diff").text
    assert "+A" in board.call("git_diff").text
    assert "+two" in board.call("git_log", patch=True, limit=2).text  # the commit before is whole


@pytest.mark.row("S-071")
def test_the_log_is_a_line_a_commit_newest_first_fifteen_and_never_over_forty(tools: Any, repo: Path, git: Git) -> None:
    for number in range(45):
        git(repo, "commit", "-q", "--allow-empty", "-m", f"number {number}")

    lines = tools("git_log").text.splitlines()
    newest = git(repo, "log", "-1", "--format=%h %ad Test: %s", "--date=format:%Y-%m-%d %H:%M").strip()
    assert (len(lines), lines[0]) == (15, newest)
    assert len(tools("git_log", n=3).data["commits"]) == 3
    many = tools("git_log", limit=100)
    assert len(many.data["commits"]) == 40
    older = many.text.splitlines()[-1]
    assert older.startswith("(40 is the most; ref=")
    assert (
        tools("git_log", limit=1, ref=older.split("ref=")[1].split(" ")[0]).data["commits"][0]["subject"] == "number 4"
    )

    commit = tools("git_log", limit=1, path="d").data["commits"]
    assert [set(one) for one in commit] == [{"hash", "date", "author", "subject"}]
    assert (commit[0]["subject"], commit[0]["author"], len(commit[0]["hash"])) == ("first", "Test", 40)


def test_the_log_with_patches_and_of_no_commits(
    tools: Any, tools_over: Callable[[Path], Any], tmp_path: Path, git: Git
) -> None:
    text = tools("git_log", patch=True, path="a.txt").text
    assert text.index("    second") < text.index("+two") < text.index("    first") < text.index("+one")

    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q")
    record = tools_over(fresh)("git_log")
    assert (record.outcome, record.text, record.data) == ("ok", "No commits yet.", {"commits": []})


@pytest.mark.row("S-072")
def test_show_gives_message_author_and_diff(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "tag", "-a", "v1", "-m", "the release", "HEAD^")

    text = tools("git_show", ref="HEAD").text
    assert text.startswith(f"commit {git(repo, 'rev-parse', 'HEAD').strip()}\nauthor Test <test@example.com>\ndate ")
    assert "    second" in text and "+two" in text
    assert "the release" in tools("git_show", ref="v1").text
    assert "+b" not in tools("git_show", ref="HEAD^", path="a.txt").text
    assert tools("git_show", ref="HEAD^:a.txt").text == "one"


@pytest.mark.row("S-069")
def test_gits_own_message_is_passed_on(tools: Any) -> None:
    record = tools("git_show", ref="no-such-ref")
    assert record.outcome == "error"
    assert "no-such-ref" in record.text and "fatal: " in record.text and record.text.endswith("Nothing was changed.")


@pytest.mark.row("S-066")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("git_log", {"path": "; touch pwned.txt"}),
        ("git_log", {"ref": '--author="; touch pwned.txt"'}),
        ("git_log", {"ref": "--output=pwned.txt"}),
        ("git_diff", {"ref": "HEAD --output=pwned.txt"}),
        ("git_show", {"ref": "HEAD;touch pwned.txt"}),
        ("git_show", {"ref": "HEAD\n--output=pwned.txt"}),
        ("git_blame", {"path": "a.txt", "ref": "--contents=pwned.txt"}),
        ("git_rev_parse", {"ref": "--git-dir"}),
    ],
)
def test_every_argument_stays_one_literal_word(tools: Any, repo: Path, name: str, arguments: dict[str, Any]) -> None:
    before = sorted(os.listdir(repo))
    record = tools(name, **arguments)
    assert record.outcome == "error" or record.text == "No commits."
    assert sorted(os.listdir(repo)) == before


@pytest.mark.row("S-073")
def test_blame_is_of_the_whole_file_or_of_forty_lines_from_a_start(tools: Any, repo: Path, git: Git) -> None:
    (repo / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "long")
    day = git(repo, "log", "-1", "--format=%ad", "--date=short").strip()
    full = git(repo, "rev-parse", "HEAD").strip()

    whole = tools("git_blame", path="long.txt")
    assert len(whole.data["lines"]) == 100
    assert whole.text.splitlines()[0] == f"{full[:7]} {day} Test 1: line 1"
    assert [line["line"] for line in tools("git_blame", path="long.txt", startLine=11).data["lines"]] == list(
        range(11, 51)
    )
    assert [line["line"] for line in tools("git_blame", path="long.txt", start_line=5, endLine=7).data["lines"]] == [
        5,
        6,
        7,
    ]
    assert tools("git_blame", path="long.txt", start_line=7, end_line=5).outcome == "error"
    assert len(tools("git_blame", path="a.txt", ref="HEAD^^").data["lines"]) == 1

    (repo / "a.txt").write_text("one\ntwo\nthree\n")
    last = tools("git_blame", path="a.txt").data["lines"][-1]
    assert (last["hash"], last["author"], last["text"]) == (None, "not committed", "three")
    cut = tools.board(settings={"output.max_lines": 10}).call("git_blame", path="long.txt")
    assert cut.truncated and cut.text.splitlines()[-1] == f"... (more: start_line={len(cut.data['lines']) + 1})"


def test_branches_and_revisions(tools: Any, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic", "HEAD^")
    record = tools("git_branch")
    short = git(repo, "rev-parse", "--short=7", "HEAD").strip()
    assert f"* main {short} second" in record.text.splitlines()
    assert {(b["name"], b["current"]) for b in record.data["branches"]} == {("main", True), ("topic", False)}
    assert tools("git_rev_parse", ref="topic").text == git(repo, "rev-parse", "topic").strip()


@pytest.mark.row("R-040", "R-041")
def test_git_is_accepted_with_an_action_advertised_to_nobody_and_changes_nothing(tools: Any, repo: Path) -> None:
    (repo / "a.txt").write_text("changed\n")
    board = tools.board()
    for action in ("status", "diff", "log", "branch", "show", "rev_parse"):
        assert board.call("git", action=action).text == board.call(f"git_{action}").text
    assert board.call("git", command="git status").text == board.call("git_status").text
    assert board.call("git", action="show", ref="nope").text == board.call("git_show", ref="nope").text
    for action in ("commit", "push", "add", "checkout"):
        assert board.call("git", action=action).block == "invalid_arguments"
    asked = [event.tool for event in board.events if isinstance(event, CallAsked) and event.lane != "root"]
    assert "git_status" in asked  # each is judged as itself
    denied = tools.board(settings={"tools.deny": ["git_diff"]})
    assert denied.call("git", action="diff").outcome == "error"
    assert denied.call("git", action="log").outcome == "ok"
    assert "git" not in [offer.name for offer in board.board.offers()]
    assert "git," not in board.call("gti").text


@pytest.mark.row("S-065", "S-001", "S-017")
def test_the_set_reads_only_and_asks_nobody(tools: Any, repo: Path) -> None:
    os.utime(repo / "a.txt", (1, 1))  # git would refresh the index
    before = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
    board: TestBoard = tools.board(answers="headless")
    for name, arguments in (
        ("git_status", {}),
        ("git_diff", {}),
        ("git_log", {"patch": True}),
        ("git_show", {}),
        ("git_blame", {"path": "a.txt"}),
        ("git_branch", {}),
        ("git_rev_parse", {}),
        ("git", {"action": "status"}),
    ):
        record = board.call(name, **arguments)
        assert (record.outcome, record.decision.action if record.decision else None) == ("ok", "allow"), name
    assert {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()} == before
    assert board.call("git_diff").text.startswith("No unstaged changes.")  # a time stamp is no change
    made = board.board.registry.expand(["git"])
    assert {tool.effect for tool in made} == {"read_only"}
    five = [tool for tool in made if tool.name in ("git_status", "git_diff", "git_log", "git_show", "git_blame")]
    assert len(five) == 5 and sum(tool.wire_size() for tool in five) < 2_180


def test_what_may_not_be_read_is_not_had_by_its_hash(tools: Any, repo: Path, git: Git) -> None:
    (repo / ".env").write_text("TOKEN=hunter2\n")
    (repo / ".ssh").mkdir()
    (repo / ".ssh" / "id_rsa").write_text("hunter2\n")
    git(repo, "add", "-A", "-f")
    git(repo, "commit", "-q", "-m", "secrets")
    blob, tree = (git(repo, "rev-parse", f"HEAD:{name}").strip() for name in (".env", ".ssh"))
    other = git(repo, "rev-parse", "HEAD:a.txt").strip()
    git(repo, "tag", "-a", "-m", "t", "of-blob", blob)
    git(repo, "tag", "-a", "-m", "t", "of-tree", tree)

    for ref in (f"{blob}..{other}", f"{tree}..{tree}", f"HEAD...{blob}"):
        record = tools("git_diff", ref=ref)
        assert record.outcome == "error" and "hunter2" not in record.text and "is no commit" in record.text, ref
    for ref in (blob, tree, "of-blob", "of-tree"):
        record = tools("git_show", ref=ref)
        assert record.outcome == "error" and "hunter2" not in record.text, ref
    assert "is no revision" in tools("git_diff", ref="nowhere..HEAD").text

    guarded = tools.guarded().call
    assert guarded("git_rev_parse", ref="HEAD:.env").outcome == "blocked"
    assert guarded("git_rev_parse", ref="HEAD:a.txt").outcome == "ok"
    for ref in (f"{blob}..HEAD:a.txt", f"HEAD..{blob}", f"{tree}..{tree}", blob, "of-blob", f":/secrets..{blob}"):
        assert guarded("git_diff", ref=ref).outcome == "error", ref
    for ref in (blob, tree, "of-blob", "of-tree", f"{tree}:id_rsa", "HEAD^{tree}", "of-tree:id_rsa"):
        record = guarded("git_show", ref=ref)
        assert record.outcome in ("error", "blocked") and "hunter2" not in record.text, ref
    git(repo, "tag", "-a", "-m", "a release", "v1")
    for ref in ("v1", "HEAD^!", ":/second", "HEAD^..HEAD", "HEAD~1:a.txt", "HEAD^{/sec}", ":a.txt", ":0:a.txt"):
        assert guarded("git_show", ref=ref).outcome == "ok", ref
    assert "usage:" not in guarded("git_diff", ref="HEAD HEAD").text


def test_a_branch_of_a_remote_says_so_in_words(tools: Any, repo: Path, remote: Path) -> None:
    lines = tools("git_branch").text.splitlines()
    assert [re.sub(r" [0-9a-f]{7} .*", "", line) for line in lines] == ["* main", "  origin/main (remote)"]
