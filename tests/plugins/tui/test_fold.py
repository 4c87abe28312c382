"""Folding events into items: streams and logs come to the same, in every order that events may have."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import events as kinds
from pegboard.blocks import Diff, Note
from pegboard.events import EPHEMERAL, AnyEvent
from pegboard_tui.drawing.items import rows
from pegboard_tui.drawing.look import Look
from pegboard_tui.fold import Fold
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Thought, Told
from scripted import ScriptedConversation, call_asked, call_finished, call_started

DESCRIBE = ScriptedConversation().describe


def folded(events: list[AnyEvent], live: int = 0, **more: Any) -> Fold:
    fold = Fold(DESCRIBE, live, clock=lambda: 0.0, **more)
    for event in events:
        fold.take(event)
    return fold


def seen(item: AnyItem) -> dict[str, Any]:
    """An item but for how often it changed, and what only a clock knows."""
    return {key: value for key, value in vars(item).items() if key not in ("version", "seconds", "since")}


def numbered(events: list[AnyEvent]) -> list[AnyEvent]:
    seq, found = 0, list[AnyEvent]()
    for event in events:
        if not isinstance(event, EPHEMERAL):
            seq += 1
            event = msgspec.structs.replace(event, seq=seq)
        found.append(event)
    return found


@st.composite
def one_call(draw: st.DrawFn, id: str, turn: int | None) -> list[AnyEvent]:
    """A call in one of the orders that `pegboard.events` tells of."""
    events: list[AnyEvent] = [call_asked(id, draw(st.sampled_from(["Run ls", "Read a.py"])), turn=turn)]
    granted = True
    if draw(st.booleans()):
        granted = draw(st.booleans())
        preview = [Diff(path="a", change="changed", added=1, removed=0, text="@@ -1 +1 @@\n+a")] * draw(
            st.integers(0, 1)
        )
        events += [
            kinds.ApprovalAsked(
                turn=turn, lane="root", id=f"a{id}", call=id, rule="r", layer="default", preview=preview
            ),
            kinds.ApprovalAnswered(
                turn=turn, id=f"a{id}", granted=granted, by=draw(st.sampled_from(["person", "--yes"]))
            ),
        ]
    if granted:
        events.append(call_started(id, turn=turn))
        events += [kinds.CallOutput(turn=turn, id=id, stream="stdout", text="x")] * draw(st.integers(0, 2))
        events += [kinds.Progress(turn=turn, id=id, text="half")] * draw(st.integers(0, 1))
    return [*events, call_finished(id, turn=turn)]


@st.composite
def sessions(draw: st.DrawFn) -> list[AnyEvent]:
    """Whole sessions, with the ephemeral events that their log does not have."""
    events: list[AnyEvent] = []
    calls = 0
    for turn in range(1, draw(st.integers(1, 3)) + 1):
        events.append(kinds.TurnStarted(turn=turn, session="s", model="m", sets=[], not_loaded=[], offered=0))
        events.append(kinds.Prompt(turn=turn, text=f"ask {turn}"))
        for _ in range(draw(st.integers(0, 3))):
            thinking, text = draw(st.sampled_from(["", "let me see"])), draw(st.sampled_from(["", "so **it** is", " "]))
            if draw(st.booleans()):
                events += [kinds.Thinking(turn=turn, text=piece) for piece in thinking]
                events += [kinds.Text(turn=turn, text=piece) for piece in text]
            events.append(kinds.Message(turn=turn, text=text, thinking=thinking))
            for _ in range(draw(st.integers(0, 2))):
                calls += 1
                events += draw(one_call(f"c{calls}", turn))
            events += [kinds.Prompt(turn=turn, text="and mind the tests")] * draw(st.integers(0, 1))
            events += [kinds.Note(turn=turn, level="warning", text="careful")] * draw(st.integers(0, 1))
        events.append(kinds.Usage(turn=turn, input=10, output=2, cost=draw(st.sampled_from([None, 0.5]))))
        status = draw(st.sampled_from(["done", "error", "interrupted"]))
        events.append(kinds.TurnEnded(turn=turn, status=status, text="", usage={}))
        if draw(st.booleans()):
            calls += 1
            events += draw(one_call(f"t{calls}", None))
    return numbered(events)


@given(sessions())
@settings(max_examples=30, deadline=None)
def test_what_streamed_and_what_the_log_has_of_it_come_to_the_same_items(events: list[AnyEvent]) -> None:
    live = folded(events)
    log = [event for event in events if not isinstance(event, EPHEMERAL)]
    opened = folded(log)
    blank = [item.key for item in live.items if isinstance(item, Said) and not item.text.strip()]
    shown = {item.key: seen(item) for item in live.items if item.key not in blank}
    assert shown == {item.key: seen(item) for item in opened.items}
    assert len({item.key for item in live.items}) == len(live.items)
    assert (live.tokens_in, live.cost, live.running, live.questions) == (opened.tokens_in, opened.cost, {}, {})
    again = folded(log, live=len(log))
    again.settle()
    assert [seen(item) for item in again.items if not isinstance(item, Made)] == [
        seen(item) for item in opened.items if not isinstance(item, Made)
    ]
    assert {item.state for item in again.items if isinstance(item, Made)} <= {"done"}


@given(sessions(), st.integers(0, 200))
@settings(max_examples=30, deadline=None)
def test_a_log_that_breaks_off_anywhere_leaves_nothing_running_or_asked(events: list[AnyEvent], cut: int) -> None:
    log = [event for event in events if not isinstance(event, EPHEMERAL)][: cut + 1]
    fold = folded(log, live=len(log))
    fold.settle()
    assert (fold.running, fold.questions, fold.turn) == ({}, {}, None)
    open_calls = {e.id for e in log if isinstance(e, kinds.CallAsked)} - {
        e.id for e in log if isinstance(e, kinds.CallFinished)
    }
    assert {made.asked.id for made in fold.calls if made.state == "lost"} == open_calls


def test_what_changed_is_told_once_for_each_event_and_items_keep_their_place() -> None:
    fold = Fold(DESCRIBE)
    events = numbered(
        [
            kinds.TurnStarted(turn=1, session="s", model="m", sets=[], not_loaded=[], offered=0, mode="plan"),
            kinds.Prompt(turn=1, text="go"),
            kinds.Thinking(turn=1, text="hm"),
            kinds.Text(turn=1, text="yes"),
            kinds.Message(turn=1, text="yes, indeed", thinking="hm"),
            call_asked("c1", "Run ls"),
            call_started("c1"),
            kinds.CallOutput(turn=1, id="c1", stream="stdout", text="a\nb"),
        ]
    )
    changed = [fold.take(event) for event in events]
    assert [[type(item) for item in items] for items in changed] == [
        [],
        [Asked],
        [Thought],
        [Thought, Said],
        [Thought, Said],
        [Made],
        [Made],
        [],
    ]
    assert (fold.tails, list(fold.running), fold.mode) == ({"c1": "a\nb"}, ["c1"], "plan")
    assert [type(item) for item in fold.items] == [Asked, Thought, Said, Made]
    fold.take(call_finished("c1"))
    assert (fold.tails, fold.running) == ({}, {})
    fold.take(kinds.CallOutput(turn=1, id="c1", stream="stdout", text="late"))
    assert fold.tails == {}


def test_questions_are_those_that_wait_here_and_go_with_their_turn() -> None:
    ask = kinds.ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default")
    own = kinds.QuestionAsked(turn=None, lane="root", id="q1", call="t1", question="which?")
    assert folded(numbered([call_asked("c1", "Run ls"), ask]), awaits=lambda id: False).questions == {}
    assert folded(numbered([call_asked("c1", "Run ls"), ask]), live=2).questions == {}
    fold = folded(numbered([call_asked("c1", "Run ls"), ask, call_asked("t1", "Run ls", turn=None), own]))  # type: ignore[arg-type]
    assert list(fold.questions) == ["a1", "q1"]
    assert fold.call("c1").state == "waiting"  # type: ignore[union-attr]
    fold.take(kinds.TurnEnded(turn=1, status="interrupted", text="", usage={}))
    assert list(fold.questions) == ["q1"]
    fold.take(kinds.QuestionAnswered(id="q1", answer="this"))
    assert fold.questions == {}


def test_who_answered_what_was_undone_and_why_a_turn_did_not_begin_stand_in_the_transcript() -> None:
    fold = folded(
        numbered(
            [
                call_asked("c1", "Edit a.py"),
                kinds.ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default"),
                kinds.ApprovalAnswered(turn=1, id="a1", granted=False, by="plugin:careful"),
                call_finished("c1", outcome="blocked", block="denied"),
                kinds.Undone(
                    id="u1",
                    undoes="c1",
                    call="c1",
                    tool="edit_file",
                    files=[kinds.UndoneFile(path="a.py", change="changed")],
                ),
            ]
        )
    )
    made, undone = fold.items
    assert isinstance(made, Made) and made.why == "declined by plugin:careful"
    assert isinstance(undone, Told) and undone.text == "undone: edit_file (1 file: a.py)"
    fold.take(kinds.Undone(id="u2", undoes="", call="", tool="", error="there is nothing to undo"))
    problem = fold.items[-1]
    assert isinstance(problem, Told) and (problem.level, problem.text) == ("problem", "there is nothing to undo")
    fold.take(kinds.TurnEnded(status="error", text="", usage={}, error="busy elsewhere"))
    ended = fold.items[-1]
    assert isinstance(ended, Ended) and ended.ended.error == "busy elsewhere"


def test_panels_come_change_and_go() -> None:
    fold = folded([kinds.PanelChanged(id="x.todo", title="Todo", blocks=[Note(text="one")])])
    assert list(fold.panels) == ["x.todo"]
    fold.take(kinds.PanelChanged(id="x.todo", title="Todo", blocks=[]))
    assert fold.panels == {}
    assert fold.take(kinds.PanelChanged(id="x.none", title="", blocks=[])) == []


def test_what_a_plain_model_says_is_no_markdown() -> None:
    fold = Fold(DESCRIBE, plain=lambda model: model == "router")
    for turn, model in enumerate(["router", "other"], 1):
        started = kinds.TurnStarted(turn=turn, session="s", model=model, sets=[], not_loaded=[], offered=0)
        for event in (started, kinds.Message(turn=turn, text="1: __init__\n2: # no heading")):
            fold.take(event)
    first, second = (item for item in fold.items if isinstance(item, Said))
    assert (first.plain, second.plain) == (True, False)
    shown, set_ = ([strip.text.rstrip() for strip in rows(item, Look(width=60))] for item in (first, second))
    assert shown == ["1: __init__", "2: # no heading"] and set_ != shown
