"""What one turn may take: replies, tokens, seconds, and the same call again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import events, port
from pegboard.events import CallAsked, CallFinished, TurnEnded
from pegboard.models import EndPart, ReplyPart, Request, TextPart
from pegboard.testing.scripted import Scripted
from pegboard.tooling import tool
from pegboard.touches import Writes
from running import given_time

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(pure=True, aliases=["say"])
def echo(word: str, times: int = 1) -> str:
    """Say a word."""
    RAN.append(word)
    return word * times


@tool
def put(path: Annotated[str, Writes("A file")]) -> str:
    """Write a file."""
    RAN.append(path)
    return f"put {path}"


@tool(pure=True)
async def wait() -> str:
    """Wait for long."""
    RAN.append("wait")
    await asyncio.sleep(60)
    return "waited"


@tool(pure=True)
def block() -> str:
    """Wait in a thread."""
    time.sleep(0.5)
    return "blocked"


def finished(board: Any) -> list[tuple[str, str | None]]:
    return [(event.outcome, event.why) for event in board.events if isinstance(event, CallFinished)]


def told(board: Any) -> list[str]:
    """What the loop told the model by itself."""
    return [event.text for event in board.events if isinstance(event, events.Prompt) and event.by == "pegboard"]


def notes(board: Any) -> list[str]:
    return [event.text for event in board.events if isinstance(event, events.Note)]


# --- steps ------------------------------------------------------------------------------------------------------------


def test_a_turn_stops_after_its_steps_and_the_next_one_goes_on(pegboard_board: Any) -> None:
    steps = [("echo", {"word": word}) for word in "abc"]
    board = pegboard_board(tools=[echo], steps=[*steps, "all"], settings={"limits.max_steps": 2})
    ended = board.prompt()
    assert (ended.status, RAN) == ("stopped", ["a", "b"])
    assert ended.error.startswith("steps: ") and "2 replies" in ended.error and "limits.max_steps" in ended.error
    assert finished(board) == [("ok", None), ("ok", None)]
    assert (board.prompt("go on").status, RAN) == ("done", ["a", "b", "c"])


def test_an_answer_at_the_last_step_is_an_answer(pegboard_board: Any) -> None:
    board = pegboard_board(steps=["the answer"], settings={"limits.max_steps": 1})
    assert board.prompt().status == "done"


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_a_turn_that_took_its_tokens_is_not_asked_again(pegboard_board: Any) -> None:
    model = Scripted([("echo", {"word": word}) for word in "abcdef"], usage=(80, 20))
    board = pegboard_board(tools=[echo], steps=model, settings={"limits.max_tokens": 250})
    ended = board.prompt()
    assert (ended.status, RAN) == ("stopped", ["a", "b", "c"])  # 100, 200, 300: the fourth would begin over the limit
    assert ended.error == (
        "budget: the turn took 300 tokens and may take 250, so the model was not asked again. What was done stands. "
        "Ask again to go on, or allow more (limits.max_tokens)."
    )
    assert ended.usage == {"input": 240, "output": 60, "cached": 0, "cost": None}
    assert notes(board) == []


def test_the_tokens_of_one_turn_do_not_count_for_the_next(pegboard_board: Any) -> None:
    model = Scripted([("echo", {"word": "a"}), "one", ("echo", {"word": "b"}), "two"], usage=(80, 20))
    board = pegboard_board(tools=[echo], steps=model, settings={"limits.max_tokens": 150})
    assert [board.prompt().status, board.prompt().status] == ["done", "done"]


def test_a_model_that_does_not_count_is_counted_for_and_that_is_said(pegboard_board: Any) -> None:
    board = pegboard_board(
        tools=[echo],
        steps=[("echo", {"word": str(number) * 4000}) for number in range(9)],
        settings={"limits.max_tokens": 5000},
    )
    ended = board.prompt()
    assert ended.status == "stopped" and ended.error.startswith("budget: the turn took about ")
    assert 2 <= len(RAN) < 6  # each step carries 8000 more bytes, in the call and in its result
    assert ended.usage["input"] == 0  # what the provider said stays what it said
    assert [note for note in notes(board) if "a token is taken for each four bytes" in note] == notes(board) != []


def test_without_a_limit_nobody_is_told_that_tokens_are_not_counted(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "a"}), "ok"])
    board.prompt()
    assert notes(board) == []


# --- seconds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [wait, block])
def test_a_call_that_runs_when_the_time_is_over_is_interrupted_and_the_turn_stops(
    pegboard_board: Any, which: Any
) -> None:
    steps = [[(which.__name__, {}), ("echo", {"word": "a"})], "never asked for"]

    def attempt(limit: float) -> None:
        board = pegboard_board(tools=[wait, block, echo], steps=steps, settings={"limits.timeout": limit})
        ended = board.prompt()
        assert ended.status == "stopped" and ended.error.startswith(f"timeout: the turn was stopped after {limit:g} s.")
        assert finished(board) == [("interrupted", "turn_ended")]  # the second was not come to
        assert "a" not in RAN and len(board.model.requests) == 1
        (text,) = [event.text for event in board.events if isinstance(event, CallFinished)]
        assert "The turn ended while this call ran." in text and "effects are unknown" in text
        assert isinstance(board.events[-1], TurnEnded) and board.events[-1].seq == len(board.events)

    given_time(attempt)


def test_a_model_that_never_ends_is_stopped_and_what_it_said_is_kept(pegboard_board: Any) -> None:
    def attempt(limit: float) -> None:
        board = pegboard_board(steps=[[TextPart("I am thinking about "), 60.0]], settings={"limits.timeout": limit})
        ended = board.prompt()
        assert (ended.status, ended.text) == ("stopped", "I am thinking about ")
        assert [event.text for event in board.events if isinstance(event, events.Message)] == ["I am thinking about "]
        assert board.prompt("go on").status == "done"
        assert [m.text for m in board.model.requests[1].messages] == ["go", "I am thinking about ", "go on"]

    given_time(attempt)


def test_a_model_that_never_lets_anyone_else_run_is_stopped_too(pegboard_board: Any) -> None:
    class Endless(Scripted):
        async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
            while True:
                yield TextPart("x")

    board = pegboard_board(steps=Endless([]), settings={"limits.timeout": 0.1})
    assert board.prompt().status == "stopped"


def test_a_turn_in_which_nothing_ever_waits_is_stopped_too(pegboard_board: Any) -> None:
    @tool(pure=True, inline=True)
    def quick(number: int) -> str:
        """Be quick."""
        time.sleep(0.002)
        return ""

    steps = [("quick", {"number": number}) for number in range(40)]
    board = pegboard_board(tools=[quick], steps=[*steps, "ok"], settings={"limits.timeout": 0.02})
    assert board.prompt().status == "stopped"
    board = pegboard_board(tools=[quick], steps=[steps, "ok"], settings={"limits.timeout": 0.02})
    assert board.prompt().status == "stopped"
    assert len(finished(board)) < 40


def test_a_question_that_nobody_answers_in_time_runs_nothing(pegboard_board: Any) -> None:
    def attempt(limit: float) -> None:
        settings = {"limits.timeout": limit}
        board = pegboard_board(tools=[put], answers="person", steps=[("put", {"path": "a"})], settings=settings)
        assert board.prompt().status == "stopped"
        assert (finished(board), RAN) == ([("blocked", None)], [])

    given_time(attempt)


def test_a_tool_that_swallows_its_end_does_not_keep_the_turn_going(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def stubborn() -> str:
        """Do not stop."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "I go on"
        return ""

    steps = [[("stubborn", {}), ("echo", {"word": "a"})], "never asked for"]

    def attempt(limit: float) -> None:
        board = pegboard_board(tools=[stubborn, echo], steps=steps, settings={"limits.timeout": limit})
        assert board.prompt().status == "stopped"
        assert RAN == [] and len(board.model.requests) == 1

    given_time(attempt)
    other = pegboard_board(tools=[stubborn, echo], steps=steps)

    async def interrupted() -> TurnEnded:
        await other.agent.send(port.Prompt(text="go"))
        while not other.agent.running:
            await asyncio.sleep(0.01)
        await other.agent.send(port.Interrupt())
        ended: TurnEnded = await other.agent.wait()
        return ended

    assert other.run(interrupted()).status == "interrupted"
    assert RAN == [] and len(other.model.requests) == 1


def test_a_person_who_ends_a_turn_is_told_that_and_not_of_a_time_limit(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[block], steps=[("block", {}), "never"], settings={"limits.timeout": 30})

    async def interrupted() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while not board.agent.running:
            await asyncio.sleep(0.01)
        await board.agent.send(port.Interrupt())
        ended: TurnEnded = await board.agent.wait()
        return ended

    ended = board.run(interrupted())
    assert (ended.status, ended.error) == ("interrupted", None)
    assert finished(board) == [("interrupted", "person")]
    assert len(board.model.requests) == 1


def test_a_turn_after_one_whose_time_was_over_is_a_turn_like_any_other(pegboard_board: Any) -> None:
    async def interrupted(board: Any) -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while not board.agent.running:
            await asyncio.sleep(0.01)
        await board.agent.send(port.Interrupt())
        ended: TurnEnded = await board.agent.wait()
        return ended

    def attempt(limit: float) -> None:
        steps = [("wait", {}), "ok", ("wait", {})]
        board = pegboard_board(tools=[wait], steps=steps, settings={"limits.timeout": limit})
        assert [board.prompt().status, board.prompt().status] == ["stopped", "done"]
        assert board.run(interrupted(board)).status == "interrupted"
        assert finished(board) == [("interrupted", "turn_ended"), ("interrupted", "person")]

    given_time(attempt)


# --- the same call again ----------------------------------------------------------------------------------------------


def test_the_third_identical_call_is_told_to_the_model_and_the_sixth_stops_the_turn(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "a"})] * 9)
    ended = board.prompt()
    assert (ended.status, RAN) == ("stopped", ["a"] * 5)
    assert ended.error.startswith("repeats: ") and "echo" in ended.error and "was not run" in ended.error
    assert len(told(board)) == 1 and "third time" in told(board)[0] and "echo (c3)" in told(board)[0]
    for number, request in enumerate(board.model.requests):
        said = [m.text for m in request.messages if m.role == "user"][1:]
        assert said == (told(board) if number >= 3 else []), number  # it is sent right after the third, and stays
    assert len([note for note in notes(board) if "3rd time" in note]) == 1
    assert [event.text for event in board.events if isinstance(event, CallFinished)] == ["a"] * 5  # results stay theirs
    assert len([event for event in board.events if isinstance(event, CallAsked)]) == 5


def test_after_a_turn_that_repeated_itself_the_history_is_whole_and_the_count_begins_anew(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "a"})] * 8)
    board.prompt()
    assert board.prompt("try again").status == "done"
    history = board.model.requests[-1].messages
    asked = [call.id for message in history for call in message.calls]
    assert [message.reply.id for message in history if message.reply] == asked
    sixth = next(message.reply for message in history if message.reply and message.reply.id == "c6")
    assert "nothing happened" in sixth.text
    assert RAN == ["a"] * 7


@pytest.mark.parametrize(
    "same",
    [
        ("say", {"word": "a"}),
        ("echo", {"times": 1, "word": "a"}),
        ("echo", {"word": "a", "times": "1"}),
        ("echo", '{"word": "a"}'),
        ("echo", {"word": "a", "times": None}),
    ],
)
def test_calls_are_the_same_when_they_mean_the_same_however_they_are_written(pegboard_board: Any, same: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "a"}), same] * 5)
    assert (board.prompt().status, len(RAN)) == ("stopped", 5)


def test_calls_that_take_turns_count_as_well(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo, put], steps=[("put", {"path": "a"}), ("echo", {"word": "b"})] * 9)
    assert board.prompt().status == "stopped"
    assert [["a", "b"].index(word) for word in RAN] == [0, 1] * 5


def test_two_calls_that_change_things_by_turns_count_as_well(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put], steps=[("put", {"path": "a"}), ("put", {"path": "b"})] * 9)
    assert board.prompt().status == "stopped"
    assert len(RAN) <= 12


def test_a_call_made_again_after_each_of_many_changes_is_work_and_no_repetition(pegboard_board: Any) -> None:
    steps = [step for n in range(10) for step in (("put", {"path": f"f{n}"}), ("echo", {"word": "test"}))]
    board = pegboard_board(tools=[echo, put], steps=[*steps, "ok"])
    assert board.prompt().status == "done"
    assert told(board) == [] and RAN.count("test") == 10


def test_a_change_that_was_refused_is_none(pegboard_board: Any) -> None:
    steps = [step for n in range(10) for step in (("put", {"path": f"f{n}"}), ("echo", {"word": "test"}))]
    board = pegboard_board(tools=[echo, put], answers="--no", steps=[*steps, "ok"])
    assert (board.prompt().status, RAN) == ("stopped", ["test"] * 5)


def test_unknown_tools_and_arguments_that_do_not_fit_count_too(pegboard_board: Any) -> None:
    for step in (("nosuch", {"a": 1}), ("echo", {"wrong": 1}), ("echo", '{"word": ')):
        board = pegboard_board(tools=[echo], steps=[step] * 9)
        assert board.prompt().status == "stopped"
        assert len(finished(board)) == 5
        board.close()


def test_polling_five_times_is_possible(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[*[("echo", {"word": "ready?"})] * 5, "it is ready"])
    assert (board.prompt().status, len(RAN)) == ("done", 5)


def test_many_identical_calls_in_one_reply_are_stopped_at_the_sixth(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[[("echo", {"word": "a"})] * 500])
    assert (board.prompt().status, len(RAN)) == ("stopped", 5)
    assert board.prompt("again").status == "done"


def test_a_word_from_the_person_begins_the_count_anew(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def listen() -> str:
        """Hear the person once in a while."""
        RAN.append("listen")
        if len(RAN) in (4, 8):
            await board.agent.send(port.Steer(text="once more"))
        return ""

    board = pegboard_board(tools=[listen], steps=[*[("listen", {})] * 12, "ok"])
    assert (board.prompt().status, len(RAN)) == ("done", 12)


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_limits_of_the_configuration_are_the_agents(tmp_path: Path) -> None:
    from pegboard.board import Board

    file = tmp_path / "config.toml"
    file.write_text("[limits]\nmax_steps = 1\n")
    root = tmp_path / "root"
    root.mkdir()
    board = Board.build(str(root), user_file=file, environ={}, state=tmp_path / "state", discover=False)
    model = Scripted([("nosuch", {}), "ok"])

    async def turn() -> TurnEnded:
        agent = board.agent(board.session(), provider=model)
        await agent.send(port.Prompt(text="go"))
        ended = await agent.wait()
        await board.close()
        return ended

    ended = asyncio.run(turn())
    assert ended.status == "stopped" and (ended.error or "").startswith("steps: the turn was stopped after 1 reply")


def test_what_a_turn_ends_with_is_its_last_event_whatever_ends_it(pegboard_board: Any) -> None:
    class Ended(BaseException):
        """Nothing that anyone catches."""

    board = pegboard_board(steps=[[TextPart("x"), EndPart()], Ended("out"), "ok"])
    board.prompt()
    with pytest.raises(Ended):
        board.prompt()
    last = board.events[-1]
    assert isinstance(last, TurnEnded) and last.status == "error" and "Ended" in (last.error or "")
    assert board.prompt().status == "done"
