"""Stories of tools: a new one, a set with settings, one that delegates."""

from __future__ import annotations

from typing import Any

import pytest
from pegboard.checking.declared import effect
from pegboard.events import CallAsked, CallFinished, CallStarted
from pegboard.testing.scripted import Scripted

pytestmark = pytest.mark.xdist_group("stories")  # what looks at plugins does so once


@pytest.mark.hook("pegboard_tools")
async def test_a_new_tool_is_offered_to_a_model_and_judged_by_what_it_touches(machine: Any) -> None:
    machine.install("pegboard-csv")
    machine.files(people_csv="name,age\nada,36\ngrace,85\n", empty_csv="")
    async with machine.board() as board:
        [offer] = [offer for offer in board.offers() if offer.name == "csv_columns"]
        assert offer.parameters["properties"]["path"]["description"].startswith("CSV file")
        asked = Scripted([("csv_columns", {"path": "people.csv"}), lambda request: request.messages[-1].reply.text])
        session = board.session(in_memory=True)
        ended = await board.run("which columns has people.csv", session=session, provider=asked)
        assert ended.text == "name, age; 2 rows"
        done = await board.call("csv_columns", {"path": "people.csv"})
        assert (done.outcome, done.decision.action, done.data) == ("ok", "allow", {"names": ["name", "age"], "rows": 2})
        [started] = [event for event in session.read() if isinstance(event, CallStarted)]
        assert [(touch.kind, touch.at) for touch in started.touches] == [("read", "people.csv")]
        outside = await board.call("csv_columns", {"path": "../secret.csv"})
        assert (outside.outcome, outside.block) == ("blocked", "denied")
        failed = await board.call("csv_columns", {"path": "empty.csv"})
        assert (failed.outcome, "Name a file with a line of headings" in failed.text) == ("error", True)


async def test_a_tool_that_is_not_installed_is_not_there(machine: Any) -> None:
    async with machine.board() as board:
        gone = await board.call("csv_columns", {"path": "people.csv"})
    assert (gone.outcome, gone.block) == ("blocked", "unavailable")


@pytest.mark.hook("pegboard_tools")
async def test_a_set_has_the_settings_of_whoever_uses_it(machine: Any) -> None:
    machine.install("pegboard-tickets")
    machine.file.write_text('[tickets]\ntracker = "https://t.example"\nmost = 50\n')
    async with machine.board() as board:
        found = await board.call("ticket", {"number": 7})
        beyond = await board.call("ticket", {"number": 51})
    assert (found.outcome, found.text) == ("ok", "PB-7: https://t.example/PB-7")
    assert (beyond.outcome, "They go from 1 to 50" in beyond.text) == ("error", True)


async def test_a_wrong_setting_costs_that_set_alone_and_is_told_with_its_line(machine: Any) -> None:
    machine.install("pegboard-tickets", "pegboard-csv")
    machine.files(people_csv="name\n")
    machine.file.write_text('[tickets]\ntracker = "https://t.example"\nprefix = "small"\n')
    async with machine.board() as board:
        [note] = [note for note in board.notes if "did not load" in note]
        assert note.startswith("plugin 'tickets'")
        assert f"{machine.file}:3" in note
        assert "prefix" in note
        assert (await board.call("ticket", {"number": 7})).block == "unavailable"
        assert (await board.call("csv_columns", {"path": "people.csv"})).outcome == "ok"


async def delegated(board: Any, task: str) -> tuple[Any, list[tuple[str, str, str]]]:
    """A call of the scout, allowed by a person, and every call of the session: its tool, who made it, what it came to."""
    model = Scripted([("scout", {"task": task}), "done"])
    session = board.session(in_memory=True)
    await board.run("look", session=session, provider=model, answers=lambda asked: asked.tool == "scout")
    events = list(session.read())
    asked = {event.id: event for event in events if isinstance(event, CallAsked)}
    ends = [event for event in events if isinstance(event, CallFinished)]
    return ends[-1], [(asked[end.id].tool, asked[end.id].caller, end.outcome) for end in ends]


async def test_a_tool_that_delegates_makes_calls_that_are_judged_and_logged_each(machine: Any) -> None:
    machine.install("pegboard-scout")
    machine.files(notes_txt="the treasure is here\n")
    async with machine.board() as board:
        told, calls = await delegated(board, "look for treasure")
        refused = await board.call("scout", {"task": "look for treasure"})
        checked = effect(board.registry.get("scout"))  # `plugin check` asks for no touches of its own
    assert checked.status != "fail", checked
    assert "treasure is here" in told.text
    assert calls == [("grep", "tool", "ok"), ("read_file", "tool", "ok"), ("scout", "model", "ok")]
    assert (refused.block, refused.decision.rule) == ("denied", "tool_permission.delegate")  # nobody to ask: no


async def test_who_is_delegated_to_may_no_more_than_whoever_delegates(machine: Any) -> None:
    machine.install("pegboard-scout", "pegboard-freeze")
    machine.files(notes_txt="the treasure is here\n")
    async with machine.board(tool_permission__edit="allow") as board:
        told, calls = await delegated(board, "tidy up, look for treasure")
    assert calls[2][1:] == ("tool", "error")
    assert "vendor/scout.txt is frozen" in told.text
    assert not (machine.root / "vendor" / "scout.txt").exists()
