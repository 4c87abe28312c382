"""A stranger's packages: what lies in examples/, installed into an environment beside Pegboard, and used."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packaging")]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MODULES = {"word-count": "pegboard_words", "bar-chart": "pegboard_bars"}
Run = Callable[..., str]


@pytest.fixture(scope="module")
def venv(strangers: Any) -> Path:
    """What a stranger has: Pegboard, and packages of their own."""
    folder: Path = strangers.venv
    return folder


def test_every_example_is_tried_here() -> None:
    assert {path.parent.name for path in EXAMPLES.glob("*/pyproject.toml")} == set(MODULES)


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


def test_a_result_with_a_block_of_its_own_is_text_and_data_for_programs(venv: Path, run: Run, workspace: Path) -> None:
    assert run(venv, "pegboard", "tool", "code_lines", cwd=workspace) == ".txt 2 lines in 1 files\n"
    record = json.loads(run(venv, "pegboard", "tool", "code_lines", "--json", cwd=workspace))
    assert record["data"] == {"path": ".", "shares": [{"kind": ".txt", "files": 1, "lines": 2}], "left_out": 0}


def test_its_widget_is_found_for_its_block(venv: Path, run: Run, workspace: Path) -> None:
    code = "from pegboard_tui.custom.kinds import Kinds; c = Kinds().find('bar-chart'); print(c.distribution, c.value)"
    assert run(venv, "python", "-c", code, cwd=workspace) == "pegboard-bar-chart pegboard_bars.widget:Chart\n"


@pytest.mark.parametrize("example", MODULES)
def test_its_own_tests_pass_against_what_is_installed(venv: Path, run: Run, tmp_path: Path, example: str) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(EXAMPLES / example / "tests", tmp_path / "tests", ignore=ignored)
    printed = run(venv, "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=tmp_path)
    assert " passed" in printed and "skipped" not in printed
    where = f"import {MODULES[example]} as module; print(module.__file__)"
    assert str(venv) in run(venv, "python", "-c", where, cwd=tmp_path)
