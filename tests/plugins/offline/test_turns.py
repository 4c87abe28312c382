"""Turns of a session: what is served is the person's request, whatever the loop told the model beside it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pegboard import port
from pegboard.board import Board
from pegboard.events import Message, Prompt
from pegboard.models import ProviderSettings
from pegboard_offline import provider


@pytest.fixture
async def agent(tmp_path: Path) -> AsyncIterator[Any]:
    """An agent over every installed set, answered by the router."""
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    board = Board.build(str(root), user_file=state / "none.toml", environ={}, state=state)
    made = provider(ProviderSettings(name="offline", root=str(root)))
    agent = board.agent(board.session("s"), answers="--yes", model="offline", provider=made)
    yield agent
    await agent.close()
    await board.close()


async def asked(agent: Any, text: str) -> tuple[list[str], str]:
    """The names of the calls that a request came to, and the answer."""
    before = agent.session.fold.turn
    await agent.send(port.Prompt(text=text))
    ended = await agent.wait()
    messages = [event for event in agent.session.read() if isinstance(event, Message) and event.turn > before]
    return [call.name for message in messages for call in message.calls], ended.text


def told(agent: Any) -> list[str]:
    """What the loop told the model."""
    return [event.text for event in agent.session.read() if isinstance(event, Prompt) and event.by == "pegboard"]


async def test_a_request_after_the_end_of_a_background_job_is_the_one_served(agent):
    calls, _ = await asked(agent, "start `sleep 0.1` in the background")
    assert calls == ["bg"]
    for _ in range(200):
        calls, answer = await asked(agent, "read a.txt")
        assert (calls, "one" in answer) == (["read_file"], True)
        if told(agent):
            break
        await asyncio.sleep(0.05)
    assert "Of what ran in the background" in told(agent)[0]


async def test_a_request_after_an_undo_is_the_one_served(agent):
    calls, _ = await asked(agent, "overwrite a.txt with 'two'")
    assert calls == ["write_file"]
    await agent.send(port.Undo(id="u"))
    while not agent.session.fold.undone:
        await asyncio.sleep(0.01)
    calls, answer = await asked(agent, "read a.txt")
    assert (calls, "one" in answer, len(told(agent))) == (["read_file"], True, 1)


async def test_a_request_after_an_interruption_is_the_one_served(agent):
    await agent.send(port.Prompt(text="run `touch begun; sleep 60`"))
    while not agent.running:
        await asyncio.sleep(0.01)
    await agent.send(port.Interrupt())
    assert (await agent.wait()).status == "interrupted"
    calls, answer = await asked(agent, "read a.txt")
    assert (calls, "one" in answer) == (["read_file"], True)
    assert "ended in the middle of a call" in told(agent)[0]
