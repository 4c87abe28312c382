"""glob with each of its engines: which files, in which order, how many, and what it refuses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pegboard.calls import Deny, TouchKind
from pegboard.errors import DoorError, ToolError
from pegboard.kit.caps import Caps
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk import GlobQuery, Paths, glob
from pegboard.kit.workspace import Workspace


class Tree:
    """A folder of empty files, listed with one engine."""

    def __init__(self, root: Path, engine: str) -> None:
        self.root = root
        self.settings = SearchSettings(engine=engine)  # type: ignore[arg-type]
        self.checks: list[Any] = []

    def add(self, *names: str, **texts: str) -> Tree:
        for name in names:
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts.get(name, ""))
        return self

    def ignore(self, *lines: str, file: str = ".gitignore") -> None:
        (self.root / file).write_text("\n".join(lines))

    async def glob(self, pattern: str, *, caps: Caps | None = None, **options: Any) -> Paths:
        workspace = Workspace(str(self.root), self.checks)
        return await glob(workspace, GlobQuery(pattern=pattern, **options), self.settings, caps=caps)

    async def paths(self, pattern: str, **options: Any) -> list[str]:
        return (await self.glob(pattern, **options)).paths


@pytest.fixture(params=["rg", "python"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    root = tmp_path / "w"
    root.mkdir()
    return Tree(root, request.param)


@pytest.mark.row("R-036", "Z-053")
async def test_files_are_found_at_any_depth_as_paths_from_the_root(tree: Tree) -> None:
    tree.add("a.py", "src/b.py", "src/deep/c.py", "src/d.js")
    assert await tree.paths("**/*.py") == ["a.py", "src/b.py", "src/deep/c.py"]
    assert await tree.paths("*.py", path="src") == ["src/b.py"]
    assert await tree.paths("*.py") == ["a.py"]
    assert await tree.paths("**/*.{js,rs}") == ["src/d.js"]
    assert await tree.paths("*.rs") == []
    assert str(await tree.glob("*.rs")) == '(no matches for "*.rs")'
    assert msgspec.to_builtins(await tree.glob("*.py"))["paths"] == ["a.py"]


@pytest.mark.row("S-043")
async def test_at_most_limit_paths_and_a_note_only_when_there_are_more(tree: Tree) -> None:
    tree.add(*(f"f{number:03}.txt" for number in range(201)))
    found = await tree.glob("*.txt")
    assert found.paths == [f"f{number:03}.txt" for number in range(200)] and found.more
    assert "more: showing the first 200 files" in str(found)
    whole = await tree.glob("*.txt", limit=201)
    assert len(whole.paths) == 201 and not whole.more and "showing" not in str(whole)
    tree.settings = msgspec.structs.replace(tree.settings, max_hits=5)
    assert len(await tree.paths("*.txt")) == 5


@pytest.mark.row("S-044", "S-046")
async def test_ignored_files_are_off_unless_wanted(tree: Tree) -> None:
    tree.add("build/a", "sub/x.log", "sub/y", "z.log", "hid/p", "q")
    tree.ignore("build/")
    tree.ignore("*.log", file="sub/.gitignore")
    tree.ignore("hid", file=".pegboardignore")
    assert await tree.paths("**") == ["q", "sub/y", "z.log"]
    assert await tree.paths("**", include_ignored=True) == ["build/a", "hid/p", "q", "sub/x.log", "sub/y", "z.log"]
    assert await tree.paths("build/*") == []
    assert "ignored" in str(await tree.glob("build/*"))
    assert await tree.paths("**", path="build") == ["build/a"]


async def test_a_pegboardignore_may_show_what_git_ignores(tree: Tree) -> None:
    tree.add("gen/a", "gen/b.log", "x.log", "y")
    tree.ignore("gen/", "*.log")
    tree.ignore("!gen/", file=".pegboardignore")
    assert await tree.paths("**") == ["gen/a", "y"]
    assert await tree.paths("gen/*") == ["gen/a"]


@pytest.mark.row("S-045")
async def test_git_and_node_modules_are_never_listed(tree: Tree) -> None:
    tree.add(".git/x", "node_modules/x", "sub/node_modules/x", "a")
    everything = {"include_ignored": True, "include_hidden": True}
    assert await tree.paths("**", **everything) == ["a"]
    assert await tree.paths("**/node_modules/*", **everything) == []
    assert await tree.paths("node_modules/x", **everything) == []
    assert await tree.paths("*", path=".git", **everything) == []


@pytest.mark.row("S-047")
async def test_links_are_neither_listed_nor_entered(tree: Tree) -> None:
    tree.add("real/a.txt")
    (tree.root.parent / "outside").mkdir()
    (tree.root.parent / "outside/secret.txt").write_text("")
    for name, target in {
        "out": "../outside",
        "in": "real",
        "leak.txt": "../outside/secret.txt",
        "dead.txt": "x",
    }.items():
        (tree.root / name).symlink_to(target)
    assert await tree.paths("**/*.txt") == ["real/a.txt"]
    assert await tree.paths("out/*.txt") == []
    assert await tree.paths("leak.txt") == []
    tree.settings = msgspec.structs.replace(tree.settings, follow_links=True)
    assert await tree.paths("**/*.txt") == ["in/a.txt", "real/a.txt"]


async def test_hidden_names_are_off_unless_the_pattern_or_path_names_them(tree: Tree) -> None:
    tree.add(".eslintrc.json", "a.json", ".github/ci.json", ".github/.x.json", "sub/.b.json")
    assert await tree.paths("**/*.json") == ["a.json"]
    assert await tree.paths(".eslintrc.json") == [".eslintrc.json"]
    assert await tree.paths(".*.json") == [".eslintrc.json"]
    assert await tree.paths("**/.*.json") == [".eslintrc.json", "sub/.b.json"]
    assert await tree.paths(".github/*.json") == [".github/ci.json"]
    assert await tree.paths("*.json", path=".github") == [".github/ci.json"]
    assert len(await tree.paths("**/*.json", include_hidden=True)) == 5


async def test_a_pattern_that_is_a_name_is_taken_as_the_name(tree: Tree) -> None:
    tree.add("src/[id].tsx", "src/i.tsx", "{a,b}.ts", "a.ts", "out.log", "caf*")
    tree.ignore("*.log")
    assert await tree.paths("src/[id].tsx") == ["src/[id].tsx"]
    assert await tree.paths("[id].tsx", path="src") == ["src/[id].tsx"]
    assert await tree.paths("{a,b}.ts") == ["{a,b}.ts"]
    assert await tree.paths("src/[i]*.tsx") == ["src/i.tsx"]
    assert await tree.paths("out.log") == ["out.log"]
    assert await tree.paths(str(tree.root / "a.ts")) == ["a.ts"]
    assert "src is a folder; src/** names what is in it" in str(await tree.glob("src"))


async def test_names_may_hold_anything(tree: Tree) -> None:
    tree.add("two\nlines.txt", "-x.txt")
    with open(os.fsencode(tree.root) + b"/caf\xe9.txt", "w"):
        pass
    found = await tree.glob("*.txt")
    assert found.paths == ["-x.txt", "caf\\xe9.txt", "two\nlines.txt"]
    assert str(found).splitlines() == ["-x.txt", "caf\\xe9.txt", "two\\nlines.txt"]
    assert await tree.paths("caf\\xe9.txt") == ["caf\\xe9.txt"]


def at_times(tree: Tree, times: Iterable[tuple[str, int]]) -> None:
    for name, seconds in times:
        os.utime(tree.add(name).root / name, (seconds, seconds))


@pytest.mark.row("Z-054")
async def test_by_mtime_the_newest_comes_first_and_ties_go_by_path(tree: Tree) -> None:
    at_times(tree, [("a.py", 100), ("b/c.py", 300), ("d.py", 200), ("e.py", 100)])
    assert await tree.paths("**/*.py", sort="mtime") == ["b/c.py", "d.py", "a.py", "e.py"]
    os.utime(tree.root / "e.py", (400, 400))
    assert await tree.paths("**/*.py", sort="mtime", limit=2) == ["e.py", "b/c.py"]


@pytest.mark.row("U-026")
async def test_the_order_is_by_path_folder_by_folder(tree: Tree) -> None:
    names = ["B", "a-b", "a.txt", "a/x", "a/é", "b"]
    tree.add(*reversed(names))
    assert await tree.paths("**") == ["B", "a/x", "a/é", "a-b", "a.txt", "b"]
    assert await tree.paths("**") == await tree.paths("**")


@pytest.mark.parametrize("pattern", ["../**", "../outside/*", "{..,x}/outside/*", "a/../../x", "/etc/*", "/"])
async def test_a_pattern_that_leaves_the_root_is_refused(tree: Tree, pattern: str) -> None:
    with pytest.raises(DoorError, match="Path escapes workspace: ") as raised:
        await tree.glob(pattern)
    assert raised.value.reason == "escapes"


async def test_a_search_path_that_is_missing_or_a_file_is_an_error(tree: Tree) -> None:
    tree.add("a.txt")
    with pytest.raises(DoorError, match="nosuch"):
        await tree.glob("*", path="nosuch")
    with pytest.raises(DoorError, match=r"a\.txt is a file"):
        await tree.glob("*", path="a.txt")
    with pytest.raises(ToolError, match="empty"):
        await tree.glob("")


async def test_protected_files_are_left_out_and_counted(tree: Tree) -> None:
    def no_keys(kind: TouchKind, path: str) -> Deny | None:
        return Deny("keys", "no") if path.endswith(".key") else None

    tree.checks = [no_keys]
    tree.add("a.key", "b", "sub/c.key")
    found = await tree.glob("**")
    assert (found.paths, found.left_out) == (["b"], 2)
    assert str(found) == "b\n(2 protected files were left out)"
    assert await tree.paths("a.key") == []


async def test_the_text_stops_at_the_caps(tree: Tree) -> None:
    tree.add(*(f"{'x' * 90}{number:03}" for number in range(100)))
    found = await tree.glob("*", caps=Caps(max_chars=4000))
    assert 20 < len(found.paths) < 40 and found.more and len(str(found)) <= 4000
