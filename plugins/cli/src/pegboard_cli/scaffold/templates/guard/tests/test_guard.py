"""The guard before real calls: down the whole road, without discovery, network or model."""

from pathlib import Path
from typing import Annotated

import pytest
from pegboard import Context, Runs, Writes, tool

from pegboard_sample_plugin import ProtectedFiles, Settings


@tool
def put(path: Annotated[str, Writes("File")], text: str, ctx: Context) -> str:
    """Write a text into a file."""
    with ctx.commit() as files:
        files.write(path, text.encode())
    return "done"


@tool
def shell(command: Annotated[str, Runs("Command line")]) -> str:
    """Stand in for a tool that runs commands."""
    return f"ran {command}"


@pytest.fixture
def make(pegboard_board):
    def make(answers="--yes", **settings):
        guard = ProtectedFiles(Settings(**settings))
        return pegboard_board(
            tools=[put, shell],
            guards=[guard],
            own_guards=False,
            answers=answers,
            settings={"tool_permission.bash": "allow"},  # so what asks is the guard
        )

    return make


@pytest.mark.parametrize("path", ["uv.lock", "deep/down/yarn.lock", "vendor/a/b.py", "./uv.lock"])
def test_protected_files_are_not_changed_even_under_yes(make, path):
    board = make()
    called = board.call("put", path=path, text="x")
    called.expect("blocked", block="guard", says="Make the change elsewhere")
    assert called.decision.rule.startswith("sample-plugin.protected: ")
    assert board.files == {}


def test_other_files_are_changed(make):
    board = make()
    board.call("put", path="notes.txt", text="x").expect("ok")
    assert board.files == {"notes.txt": "x"}


def test_a_link_does_not_lead_around_it(make, pegboard_workspace):
    pegboard_workspace({"uv.lock": "as it was", "innocent.txt": Path("uv.lock")})
    board = make()
    board.call("put", path="innocent.txt", text="x").expect("blocked", block="guard")
    assert board.files["uv.lock"] == "as it was"


def test_some_commands_are_asked_about(make):
    called = make().call("shell", command="make deploy")
    called.expect("ok", by="--yes")
    assert called.decision.rule == "sample-plugin.ask: deploy"


def test_other_commands_are_not(make):
    make().call("shell", command="make redeployed").expect("ok", asked=False)


def test_where_nobody_answers_they_are_not_run(make):
    make(answers="headless").call("shell", command="npm publish").expect("blocked")


def test_the_settings_add_to_what_is_protected(make):
    board = make(protected=["docs/*"])
    board.call("put", path="docs/a.md", text="x").expect("blocked", block="guard")
    board.call("put", path="uv.lock", text="x").expect("blocked", block="guard")


def test_reading_a_protected_file_is_nobodys_business():
    assert ProtectedFiles(Settings()).path("read", "uv.lock") is None
