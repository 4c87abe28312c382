"""What becomes of calls that failed: never made again by the loop, told of to the model, safe ones tried again later."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import port
from pegboard.calls import Caller
from pegboard.context import Context
from pegboard.errors import ToolError
from pegboard.events import CallFinished, CallStarted, Note, Prompt, TurnEnded
from pegboard.repeats import LONGEST, PAUSE, Identity, Repeats
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.touches import Reads, Runs, Writes
from running import given_time

Board = Callable[..., TestBoard]
INSPECT = "Before you change anything else, look at the state of things"


@tool
def deploy(command: Annotated[str, Runs("A command")]) -> str:
    """Change something, and fail."""
    raise ToolError("the connection was lost")


@tool(replay="safe")
def fetch(path: Annotated[str, Reads("A file")], fails: bool = True) -> str:
    """Read something that is not there."""
    if fails:
        raise ToolError("it is not there")
    return "read"


@tool
def edit(path: Annotated[str, Writes("A file")], fails: bool = True) -> str:
    """Change a file, or say why not."""
    if fails:
        raise ToolError("the text is not in it; nothing was changed")
    return "edited"


@tool
def broken(path: Annotated[str, Writes("A file")], ctx: Context) -> str:
    """Call a program, and fail."""
    ctx.run(["true"])
    raise ToolError("it went wrong after that")


def replies(board: TestBoard, request: int) -> list[str]:
    return [message.reply.text for message in board.model.requests[request].messages if message.reply]


def texts(board: TestBoard) -> list[str]:
    return [event.text for event in board.events if isinstance(event, CallFinished)]


# --- never ------------------------------------------------------------------------------------------------------------


@pytest.mark.row("U-038")
def test_a_failed_call_that_may_have_changed_something_is_kept_and_the_model_is_told_to_look_first(
    pegboard_board: Board,
) -> None:
    board = pegboard_board(tools=[deploy], steps=[("deploy", {"command": "go"}), "done"])
    assert board.prompt().status == "done"
    (text,) = texts(board)
    assert text.startswith("Error: the connection was lost") and INSPECT in text
    assert replies(board, 1) == [text]
    assert len([event for event in board.events if isinstance(event, CallStarted)]) == 1  # it is not made again


@pytest.mark.row("U-038")
def test_the_same_holds_for_one_that_was_stopped_or_called_programs(pegboard_board: Board) -> None:
    @tool(timeout=0.05)
    async def hang(command: Annotated[str, Runs("A command")]) -> str:
        """Take too long."""
        await asyncio.sleep(60)
        return ""

    steps = [("hang", {"command": "x"}), ("broken", {"path": "a"}), "done"]
    board = pegboard_board(tools=[hang, broken], steps=steps)
    assert board.prompt().status == "done"
    stopped, failed = texts(board)
    assert "time limit" in stopped and INSPECT in stopped and INSPECT in failed


def test_nothing_is_said_where_it_is_known_what_was_changed_or_nothing_could_be(pegboard_board: Board) -> None:
    steps = [("edit", {"path": "a"}), ("fetch", {"path": "a"}), ("edit", {"path": "a", "fails": False}), "done"]
    board = pegboard_board(tools=[edit, fetch, deploy], steps=steps)
    assert board.prompt().status == "done"
    assert not any(INSPECT in text for text in texts(board))
    assert INSPECT not in board.call("deploy", "person", command="go").text  # the person saw it


# --- safe -------------------------------------------------------------------------------------------------------------


@pytest.mark.row("U-039")
def test_the_very_same_safe_call_waits_longer_each_time_it_failed(
    pegboard_board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float, *rest: Any) -> Any:
        if seconds:
            slept.append(seconds)
        return await sleep(0)

    same, other = ("fetch", {"path": "a"}), ("fetch", {"path": "b"})
    board = pegboard_board(tools=[fetch, edit], steps=[same, same, other, same, ("edit", {"path": "a"}), "done"])
    monkeypatch.setattr(asyncio, "sleep", noted)
    assert board.prompt().status == "done"
    assert slept == [PAUSE, PAUSE * 2]
    notes = [event.text for event in board.events if isinstance(event, Note) and "tried again" in event.text]
    assert notes == [
        "fetch failed before: it is tried again in 0.25 s",
        "fetch failed before: it is tried again in 0.5 s",
    ]


@pytest.mark.row("U-039")
def test_the_pause_can_be_cut_short_by_the_person(pegboard_board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.repeats.PAUSE", 60.0)
    monkeypatch.setattr("pegboard.repeats.LONGEST", 60.0)
    same = ("fetch", {"path": "a"})
    board = pegboard_board(tools=[fetch], steps=[same, same, "done"])

    async def both() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while not any(isinstance(event, Note) for event in board.events):
            await asyncio.sleep(0.005)
        await board.agent.send(port.Cancel(call="c2"))
        return await asyncio.wait_for(board.agent.wait(), 60)

    assert board.run(both()).status == "done"
    ended = [event for event in board.events if isinstance(event, CallFinished)]
    assert [event.outcome for event in ended] == ["error", "blocked"]
    assert not board.agent.running


def test_a_pause_is_bounded_and_forgotten_once_the_call_goes_well_or_something_new_was_done() -> None:
    safe = Identity("fetch", b"{}", False, True)
    change = Identity("edit", b"{}", True)
    repeats = Repeats()

    def make(identity: Identity, outcome: Any) -> float:
        pause = repeats.begun(identity)
        repeats.made(identity, outcome)
        return pause

    pauses = [make(safe, "error") for _ in range(8)]
    assert pauses[:3] == [0.0, PAUSE, PAUSE * 2] and max(pauses) == LONGEST
    make(change, "ok")
    assert make(safe, "error") == 0.0
    assert make(safe, "ok") == PAUSE
    assert make(safe, "ok") == 0.0
    assert [make(change, "error") for _ in range(3)] == [0.0] * 3  # not safe: the loop has no opinion


# --- after a turn that was cut off ------------------------------------------------------------------------------------


@pytest.mark.row("U-042")
def test_the_attempt_is_counted_from_what_happened_and_not_from_what_was_said(
    pegboard_board: Board, tmp_path: Path
) -> None:
    @tool
    async def hang(command: Annotated[str, Runs("A command")]) -> str:
        """Take too long."""
        await asyncio.sleep(60)
        return ""

    call = ("hang", {"command": "x"})
    root = tmp_path / "root"
    root.mkdir()

    def attempt(limit: float) -> None:
        given: dict[str, Any] = {"root": root, "state": tmp_path / f"state{limit}", "tools": [hang], "session": "s"}
        board = pegboard_board(steps=[call, call], settings={"limits.timeout": limit}, **given)
        assert [board.prompt("one").status, board.prompt("two").status] == ["stopped", "stopped"]
        log = board.session.folder / "events.jsonl"
        board.close()
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            for key in ("text", "error"):
                if isinstance(line.get(key), str):
                    line[key] = "This is attempt 77 of c9, and all went well."
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
        again = pegboard_board(steps=["looked"], **given)
        assert again.prompt("three").status == "done"
        notice = [event.text for event in again.events if isinstance(event, Prompt) and event.by == "pegboard"][-1]
        assert "attempt 3" in notice and "hang (c2)" in notice and "77" not in notice and "c9" not in notice

    given_time(attempt, (0.1, 3, 20))


# --- who calls --------------------------------------------------------------------------------------------------------


@pytest.mark.row("C-077")
@pytest.mark.parametrize("caller", ["model", "program", "person", "mcp", "tool"])
def test_a_tool_is_called_by_its_declared_callers_alone(pegboard_board: Board, caller: Caller) -> None:
    ran: list[str] = []

    def made(name: str, callers: set[str]) -> Any:
        @tool(name=name, pure=True, callers=callers)  # type: ignore[arg-type]
        def some() -> str:
            """Do something."""
            ran.append(name)
            return "did it"

        return some

    everyone = {"model", "program", "person", "mcp", "tool"}
    board = pegboard_board(
        tools=[made("mine", {caller}), made("others", everyone - {caller}), made("anyones", everyone)]
    )
    assert board.call("mine", caller).outcome == board.call("anyones", caller).outcome == "ok"
    refused = board.call("others", caller)
    assert (refused.outcome, refused.block) == ("blocked", "unavailable")
    assert f"others cannot be called by a {caller}" in refused.text and "Nothing was run" in refused.text
    assert ran == ["mine", "anyones"]
    assert [offer.name for offer in board.board.offers(caller)] == ["mine", "anyones"]
