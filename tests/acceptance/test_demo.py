"""`make demo`: real requests on a repository, through the installed command and the router.

Each fact that an answer must name is changed first, in a repository of the test's own, so that no answer can be made up.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pexpect
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("demo")]

ROOT = Path(__file__).resolve().parents[2]
COPIED = ["scripts", "examples", "pyproject.toml", "core/src/pegboard/hooks.py"]


@dataclass
class Repository:
    """A git repository with what the demo's requests are about, and the demo in it."""

    top: Path

    def write(self, path: str, text: str) -> None:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def change(self, path: str, old: str, new: str) -> None:
        text = (self.top / path).read_text("utf-8")
        assert old in text
        self.write(path, text.replace(old, new))

    def demo(self, **environ: str) -> str:
        """What the demo prints where nobody is at a terminal."""
        done = subprocess.run(
            [sys.executable, self.top / "scripts/demo.py"],
            env=os.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=110,
        )
        said = done.stdout.decode("utf-8")
        assert done.returncode == 0, said
        return said


def repository(top: Path) -> Repository:
    for name in COPIED:
        source, target = ROOT / name, top / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copyfile(source, target)
    shutil.copyfile(ROOT / ".gitignore", top / ".gitignore")
    subprocess.run(["git", "init", "--quiet"], cwd=top, check=True)
    return Repository(top)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, list[str]]:
    """The demo in a repository where each fact was changed first: its answers, one a request."""
    repo = repository(tmp_path_factory.mktemp("demo"))
    repo.change("examples/word-count/pyproject.toml", 'name = "pegboard-words"', 'name = "pegboard-quokka"')
    repo.write("plugins/of/a/stranger/pyproject.toml", "")
    repo.write("core/src/pegboard/hidden_away.py", "# here\nclass Guardian:\n    pass\n")
    repo.write("examples/word-count/tests/test_more.py", "def test_a(): pass\ndef test_b(): assert 0, 'mongoose'\n")
    repo.change("scripts/demo-notes.txt", "Plugins hang on it.", "Pangolins hang on it.")
    _, *answers = repo.demo().split("\n$ pegboard run ")
    return repo, answers


def test_the_demo_makes_five_requests_that_stand_in_a_text_file(changed: tuple[Repository, list[str]]) -> None:
    lines = (ROOT / "scripts/demo-requests.txt").read_text("utf-8").splitlines()
    requests = [line for line in lines if line.strip() and not line.startswith("#")]
    assert len(requests) == len(changed[1]) == 5
    assert [
        request for request, said in zip(requests, changed[1], strict=True) if request not in said.splitlines()[0]
    ] == []


def test_it_reads_the_file_as_it_is_now(changed: tuple[Repository, list[str]]) -> None:
    assert 'name = "pegboard-quokka"' in changed[1][0]


def test_it_finds_the_file_that_was_added(changed: tuple[Repository, list[str]]) -> None:
    assert "plugins/of/a/stranger/pyproject.toml" in changed[1][1]


def test_it_finds_the_line_that_was_added_with_its_place(changed: tuple[Repository, list[str]]) -> None:
    assert "core/src/pegboard/hidden_away.py:2: class Guardian" in changed[1][2]


def test_it_runs_the_tests_of_a_folder_once_that_was_approved(changed: tuple[Repository, list[str]]) -> None:
    question, ran = changed[1][3].find("Allow?"), changed[1][3].find("1 failed, 6 passed")
    assert 0 < question < ran
    assert "mongoose" in changed[1][3]


def test_it_edits_the_scratch_file_and_shows_the_diff(changed: tuple[Repository, list[str]]) -> None:
    repo, answers = changed
    diff = [line.strip() for line in answers[4].splitlines()]
    for line in ("-The board is brown.", "+The board is green.", "Pangolins hang on it."):
        assert line in diff
    notes = (repo.top / "build/demo/notes.txt").read_text("utf-8")
    assert "The board is green." in notes
    assert "Pangolins hang on it." in notes


def test_each_question_is_answered_for_all_to_see(changed: tuple[Repository, list[str]]) -> None:
    questions = [line for said in changed[1] for line in said.splitlines() if line.startswith("Allow?")]
    assert [line.rpartition(") ")[2] for line in questions] == ["y", "y"]


def test_it_changes_nothing_that_git_knows_of(changed: tuple[Repository, list[str]]) -> None:
    ignored = subprocess.run(["git", "check-ignore", "-q", "build/demo/notes.txt"], cwd=changed[0].top)
    assert ignored.returncode == 0


def test_sessions_and_settings_are_not_the_persons_own(tmp_path: Path, home: Path) -> None:
    config = home / ".config/pegboard/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[tools]\ndeny = ["*"]\n', "utf-8")
    repo = repository(tmp_path / "demo")
    repo.write("wombat.txt", "dig dig\n")
    assert "dig dig" in repo.demo(REQUEST="show me wombat.txt", PEGBOARD_TOOLS_DENY="read_file")
    assert not (home / ".local/state/pegboard").exists()


def test_a_request_of_ones_own_is_the_only_one_made(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.write("wombat.txt", "dig dig\n")
    said = repo.demo(REQUEST="""in wombat.txt, replace "dig dig" with "it's $HOME" """)
    assert said.count("$ pegboard run ") == 1
    assert (tmp_path / "wombat.txt").read_text("utf-8") == "it's $HOME\n"


def test_whoever_is_at_the_terminal_is_asked(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.write("wombat.txt", "dig\n")
    environ = os.environ | {"REQUEST": 'in wombat.txt, replace "dig" with "dug"', "TERM": "dumb"}
    child = pexpect.spawn(
        sys.executable,
        [str(repo.top / "scripts/demo.py")],
        env=environ,
        encoding="utf-8",
        timeout=60,
        dimensions=(24, 200),
    )
    child.expect_exact("Allow?")
    child.sendline("n")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert (tmp_path / "wombat.txt").read_text("utf-8") == "dig\n"


def test_make_hands_the_request_over_as_it_was_typed(tmp_path: Path) -> None:
    make = shutil.which("make") or pytest.skip("make is missing")
    shutil.copyfile(ROOT / "Makefile", tmp_path / "Makefile")
    for age, name in enumerate(
        [".venv/.setup", ".venv/bin/python", ".tools/bin/uv", "pyproject.toml", "constraints.txt"]
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('#!/bin/sh\nprintf "%s: %s" "$*" "$REQUEST"\n', "utf-8")
        file.chmod(0o755)
        os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))
    request = """say "it's $HOME" $(shell id) `id` #1 100% \\n"""
    done = subprocess.run([make, "-s", "demo", f"REQUEST={request}"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"scripts/demo.py: {request}"), done.stderr
