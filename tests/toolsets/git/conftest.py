"""Repositories built by git itself, a board with both sets over a copy of one, and what such calls start."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pegboard.calls import Record
from pegboard.events import ApprovalAsked
from pegboard.port import Answer
from pegboard.testing.bench import TestBoard
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_git import reads, writes

Git = Callable[..., str]
PROGRAM = """\
import json, sys
from pathlib import Path
from pegboard.testing.bench import TestBoard
from pegboard_tools_git import reads, writes
root, calls = Path(sys.argv[1]), json.loads(sys.argv[2])
board = TestBoard(root, modules={"git": reads, "git-write": writes}, state=Path(sys.argv[3]))
print(json.dumps([[name, record.outcome, record.text] for name, arguments in calls
                  for record in [board.call(name, **arguments)]]))
board.close()
"""


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

    def _kept(self, answers: str) -> TestBoard:
        if answers not in self._boards:
            self._boards[answers] = self.board(answers=answers)
        return self._boards[answers]

    def __call__(self, name: str, /, **arguments: Any) -> Record:
        record = self._kept("--yes").call(name, **arguments)
        assert isinstance(record, Record)
        return record

    def guarded(self) -> TestBoard:
        """A board over the workspace whose protected files are guarded."""
        return self.board(guards=[ProtectedPaths(Settings())])

    def asked(
        self, name: str, meanwhile: Callable[[], object] = lambda: None, /, **arguments: Any
    ) -> tuple[str, Record]:
        """What the person was shown, and what came of saying yes; `meanwhile` happens while they think."""
        board = self._kept("person")
        seen = len(board.events)

        def questions() -> list[ApprovalAsked]:
            return [event for event in board.events[seen:] if isinstance(event, ApprovalAsked)]

        async def answered() -> Record:
            call = asyncio.ensure_future(board.agent.call(name, arguments, "program"))
            while not questions():
                assert not call.done(), f"nobody was asked: {call.result().text}"
                await asyncio.sleep(0.01)
            meanwhile()
            await board.agent.send(Answer(id=questions()[-1].id, granted=True))
            return await call

        record = board.run(answered())
        (question,) = questions()
        assert question.remember == []  # "always" is not offered
        shown = [f"{getattr(block, 'title', '')}\n{getattr(block, 'text', '')}" for block in question.preview]
        return "\n".join(shown), record


@pytest.fixture
def person(home: Path) -> None:
    """The person's own configuration: who commits."""
    (home / ".gitconfig").write_text("[user]\n\tname = Person\n\temail = person@example.com\n")


@pytest.fixture
def tools(pegboard_board: Callable[..., TestBoard], person: None, repo: Path) -> Tools:
    """The tools over `repo`."""
    return Tools(pegboard_board, repo)


@pytest.fixture
def tools_over(pegboard_board: Callable[..., TestBoard], person: None) -> Callable[[Path], Tools]:
    """The tools over a workspace of the test's own."""
    return lambda root: Tools(pegboard_board, root)


@pytest.fixture
def remote(repo: Path, git: Git, tmp_path: Path) -> Path:
    """A bare repository beside the workspace, known as `origin`."""
    git(tmp_path, "clone", "-q", "--bare", str(repo), "remote.git")
    git(repo, "remote", "add", "origin", str(tmp_path / "remote.git"))
    git(repo, "fetch", "-q", "origin")
    return tmp_path / "remote.git"


@pytest.fixture
def traced(tmp_path: Path) -> Callable[..., tuple[list[list[str]], str]]:
    """Calls in a process of their own: name, outcome and text of each, and strace's word on what was started."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    trace = tmp_path / "trace"
    watch = ["strace", "-f", "--seccomp-bpf", "-qq", "-s", "300", "-e", "trace=execve", "-o", str(trace)]

    def run(
        root: Path, calls: list[tuple[str, dict[str, Any]]], environ: dict[str, str] | None = None
    ) -> tuple[list[list[str]], str]:
        command = [*watch, sys.executable, "-c", PROGRAM, str(root), json.dumps(calls), str(tmp_path / "state")]
        env = os.environ | (environ or {})
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), trace.read_text("utf-8")

    return run
