"""Stories of what is seen and kept: a renderer, a command, a slash command, a form, an observer, a piece of the prompt."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from pegboard.blocks import Table
from pegboard.checking.drawing import forms
from pegboard.events import CallFinished
from pegboard.testing.scripted import Scripted

pytestmark = pytest.mark.xdist_group("stories")  # what looks at plugins does so once


async def shown(board: Any) -> list[Any] | None:
    """What front ends get of a call of somebody else's tool."""
    record = await board.call("csv_columns", {"path": "people.csv"})
    blocks: list[Any] | None = await board.renderers.blocks(board.registry.get("csv_columns"), record.data)
    return blocks


@pytest.mark.hook("pegboard_renderers")
async def test_a_renderer_draws_what_somebody_elses_tool_returns(machine: Any) -> None:
    machine.install("pegboard-csv", "pegboard-csv-table")
    machine.files(people_csv="name,age\nada,36\n")
    async with machine.board() as board:
        [table] = await shown(board)
    assert table == Table(columns=["column", "name"], rows=[["1", "name"], ["2", "age"]])


async def test_without_the_renderer_the_text_is_shown(machine: Any) -> None:
    machine.install("pegboard-csv")
    machine.files(people_csv="name,age\nada,36\n")
    async with machine.board() as board:
        assert await shown(board) is None


def test_a_renderer_is_seen_in_every_form(machine: Any, pegboard_board: Any) -> None:
    machine.install("pegboard-csv", "pegboard-csv-table")
    csv, table = importlib.import_module("pegboard_csv"), importlib.import_module("pegboard_csv_table")
    board = pegboard_board(
        modules={"csv": csv}, renderers={"csv-table": table}, root=machine.root, files={"a.csv": "name,age\nada,36\n"}
    )
    called = board.call("csv_columns", path="a.csv").expect("ok", text="name, age; 1 rows", blocks=[Table])
    for form, drawn in called.in_forms().items():
        assert "column" in drawn, form


@pytest.mark.hook("pegboard.commands")
def test_a_command_runs_with_the_persons_board(machine: Any) -> None:
    machine.install("pegboard-longest")
    machine.files(notes_txt="short\nthe longest line\n")
    done = machine.run("longest", "notes.txt")
    assert (done.returncode, done.stdout) == (0, "the longest line\n"), done.stderr
    outside = machine.run("longest", "../x")
    assert (outside.returncode, outside.stdout, outside.stderr[:6]) == (1, "", "Error:")


@pytest.mark.hook("pegboard.slash")
def test_a_slash_command_shows_its_blocks_in_a_session(machine: Any, pegboard_board: Any) -> None:
    machine.install("pegboard-count")
    given = {"slash": {"count": importlib.import_module("pegboard_count").count}}
    [note] = pegboard_board(**given).slash("/count one two three")
    assert note.text == "3 words on the slate"
    [off] = pegboard_board(**given, settings={"plugins.disable": ["count"]}).slash("/count one")
    assert "/count is switched off" in off.text


@pytest.mark.hook("pegboard.forms")
def test_a_form_draws_blocks_for_whoever_checks_renderers(machine: Any) -> None:
    assert "shouting" not in forms()
    machine.install("pegboard-shouting")
    draw = forms()["shouting"]
    assert not isinstance(draw, str)
    assert draw([Table(columns=["a"], rows=[["b"]])], 80).startswith("TABLE(")


@pytest.mark.hook("pegboard_observers")
async def test_an_observer_is_told_of_what_the_log_has_and_holds_up_nothing(machine: Any) -> None:
    machine.install("pegboard-diary")
    diary = machine.file.with_name("diary.txt")
    machine.file.write_text(f"[diary]\nfile = '{diary}'\n")
    model = Scripted([("glob", {"pattern": "*"}), ("read_file", {"path": "../x"}), "done"])
    async with machine.board() as board:
        session = board.session(in_memory=True)
        await board.run("look", session=session, provider=model)
        logged = [event.outcome for event in session.read() if isinstance(event, CallFinished)]
    assert diary.read_text() == "glob ok\nread_file blocked\n"
    assert logged == ["ok", "blocked"]


async def test_an_observer_that_breaks_is_told_nothing_more_and_the_session_goes_on(machine: Any) -> None:
    machine.install("pegboard-diary")
    diary = machine.file.with_name("diary.txt")
    machine.file.write_text(f"[diary]\nfile = '{diary}'\ngives_up = true\n")
    async with machine.board() as board:
        session = board.session(in_memory=True)
        model = Scripted([("glob", {"pattern": "*"}), ("glob", {"pattern": "*"}), "done"])
        ended = await board.run("look", session=session, provider=model)
        assert ended.status == "done"
        await board.settled()
        notes = [event.text for event in session.read() if type(event).__name__ == "Note"]
    assert not diary.exists()
    assert any("diary" in note and "the pen broke" in note for note in notes), notes


@pytest.mark.hook("pegboard_prompt")
async def test_a_fragment_stands_in_what_the_model_is_told(machine: Any) -> None:
    machine.install("pegboard-house")
    model = Scripted(["hello"])
    async with machine.board() as board:
        await board.run("hi", provider=model)
    assert "Rule of this house: Shoes off." in model.requests[0].system
    machine.file.write_text('[plugins]\ndisable = ["house"]\n')
    quiet = Scripted(["hello"])
    async with machine.board() as board:
        await board.run("hi", provider=quiet)
    assert "Rule of this house" not in quiet.requests[0].system
