"""Folds: what the log says so far, the same whether it was watched or read back."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events
from pegboard.calls import Decision
from pegboard.events import AnyEvent, WireCall
from pegboard.models import ChatMessage
from pegboard.session.fold import NEVER_STARTED, UNFINISHED, Fold

ALLOW = Decision(action="allow", rule="r")


def started(turn: int = 1) -> AnyEvent:
    return events.TurnStarted(turn=turn, session="s", model="m", sets=[], not_loaded=[], offered=0)


def ended(turn: int = 1, status: Any = "done") -> AnyEvent:
    return events.TurnEnded(turn=turn, status=status, text="", usage={})


def prompt(text: str = "do it") -> AnyEvent:
    return events.Prompt(turn=1, text=text)


def message(*calls: str, text: str = "") -> AnyEvent:
    wire = [WireCall(id=id, name=f"tool_{id}", arguments={"n": id}) for id in calls]
    return events.Message(turn=1, text=text, thinking="hm", calls=wire, provider_data={"sig": 1})


def asked(id: str, turn: int | None = 1) -> AnyEvent:
    return events.CallAsked(turn=turn, lane="root", id=id, tool="t", requested="t", set="s", arguments={}, summary="t")


def began(id: str) -> AnyEvent:
    return events.CallStarted(turn=1, lane="root", id=id, touches=[], decision=ALLOW)


def finished(id: str, text: str = "result", outcome: Any = "ok", turn: int | None = 1) -> AnyEvent:
    return events.CallFinished(
        turn=turn,
        lane="root",
        id=id,
        outcome=outcome,
        block=None,
        why=None,
        text=text,
        data={"n": 1},
        truncated=False,
        decision=ALLOW,
        duration_ms=1.0,
    )


def fold(*given: AnyEvent) -> Fold:
    made = Fold()
    for event in given:
        made.apply(event)
    return made


def shape(messages: list[ChatMessage]) -> list[tuple[str, str]]:
    return [(m.role, m.reply.id if m.reply else m.text) for m in messages]


@pytest.mark.row("R-062")
def test_a_reply_with_calls_is_one_assistant_message_with_calls_and_thinking() -> None:
    (user, assistant) = fold(started(), prompt(), message("c1", "c2", text="let me see")).messages
    assert (user.role, user.text) == ("user", "do it")
    assert (assistant.role, assistant.text, assistant.thinking) == ("assistant", "let me see", "hm")
    assert [(call.id, call.name, call.arguments) for call in assistant.calls] == [
        ("c1", "tool_c1", {"n": "c1"}),
        ("c2", "tool_c2", {"n": "c2"}),
    ]
    assert assistant.provider_data == {"sig": 1}


@pytest.mark.row("R-064")
def test_a_result_is_a_tool_message_with_the_calls_id_and_the_tools_name() -> None:
    made = fold(started(), prompt(), message("c1"), asked("c1"), began("c1"), finished("c1", "found"))
    last = made.messages[-1]
    assert last.role == "tool" and last.reply is not None
    assert (last.reply.id, last.reply.name, last.reply.text, last.reply.outcome) == ("c1", "tool_c1", "found", "ok")
    assert last.reply.data == {"n": 1}


def test_every_call_of_a_message_has_one_answer_before_the_next_message() -> None:
    done = [asked("c1"), began("c1"), finished("c1")]
    made = fold(
        started(), prompt(), message("c1", "c2", "c3"), *done, asked("c2"), began("c2"), ended(), prompt("go on")
    )
    replies = {m.reply.id: (m.reply.outcome, m.reply.text) for m in made.messages if m.reply}
    assert replies == {
        "c1": ("ok", "result"),
        "c2": ("interrupted", UNFINISHED),
        "c3": ("interrupted", NEVER_STARTED),
    }
    assert shape(made.messages)[-1] == ("user", "go on")
    assert "effects are unknown" in UNFINISHED and "nothing happened" in NEVER_STARTED


def test_results_that_were_left_out_are_a_marker_in_the_history_and_nothing_else_changes() -> None:
    before = [
        started(),
        prompt(),
        message("c1", "c2", text="look"),
        asked("c1"),
        began("c1"),
        finished("c1", "x" * 4321),
    ]
    kept = msgspec.structs.replace(finished("c2", "y" * 10), full_output="session:out/c2.txt")
    made = fold(*before, asked("c2"), began("c2"), kept)
    whole = list(made.history())
    made.apply(events.HistoryTrimmed(turn=1, calls=["c1", "c2", "c9"]))
    first, second = (message.reply for message in made.history()[-2:])
    assert first is not None and second is not None
    assert first.text == (
        "[result of tool_c1 left out to make room: 4,321 chars; make the call again, for a smaller part if that will do, "
        "if it is needed]"
    )
    assert second.text == "[result of tool_c2 left out to make room: 10 chars; all of it: session:out/c2.txt]"
    assert (first.id, first.name, first.outcome, first.data) == ("c1", "tool_c1", "ok", None)
    assert made.history()[:-2] == whole[:-2] and len(made.history()) == len(whole)


def test_a_call_that_is_not_answered_yet_is_not_left_out() -> None:
    made = fold(started(), prompt(), message("c1"), asked("c1"), events.HistoryTrimmed(turn=1, calls=["c1"]))
    made.apply(finished("c1", "found"))
    (reply,) = [message.reply for message in made.history() if message.reply]
    assert reply.text == "found"


def test_a_message_of_thinking_alone_is_no_part_of_the_history() -> None:
    assert shape(fold(started(), prompt(), message(), message(text="said")).history()) == [
        ("user", "do it"),
        ("assistant", "said"),
    ]


def test_interrupted_calls_are_unsure_until_the_model_speaks_again() -> None:
    cut = finished("c2", outcome="interrupted")
    done = [message("c1", "c2"), asked("c1"), began("c1"), finished("c1"), asked("c2"), began("c2"), cut]
    made = fold(started(), prompt(), *done, ended(status="interrupted"))
    assert (made.unsure, made.failed) == ({"c2": "tool_c2"}, 1)
    made.apply(started(2))
    made.apply(prompt("again"))
    assert made.unsure == {"c2": "tool_c2"}
    made.apply(message(text="I looked"))
    made.apply(ended(2, status="error"))
    assert (made.unsure, made.failed) == ({}, 2)
    for status in ("done", "asked_back"):
        made.apply(ended(3, status=status))
        assert made.failed == 0


def test_calls_outside_a_turn_are_no_part_of_the_history() -> None:
    made = fold(asked("c1", None), began("c1"), finished("c1", turn=None), started(), prompt())
    assert shape(made.history()) == [("user", "do it")]
    assert made.calls == 1


def test_open_calls_are_those_asked_and_not_finished_with_whether_they_started() -> None:
    made = fold(started(), asked("c1"), asked("c2"), began("c2"), asked("c3"), began("c3"), finished("c3"))
    assert [(id, was) for id, (_, was) in made.open_calls.items()] == [("c1", False), ("c2", True)]


def test_turns_are_counted_and_known_to_be_open() -> None:
    assert (fold().turn, fold().turn_open) == (0, False)
    made = fold(started(1), ended(1), started(2))
    assert (made.turn, made.turn_open) == (2, True)
    made.apply(ended(2))
    assert not made.turn_open


def test_call_numbers_go_on_from_the_highest_given() -> None:
    made = fold(message("c7"), asked("c9"), asked("x12"), asked("c1"), asked("cx"))
    assert made.calls == 9


def test_the_last_seen_of_a_path_and_the_last_value_of_a_key_count() -> None:
    def seen(path: str, digest: str) -> AnyEvent:
        return events.Seen(path=path, stamp=[1], ranges=[(0, 1)], digest=digest)

    made = fold(
        seen("a", "1"),
        seen("b", "2"),
        seen("a", "3"),
        events.StateChanged(key="k", value=1),
        events.StateChanged(key="k", value=[2]),
    )
    assert {path: event.digest for path, event in made.seen.items()} == {"a": "3", "b": "2"}
    assert made.state == {"k": [2]}


def test_nothing_that_was_granted_is_folded() -> None:
    before = vars(fold(started())).keys()
    made = fold(
        started(),
        events.ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default"),
        events.ApprovalAnswered(turn=1, id="a1", granted=True, by="person"),
    )
    assert vars(made).keys() == before
    assert not made.state and not made.open_calls and not made.messages


EVENTS = st.lists(
    st.one_of(
        st.builds(started, st.integers(1, 3)),
        st.builds(ended, st.integers(1, 3)),
        st.builds(prompt),
        st.lists(st.sampled_from(["c1", "c2", "c3", "c4"]), max_size=3, unique=True).map(lambda ids: message(*ids)),
        st.lists(st.sampled_from(["c1", "c2", "c3", "c4"]), max_size=3).map(
            lambda ids: events.HistoryTrimmed(turn=1, calls=ids)
        ),
        st.sampled_from(["c1", "c2", "c3", "c4"]).flatmap(
            lambda id: st.sampled_from([asked(id), began(id), finished(id)])
        ),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(EVENTS)
def test_whatever_a_log_holds_the_history_is_one_a_provider_takes(given_events: list[AnyEvent]) -> None:
    history = list(fold(*given_events).history())
    waiting: list[str] = []
    for one in history:
        if one.role == "tool":
            assert one.reply is not None and one.reply.id in waiting
            waiting.remove(one.reply.id)
        else:
            assert waiting == []  # every call has its answer before anyone speaks again
            waiting = [call.id for call in one.calls]
    assert waiting == []
