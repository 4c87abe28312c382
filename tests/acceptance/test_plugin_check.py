"""`pegboard plugin check`: what a person and a program get, for a folder, a wheel, a package, and for nothing."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "word-count"
KEYS = {"target", "distribution", "version", "api", "passed", "summary", "bytes", "tokens", "checks"}
FAULTY = '''
from pegboard import hookimpl, tool

print("loaded")

@tool
def shout(text: str) -> str:
    """Say a text in capitals."""
    return {"a": "A"}[text]

@hookimpl
def pegboard_tools(settings):
    return [shout]
'''

GUARD = """
from pegboard import Deny, hookimpl


def guard(call, touches):
    return Deny("team", "not on a Friday") if call.name == "deploy" else None


@hookimpl
def pegboard_guards(settings):
    return [guard]
"""


@pytest.fixture
def words(cli: Any) -> Path:
    """The example's folder, as its author has it."""
    folder: Path = cli.root / "words"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_sound_plugin_passes_and_programs_are_told_in_the_contracts_shape(cli: Any, words: Path) -> None:
    done = cli("plugin", "check", "./words", "--json")
    report = done.json
    assert (done.code, done.err) == (0, "")
    assert set(report) == KEYS and report["passed"] is True
    assert (report["target"], report["distribution"], report["version"]) == ("./words", "pegboard-words", "0.1.0")
    assert report["bytes"] > 0 and report["tokens"] == -(-report["bytes"] // 4)
    assert all(set(one) == {"id", "subject", "status", "text", "fix"} for one in report["checks"])
    assert sum(report["summary"].values()) == len(report["checks"]) and report["summary"]["fail"] == 0
    passed = {one["id"] for one in report["checks"] if one["status"] == "pass"}
    assert {"tool.cancel", "tool.examples", "render.plain", "render.rich", "render.json", "render.app"} <= passed
    assert {one["subject"] for one in report["checks"]} == {"words", "words:word_count"}


def test_failures_come_first_each_with_what_to_do(cli: Any, words: Path) -> None:
    (words / "src" / "pegboard_words" / "__init__.py").write_text(FAULTY, "utf-8")
    done = cli("plugin", "check", "words")
    lines = done.out.splitlines()
    assert done.code == 1
    failed = [line.split()[1] for line in lines if line.startswith("fail")]
    assert failed == ["load.prints", "tool.effect", "tool.errors"]
    assert [lines[number + 1][:6] for number, line in enumerate(lines) if line.startswith("fail")] == ["      "] * 3
    assert lines[-1].startswith("pegboard-words 0.1.0: ") and " 3 failed" in lines[-1]


def test_a_wheel_is_checked_without_being_installed(cli: Any) -> None:
    wheel = cli.root / "team_guard-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("team_guard/__init__.py", GUARD)
        info = "team_guard-0.1.0.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: team-guard\nVersion: 0.1.0\n")
        archive.writestr(f"{info}/entry_points.txt", "[pegboard.guards]\nteam = team_guard\n")
    report = cli("plugin", "check", wheel.name, "--json").json
    assert report["passed"] and (report["distribution"], report["version"]) == ("team-guard", "0.1.0")
    assert any((one["id"], one["status"]) == ("guard.answers", "pass") for one in report["checks"])


def test_what_is_installed_is_checked_by_its_name(cli: Any) -> None:
    report = cli("plugin", "check", "pegboard_guard", "--json").json
    assert report["passed"] and {one["subject"] for one in report["checks"]} == {"guard"}


def test_written_down_it_is_fresh_until_the_source_changes(cli: Any) -> None:
    def fresh(*more: str) -> str:
        report = cli("plugin", "check", "--json", "team", *more).json
        return next(one["status"] for one in report["checks"] if one["id"] == "manifest.fresh")

    package = cli.root / "team" / "team_guard"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(GUARD, "utf-8")
    entry = '[project.entry-points."pegboard.guards"]\nteam = "team_guard"\n'
    (cli.root / "team" / "pyproject.toml").write_text(
        f'[project]\nname = "team-guard"\nversion = "1"\n{entry}', "utf-8"
    )
    assert fresh("--write") == "pass"
    assert json.loads((package / "pegboard.json").read_text("utf-8"))["entries"][0]["hooks"] == ["pegboard_guards"]
    with open(package / "__init__.py", "a", encoding="utf-8") as module:
        module.write("# more\n")
    assert fresh() == "fail"
    (package / "pegboard.json").rename(cli.root / "dear")
    (package / "pegboard.json").symlink_to(cli.root / "dear")
    before = (cli.root / "dear").read_bytes()
    assert fresh("--write") == "fail" and (cli.root / "dear").read_bytes() == before


@pytest.mark.parametrize("target", [(), ("nonesuch",), ("./nowhere",), ("--write", "pegboard-guard")])
def test_where_there_is_nothing_to_check_it_is_said_and_nothing_else(cli: Any, target: tuple[str, ...]) -> None:
    done = cli("plugin", "check", *target, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("pegboard: ") and "hecked" in done.err


def test_nothing_is_left_of_a_check(cli: Any, words: Path) -> None:
    temporary = cli.root / "temporary"
    temporary.mkdir()
    (words / "src" / "pegboard_words" / "__init__.py").write_text("import os\nos._exit(3)\n", "utf-8")
    done = cli("plugin", "check", "words", TMPDIR=str(temporary))
    assert done.code == 1 and "load.import  words: it ended the process (exit 3)" in done.out
    assert list(temporary.iterdir()) == []
