"""The guard before real calls: down the whole road, without discovery, network or model."""

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
def test_protected_files_are_not_changed_even_under_yes(make, tmp_path, path):
    record = make().call("put", path=path, text="x")
    assert (record.outcome, record.block) == ("blocked", "guard")
    assert record.decision.rule.startswith("sample-plugin.protected: ")
    assert "Make the change elsewhere" in record.text
    assert not (tmp_path / path).exists()


def test_other_files_are_changed(make, tmp_path):
    assert make().call("put", path="notes.txt", text="x").outcome == "ok"
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "x"


def test_a_link_does_not_lead_around_it(make, tmp_path):
    (tmp_path / "uv.lock").write_text("as it was", encoding="utf-8")
    (tmp_path / "innocent.txt").symlink_to("uv.lock")
    assert make().call("put", path="innocent.txt", text="x").block == "guard"
    assert (tmp_path / "uv.lock").read_text(encoding="utf-8") == "as it was"


def test_some_commands_are_asked_about(make):
    record = make().call("shell", command="make deploy")
    assert record.outcome == "ok"
    assert record.decision.rule == "sample-plugin.ask: deploy"
    assert record.decision.answer.by == "--yes"


def test_other_commands_are_not(make):
    assert make().call("shell", command="make redeployed").decision.action == "allow"


def test_where_nobody_answers_they_are_not_run(make):
    record = make(answers="headless").call("shell", command="npm publish")
    assert record.outcome == "blocked"


def test_the_settings_add_to_what_is_protected(make):
    board = make(protected=["docs/*"])
    assert board.call("put", path="docs/a.md", text="x").block == "guard"
    assert board.call("put", path="uv.lock", text="x").block == "guard"


def test_reading_a_protected_file_is_nobodys_business():
    assert ProtectedFiles(Settings()).path("read", "uv.lock") is None
