"""Where things are: the workspace root, the user's file, the state folder."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard.config import places
from pegboard.config.places import config_file, find_root, own_files, state_folder
from pegboard.errors import ConfigError
from pegboard.tooling import tool
from pegboard.touches import Reads


@pytest.fixture
def tree(tmp_path: Path) -> Callable[..., Path]:
    """Make folders below the test's own and return one of them."""

    def make(*names: str) -> Path:
        for name in names:
            (tmp_path / name).mkdir(parents=True, exist_ok=True)
        return tmp_path

    return make


@pytest.mark.row("R-086")
def test_the_root_is_what_was_asked_for(tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    top = tree("a/.pegboard", "a/b", "c")
    assert find_root(str(top / "c"), str(top / "a")) == (str(top / "c"), [])
    monkeypatch.chdir(top / "a")
    assert find_root("b") == (str(top / "a" / "b"), [])


@pytest.mark.parametrize("asked", ["nothing", "file"])
def test_what_is_no_folder_is_refused(tree: Callable[..., Path], asked: str) -> None:
    top = tree()
    (top / "file").write_text("")
    with pytest.raises(ConfigError, match="is not a folder; nothing was started"):
        find_root(str(top / asked))


@pytest.mark.row("R-086")
@pytest.mark.parametrize(
    ("folders", "here", "root"),
    [
        (["a/.pegboard", "a/b/c"], "a/b/c", "a"),
        (["a/.pegboard", "a/b/.pegboard", "a/b/c"], "a/b/c", "a/b"),
        (["a/.git", "a/b"], "a/b", "a"),
        (["a/.pegboard", "a/b/.git", "a/b/c"], "a/b/c", "a"),  # the project's marker counts before the repository's
        (["a/b/.pegboard", "a/.git", "a/b/c"], "a/b/c", "a/b"),
        (["a/b"], "a/b", "a/b"),
        (["a/.pegboard"], "a", "a"),
    ],
)
def test_the_nearest_project_then_the_repository_then_here(
    tree: Callable[..., Path], folders: list[str], here: str, root: str
) -> None:
    top = tree(*folders)
    assert find_root(None, str(top / here)) == (str(top / root), [])


def test_a_git_file_marks_a_worktree_too(tree: Callable[..., Path]) -> None:
    top = tree("a/b")
    (top / "a" / ".git").write_text("gitdir: elsewhere\n")
    assert find_root(None, str(top / "a" / "b"))[0] == str(top / "a")


@pytest.mark.parametrize("marker", [".pegboard", ".git"])
def test_a_marker_of_somebody_else_is_passed_over_and_told(
    tree: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, marker: str
) -> None:
    top = tree(f"shared/{marker}", "shared/mine/here")

    def lstat(path: Any, *rest: Any) -> os.stat_result:
        found = os.stat(path, follow_symlinks=False)
        if os.fspath(path) == str(top / "shared" / marker):
            found = os.stat_result((*found[:4], 54321, *found[5:10]))
        return found

    monkeypatch.setattr(places.os, "lstat", lstat)
    root, notes = find_root(None, str(top / "shared" / "mine" / "here"))
    assert root == str(top / "shared" / "mine" / "here")
    assert len(notes) == 1
    assert str(top / "shared" / marker) in notes[0] and "--path" in notes[0]


@pytest.mark.row("R-087")
def test_from_home_every_folder_below_it_is_inside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "one").mkdir()
    (home / "two").mkdir()
    (home / "two" / "a.txt").write_text("x")
    monkeypatch.chdir(home)

    @tool
    def peek(path: Annotated[str, Reads("A file")]) -> str:
        """Look."""
        return path

    from pegboard.testing.bench import TestBoard

    root, _ = find_root(None)
    assert root == str(home)
    board = TestBoard(Path(root), tools=[peek], answers="headless", state=home.parent / "state")
    for path in ("two/a.txt", str(home / "two" / "a.txt"), "one/../two/a.txt"):
        record = board.call("peek", path=path)
        assert (record.outcome, record.decision.action if record.decision else None) == ("ok", "allow")
    board.close()


def test_folders_follow_the_environment() -> None:
    environ = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}
    assert config_file(environ) == Path("/c/pegboard/config.toml")
    assert state_folder(environ) == Path("/s/pegboard")


def test_without_it_they_are_the_platforms(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name)
    for found in (config_file({}), config_file({"XDG_CONFIG_HOME": ""}), state_folder({})):
        assert found.is_relative_to(home)
        assert "pegboard" in found.parts


def test_pegboards_own_files_inside_the_root_are_not_changed_by_tools(tmp_path: Path) -> None:
    check = own_files(str(tmp_path), [tmp_path / ".config" / "pegboard", tmp_path / "state"])
    for path in (".config/pegboard", ".config/pegboard/config.toml", "state/sessions/x", "STATE/x"):
        denied = check("edit", path)
        assert denied is not None and denied.rule == "paths.own"
        assert check("read", path) is None
    for path in (".config/other", "state2/x", ".config", "a"):
        assert check("edit", path) is None
    elsewhere = own_files(str(tmp_path / "work"), [tmp_path / "state"])
    assert elsewhere("edit", "state/x") is None
