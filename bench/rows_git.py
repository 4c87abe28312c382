"""Rows of the git tools, beside git itself with the options that give the same answer."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from boarded import board
from harness import Pair, Row, seconds
from rows_tools import SetUp

FILES, FOLDERS, COMMITS = 2_000, 40, 60
IDENTITY = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"]


def repository(root: Path) -> None:
    """2,000 files in 40 folders, 60 commits, three files changed and one new."""

    def git(*argv: str) -> None:
        subprocess.run(["git", *IDENTITY, *argv], cwd=root, check=True, capture_output=True, stdin=subprocess.DEVNULL)

    root.mkdir()
    git("init", "-q", "-b", "main")
    for number in range(FILES):
        file = root / f"folder{number % FOLDERS}" / f"file{number}.txt"
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"file {number}\n" * 20, encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "everything")
    for number in range(COMMITS):
        (root / "folder0" / "file0.txt").write_text(f"{number}\n", encoding="utf-8")
        git("commit", "-q", "-a", "-m", f"commit {number}")
    for number in range(3):
        (root / f"folder{number}" / f"file{number}.txt").write_text("changed\n", encoding="utf-8")
    (root / "new.txt").write_text("new\n", encoding="utf-8")
    past = 1_700_000_000
    for path in root.rglob("*.txt"):  # so that git need not look into files that are as old as its index
        os.utime(path, (past, past))
    subprocess.run(["git", "status"], cwd=root, capture_output=True, check=True)


def beside_git(tool: str, argv: Sequence[str], **arguments: Any) -> SetUp:
    """A tool, beside `git` in the same work tree."""

    def set_up(scratch: Path) -> AbstractContextManager[Pair]:
        @contextmanager
        def pair() -> Iterator[Pair]:
            root = scratch / "root"
            repository(root)
            environ = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}

            def plainly() -> None:
                subprocess.run(["git", *argv], cwd=root, env=environ, stdin=subprocess.DEVNULL, capture_output=True)

            with board(root, scratch / "state") as caller:
                yield Pair(ours=lambda: caller.seconds(tool, **arguments), yardstick=lambda: seconds(plainly))

        return pair()

    return set_up


ROWS = [
    Row(
        name="git_status, 2,000 files",
        target=1.5,
        against="git status --porcelain=v2 --branch",
        best_peer="none measured",
        set_up=beside_git("git_status", ["status", "--porcelain=v2", "-z", "--branch"]),
    ),
    Row(
        name="git_log, 15 commits",
        target=2.0,
        against="git log -15",
        best_peer="none measured",
        set_up=beside_git("git_log", ["log", "-15", "--format=%H %aI %an %s"]),
    ),
]
