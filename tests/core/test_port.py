"""The port: calls outside a turn, and an end for every prompt, by `send` and `events` alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
from pegboard import port
from pegboard.board import Board
from pegboard.context import Context
from pegboard.events import AnyEvent, ApprovalAsked, CallAsked, CallFinished, CallStarted, TurnEnded, TurnStarted
from pegboard.hooks import hookimpl
from pegboard.plugins import given
from pegboard.session import Session
from pegboard.testing.scripted import Scripted
from pegboard.tooling import tool
from pegboard.touches import Writes


@tool
def put(path: Annotated[str, Writes("A file")]) -> str:
    """Write a file."""
    return f"put {path}"


@tool(pure=True)
async def last(ctx: Context) -> str:
    """Take long."""
    await asyncio.sleep(60)
    return "never"


@pytest.fixture
def board(tmp_path: Path, home: Path) -> Board:
    root = tmp_path / "root"
    (root / ".pegboard").mkdir(parents=True)
    module = ModuleType("pegboard_test_port")
    module.pegboard_tools = hookimpl(pegboard_tools)  # type: ignore[attr-defined]
    entry = given("set", "pegboard.toolsets", module, own=True)
    return Board.build(str(root), state=tmp_path / "state", environ={}, discover=False, extra=[entry])


def pegboard_tools() -> list[Any]:
    return [put, last]


async def until(events: AsyncIterator[AnyEvent], kind: type[AnyEvent]) -> list[AnyEvent]:
    """Events up to the first of this kind."""
    found: list[AnyEvent] = []
    async with asyncio.timeout(10):
        async for event in events:
            found.append(event)
            if isinstance(event, kind):
                return found
    raise AssertionError(f"no {kind.__name__} in {found}")


async def test_a_call_is_asked_for_made_and_recorded_under_its_own_id(board: Board) -> None:
    agent = board.agent(board.session("s1"), answers="person", provider=Scripted([]))
    events = aiter(agent.events())
    await agent.send(port.Call(id="mine", name="put", arguments={"path": "a"}))
    asked = (await until(events, ApprovalAsked))[-1]
    assert isinstance(asked, ApprovalAsked) and asked.call == "mine"
    await agent.send(port.Answer(id=asked.id, granted=True))
    found = await until(events, CallFinished)
    ended = found[-1]
    assert isinstance(ended, CallFinished)
    assert (ended.id, ended.turn, ended.outcome, ended.text) == ("mine", None, "ok", "put a")
    assert ended.decision is not None and ended.decision.answer is not None and ended.decision.answer.by == "person"
    assert agent.turn is None
    await board.close()


@pytest.mark.parametrize("name", ["nosuch", "put"])
async def test_a_call_that_is_refused_ends_too(board: Board, name: str) -> None:
    agent = board.agent(board.session("s1"), answers="headless", provider=Scripted([]))
    events = aiter(agent.events())
    await agent.send(port.Call(id="mine", name=name, arguments={"path": "a"}))
    found = await until(events, CallFinished)
    assert [type(found[0]), getattr(found[-1], "outcome", None)] == [CallAsked, "blocked"]
    await board.close()


@pytest.mark.parametrize("operation", [port.Interrupt(), port.Cancel(call="mine")])
async def test_a_running_call_can_be_stopped(board: Board, operation: port.AnyOperation) -> None:
    agent = board.agent(board.session("s1"), answers="headless", provider=Scripted([]))
    events = aiter(agent.events())
    await agent.send(port.Call(id="mine", name="last"))
    await until(events, CallStarted)
    await agent.send(operation)
    ended = (await until(events, CallFinished))[-1]
    assert isinstance(ended, CallFinished) and (ended.id, ended.outcome, ended.why) == ("mine", "interrupted", "person")
    await board.close()


async def test_a_call_interrupted_at_the_question_never_ran(board: Board) -> None:
    agent = board.agent(board.session("s1"), answers="person", provider=Scripted([]))
    events = aiter(agent.events())
    await agent.send(port.Call(id="mine", name="put", arguments={"path": "a"}))
    await until(events, ApprovalAsked)
    await agent.send(port.Interrupt())
    found = await until(events, CallFinished)
    assert getattr(found[-1], "outcome", None) == "blocked" and not any(isinstance(e, CallStarted) for e in found)
    await board.close()


async def test_a_call_whose_end_cannot_be_written_down_ends_for_its_viewers(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard.errors import SessionError

    session = board.session("s1")
    agent = board.agent(session, answers="headless", provider=Scripted([]))
    events = aiter(agent.events())
    await agent.send(port.Call(id="mine", name="last"))
    await until(events, CallStarted)

    def full(*entries: object) -> list[AnyEvent]:
        raise SessionError("the disk is full")

    monkeypatch.setattr(session, "append", full)
    await agent.send(port.Cancel(call="mine"))
    ended = (await until(events, CallFinished))[-1]
    assert isinstance(ended, CallFinished) and (ended.id, ended.seq, ended.outcome) == ("mine", None, "error")
    monkeypatch.undo()
    await board.close()


async def test_a_turn_interrupted_before_it_began_has_an_end(board: Board) -> None:
    agent = board.agent(board.session("s1"), provider=Scripted(["hello"]))
    events = aiter(agent.events())
    waiting = asyncio.ensure_future(until(events, TurnEnded))
    await asyncio.sleep(0)
    await agent.send(port.Prompt(text="go"))
    await agent.send(port.Interrupt())
    ended = (await waiting)[-1]
    assert isinstance(ended, TurnEnded) and (ended.seq, ended.turn, ended.status) == (None, None, "interrupted")
    assert agent.turn is None
    await board.close()


async def test_a_turn_that_another_one_keeps_from_beginning_has_an_end_that_says_so(board: Board) -> None:
    other = Session.open(board.sessions_folder or Path(), "s1", board.root)
    agent = board.agent(board.session("s1"), provider=Scripted(["hello"]))
    events = aiter(agent.events())
    waiting = asyncio.ensure_future(until(events, TurnEnded))
    await asyncio.sleep(0)
    async with other.turn():
        await agent.send(port.Prompt(text="go"))
        ended = (await waiting)[-1]
    assert isinstance(ended, TurnEnded) and ended.turn is None and "nothing was started" in (ended.error or "")
    other.close()
    await board.close()


async def test_the_number_of_ones_own_turn_is_known_when_its_events_come(board: Board) -> None:
    theirs, mine = (board.agent(board.session("s1"), provider=Scripted(["a"])) for _ in range(2))
    await theirs.send(port.Prompt(text="their request"))
    await theirs.wait()
    events = aiter(mine.events())
    await mine.send(port.Prompt(text="my request"))
    numbers: list[tuple[int | None, int | None]] = []
    async with asyncio.timeout(10):
        async for event in events:
            if isinstance(event, TurnStarted):
                numbers.append((event.turn, mine.turn))
            if isinstance(event, TurnEnded) and event.turn == mine.turn:
                break
    assert [turn for turn, _ in numbers] == [1, 2] and numbers[-1] == (2, 2)
    assert theirs.turn == 1
    await board.close()
