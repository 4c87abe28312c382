"""Ignore rules: what is in force in each folder, compared with git and, over generated trees, with rg."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard.kit.names import shown
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import GlobQuery, Scope, glob, top_scope
from pegboard.kit.walk.rules import parse
from pegboard.kit.walk.walker import Rules, walk
from pegboard.kit.workspace import Workspace

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

Build = Callable[[dict[str, str]], Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    def make(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / "w" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / "w"

    return make


def seen(root: Path, start: str = "", *, require_git: bool = False, **rules: bool) -> set[str]:
    """What a walk of our own yields, without the ignore files."""
    scope = top_scope(str(root), require_git=require_git).descend(
        [os.fsencode(part) for part in start.split("/") if part]
    )
    found = walk(os.fsencode(root), os.fsencode(start), scope, Rules(**rules), lambda path, error: None)
    return {os.fsdecode(path) for path in found if b"ignore" not in path}


def test_a_nested_file_counts_in_its_own_folder_only(build: Build) -> None:
    root = build({"sub/.gitignore": "x\n", "sub/x": "", "sub/deep/x": "", "x": "", "other/x": ""})
    assert seen(root) == {"x", "other/x"}


def test_a_nested_negation_takes_back_what_is_ignored_above(build: Build) -> None:
    root = build({".gitignore": "*.txt\n", "sub/.gitignore": "!*.txt\n", "a.txt": "", "sub/b.txt": ""})
    assert seen(root) == {"sub/b.txt"}


def test_nothing_in_an_ignored_folder_is_taken_back(build: Build) -> None:
    assert seen(build({".gitignore": "build/\n!build/keep\n", "build/keep": "", "x": ""})) == {"x"}


def test_ignore_decides_before_gitignore_at_any_depth(build: Build) -> None:
    root = build({".ignore": "!a.log\n", "sub/.gitignore": "*.log\n", "sub/a.log": "", "sub/b.log": ""})
    assert seen(root) == {"sub/a.log"}


def test_pegboardignore_hides_more_and_at_the_root_shows_what_others_hide(build: Build) -> None:
    files = {".gitignore": "gen/\n*.log\n", "gen/a": "", "x.log": "", "sub/y.log": "", "sub/b": ""}
    root = build({**files, ".pegboardignore": "!gen/\nsub/b\n", "sub/.pegboardignore": "!y.log\n!b\n"})
    assert seen(root) == {"gen/a", "sub/b"}  # a nested negation takes back only what a .pegboardignore hid


def test_without_a_repository_gitignore_counts_unless_require_git(build: Build) -> None:
    root = build({".gitignore": "x\n", ".ignore": "y\n", "x": "", "y": "", "z": ""})
    assert seen(root) == {"z"}
    assert seen(root, require_git=True) == {"x", "z"}


def test_with_require_git_a_repository_below_has_its_own_rules(build: Build) -> None:
    root = build(
        {".gitignore": "x\n", "repo/.git/HEAD": "", "repo/.gitignore": "y\n", "x": "", "repo/x": "", "repo/y": ""}
    )
    assert seen(root, require_git=True) == {"x", "repo/x"}


def test_a_root_inside_a_repository_keeps_that_repositorys_rules(build: Build) -> None:
    top = build({".git/HEAD": "", ".gitignore": "*.log\n/app/dist\n/dist\nlib/*.o\n", ".ignore": "y\n"})
    root = build({f"app/{name}": "" for name in ("x.log", "y", "dist/a", "src/dist", "lib/a.o")}) / "app"
    assert seen(root) == {"y", "src/dist", "lib/a.o"}  # `.ignore` is not read above the root
    assert top == root.parent


def test_a_repository_that_ignores_the_root_itself_has_no_say(build: Build) -> None:
    root = build({".git/HEAD": "", ".gitignore": "*\n", "app/x": ""}) / "app"
    assert seen(root) == {"x"}


def test_above_the_root_nothing_is_read_outside_of_a_repository(build: Build) -> None:
    root = build({".gitignore": "*\n", ".ignore": "*\n", "app/x": ""}) / "app"
    assert seen(root) == {"x"}


def test_git_info_exclude_comes_last(build: Build) -> None:
    root = build({".git/info/exclude": "x\ny\n", ".gitignore": "!y\n", "x": "", "y": ""})
    assert seen(root) == {"y"}


def test_ignore_files_that_are_links_pipes_or_folders_are_passed_over(build: Build, tmp_path: Path) -> None:
    root = build({"x": "", "sub/x": "", "deep/.gitignore/file": "", "deep/x": ""})
    (tmp_path / "rules").write_text("x\n")
    (root / ".gitignore").symlink_to(tmp_path / "rules")
    os.mkfifo(root / "sub/.gitignore")
    assert seen(root) == {"x", "sub/x", "deep/x"}


@pytest.mark.row("S-045")
def test_git_and_node_modules_are_never_walked(build: Build) -> None:
    root = build(
        {".git/x": "", "node_modules/x": "", "sub/node_modules/x": "", "sub/.git": "", ".gitignore": "!*\n", "a": ""}
    )
    assert seen(root, hidden=True, ignored=True) == {"a"}


def test_links_are_walked_only_when_wanted_and_only_inside(build: Build, tmp_path: Path) -> None:
    root = build({"real/x": "", "node_modules/y": ""})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("")
    (root / "in").symlink_to("real")
    (root / "loop").symlink_to(".")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "dead").symlink_to("nowhere")
    (root / "file").symlink_to("real/x")
    (root / "mods").symlink_to("node_modules")
    assert seen(root) == {"real/x"}
    assert seen(root, links=True) == {"real/x", "in/x", "file"}


def test_a_very_deep_tree_is_walked() -> None:
    top = Path(tempfile.mkdtemp())  # not tmp_path: pytest cannot remove what is this deep
    try:
        folder = os.open(top, os.O_RDONLY)
        for _ in range(1200):
            os.mkdir("d", dir_fd=folder)
            inner = os.open("d", os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.close(os.open("x", os.O_CREAT, dir_fd=folder))
        os.close(folder)
        assert seen(top) == {"d/" * 1200 + "x"}
    finally:
        subprocess.run(["rm", "-rf", str(top)], check=True)


def test_a_scope_answers_for_a_walk_of_ones_own(build: Build) -> None:
    root = build({".gitignore": "build/\n", "src/.gitignore": "*.o\n"})
    scope: Scope = top_scope(root.as_posix())
    assert scope.ignored(b"build", folder=True)
    assert not scope.ignored(b"build", folder=False)
    assert scope.enter(b"src").ignored(b"a.o", folder=False)


def test_rules_are_written_out_for_a_folder_further_down(build: Build) -> None:
    root = build(
        {".git/HEAD": "", ".gitignore": "*.o\n/a/gen\n", "a/.ignore": "!/b/keep\ntmp/\n", "a/b/.gitignore": "own\n"}
    )
    lines = list(top_scope(str(root)).descend([b"a", b"b"]).lines())
    assert lines == [b"*.o\n", b"/a/gen\n", b"!/a/b/keep\n", b"/a/**/tmp/\n"]


def test_rules_for_a_folder_with_an_odd_name_stay_one_line_each(build: Build) -> None:
    root = build({"two\nlines/.gitignore": "*.o\n", "two\nlines/sub/x": ""})
    assert list(top_scope(str(root)).descend([b"two\nlines", b"sub"]).lines()) == [b"/*/**/*.o\n"]


def test_a_hostile_ignore_file_does_not_stall_a_walk(build: Build) -> None:
    root = build({".gitignore": "*a" * 40 + "b\n" + "**/a/" * 20 + "b\n", "a" * 250: ""})
    assert len(seen(root)) == 1


# --- compared with git and rg over generated trees --------------------------------------------------------------------

NAMES = [b"a", b"b", b"c.x", b"d.y", b".h", b"a.x", b"e f", b"[z]", "é".encode(), b"\xe9", b"q\nr", b"!n", b"#m", b"*s"]
PATTERNS = [
    "a", "b", "*.x", "!*.x", "/a", "a/", "!a/", "a/b", "/a/*", "**/b", "a/**", "!a/b", "a/**/b", "*", "!*/", "!c.x",
    "?.x", "[ab].x", "[!a].x", ".h", "!.h", "**", "/**", "*/", "/*", "!/a", "a/*/c.x", "**/a/", "é", "d.*", "!d.y",
    "*b*", "a*x", "!b/", "b/*", "!b/c.x", "/b/a/", "q*", "[a-c]", "!?.y", "/*/b", "!/*/a", "a/b/", "**/a/b", "b/**/",
    "a**", "a**b", "/**/c.x", "\\*s", "\\!n", "\\#m", "\\[z\\]", "[[]z]", "#m",
]  # fmt: skip
ODD = ["e f", "c.x ", "c.x\\ ", "", "# comment"]

rules = st.lists(st.sampled_from(PATTERNS + ODD), max_size=5)
folders = st.recursive(
    st.just({}), lambda inner: st.dictionaries(st.sampled_from(NAMES), st.none() | inner, max_size=5), max_leaves=12
)


def ignore_files(*names: str) -> st.SearchStrategy[list[tuple[str, int, list[str], str]]]:
    """Ignore files: name, number of the folder they lie in, lines, line end."""
    return st.lists(
        st.tuples(st.sampled_from(names), st.integers(0, 20), rules, st.sampled_from(["\n", "\n", "\r\n"])), max_size=5
    )


@contextmanager
def repository(
    tree: dict[bytes, dict | None], files: list[tuple[str, int, list[str], str]]
) -> Iterator[tuple[str, list[str]]]:
    """A repository with that tree and those ignore files: its root, and its folders relative to it."""
    root = os.path.realpath(tempfile.mkdtemp(prefix="walk-"))
    found = ["."]

    def make(folder: bytes, inner: dict[bytes, dict | None]) -> None:
        for name, below in inner.items():
            path = os.path.join(folder, name)
            if below is None:
                Path(os.fsdecode(path)).write_text("needle\n")
            else:
                os.mkdir(path)
                found.append(os.path.relpath(os.fsdecode(path), root))
                make(path, below)

    try:
        make(os.fsencode(root), tree)
        for name, number, lines, end in files:
            text = "".join(line + end for line in lines)
            Path(root, found[number % len(found)], name).write_bytes(text.encode())
        os.symlink("a", os.path.join(root, "link"))
        for name in (".git", ".git/objects", ".git/refs"):
            os.mkdir(os.path.join(root, name))
        Path(root, ".git/HEAD").write_text("ref: refs/heads/main\n")
        yield root, found
    finally:
        shutil.rmtree(root)


def by_git(root: str) -> set[str]:
    """All regular files that `git check-ignore` does not know as ignored."""
    top = os.fsencode(root)
    files = [
        os.path.relpath(os.path.join(folder, name), top)
        for folder, _, names in os.walk(top)
        for name in names
        if b"/.git/" not in folder + b"/" and not os.path.islink(os.path.join(folder, name))
    ]
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"], cwd=root, input=b"\0".join(files), capture_output=True
    )
    assert done.returncode in (0, 1), done.stderr
    return {shown(os.fsdecode(name)) for name in set(files) - set(done.stdout.split(b"\0"))}


def by_walk(root: str, start: str, *, hidden: bool) -> list[str]:
    parts = [] if start == "." else os.fsencode(start).split(b"/")
    scope = top_scope(root).descend(parts)
    found = walk(os.fsencode(root), b"/".join(parts), scope, Rules(hidden=hidden), lambda path, error: None)
    return [shown(os.fsdecode(path)) for path in found]


def by_rg(root: str, start: str, *, hidden: bool) -> list[str]:
    query = GlobQuery(pattern="**", path=start, limit=10_000, include_hidden=hidden)
    return asyncio.run(glob(Workspace(root), query, SearchSettings(engine="rg"))).paths


compared = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@needs_git
@pytest.mark.row("S-044", "S-046")
@compared
@given(folders, ignore_files(".gitignore"))
def test_a_walk_and_rg_ignore_what_git_ignores(tree: dict, files: list) -> None:
    with repository(tree, files) as (root, _):
        walked = by_walk(root, ".", hidden=True)
        assert set(walked) == by_git(root)
        assert by_rg(root, ".", hidden=True) == walked


@pytest.mark.row("S-049", "U-026")
@compared
@given(folders, ignore_files(".gitignore", ".ignore", ".pegboardignore"), st.integers(0, 20), st.booleans())
def test_both_engines_see_the_same_files_in_the_same_order(tree: dict, files: list, number: int, hidden: bool) -> None:
    with repository(tree, files) as (root, found):
        start = found[number % len(found)]
        assert by_rg(root, start, hidden=hidden) == by_walk(root, start, hidden=hidden)


@given(st.binary(max_size=60))
def test_any_bytes_are_an_ignore_file(data: bytes) -> None:
    if rules := parse(data):
        rules.decide(b"a/b", b"b", False)
        for rule in rules.rules:
            rule.moved_down([b"a"])
            rule.moved_up([b"a"])
