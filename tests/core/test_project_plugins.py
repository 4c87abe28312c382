"""Python files of a project: run when it is trusted, from the bytes that were trusted, each a plugin of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from pegboard.board import Board
from pegboard.config.project import brought
from pegboard.config.trust import trust

WORDS = '''
from pathlib import Path
import msgspec
from dataclasses import dataclass
from typing import Annotated
from pegboard import Context, Deny, Reads, hookimpl, tool
from pegboard.hooks import Fragment

Path(__file__).parents[2].joinpath("ran").write_text("x")

class Settings(msgspec.Struct):
    end: str = "."

@dataclass
class Word:
    text: str

@tool
def shout(path: Annotated[str, Reads("File")], ctx: Context) -> str:
    """Say a file loudly."""
    return Word(ctx.workspace.read_text(path).upper() + ctx.settings.end).text

@hookimpl
def pegboard_tools(settings):
    return [shout]

@hookimpl
def pegboard_guards():
    return [lambda call, touches: Deny("words", "not this one") if "locked" in str(call.arguments) else None]

@hookimpl
def pegboard_prompt():
    return [Fragment(text="Speak up.")]
'''


class Project:
    def __init__(self, top: Path) -> None:
        self.root, self.state, self.user = top / "root", top / "state", top / "user.toml"
        self.folder = self.root / ".pegboard" / "plugins"
        self.folder.mkdir(parents=True)
        (self.root / "a.txt").write_text("hello")

    def trust(self) -> None:
        trust(brought(str(self.root), self.user), self.state)

    def board(self) -> Board:
        return Board.build(str(self.root), user_file=self.user, environ={}, state=self.state)

    def call(self, name: str, **arguments: Any) -> Any:
        board = self.board()

        async def go() -> Any:
            try:
                return await board.call(name, arguments)
            finally:
                await board.close()

        return asyncio.run(go())


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_nothing_of_it_runs_until_the_project_is_trusted_and_after_a_change(project: Project) -> None:
    file = project.folder / "words.py"
    file.write_text(WORDS)
    assert project.call("shout", path="a.txt").block == "unavailable"
    assert not (project.root / "ran").exists()
    project.trust()
    assert project.call("shout", path="a.txt").text == "HELLO."
    assert (project.root / "ran").exists()
    (project.root / "ran").unlink()
    file.write_text(WORDS + "\n")
    assert project.call("shout", path="a.txt").block == "unavailable"
    assert not (project.root / "ran").exists()


def test_it_is_a_plugin_with_settings_a_guard_and_a_word_in_the_prompt(project: Project) -> None:
    (project.folder / "words.py").write_text(WORDS)
    (project.root / ".pegboard" / "config.toml").write_text("[words]\nend = '!'\n")
    project.trust()
    record = project.call("words:shout", path="a.txt")
    assert (record.text, record.tool, record.set) == ("HELLO!", "shout", "words")
    refused = project.call("read_file", path="locked.txt")
    assert (refused.block, refused.decision.rule) == ("guard", "words")
    board = project.board()
    agent = board.agent(board.session(in_memory=True), model="offline")
    assert "Speak up." in str(agent._loop.system)
    asyncio.run(board.close())


def test_its_folder_is_on_no_path_and_its_neighbours_are_not_imported(project: Project) -> None:
    (project.folder / "json.py").write_text("raise SystemExit('json')")
    (project.folder / "helper.py").write_text(
        "from pegboard import hookimpl\n@hookimpl\ndef pegboard_tools(): return []\n"
    )
    (project.folder / "user.py").write_text("import json, helper\n")
    project.trust()
    before = list(sys.path)
    board = project.board()
    texts = {failure.entry.name: failure.error for failure in board.failures}
    assert texts["user"] == "ModuleNotFoundError: No module named 'helper' (user.py:1)"
    assert texts["json"].startswith("SystemExit: json")
    assert sys.path == before and not [name for name in sys.modules if name in ("helper", "user")]
    asyncio.run(board.close())


@pytest.mark.parametrize(
    ("name", "text", "what", "said"),
    [
        ("bad", "x = (\n", "import", "SyntaxError"),
        ("bad", "x = 'a\0b'\n", "import", "null bytes"),
        ("bad", "1 / 0\n", "import", "ZeroDivisionError: division by zero (bad.py:1)"),
        ("bad", "x = 1\n", "hook", "implements no hook"),
        (
            "bad",
            "from pegboard import hookimpl\n@hookimpl\ndef pegboard_approvers(): return []\n",
            "hook",
            "is no hook of",
        ),
        (
            "bad",
            "from pegboard import hookimpl\n@hookimpl\ndef pegboard_rewriters(): return []\n",
            "hook",
            "is no hook of",
        ),
        (
            "bad",
            "from pegboard import hookimpl\n@hookimpl\ndef pegboard_toolz(): return []\n",
            "hook",
            "pegboard_tools?",
        ),
        ("Bad", "x = 1\n", "hook", "a plugin file's name is"),
        ("tools", "x = 1\n", "hook", "one of core's own tables"),
        ("guard", "x = 1\n", "duplicate", "pegboard-guard"),
        ("git", "x = 1\n", "duplicate", "pegboard-tools-git"),
    ],
)
def test_what_fails_in_one_is_its_own_and_says_how_to_mend_it(
    project: Project, name: str, text: str, what: str, said: str
) -> None:
    (project.folder / "words.py").write_text(WORDS)
    (project.folder / f"{name}.py").write_text(text)
    project.trust()
    board = project.board()
    (failure,) = board.failures
    assert (failure.entry.name, failure.what) == (name, what) and said in failure.error
    assert f"mend or rename .pegboard/plugins/{name}.py" in failure.text and failure.text in board.notes
    assert board.registry.get("shout") is not None and "guard" in {seat.owner for seat in board.guards.seats}
    asyncio.run(board.close())


def test_an_installed_tool_keeps_its_name(project: Project) -> None:
    (project.folder / "words.py").write_text(
        WORDS.replace("def shout(", "def read_file(").replace("[shout]", "[read_file]")
    )
    project.trust()
    record = project.call("read_file", path="a.txt")
    assert record.set == "core" and "HELLO" not in record.text
    board = project.board()
    assert "tool 'read_file' of 'words' is left out: 'core' has that name" in board.notes
    asyncio.run(board.close())


@pytest.mark.parametrize("setting", ["[plugins]\ndisable = ['words']\n", "[tools]\nwords = false\n"])
def test_a_person_switches_one_off(project: Project, setting: str) -> None:
    (project.folder / "words.py").write_text(WORDS)
    project.trust()
    project.user.write_text(setting)
    assert project.call("shout", path="a.txt").block == "unavailable"


def test_tool_sets_choose_among_what_is_installed(project: Project) -> None:
    (project.folder / "words.py").write_text(WORDS)
    project.trust()
    project.user.write_text("toolSets = []\n")
    assert project.call("shout", path="a.txt").text == "HELLO."
