"""Repositories built by git itself, and a board with both sets over a copy of one."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.calls import Record
from pegboard.testing.bench import TestBoard
from pegboard_tools_git import reads, writes

Git = Callable[..., str]


def run_git(folder: Path, *argv: str) -> str:
    """What git prints; it must come out well."""
    done = subprocess.run(["git", *argv], cwd=folder, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    return done.stdout.decode("utf-8", "surrogateescape")


@pytest.fixture(scope="session")
def git() -> Git:
    return run_git


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two commits by Test on `main`: a.txt (`one`, then `one two`) and d/b.txt."""
    folder = tmp_path_factory.mktemp("built") / "repo"
    folder.mkdir()
    run_git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("one\n")
    (folder / "d").mkdir()
    (folder / "d" / "b.txt").write_text("b\n")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "first")
    (folder / "a.txt").write_text("one\ntwo\n")
    run_git(folder, "commit", "-q", "-a", "-m", "second")
    return folder


@pytest.fixture
def repo(built: Path, tmp_path: Path) -> Path:
    """A copy of `built` of the test's own."""
    return Path(shutil.copytree(built, tmp_path / "repo", symlinks=True))


class Tools:
    """Calls of the tools over one workspace."""

    def __init__(self, make: Callable[..., TestBoard], root: Path) -> None:
        self._make = make
        self._boards: dict[str, TestBoard] = {}
        self.root = root

    def board(self, **given: Any) -> TestBoard:
        """A board over the workspace."""
        return self._make(root=self.root, modules={"git": reads, "git-write": writes}, **given)

    def __call__(self, name: str, /, **arguments: Any) -> Record:
        if "plain" not in self._boards:
            self._boards["plain"] = self.board()
        record = self._boards["plain"].call(name, **arguments)
        assert isinstance(record, Record)
        return record


@pytest.fixture
def tools(pegboard_board: Callable[..., TestBoard], home: Path, repo: Path) -> Tools:
    """The tools over `repo`, with an empty home."""
    (home / ".gitconfig").write_text("[user]\n\tname = Person\n\temail = person@example.com\n")
    return Tools(pegboard_board, repo)


@pytest.fixture
def tools_over(pegboard_board: Callable[..., TestBoard], home: Path) -> Callable[[Path], Tools]:
    """The tools over a workspace of the test's own."""
    (home / ".gitconfig").write_text("[user]\n\tname = Person\n\temail = person@example.com\n")
    return lambda root: Tools(pegboard_board, root)
