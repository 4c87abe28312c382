"""Calls that are stopped: by a person, by a time limit, by the end of their turn. Nothing is replayed."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from typing import Annotated, Any

import pytest
from pegboard import port
from pegboard.context import Context, SyncContext
from pegboard.events import CallFinished, CallStarted, TurnEnded
from pegboard.tooling import tool
from pegboard.touches import Runs
from running import alive, given_time, pid_in

STARTED: list[str] = []
"""What has begun to run, in order."""


@pytest.fixture(autouse=True)
def nothing_started() -> None:
    STARTED.clear()


@tool
async def waits(name: str) -> str:
    """Wait for ever."""
    STARTED.append(name)
    await asyncio.sleep(60)
    return name


@tool(permission_fn=lambda arguments: "allow")
async def shell(command: Annotated[str, Runs("A command")], ctx: Context) -> str:
    """Run a command."""
    STARTED.append(command)
    done = await ctx.run(["bash", "-c", command])
    return f"exit {done.exit_code}"


@tool(pure=True)
def quick() -> str:
    """Return at once."""
    STARTED.append("quick")
    return "quick"


async def until(condition: Any) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        await asyncio.sleep(0.005)


def prompted(board: Any, *operations: Any, when: Any = lambda: STARTED) -> TurnEnded:
    """Run a turn and hand in operations once something has started."""

    async def turn() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        await until(when)
        for operation in operations:
            await board.agent.send(operation)
            await asyncio.sleep(0)
        ended: TurnEnded = await asyncio.wait_for(board.agent.wait(), 60)
        return ended

    return board.run(turn())  # type: ignore[no-any-return]


def finished(board: Any) -> list[CallFinished]:
    return [event for event in board.events if isinstance(event, CallFinished)]


# --- by a person ------------------------------------------------------------------------------------------------------


@pytest.mark.row("S-063", "U-041")
def test_a_command_a_person_stops_is_interrupted_with_what_it_had_printed(pegboard_board: Any) -> None:
    command = "echo first; echo second; sleep 600"  # longer than a test may take
    board = pegboard_board(tools=[shell], steps=[("shell", {"command": command}), "I see"])

    async def turn() -> TurnEnded:
        printed: list[str] = []

        async def watch() -> None:
            async for event in board.agent.events():
                if type(event).__name__ == "CallOutput":
                    printed.append(event.text)

        watching = asyncio.create_task(watch())
        await board.agent.send(port.Prompt(text="go"))
        await until(lambda: printed and "second" in printed[-1])
        await board.agent.send(port.Cancel())
        ended: TurnEnded = await board.agent.wait()
        watching.cancel()
        return ended

    assert board.run(turn()).status == "done"  # the turn went on
    (ended,) = finished(board)
    assert (ended.outcome, ended.why, ended.block) == ("interrupted", "person", None)
    said = "The user interrupted this command. It did not finish, so its effects are unknown."
    assert said in ended.text
    assert ended.text.split(said)[1].startswith("\nstdout:\nfirst\nsecond\n")
    reply = board.model.requests[1].messages[-1].reply
    assert (reply.text, reply.outcome) == (ended.text, "interrupted")


def test_cancelling_one_call_by_its_id_leaves_the_turn_and_the_next_calls_alone(pegboard_board: Any) -> None:
    steps = [[("waits", {"name": "a"}), ("quick", {})], "ok"]
    board = pegboard_board(tools=[waits, quick], steps=steps)
    assert prompted(board, port.Cancel(call="other"), port.Cancel(call="c1")).status == "done"
    assert [(e.id, e.outcome, e.why) for e in finished(board)] == [("c1", "interrupted", "person"), ("c2", "ok", None)]
    assert STARTED == ["a", "quick"]


def test_after_a_stopped_call_the_turns_task_is_as_if_nothing_had_been(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def cancelling() -> str:
        """Say how often this task was told to stop."""
        task = asyncio.current_task()
        return str(task.cancelling()) if task else ""

    board = pegboard_board(tools=[waits, cancelling], steps=[[("waits", {"name": "a"}), ("cancelling", {})], "ok"])
    prompted(board, port.Cancel())
    assert finished(board)[1].text == "0"


def test_an_interrupt_ends_the_turn_and_no_further_call_runs(pegboard_board: Any) -> None:
    steps = [[("waits", {"name": "a"}), ("quick", {})], "never asked"]
    board = pegboard_board(tools=[waits, quick], steps=steps)
    assert prompted(board, port.Interrupt()).status == "interrupted"
    (ended,) = finished(board)
    assert (ended.outcome, ended.why) == ("interrupted", "person")
    assert "effects are unknown" in ended.text
    assert type(board.events[-1]).__name__ == "TurnEnded"
    assert STARTED == ["a"] and len(board.model.requests) == 1
    assert board.prompt().status == "done"  # the session goes on
    replies = [m.reply.outcome for m in board.model.requests[-1].messages if m.reply]
    assert replies == ["interrupted", "interrupted"]  # the second was never started, and the model is told


def test_an_interrupt_while_a_person_is_asked_runs_nothing(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[waits], answers="person", steps=[("waits", {"name": "a"})])
    asked = lambda: any(type(event).__name__ == "ApprovalAsked" for event in board.events)  # noqa: E731
    assert prompted(board, port.Interrupt(), when=asked).status == "interrupted"
    (ended,) = finished(board)
    assert (ended.outcome, ended.block) == ("blocked", "denied")
    assert "Nothing was run" in ended.text
    assert STARTED == [] and not [e for e in board.events if isinstance(e, CallStarted)]


def test_an_interrupt_before_the_turn_has_begun_ends_it(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[quick], steps=[("quick", {}), "ok"])

    async def turn() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        await board.agent.send(port.Interrupt())
        ended: TurnEnded = await board.agent.wait()
        return ended

    assert board.run(turn()).status == "interrupted"
    assert board.prompt().status == "done"


def test_closing_the_board_ends_what_runs(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[waits], steps=[("waits", {"name": "a"})])

    async def leave() -> None:
        await board.agent.send(port.Prompt(text="go"))
        await until(lambda: STARTED)
        await board.board.close()

    board.run(leave())
    from pegboard.session import read_events

    kept = read_events(board.session.folder)
    assert [type(event).__name__ for event in kept][-3:] == ["CallFinished", "Usage", "TurnEnded"]
    assert isinstance(kept[-3], CallFinished) and (kept[-3].outcome, kept[-3].why) == ("interrupted", "turn_ended")


def test_a_call_outside_a_turn_that_is_cancelled_is_recorded(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[waits])

    async def give_up() -> None:
        calling = asyncio.create_task(board.agent.call("waits", {"name": "a"}))
        await until(lambda: STARTED)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling

    board.run(give_up())
    assert [(e.outcome, e.why) for e in finished(board)] == [("interrupted", "person")]


# --- by a time limit --------------------------------------------------------------------------------------------------


@tool(timeout=0.1)
async def limited(name: str) -> str:
    """Wait longer than it may."""
    STARTED.append(name)
    await asyncio.sleep(60)
    return name


@pytest.mark.row("U-040", "U-041", "U-036")
def test_a_call_over_its_time_limit_is_interrupted_uncertain_and_not_replayed(pegboard_board: Any) -> None:
    steps = [("limited", {"name": "a"}), "I see", ("limited", {"name": "b"}), "I see"]
    board = pegboard_board(tools=[limited], steps=steps)
    board.prompt()
    (ended,) = finished(board)
    assert (ended.outcome, ended.why) == ("interrupted", "timeout")
    assert "at its time limit of 0.1 s" in ended.text and "its effects are unknown" in ended.text
    assert STARTED == ["a"]  # once, until the model itself asks again
    board.prompt()
    assert STARTED == ["a", "b"]


@pytest.mark.row("U-040", "U-041")
def test_a_command_over_its_time_limit_is_run_once_and_killed(pegboard_board: Any, tmp_path: Any) -> None:
    def attempt(limit: float) -> None:
        @tool(timeout=limit)
        async def limited_shell(command: Annotated[str, Runs("A command")], ctx: Context) -> str:
            """Run a command for longer than it may."""
            await ctx.run(["bash", "-c", command])
            return "done"

        (tmp_path / "runs").unlink(missing_ok=True)
        command = "echo $$ >> runs; sleep 60"
        board = pegboard_board(tools=[limited_shell], steps=[("limited_shell", {"command": command}), "I see"])
        assert board.prompt().status == "done"
        (ended,) = finished(board)
        assert (ended.outcome, ended.why) == ("interrupted", "timeout")
        assert "This command" in ended.text or "The command" in ended.text
        assert (tmp_path / "runs").exists()
        assert not alive(pid_in(tmp_path / "runs"))  # one number: run once

    given_time(attempt)


@pytest.mark.row("U-036", "U-040")
def test_a_call_whose_result_is_lost_is_not_run_again(pegboard_board: Any) -> None:
    @tool
    async def drops() -> str:
        """Do the work, then lose the answer."""
        STARTED.append("drops")
        raise ConnectionResetError("the response was lost")

    @tool(replay="safe")
    async def drops_safely() -> str:
        """The same; the model may try again, the loop does not."""
        STARTED.append("drops_safely")
        raise ConnectionResetError("the response was lost")

    board = pegboard_board(tools=[drops, drops_safely], steps=[[("drops", {}), ("drops_safely", {})], "ok"])
    assert board.prompt().status == "done"
    assert STARTED == ["drops", "drops_safely"]
    assert [event.outcome for event in finished(board)] == ["error", "error"]
    assert all("unknown" in event.text for event in finished(board))


# --- threads ----------------------------------------------------------------------------------------------------------


def test_a_plain_function_runs_in_a_thread_and_an_inline_one_on_the_loop(pegboard_board: Any) -> None:
    threads: dict[str, bool] = {}

    def make(name: str, **declared: Any) -> Any:
        @tool(name=name, pure=True, **declared)
        def some() -> str:
            """Say where it runs."""
            threads[name] = threading.current_thread() is threading.main_thread()
            return ""

        return some

    @tool(pure=True)
    async def waiting() -> str:
        """Say where it runs."""
        threads["waiting"] = threading.current_thread() is threading.main_thread()
        return ""

    board = pegboard_board(tools=[make("plain"), make("inline", inline=True), waiting])
    for name in ("plain", "inline", "waiting"):
        board.call(name)
    assert threads == {"plain": False, "inline": True, "waiting": True}


def test_a_thread_that_cannot_be_stopped_keeps_its_lane_shut_and_its_result_is_dropped(pegboard_board: Any) -> None:
    release = threading.Event()

    @tool(timeout=0.1)
    def stubborn() -> str:
        """Hold on."""
        STARTED.append("stubborn")
        release.wait(60)
        STARTED.append("ended")
        return "too late"

    board = pegboard_board(tools=[stubborn, quick], settings={"tools.stuck": 5})
    first = board.call("stubborn")
    assert (first.outcome, first.why) == ("interrupted", "timeout")
    assert "too late" not in first.text

    async def both() -> Any:
        waiting = asyncio.create_task(board.agent.call("quick", {}))
        await asyncio.sleep(0.1)
        assert not waiting.done() and STARTED == ["stubborn"]
        release.set()
        return await asyncio.wait_for(waiting, 60)

    assert board.run(both()).outcome == "ok"
    assert STARTED == ["stubborn", "ended", "quick"]
    assert len(finished(board)) == 2


def test_after_its_grace_a_stuck_tool_is_off_and_the_others_go_on(pegboard_board: Any) -> None:
    release = threading.Event()

    @tool(timeout=0.05)
    def stubborn() -> str:
        """Hold on."""
        release.wait(60)
        return "too late"

    board = pegboard_board(tools=[stubborn, quick], settings={"tools.stuck": 0.2})
    assert board.call("stubborn").outcome == "interrupted"
    assert board.call("quick").outcome == "ok"
    record = board.call("stubborn")
    assert (record.block, record.tool) == ("unavailable", "stubborn")
    assert "is off for this session" in record.text
    release.set()
    board.run(until(lambda: not board.agent._road.runner.stuck))
    assert board.call("quick").outcome == "ok"


def test_a_call_that_is_stopped_changes_nothing_more(pegboard_board: Any, tmp_path: Any) -> None:
    go_on = threading.Event()
    said: list[str] = []

    @tool(timeout=0.1)
    def late(ctx: SyncContext) -> str:
        """Write after it was stopped."""
        go_on.wait(60)
        try:
            with ctx.commit() as files:
                files.write("late.txt", b"x")
        except Exception as error:
            said.append(type(error).__name__)
            raise
        return ""

    board = pegboard_board(tools=[late], settings={"tools.stuck": 5})
    assert board.call("late").outcome == "interrupted"
    go_on.set()

    async def over() -> None:
        await until(lambda: said)

    board.run(over())
    assert said == ["Interrupted"]
    assert not (tmp_path / "late.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX")
def test_nothing_a_stopped_call_started_is_left_running(pegboard_board: Any, tmp_path: Any) -> None:
    command = "sleep 60 & echo $! > started; wait"
    board = pegboard_board(tools=[shell], steps=[("shell", {"command": command}), "I see"])
    started = tmp_path / "started"
    assert prompted(board, port.Cancel(), when=lambda: started.exists() and started.read_text()).status == "done"
    assert not alive(pid_in(started))
