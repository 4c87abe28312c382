"""A conversation that outgrows the model's context: the oldest results give way, once and for all, and that is said."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events
from pegboard.context import Context
from pegboard.errors import ContextFull
from pegboard.events import WireCall
from pegboard.fitting import Fitting, size_of
from pegboard.models import ChatMessage, EndPart, Request, TextPart, ToolReply
from pegboard.session.fold import marker_of
from pegboard.testing.scripted import Scripted
from pegboard.tooling import tool


@tool(pure=True)
def big(size: int, word: str = "x") -> str:
    """Give much."""
    return word * size


@tool(pure=True)
async def print_much(ctx: Context) -> str:
    """Print more than is shown."""
    ctx.output.feed("stdout", b"line\n" * 20_000)
    return ctx.output.text()


def bytes_of(request: Request) -> int:
    return size_of(request)


class Small(Scripted):
    """A model that takes so many bytes and says so the way providers do, late and with or without a number."""

    def __init__(self, steps: Any, takes: int, limit: int | None) -> None:
        super().__init__(steps)
        self.takes = takes
        self.limit = limit
        self.refused = 0

    async def reply(self, request: Request) -> Any:
        if bytes_of(request) > self.takes:
            self.requests.append(request)
            self.refused += 1
            raise ContextFull("maximum context length exceeded", limit=self.limit)
        async for part in super().reply(request):
            yield part


def trimmed(board: Any) -> list[str]:
    return [call for event in board.events if isinstance(event, events.HistoryTrimmed) for call in event.calls]


def notes(board: Any) -> list[str]:
    return [event.text for event in board.events if isinstance(event, events.Note)]


def results(request: Request) -> list[str]:
    return [m.reply.text for m in request.messages if m.reply]


def whole(request: Request) -> bool:
    """Whether every call has its answer, in order, before anyone speaks again."""
    waiting: list[str] = []
    for message in request.messages:
        if message.role == "tool":
            assert message.reply is not None
            if not waiting or waiting.pop(0) != message.reply.id:
                return False
        elif waiting:
            return False
        else:
            waiting = [call.id for call in message.calls]
    return not waiting


STEPS = [("big", {"size": 4000 + number}) for number in range(10)]


@pytest.mark.parametrize("limit", [None, 5000, 6000])
def test_the_oldest_results_give_way_when_the_model_says_that_it_is_full(
    pegboard_board: Any, limit: int | None
) -> None:
    model = Small([*STEPS, "all read"], 24_000, limit)
    board = pegboard_board(tools=[big], steps=model)
    ended = board.prompt()
    assert (ended.status, ended.text) == ("done", "all read")
    dropped = trimmed(board)
    assert dropped == [f"c{number}" for number in range(1, len(dropped) + 1)] and 4 <= len(dropped) <= 8
    last = model.requests[-1]
    assert [text.startswith("[result of big left out") for text in results(last)] == [
        f"c{number}" in dropped for number in range(1, 11)
    ]
    assert results(last)[0] == marker_of("big", "x" * 4000, None) and "4,000 chars" in results(last)[0]
    assert all(whole(request) for request in model.requests)
    assert notes(board) and all("outgrown" in note for note in notes(board))
    assert 1 <= model.refused <= 3


def test_what_is_sent_changes_in_few_steps_so_that_a_prompt_cache_holds(pegboard_board: Any) -> None:
    model = Small([*[("big", {"size": 2000 + n}) for n in range(40)], "ok"], 30_000, None)
    board = pegboard_board(tools=[big], steps=model)
    assert board.prompt().status == "done"
    changes = 0
    for before, after in zip(model.requests, model.requests[1:], strict=False):
        changes += after.messages[: len(before.messages)] != before.messages
    assert changes == len([e for e in board.events if isinstance(e, events.HistoryTrimmed)]) <= 8


def test_where_the_context_is_known_no_request_is_too_large(pegboard_board: Any) -> None:
    model = Small([*STEPS, "ok"], 24_000, None)
    model.context = 6000
    board = pegboard_board(tools=[big], steps=model)
    assert (board.prompt().status, model.refused) == ("done", 0)
    assert trimmed(board)


def test_a_limit_that_was_told_once_is_kept_to_beforehand(pegboard_board: Any) -> None:
    model = Small([*STEPS, *STEPS, "ok"], 24_000, 6000)
    board = pegboard_board(tools=[big], steps=model)
    assert (board.prompt().status, model.refused) == ("done", 1)


def test_how_a_model_counts_is_learnt_from_its_replies(pegboard_board: Any) -> None:
    """A model that takes a token for each byte is full four times as early as guessed."""

    class Dense(Small):
        async def reply(self, request: Request) -> Any:
            async for part in super().reply(request):
                yield EndPart(input=bytes_of(request), output=1) if isinstance(part, EndPart) else part

    model = Dense([*STEPS, "ok"], 24_000, None)
    model.context = 24_000
    board = pegboard_board(tools=[big], steps=model)
    assert (board.prompt().status, model.refused) == ("done", 0)


def test_a_resumed_session_sends_what_was_sent_before(pegboard_board: Any) -> None:
    model = Small([*STEPS, "ok"], 24_000, None)
    board = pegboard_board(tools=[big, print_much], steps=model, session="s")
    board.prompt()
    sent = model.requests[-1].messages
    board.close()
    again = pegboard_board(tools=[big, print_much], session="s")
    again.prompt("and now?")
    assert again.model.requests[0].messages[: len(sent)] == sent
    assert trimmed(again) == trimmed(board)


def test_the_marker_says_where_all_of_the_output_is(pegboard_board: Any) -> None:
    model = Small([("print_much", {}), *STEPS, "ok"], 45_000, None)
    board = pegboard_board(tools=[big, print_much], steps=model)
    assert board.prompt().status == "done"
    assert "all of it: session:out/c1.txt" in results(model.requests[-1])[0]


def test_the_newest_result_goes_only_when_nothing_older_is_left(pegboard_board: Any) -> None:
    model = Small([("big", {"size": 9000}), ("big", {"size": 25_000}), "ok"], 20_000, None)
    board = pegboard_board(tools=[big], steps=model)
    assert board.prompt().status == "done"
    assert trimmed(board) == ["c1", "c2"]
    model = Small([("big", {"size": 3000}), ("big", {"size": 12_000, "word": "y"}), "ok"], 13_500, None)
    board = pegboard_board(tools=[big], steps=model)
    assert board.prompt().status == "done"
    assert trimmed(board) == ["c1"] and results(model.requests[-1])[1] == "y" * 12_000


def test_what_cannot_fit_ends_the_turn_and_says_what_to_do(pegboard_board: Any) -> None:
    model = Small([("big", {"size": 9000}), "never"], 20_000, None)
    board = pegboard_board(tools=[big], steps=model)
    ended = board.prompt("please " * 5000)
    assert ended.status == "error" and ended.error.startswith("context: ")
    assert "maximum context length exceeded" in ended.error and "Begin a new session" in ended.error
    assert model.refused == 1
    board.prompt("please " * 5000)
    assert model.refused == 2  # again, it is told at once


def test_a_model_that_refuses_whatever_is_sent_is_asked_a_few_times_only(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[big], steps=[*STEPS[:6], *[ContextFull("full")] * 50])
    ended = board.prompt()
    assert ended.status == "error" and len(board.model.requests) < 6 + 12
    assert all(whole(request) for request in board.model.requests)


def test_a_reply_that_breaks_off_because_the_context_is_full_is_gone_on_with(pegboard_board: Any) -> None:
    steps = [*STEPS[:4], [TextPart("The sum "), ContextFull("full")], "is 4."]
    board = pegboard_board(tools=[big], steps=steps)
    ended = board.prompt()
    assert (ended.status, ended.text) == ("done", "The sum is 4.")
    assert trimmed(board)


def test_the_log_keeps_the_results_that_are_not_sent_any_more(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[big], steps=Small([*STEPS, "ok"], 24_000, None))
    board.prompt()
    texts = [event.text for event in board.events if isinstance(event, events.CallFinished)]
    assert [len(text) for text in texts] == [4000 + number for number in range(10)]


# --- the choice, for whatever history ---------------------------------------------------------------------------------


@st.composite
def histories(draw: Any) -> list[ChatMessage]:
    messages = [ChatMessage(role="user", text=draw(st.text(max_size=20)))]
    number = 0
    for count in draw(st.lists(st.integers(0, 3), max_size=6)):
        ids = [f"c{number + n}" for n in range(1, count + 1)]
        number += count
        messages.append(
            ChatMessage(role="assistant", text="t", calls=[WireCall(id=id, name="n", arguments={}) for id in ids])
        )
        for id in ids:
            text = "é" * draw(st.integers(0, 3000))
            messages.append(ChatMessage(role="tool", reply=ToolReply(id=id, name="n", text=text, outcome="ok")))
    return messages


@settings(max_examples=80, deadline=None)
@given(histories(), st.integers(10, 3000), st.booleans())
def test_whatever_the_history_room_is_made_from_the_oldest_on_until_it_fits_or_nothing_is_left(
    messages: list[ChatMessage], context: int, known: bool
) -> None:
    fitting = Fitting(context if known else None)
    rounds = 0
    while True:
        size = size_of(Request(model="m", system="", messages=messages, tools=[]))
        fitting.refused(size, None)
        chosen = fitting.to_drop(messages, size)
        if not chosen:
            break
        order = [m.reply.id for m in messages if m.reply]
        assert chosen == sorted(chosen, key=order.index) and len(set(chosen)) == len(chosen)
        messages = [
            msgspec.structs.replace(
                m, reply=msgspec.structs.replace(m.reply, text=marker_of(m.reply.name, m.reply.text, None))
            )
            if m.reply and m.reply.id in chosen
            else m
            for m in messages
        ]
        assert size_of(Request(model="m", system="", messages=messages, tools=[])) < size
        rounds += 1
    assert rounds <= 25
