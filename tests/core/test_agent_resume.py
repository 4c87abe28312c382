"""A session taken up again, also by another process after a kill: the provider gets the same messages, and the model is told
what became of calls that nobody saw the end of."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pegboard import events, port
from pegboard.events import CallFinished, TurnEnded
from pegboard.models import EndPart, TextPart, ThinkingPart
from pegboard.session.fold import NEVER_STARTED, UNFINISHED
from pegboard.tooling import tool
from running import given_time


@tool(pure=True)
def echo(word: str) -> str:
    """Say a word."""
    return word


@tool(pure=True)
async def wait() -> str:
    """Wait for long."""
    await asyncio.sleep(60)
    return ""


@tool(pure=True)
async def die() -> str:
    """Never come back."""
    return ""


KILLED = """
import os, signal, sys
from pathlib import Path
from pegboard import tool
from pegboard.testing.bench import TestBoard

@tool(pure=True)
def echo(word: str) -> str:
    '''Say a word.'''
    return word

@tool(pure=True)
async def die() -> str:
    '''Never come back.'''
    os.kill(os.getpid(), signal.SIGKILL)
    return ""

steps = [("echo", {"word": "a"}), [("echo", {"word": "b"}), ("die", {}), ("echo", {"word": "c"})]]
TestBoard(Path(sys.argv[1]), tools=[echo, die], steps=steps, session="s", state=Path(sys.argv[2])).prompt("do it")
"""


def killed(root: Path, state: Path) -> None:
    """A turn in another process that is killed in the middle of a call."""
    ended = subprocess.run([sys.executable, "-c", KILLED, str(root), str(state)], capture_output=True, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()


def told(board: Any) -> list[str]:
    return [event.text for event in board.events if isinstance(event, events.Prompt) and event.by == "pegboard"]


def test_a_resumed_session_sends_the_same_messages_and_goes_on(pegboard_board: Any) -> None:
    parts = [ThinkingPart("hm"), TextPart("I look"), EndPart(provider_data={"signature": [1, 2.5, None]})]
    steps = [("echo", {"word": "ä\n\u2028"}), parts, ("nosuch", {"a": [1]}), ("echo", '{"word": '), "done"]
    board = pegboard_board(tools=[echo], steps=steps, session="s")
    board.prompt("one")
    board.prompt("two")
    sent = board.model.requests[-1]
    board.close()
    again = pegboard_board(tools=[echo], session="s")
    again.prompt("three")
    first = again.model.requests[0]
    assert first.messages[: len(sent.messages)] == sent.messages
    assert (first.system, first.tools) == (sent.system, sent.tools)
    assert [(m.role, m.text) for m in first.messages[len(sent.messages) :]] == [
        ("assistant", "done"),
        ("user", "three"),
    ]


def test_after_a_kill_open_calls_are_answered_and_the_model_is_told(pegboard_board: Any, tmp_path: Path) -> None:
    root, state = tmp_path / "root", tmp_path / "state"
    root.mkdir()
    killed(root, state)
    board = pegboard_board(root=root, state=state, tools=[echo, die], session="s")
    assert board.prompt("go on").status == "done"
    messages = board.model.requests[0].messages
    replies = {m.reply.id: (m.reply.outcome, m.reply.text) for m in messages if m.reply}
    assert replies == {
        "c1": ("ok", "a"),
        "c2": ("ok", "b"),
        "c3": ("interrupted", UNFINISHED),
        "c4": ("interrupted", NEVER_STARTED),
    }
    finished = {event.id: (event.outcome, event.why) for event in board.events if isinstance(event, CallFinished)}
    assert finished["c3"] == ("interrupted", "turn_ended")
    assert [m.text for m in messages if m.role == "user"] == ["do it", "go on", *told(board)]
    (notice,) = told(board)
    assert "die (c3)" in notice and "not known" in notice and "attempt 2" in notice
    board.close()
    again = pegboard_board(root=root, state=state, tools=[echo, die], session="s")
    again.prompt("and?")
    assert again.model.requests[0].messages[: len(messages)] == messages


@pytest.mark.row("U-042")
def test_the_next_turn_is_told_of_a_call_that_was_interrupted_and_which_attempt_it_is(pegboard_board: Any) -> None:
    def attempt(limit: float) -> None:
        steps = [("wait", {}), ("wait", {}), "looked", "ok"]
        board = pegboard_board(tools=[wait, echo], steps=steps, settings={"limits.timeout": limit})
        assert board.prompt("one").status == "stopped"
        assert told(board) == []
        assert board.prompt("two").status == "stopped"
        assert len(told(board)) == 1 and "wait (c1)" in told(board)[0] and "attempt 2" in told(board)[0]
        assert board.prompt("three").status == "done"
        assert len(told(board)) == 2 and "wait (c2)" in told(board)[1] and "attempt 3" in told(board)[1]
        assert "c1" not in told(board)[1]  # of that it has heard
        assert board.prompt("four").status == "done"
        assert len(told(board)) == 2

    given_time(attempt)


def test_a_call_that_a_person_stopped_while_the_turn_went_on_is_no_news_later(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[wait], steps=[("wait", {}), "I see", "ok"])

    async def stopped() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while not board.agent.running:
            await asyncio.sleep(0.01)
        await board.agent.send(port.Cancel())
        ended: TurnEnded = await board.agent.wait()
        return ended

    assert board.run(stopped()).status == "done"
    board.prompt("next")
    assert told(board) == []


def test_a_session_whose_last_turn_was_cut_off_before_any_reply_goes_on(pegboard_board: Any, tmp_path: Path) -> None:
    board = pegboard_board(session="s")
    folder = board.session.folder
    board.prompt("one")
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    board.close()
    (folder / "events.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][: len(lines[2]) // 2])
    again = pegboard_board(session="s")
    assert again.prompt("two").status == "done"
    assert [m.text for m in again.model.requests[0].messages] == ["one", "two"]
    assert os.path.exists(folder / "torn.txt")
