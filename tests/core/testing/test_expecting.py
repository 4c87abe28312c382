"""What a test expects of a call, answers given in a person's place, events that are waited for, and time that passes."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pegboard import Context, ToolError, Writes, tool
from pegboard.blocks import Custom, Diff, Table, Text
from pegboard.calls import Result, Touch
from pegboard.hooks import Asked
from pegboard.testing import Approvals, Called, TestBoard, no, yes
from pegboard.testing.approvals import Question

Make = Callable[..., TestBoard]


def changes(arguments: Any, ctx: Context) -> list[Any]:
    return [Text(text=f"{arguments.path} becomes {arguments.text}")]


@tool(preview=changes)
def put(path: Annotated[str, Writes("File")], text: str, ctx: Context) -> str:
    """Write a text into a file."""
    if text == "bad":
        raise ToolError("bad is no text; nothing was written. Give another.")
    with ctx.commit() as files:
        files.write(path, text.encode())
    return f"wrote {path}"


@tool(pure=True, timeout=30)
async def slow(ctx: Context, seconds: float = 1000) -> str:
    """Wait."""
    ctx.output.feed("stdout", b"waiting\n")
    await asyncio.sleep(seconds)
    return "done"


@tool(pure=True)
async def choose(ctx: Context) -> str:
    """Ask the person."""
    return await ctx.ask("Which?", ["red", "green"]) or "neither"


ALL = {
    "text": "wrote a.txt",
    "says": ["wrote", "a.txt"],
    "data": None,
    "block": None,
    "why": None,
    "decision": "ask",
    "rule": re.compile("edit"),
    "by": "--yes",
    "asked": True,
    "touches": ["edit a.txt"],
    "shown": [Text(text="a.txt becomes x")],
    "blocks": [Text],
    "log": ["call_asked", "approval_asked", "approval_answered", "call_started", "call_finished"],
}


@pytest.fixture
def made(pegboard_board: Make) -> Called:
    return pegboard_board(tools=[put]).call("put", path="a.txt", text="x")


def test_what_is_as_expected_passes_and_is_returned(made: Called) -> None:
    assert made.expect("ok", **ALL) is made
    made.expect(asked=1, touches=[Touch("edit", "a.txt")], text=re.compile("^wrote"), rule=lambda rule: "edit" in rule)


WRONG = {
    "text": "wrote",
    "says": "read",
    "data": {},
    "block": "denied",
    "why": "timeout",
    "decision": "allow",
    "rule": re.compile("^nosuch"),
    "by": "person",
    "asked": False,
    "touches": [],
    "shown": [],
    "blocks": [Diff],
    "log": ["call_asked"],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_fails_and_is_named(made: Called, name: str) -> None:
    with pytest.raises(AssertionError, match=rf"(?m)^  {'text' if name == 'says' else name}: "):
        made.expect(**{name: WRONG[name]})


def test_a_failure_tells_all_that_is_known_of_the_call(made: Called) -> None:
    with pytest.raises(AssertionError) as failed:
        made.expect("blocked", text="no", by="person")
    assert str(failed.value) == (
        "put(path='a.txt', text='x') came to something else.\n"
        "  outcome: 'ok', expected 'blocked'\n"
        "  text: 'wrote a.txt', expected 'no'\n"
        "  by: '--yes', expected 'person'\n"
        "  What happened:\n"
        "    outcome   ok\n"
        "    text      wrote a.txt\n"
        f"    decision  ask, by {made.decision.rule!r} (default)\n"  # type: ignore[union-attr]
        "    answer    yes by --yes\n"
        "    touches   edit a.txt\n"
        "    log       call_asked, approval_asked, approval_answered, call_started, call_finished"
    )


def test_a_failure_tells_of_plugins_that_did_not_load(pegboard_board: Make) -> None:
    with pytest.raises(AssertionError, match=r"(?s)notes .*'testobserver'.* did not load"):
        pegboard_board(observers=[None]).call("nosuch").expect("ok")


def test_calls_of_a_turn_are_looked_at_alike(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], steps=[[("put", {"path": "a", "text": "x"}), ("nosuch", {})], "done"])
    assert board.prompt().text == "done"
    first, second = board.calls
    first.expect("ok", touches=["edit a"])
    second.expect("blocked", block="unavailable")


def test_answers_are_given_in_their_order_as_a_person(pegboard_board: Make) -> None:
    board = pegboard_board(
        tools=[put], answers=[True, "not that one", no(), yes(arguments={"path": "d", "text": "y"}), True]
    )
    board.call("put", path="a", text="x").expect("ok", by="person")
    board.call("put", path="b", text="x").expect("blocked", block="denied", says="not that one")
    board.call("put", path="c", text="x").expect("blocked")
    board.call("put", path="c", text="x").expect("ok", asked=2)
    assert board.files == {"a": "x", "d": "y"}
    assert [asked.call.arguments["path"] for asked in board.asked] == ["a", "b", "c", "c", "d"]
    assert board.asked[0].preview == [Text(text="a becomes x")]


def test_always_is_asked_once(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], answers=[yes(remember="session")])
    board.call("put", path="a", text="x").expect(by="person")
    board.call("put", path="a", text="y").expect("ok", asked=False)


def test_a_function_may_answer(pegboard_board: Make) -> None:
    def answer(question: Question) -> bool | str:
        return question.call.arguments["path"] == "a" if isinstance(question, Asked) else "green"

    approvals = Approvals(answer)
    board = pegboard_board(tools=[put, choose], answers=approvals)
    board.call("put", path="a", text="x").expect("ok")
    board.call("put", path="b", text="x").expect("blocked")
    board.call("choose").expect("ok", text="green")
    assert [asked.tool for asked in approvals.asked] == ["put", "put"]
    assert [one.question for one in approvals.questions] == ["Which?"]


def test_a_tools_question_is_answered_or_dismissed(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[choose], answers=["red", None])
    board.call("choose").expect(text="red")
    board.call("choose").expect(text="neither")


def test_a_question_for_which_no_answer_is_left_fails_the_test(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], answers=[])
    with pytest.raises(AssertionError, match=r"was to be asked any more, and was: put touches edit a; '.*' asks"):
        board.call("put", path="a", text="x")
    assert board.files == {}


def test_a_function_that_raises_fails_the_test(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[put], answers=Approvals(lambda asked: asked.nosuch))
    with pytest.raises(AssertionError, match="the function that answers raised AttributeError"):
        board.call("put", path="a", text="x")


def test_an_answer_that_is_left_fails_the_test(tmp_path: Any) -> None:
    board = TestBoard(tmp_path, tools=[put], answers=[True, False])
    board.call("put", path="a", text="x")
    with pytest.raises(AssertionError, match="nobody asked for: False"):
        board.close()


def test_time_passes_when_it_is_told_to(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[slow])
    call = board.begin("slow")
    board.advance(20)
    assert call.running
    board.advance(11)
    assert not call.running
    call.end().expect("interrupted", why="timeout")
    again = board.begin("slow", seconds=25)
    board.advance(26)
    again.end().expect("ok", text="done")


def test_pauses_that_follow_each_other_pass_in_one_go(pegboard_board: Make) -> None:
    @tool(pure=True)
    async def steps() -> str:
        """Wait often."""
        began = asyncio.get_running_loop().time()
        for _ in range(10):
            await asyncio.sleep(60)
        return f"{asyncio.get_running_loop().time() - began:.0f}"

    board = pegboard_board(tools=[steps])
    call = board.begin("steps")
    board.advance(601)
    call.end().expect("ok", text="600")


def test_the_clock_is_not_moved_by_what_runs_on_it(pegboard_board: Make) -> None:
    board = pegboard_board()

    async def work() -> None:
        board.advance(1)

    with pytest.raises(RuntimeError, match="from outside the loop"):
        board.run(work())
    with pytest.raises(ValueError, match="does not go back"):
        board.advance(-1)


def test_a_call_is_stopped_as_a_person_does(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[slow])
    board.begin("slow").stop().expect("interrupted", why="person")


def test_a_plain_function_is_begun_in_its_thread(pegboard_board: Make) -> None:
    go = threading.Event()

    @tool(pure=True)
    def waits() -> str:
        """Wait for the test."""
        go.wait(20)
        return "gone"

    board = pegboard_board(tools=[waits])
    call = board.begin("waits")
    assert call.running
    go.set()
    call.end().expect("ok", text="gone")


def test_events_are_there_by_kind_and_waited_for(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[slow])
    call = board.begin("slow")
    assert board.until("call_output").text == "waiting\n"  # which is in no log
    assert [event.id for event in board.happened("call_started")] == [call.id]
    assert board.happened("call_finished") == []
    call.stop()
    assert board.until("call_finished", lambda event: event.id == call.id).outcome == "interrupted"


def test_an_event_that_does_not_come_fails_with_what_came(pegboard_board: Make) -> None:
    board = pegboard_board(tools=[slow])
    call = board.begin("slow")
    with pytest.raises(AssertionError, match=r"no call_finished came within 0.01 s. What came last: call_asked, "):
        board.until("call_finished", within=0.01)
    call.stop()


def test_a_result_is_drawn_in_all_forms(pegboard_board: Make) -> None:
    @tool(pure=True)
    def compare() -> Any:
        """Compare."""
        return Result(text="one line differs", blocks=[Table(columns=["was", "is"], rows=[["one", "two"]])])

    drawn = pegboard_board(tools=[compare]).call("compare").in_forms("plain", "rich", "json", "app")
    assert set(drawn) == {"plain", "rich", "json", "app"}
    assert all("two" in text for text in drawn.values())


def test_a_block_that_cannot_be_drawn_fails_the_test(pegboard_board: Make) -> None:

    @tool(pure=True)
    def broken() -> Any:
        """Return a table whose cells are no texts."""
        return Result(text="x", blocks=[Table(columns=["a"], rows=[[object()]])])  # type: ignore[list-item]

    called = pegboard_board(tools=[broken]).call("broken")
    with pytest.raises(AssertionError, match="broken"):
        called.expect("ok").in_forms("plain")


def test_a_block_of_which_nothing_is_seen_fails_the_test(pegboard_board: Make) -> None:
    @tool(pure=True)
    def bare() -> Any:
        """Return a block that only its author's widget knows."""
        return Result(text="x", blocks=[Custom(kind="mine", data={"a": 1})])

    with pytest.raises(AssertionError, match="nothing is seen of what bare returned in the form 'plain'"):
        pegboard_board(tools=[bare]).call("bare").in_forms("plain")


def test_an_event_that_comes_later_is_waited_for(pegboard_board: Make) -> None:
    @tool(pure=True)
    async def soon() -> str:
        """Wait a little."""
        await asyncio.sleep(0.05)
        return "there"

    board = pegboard_board(tools=[soon])
    call = board.begin("soon")
    assert board.happened("call_finished") == []
    assert board.until("call_finished").text == "there"
    call.end().expect("ok")
