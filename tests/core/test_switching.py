"""Switching a plugin off in a board that is in use, and on again: all that `plugins.disable` reaches, and no guard."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
from pegboard import hookimpl, tool
from pegboard.blocks import Note
from pegboard.board import Board
from pegboard.errors import PegboardError
from pegboard.hooks import Fragment
from pegboard.hosting import Hosted
from pegboard.plugins import given
from pegboard.slash import Slash
from pegboard.testing.scripted import Scripted

SEEN: list[str] = []


class Count(msgspec.Struct):
    """What the tool returns."""

    n: int


@tool(pure=True, inline=True, aliases=["tally"])
def counted(n: int) -> Count:
    """Count."""
    return Count(n)


def hooked(named: str, **hooks: Any) -> Any:
    module: Any = ModuleType(f"stranger_{named}")
    for name, value in hooks.items():
        setattr(module, name, hookimpl(lambda value=value: value, specname=name))
    return module


def extra() -> list[Any]:
    seen = lambda event: SEEN.append(type(event).__name__)  # noqa: E731
    return [
        given("its", "pegboard.toolsets", hooked("its", pegboard_tools=[counted],
            pegboard_renderers={Count: lambda count: [Note(text=f"drawn {count.n}")]},
            pegboard_prompt=[Fragment(name="its", text="COUNT WELL")],
        )),
        given("sees", "pegboard.observers", hooked("sees", pegboard_observers=[seen])),
        given("holds", "pegboard.guards", hooked("holds", pegboard_guards=[lambda call, touches: None])),
        given("says", "pegboard.slash", Slash(usage="/says", help="say", run=lambda said: [Note(text="said")])),
    ]  # fmt: skip


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Board]:
    SEEN.clear()
    (tmp_path / "root").mkdir()
    file = tmp_path / "config.toml"
    made = Board.build(
        str(tmp_path / "root"), user_file=file, environ={}, state=tmp_path / "state", discover=False, extra=extra()
    )
    yield made
    await made.close()


def names(board: Board) -> list[str]:
    return [offer.name for offer in board.offers()]


async def test_tools_go_with_their_aliases_and_come_back(board: Board) -> None:
    assert board.switches.switch("its", on=False) == [
        "its is off for the rest of this run; a call of it that runs goes on"
    ]
    assert names(board) == [] and (await board.call("tally", {"n": 1})).block == "unavailable"
    board.switches.switch("its", on=True)
    assert names(board) == ["counted"] and (await board.call("tally", {"n": 1})).outcome == "ok"


async def test_its_renderer_draws_no_more(board: Board) -> None:
    board.switches.switch("its", on=False)
    board.registry.switch("its", on=True)  # as if another's tool returned the same
    made = board.registry.get("counted")
    assert await board.renderers.blocks(made, {"n": 2}) is None
    board.switches.switch("its", on=True)
    assert await board.renderers.blocks(made, {"n": 2}) == [Note(text="drawn 2")]


async def test_a_running_agent_says_no_more_of_it_to_its_model(board: Board) -> None:
    model = Scripted(["one", "two"])
    agent = board.agent(provider=model)
    await agent.run("first")
    board.switches.switch("its", on=False)
    await agent.run("second")
    assert ["COUNT WELL" in request.system for request in model.requests] == [True, False]
    assert [len(request.tools) for request in model.requests] == [1, 0]


async def test_its_observer_is_told_of_nothing_more(board: Board) -> None:
    await board.call("counted", {"n": 1})
    before = len(SEEN)
    board.switches.switch("sees", on=False)
    await board.call("counted", {"n": 1})
    assert before > 0 and len(SEEN) == before
    board.switches.switch("sees", on=True)
    await board.call("counted", {"n": 1})
    assert len(SEEN) > before


async def test_its_slash_command_is_gone_until_it_is_on(board: Board) -> None:
    host = Hosted(board)
    assert [one.name for one in host.commands()] == ["says"]
    board.switches.switch("says", on=False)
    assert host.commands() == []
    board.switches.switch("says", on=True)
    assert [one.name for one in host.commands()] == ["says"]


@pytest.mark.parametrize(
    ("name", "told"),
    [("holds", "start with --without-guard holds"), ("nobody", "no installed plugin is named 'nobody'")],
)
async def test_a_guard_stays_and_what_is_not_there_is_told(board: Board, name: str, told: str) -> None:
    with pytest.raises(PegboardError, match=told) as raised:
        board.switches.switch(name, on=False, keep=True)
    assert "Nothing was changed" in str(raised.value) or "nothing was changed" in str(raised.value)
    assert not board.assembled.user_file.exists() and board.guards.seats


async def test_keep_writes_the_users_own_file_and_leaves_its_other_names(board: Board) -> None:
    file = board.assembled.user_file
    file.write_text('[plugins]\ndisable = ["other"]  # mine\n', "utf-8")
    board.switches.switch("its", on=False, keep=True)
    assert tomllib.loads(file.read_text("utf-8"))["plugins"]["disable"] == ["other", "its"]
    board.switches.switch("its", on=True, keep=True)
    assert tomllib.loads(file.read_text("utf-8"))["plugins"]["disable"] == ["other"] and "# mine" in file.read_text()


async def test_what_was_not_loaded_in_this_run_comes_with_the_next(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    async with Board.build(
        str(tmp_path / "root"), user_file=tmp_path / "c.toml", environ={}, state=tmp_path / "state", discover=False,
        extra=extra(), off=["its", "holds"],
    ) as board:  # fmt: skip
        assert names(board) == [] and board.switches.off == {"its"} and board.guards.seats
        assert board.switches.switch("its", on=True) == ["its was not loaded in this run; the next start loads it"]
