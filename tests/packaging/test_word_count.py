"""A stranger's package: examples/word-count, installed into an environment of its own beside Pegboard, and used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "word-count"
Run = Callable[..., str]


@pytest.fixture(scope="module")
def venv(
    wheels: dict[str, Path],
    environment: Callable[[Path, Sequence[Path | str]], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """What a stranger has: Pegboard's wheels, pytest, and their own package as it stands in its folder."""
    top = tmp_path_factory.mktemp("stranger")
    package = shutil.copytree(EXAMPLE, top / "package", ignore=shutil.ignore_patterns("__pycache__", ".*"))
    made = environment(top / "venv", [*wheels.values(), package, "pytest"])
    shutil.rmtree(package)
    return made


@pytest.fixture
def workspace(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "notes.txt").write_text("the quick brown\n  fox jumps\n", "utf-8")
    return folder


def test_its_tool_is_listed_with_its_set(venv: Path, run: Run, workspace: Path) -> None:
    listed = json.loads(run(venv, "pegboard", "tools", "--json", cwd=workspace))
    mine = [tool for tool in listed["tools"] if tool["name"] == "word_count"]
    assert [(tool["set"], tool["effect"], tool["offered"]) for tool in mine] == [("words", "read_only", True)]
    sets = {info["name"]: info["distribution"] for info in listed["sets"]}
    assert sets["words"] == "pegboard-words"


def test_its_tool_runs_and_nobody_is_asked(venv: Path, run: Run, workspace: Path) -> None:
    record = json.loads(run(venv, "pegboard", "tool", "word_count", "path=notes.txt", "--json", cwd=workspace))
    assert (record["outcome"], record["text"], record["set"]) == ("ok", "5", "words")
    assert record["decision"]["action"] == "allow"


def test_the_router_serves_it_through_its_example(venv: Path, run: Run, workspace: Path) -> None:
    printed = run(
        venv, "pegboard", "run", "count the words in notes.txt", "--json", "--model", "offline", cwd=workspace
    )
    events: list[dict[str, Any]] = [json.loads(line) for line in printed.splitlines()]
    asked = [(event["tool"], event["arguments"]) for event in events if event["event"] == "call_asked"]
    assert asked == [("word_count", {"path": "notes.txt"})]
    assert events[-1]["event"] == "turn_ended"
    assert events[-1]["status"] == "done"
    assert "5" in events[-1]["text"].split()


def test_its_own_tests_pass_against_what_is_installed(venv: Path, run: Run, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    printed = run(venv, "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=tmp_path)
    assert " passed" in printed
    where = "import pegboard_words; print(pegboard_words.__file__)"
    assert str(venv) in run(venv, "python", "-c", where, cwd=tmp_path)
