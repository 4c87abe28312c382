"""Replies as models give them: broken off, empty, nonsense, without end; nothing said is lost and nothing is made up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events, port
from pegboard.errors import ConfigError, ModelError
from pegboard.events import CallAsked, CallFinished, Message, TurnEnded, WireCall
from pegboard.models import CallPart, EndPart, NotePart, ReplyPart, Request, TextPart, ThinkingPart
from pegboard.reply import MAX_CHARS, Nonsense, Reply, read
from pegboard.testing.scripted import Scripted
from pegboard.tooling import tool
from running import given_time

RAN: list[str] = []
CUT = ModelError("the server hung up")


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool(pure=True)
def echo(word: str) -> str:
    """Say a word."""
    RAN.append(word)
    return word


def call(word: Any = "a", id: str = "1", name: str = "echo") -> CallPart:
    return CallPart(WireCall(id=id, name=name, arguments={"word": word}))


def said(board: Any) -> list[str]:
    return [event.text for event in board.events if isinstance(event, Message)]


def told(board: Any) -> list[str]:
    return [event.text for event in board.events if isinstance(event, events.Prompt) and event.by == "pegboard"]


def notes(board: Any) -> list[str]:
    return [event.text for event in board.events if isinstance(event, events.Note)]


# --- streams that break -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [CUT, ConnectionResetError("reset by peer")])
def test_a_finished_call_of_a_reply_that_broke_off_is_run_and_the_turn_goes_on(pegboard_board: Any, cut: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[[TextPart("I say "), call("a"), call("b"), TextPart("and"), cut], "ok"])
    ended = board.prompt()
    assert (ended.status, ended.text, RAN) == ("done", "ok", ["a", "b"])
    assert said(board) == ["I say and", "ok"]
    assert [m.role for m in board.model.requests[1].messages] == ["user", "assistant", "tool", "tool"]
    (note,) = notes(board)
    assert str(cut) in note and "its 2 finished calls are run" in note


def test_a_text_that_broke_off_is_kept_and_the_model_goes_on_from_there(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[TextPart("The answer is "), CUT], "42."])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("done", "The answer is 42.")
    assert [(m.role, m.text) for m in board.model.requests[1].messages][:2] == [
        ("user", "go"),
        ("assistant", "The answer is "),
    ]
    assert len(told(board)) == 1 and "go on from there" in told(board)[0]
    assert notes(board) == ["the model's reply broke off (the server hung up); what it had said is kept"]


def test_thinking_that_broke_off_is_kept_in_the_log_and_the_model_is_asked_again(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[ThinkingPart("hm"), CUT], "ok"])
    assert board.prompt().status == "done"
    assert [event.thinking for event in board.events if isinstance(event, Message)] == ["hm", ""]
    assert [m.role for m in board.model.requests[1].messages] == ["user"]  # no provider takes an empty reply back


def test_a_connection_that_keeps_breaking_ends_the_turn_with_all_that_was_said(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[TextPart(word), CUT] for word in "abcdef"])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("error", "abc")
    assert "the server hung up" in ended.error
    assert said(board) == ["a", "b", "c"] and len(board.model.requests) == 3


def test_whole_replies_in_between_let_a_bad_connection_break_again(pegboard_board: Any) -> None:
    steps: list[Any] = []
    for number in range(4):
        steps += [[call(f"x{number}"), CUT], ("echo", {"word": f"y{number}"})]
    board = pegboard_board(tools=[echo], steps=[*steps, "ok"])
    assert (board.prompt().status, len(RAN)) == ("done", 8)


def test_a_break_before_anything_was_said_is_an_error_with_the_providers_own_words(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[ModelError("401: the key was refused; set the variable KEY"), "again"])
    ended = board.prompt()
    assert (ended.status, ended.error) == ("error", "401: the key was refused; set the variable KEY")
    assert said(board) == [] and len(board.model.requests) == 1


@pytest.mark.parametrize("error", [RuntimeError("a fault"), ConfigError("no such model"), SystemExit(1)])
def test_a_fault_of_a_provider_runs_no_call_and_keeps_what_came(pegboard_board: Any, error: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[[TextPart("x"), call(), error], "ok"])
    ended = board.prompt()
    assert (ended.status, RAN) == ("error", [])
    assert said(board) == ["x"] and not [event for event in board.events if isinstance(event, CallAsked)]
    assert board.prompt().status == "done"
    answer = board.model.requests[1].messages[2].reply
    assert (answer.id, answer.outcome) == ("c1", "interrupted") and "nothing happened" in answer.text


def test_an_interrupt_keeps_what_was_said_and_runs_none_of_its_calls(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[[TextPart("I will "), ThinkingPart("hm"), call(), 60.0], "ok"])

    async def interrupted() -> TurnEnded:
        viewer = aiter(board.agent.events())
        await board.agent.send(port.Prompt(text="go"))
        async for event in viewer:
            if isinstance(event, events.Thinking):
                break
        await board.agent.send(port.Interrupt())
        ended: TurnEnded = await board.agent.wait()
        return ended

    ended = board.run(interrupted())
    assert (ended.status, ended.text, ended.error) == ("interrupted", "I will ", None)
    lines = [json.loads(line) for line in (board.session.folder / "events.jsonl").read_bytes().splitlines()]
    (kept,) = [line for line in lines if line["event"] == "message"]
    assert (kept["text"], kept["thinking"], RAN) == ("I will ", "hm", [])
    assert board.prompt("go on").status == "done"
    assert board.model.requests[1].messages[1].text == "I will "


def test_retries_that_a_provider_tells_of_are_notes(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[NotePart("429: waiting 2 s"), TextPart("ok"), EndPart()]])
    assert board.prompt().status == "done"
    assert notes(board) == ["429: waiting 2 s"]


# --- empty replies ----------------------------------------------------------------------------------------------------

EMPTY = [[EndPart()], [TextPart(""), EndPart()], [TextPart(" \n"), EndPart()], [ThinkingPart("hm"), EndPart()], []]


@pytest.mark.parametrize("empty", EMPTY)
def test_a_model_with_an_empty_reply_is_asked_once_more(pegboard_board: Any, empty: Any) -> None:
    board = pegboard_board(tools=[echo], steps=[("echo", {"word": "a"}), empty, "here it is"])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("done", "here it is")
    assert len(told(board)) == 1 and "empty" in told(board)[0]
    last = board.model.requests[2].messages[-1]
    assert (last.role, last.text) == ("user", told(board)[0])
    assert not [m for m in board.model.requests[2].messages if m.role == "assistant" and not (m.text or m.calls)]


def test_two_empty_replies_are_an_error_that_says_what_to_do(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[EndPart()]] * 5)
    ended = board.prompt()
    assert (ended.status, len(board.model.requests)) == ("error", 2)
    assert "empty reply" in ended.error and "choose another model" in ended.error


# --- nonsense ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "part", ["text", None, 7j, {"text": "x"}, TextPart(5), ThinkingPart(b"x"), CallPart("echo"), NotePart(None)]
)  # type: ignore[arg-type]
def test_what_is_no_part_of_a_reply_is_told_and_what_came_before_is_kept(pegboard_board: Any, part: Any) -> None:
    board = pegboard_board(steps=[[TextPart("half"), part, TextPart("rest"), EndPart()], "ok"])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("error", "half")
    assert "no part of a reply" in ended.error and type(part).__name__ in ended.error
    assert said(board) == ["half"]
    assert board.prompt().status == "done"


class Stream:
    """A stream of parts that is no generator, so that nobody closes it by the way."""

    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)
        self.closed = 0

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        part = self.parts.pop(0)
        if isinstance(part, float):
            await asyncio.sleep(part)
        return part

    async def aclose(self) -> None:
        self.closed += 1


def test_what_a_provider_yields_after_the_end_is_not_read_and_the_stream_is_closed(pegboard_board: Any) -> None:
    stream = Stream(TextPart("ok"), EndPart(), TextPart(" and more"), call())
    model = Scripted([])
    model.reply = lambda request: stream  # type: ignore[assignment, method-assign, return-value]
    board = pegboard_board(tools=[echo], steps=model)
    assert (board.prompt().text, RAN) == ("ok", [])
    assert (stream.closed, len(stream.parts)) == (1, 2)


def test_a_provider_that_swallows_its_end_is_not_listened_to_any_longer(pegboard_board: Any) -> None:
    class Stubborn(Scripted):
        async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
            yield TextPart("I ")
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                for _ in range(100):
                    yield TextPart("go on ")
                    await asyncio.sleep(0.01)
            yield EndPart()

    def attempt(limit: float) -> None:
        ended = pegboard_board(steps=Stubborn([]), settings={"limits.timeout": limit}).prompt()
        assert (ended.status, ended.text) == ("stopped", "I ")

    given_time(attempt, (0.1, 3, 20))


def test_the_stream_of_a_turn_that_ends_is_closed(pegboard_board: Any) -> None:
    def attempt(limit: float) -> None:
        stream = Stream(TextPart("I am"), 60.0)
        model = Scripted([])
        model.reply = lambda request: stream  # type: ignore[assignment, method-assign, return-value]
        board = pegboard_board(steps=model, settings={"limits.timeout": limit})
        assert (board.prompt().status, stream.closed) == ("stopped", 1)

    given_time(attempt, (0.1, 3, 20))


@pytest.mark.parametrize("reply", [None, ["a", "list"], "text"])
def test_a_provider_that_gives_no_stream_is_an_error(pegboard_board: Any, reply: Any) -> None:
    model = Scripted([])
    model.reply = lambda request: reply  # type: ignore[method-assign]
    ended = pegboard_board(steps=model).prompt()
    assert ended.status == "error" and "TypeError" in (ended.error or "")


def test_a_provider_that_cancels_itself_has_failed_and_was_not_interrupted(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[TextPart("x"), asyncio.CancelledError()], "ok"])
    ended = board.prompt()
    assert (ended.status, ended.text) == ("error", "x")
    assert board.prompt().status == "done"


def test_token_counts_that_are_none_do_not_end_a_turn(pegboard_board: Any) -> None:
    end = EndPart(input=None, output="many", cached=-4, cost=None)  # type: ignore[arg-type]
    board = pegboard_board(steps=[[TextPart("ok"), end]])
    ended = board.prompt()
    assert (ended.status, ended.usage) == ("done", {"input": 0, "output": 0, "cached": 0, "cost": None})


def test_a_reply_without_end_is_stopped_before_it_fills_the_memory(pegboard_board: Any) -> None:
    class Endless(Scripted):
        async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
            while True:
                yield TextPart("x" * 100_000)

    ended = pegboard_board(steps=Endless([])).prompt()
    assert ended.status == "error" and f"{MAX_CHARS:,} characters" in (ended.error or "")
    assert len(ended.text) == MAX_CHARS


def test_a_reply_in_a_hundred_thousand_pieces_is_whole(pegboard_board: Any) -> None:
    board = pegboard_board(steps=[[*[TextPart("ab")] * 100_000, EndPart()]])
    assert board.prompt().text == "ab" * 100_000


# --- calls as models write them ---------------------------------------------------------------------------------------


def test_ids_are_the_sessions_own_whatever_a_model_calls_them(pegboard_board: Any) -> None:
    ids = ["", "", "same", "same", "x" * 10_000, "\x1b[31m", "c1"]
    parts = [call(str(number), id) for number, id in enumerate(ids)]
    board = pegboard_board(tools=[echo], steps=[[*parts, EndPart()], "ok"])
    assert (board.prompt().status, RAN) == ("done", list("0123456"))
    replies = [m.reply.id for m in board.model.requests[1].messages if m.reply]
    assert replies == [c.id for c in board.model.requests[1].messages[1].calls] == [f"c{n}" for n in range(1, 8)]


@pytest.mark.parametrize("name", ["", "\x1b[2J", "no\udce9such", "x" * 100_000, "echo\n", "../../echo", "echo "])
def test_a_name_that_is_none_is_told_to_the_model_and_the_turn_goes_on(pegboard_board: Any, name: str) -> None:
    board = pegboard_board(tools=[echo], steps=[[call("a", name=name), EndPart()], "ok"])
    assert (board.prompt().status, RAN) == ("done", [])
    (finished,) = [event for event in board.events if isinstance(event, CallFinished)]
    assert (finished.outcome, finished.block) == ("blocked", "unavailable") and len(finished.text) < 1000
    assert len(board.model.requests[1].messages[1].calls[0].name) <= 200


def test_five_hundred_calls_in_one_reply_run_in_order_with_their_results_in_order(pegboard_board: Any) -> None:
    words = [str(number) for number in range(500)]
    board = pegboard_board(tools=[echo], steps=[[("echo", {"word": word}) for word in words], "ok"])
    assert (board.prompt().status, RAN) == ("done", words)
    assert [m.reply.text for m in board.model.requests[1].messages if m.reply] == words


@pytest.mark.parametrize("word", ["caf\udce9", 1 << 80, float("inf"), {"a": (1, 2)}, b"x", object()])
def test_what_is_sent_back_to_the_model_is_what_the_log_holds(pegboard_board: Any, word: Any) -> None:
    class Signature:
        """An object of some SDK."""

    end = EndPart(provider_data={"signature": Signature(), "list": (1, 2)})
    parts = [TextPart("caf\udce9"), call(word), end]
    board = pegboard_board(tools=[echo], steps=[parts, "ok"], session="s")
    assert board.prompt("caf\udce9").status == "done"
    sent = board.model.requests[1].messages
    again = board.board.session("s")
    assert list(again.fold.history())[:-1] == sent
    assert msgspec.json.decode(msgspec.json.encode(sent)) == msgspec.to_builtins(sent)
    again.close()


# --- the reader, for whatever comes -----------------------------------------------------------------------------------

PARTS = st.lists(
    st.one_of(
        st.text(max_size=5).map(TextPart),
        st.text(max_size=5).map(ThinkingPart),
        st.just(call()),
        st.text(max_size=3).map(NotePart),
        st.just(EndPart()),
        st.sampled_from([None, "x", 5, TextPart(None)]),  # type: ignore[arg-type]
    ),
    max_size=12,
)


@settings(max_examples=80, deadline=None)
@given(PARTS)
def test_a_reply_holds_what_came_up_to_its_end_or_the_first_nonsense(parts: list[Any]) -> None:
    async def stream() -> AsyncIterator[Any]:
        for part in parts:
            yield part

    sound = (TextPart, ThinkingPart, CallPart, NotePart, EndPart)
    bad = next((n for n, p in enumerate(parts) if not isinstance(p, sound) or p == TextPart(None)), len(parts))  # type: ignore[arg-type]
    end = next((n for n, p in enumerate(parts) if isinstance(p, EndPart)), len(parts))
    reply, heard = Reply(), list[Any]()
    try:
        asyncio.run(read(stream(), reply, heard.append))
        assert end <= bad
    except Nonsense:
        assert bad < end
    took = parts[: min(end + 1, bad)]
    assert heard == took
    assert reply.text == "".join(p.text for p in took if isinstance(p, TextPart))
    assert reply.thinking == "".join(p.text for p in took if isinstance(p, ThinkingPart))
    assert len(reply.calls) == sum(isinstance(p, CallPart) for p in took)
    assert (reply.end is not None) == (end < bad)
