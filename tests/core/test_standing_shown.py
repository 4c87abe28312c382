"""What a front end shows of a session beside its events: who lets calls run unasked, background programs, the context."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pegboard_guard
import pytest
from pegboard import port
from pegboard.board import Board
from pegboard.calls import Record
from pegboard.context import Context
from pegboard.entries import Entry
from pegboard.events import Usage, WireCall
from pegboard.hooks import hookimpl
from pegboard.hosting import Hosted
from pegboard.models import CallPart, EndPart, TextPart
from pegboard.plugins import given
from pegboard.tooling import tool

CONFIG = """
[modes.look.tool_permission]
edit = "deny"
[modes.free.tool_permission]
net = "allow"
"""
OFFLINE = Entry(
    name="offline",
    group="pegboard.providers",
    value="pegboard_offline:provider",
    distribution="pegboard-offline",
    version="1",
    own=True,
)


@tool(pure=True)
async def serve(ctx: Context, last: bool = True) -> str:
    """Start a program that goes on, or one that ends."""
    job = await ctx.jobs.start(
        [sys.executable, "-c", f"import time; time.sleep({60 if last else 0})"], label="serve it"
    )
    if not last:
        await ctx.jobs.wait(job.id, 20.0)
    return job.id


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    root = tmp_path / "root"
    root.mkdir()
    tools = ModuleType("its_tools")
    tools.hook = hookimpl(lambda: [serve], specname="pegboard_tools")  # type: ignore[attr-defined]
    file = tmp_path / "config.toml"
    file.write_text(CONFIG, "utf-8")
    made = Board.build(
        str(root),
        user_file=file,
        environ={"HOME": str(tmp_path)},
        state=tmp_path / "state",
        discover=False,
        extra=[
            given("its", "pegboard.toolsets", tools, own=True),
            given("guard", "pegboard.guards", pegboard_guard, own=True),
            OFFLINE,
        ],
    )
    yield made
    await made.close()


async def test_a_mode_that_allows_something_is_told_and_one_that_only_denies_is_not(board: Board) -> None:
    talk = Hosted(board).open()
    assert talk.unasked == ""
    for mode, told in (
        ("plan", ""),
        ("look", ""),
        ("accept-edits", "accept-edits"),
        ("auto", "auto"),
        ("free", "free"),
    ):
        await talk.port.send(port.Mode(name=mode))
        assert (mode, talk.unasked) == (mode, told)
    assert Hosted(board, answers="--yes").open(mode="plan").unasked == "--yes"


async def test_programs_in_the_background_are_listed_and_how_they_stand(board: Board) -> None:
    host = Hosted(board)
    talk = host.open()
    assert talk.jobs() == []
    agent: Any = talk.port
    made: list[Record] = [await agent.call("serve", {}), await agent.call("serve", {"last": False})]
    first, second = talk.jobs()
    assert [first.id, second.id] == [record.text for record in made] and first.label == "serve it"
    assert (first.over, second.over) == (False, True)
    assert first.state.startswith("running for") and "exit code 0" in second.state


def test_the_context_is_what_the_last_request_came_to_and_not_all_of_a_turns(pegboard_board: Any) -> None:
    call = CallPart(WireCall(id="1", name="nothing", arguments={}))
    steps = [[call, EndPart(input=200, output=10)], [TextPart("done"), EndPart(input=300, output=20)]]
    board = pegboard_board(steps=steps)
    board.prompt()
    [usage] = [event for event in board.events if isinstance(event, Usage)]
    assert (usage.input, usage.context) == (500, 320)
