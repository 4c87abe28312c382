"""A session on the screen: what is read, what is sent, what runs, and what is told when something fails."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pegboard import port
from pegboard.blocks import AnyBlock, Note, Text
from pegboard.errors import PegboardError
from pegboard.events import (
    AnyEvent,
    ApprovalAsked,
    CallAsked,
    CallFinished,
    CallOutput,
    Message,
    Prompt,
    TurnEnded,
    TurnStarted,
)
from pegboard.events import Text as Said
from pegboard_tui.app import PegboardApp
from pegboard_tui.asking import Asking
from pegboard_tui.composer import Composer
from pegboard_tui.following import Batches
from pegboard_tui.items import Asked, Made, Told
from pegboard_tui.live import Live, tail
from pegboard_tui.session import SessionView
from scripted import ScriptedHost, call_asked, call_finished, call_started
from textual.pilot import Pilot
from widgets import until


def started(turn: int = 1) -> TurnStarted:
    return TurnStarted(turn=turn, session="s-1", model="m", sets=[], not_loaded=[], offered=0)


def ended(turn: int | None = 1, status: Any = "done", error: str | None = None) -> TurnEnded:
    return TurnEnded(turn=turn, status=status, text="", usage={}, error=error)


async def typed(pilot: Pilot[int], text: str, key: str = "enter") -> None:
    pilot.app.query_one(Composer).write(text)
    await pilot.press(key)
    await pilot.pause()


def told(view: SessionView) -> list[str]:
    return [item.text for item in view.fold.items if isinstance(item, Told)]


def seen(app: PegboardApp) -> str:
    """The text on the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def test_a_tail_is_its_last_lines_as_a_terminal_would_show_them() -> None:
    text = "one\ntwo\r\n10%\r50%\r100%\n\n\x1b[32mdone\x1b[0m \x1b]0;title\x07\n"
    assert tail(text, 3) == ["two", "100%", r"done \x1b]0;title\x07"]
    assert tail(text, 9, commands=False)[-1] == r"\x1b[32mdone\x1b[0m \x1b]0;title\x07"
    assert tail("x" * 5_000_000, 2) == ["x" * 1000]
    assert tail("\r\n\n", 3) == []


@pytest.mark.row("S-059")
async def test_what_running_commands_print_streams_above_the_input_until_they_end(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(100, 40)) as pilot:
        one.port.emit(started(), call_asked("c1", "Run make -j8"), call_started("c1"))
        one.port.emit(CallOutput(turn=1, id="c1", stream="stdout", text="cc -c a.c\n10%\r20%\n"))
        await pilot.pause()
        live, composer = app.query_one(Live), app.query_one(Composer)
        assert live.display and live.region.bottom <= composer.region.y
        shown = seen(app)
        assert "cc -c a.c" in shown and "20%" in shown and "10%" not in shown
        one.port.emit(call_asked("c2", "Run pytest -q"), call_started("c2"))
        one.port.emit(CallOutput(turn=1, id="c2", stream="stdout", text="".join(f"line {n}\n" for n in range(50))))
        await pilot.pause(0.1)
        lines = [
            re.sub(r"  \d+s$", "", line.split("│")[0].strip()) for line in seen(app).split("\n")
        ]  # on a slow machine
        assert lines.index("Run make -j8", 8) < lines.index("cc -c a.c") < lines.index("Run pytest -q", 8)
        assert [line for line in lines if line.startswith("line ")] == [f"line {n}" for n in range(45, 50)]
        one.port.emit(call_finished("c2"))
        await pilot.pause()
        assert "line 49" not in seen(app) and "cc -c a.c" in seen(app)
        one.port.emit(call_finished("c1"))
        await pilot.pause()
        assert not live.display


async def test_prompts_wait_for_the_turn_and_are_sent_in_order_or_taken_back(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(100, 40)) as pilot:
        view = app.view
        await typed(pilot, "one")
        assert view.busy  # before the turn has begun: nothing is sent twice
        for text in ("two", "three", "four"):
            await typed(pilot, text)
        assert one.port.sent == [port.Prompt(text="one")]
        assert [line.split("│")[0].strip() for line in seen(app).split("\n") if line.startswith(" queued")] == [
            "queued  two",
            "queued  three",
            "queued  four",
        ]
        await pilot.press("up")
        await pilot.pause()
        assert (view.queued.texts, view.composer.text) == (["two", "three"], "four")
        view.composer.write("")
        await typed(pilot, "look at tests, too", "ctrl+t")
        assert one.port.sent[1:] == [port.Steer(text="look at tests, too")] and "told" in seen(app)
        one.port.emit(started(), Prompt(turn=1, text="one"), Prompt(turn=1, text="look at tests, too"))
        await pilot.pause()
        assert not view.queued.steered
        assert [item.text for item in view.fold.items if isinstance(item, Asked)] == ["one", "look at tests, too"]
        one.port.emit(ended())
        await pilot.pause()
        assert one.port.sent[2:] == [port.Prompt(text="two")] and view.busy
        one.port.emit(started(2), ended(2, "interrupted"))
        await pilot.pause()
        assert len(one.port.sent) == 3 and not view.busy  # the person ended it: what waits is theirs again
        assert (view.queued.texts, view.composer.text) == ([], "three")


async def test_what_could_not_be_sent_is_told_and_stands_in_the_input_again(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)

    async def refuse(operation: port.AnyOperation) -> None:
        raise PegboardError("the session is busy in process 12; nothing was started")

    async with app.run_test(size=(100, 30)) as pilot:
        view, send = app.view, one.port.send
        one.port.send = refuse  # type: ignore[method-assign]
        await typed(pilot, "hello [red]there")
        assert told(view)[-1] == "the session is busy in process 12; nothing was started"
        assert (view.composer.text, view.busy) == ("hello [red]there", False)
        before = len(told(view))
        view.asking.post_message(Asking.Answered([port.Answer(id="a1", granted=True)]))
        await pilot.pause()
        assert len(told(view)) == before + 1 and app.is_running
        one.port.send = send  # type: ignore[method-assign]
        await pilot.press("enter")
        await pilot.pause()
        assert one.port.sent == [port.Prompt(text="hello [red]there")]
        one.port.emit(ended(None, "error", "another process runs a turn"))
        await pilot.pause()
        assert (view.composer.text, view.busy) == ("hello [red]there", False)  # the turn never began
        await pilot.press("enter")
        one.port.emit(started(), Prompt(turn=1, text="x"), ended(1, "error", "the connection was lost"))
        await pilot.pause()
        assert not view.busy and app.is_running and "the connection was lost" in seen(app)
        view.composer.write("")
        await typed(pilot, "!ls -l")
        sent = one.port.sent[-1]
        assert isinstance(sent, port.Call) and (sent.name, sent.arguments) == ("bash", {"command": "ls -l"})


async def test_another_process_in_the_session_is_seen_but_neither_answered_nor_waited_for(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    one.elsewhere = {"a1"}
    app = PegboardApp(host, one)
    async with app.run_test(size=(100, 30)) as pilot:
        asked = ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default")
        theirs: list[AnyEvent] = [started(), Prompt(turn=1, text="theirs"), call_asked("c1", "Run make"), asked]
        one.port.emit(*theirs, elsewhere=True)
        await pilot.pause()
        assert "theirs" in seen(app)
        assert (app.view.fold.questions, app.view.busy) == ({}, False)
        await typed(pilot, "mine")
        assert one.port.sent == [port.Prompt(text="mine")]
        one.port.emit(ended(), elsewhere=True)
        await pilot.pause()
        assert app.view.busy  # ours is still to come
        one.port.emit(started(2), ended(2))
        await pilot.pause()
        assert not app.view.busy


async def test_a_long_log_is_folded_in_one_go_and_what_had_not_ended_is_marked(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open("s-old")
    for turn in range(1, 1001):
        id = f"c{turn}"
        one.port.emit(started(turn), Prompt(turn=turn, text=f"ask {turn}"), call_asked(id, "Read a.py", turn))
        one.port.emit(call_started(id, turn), call_finished(id, "x", turn, data={"n": turn}), ended(turn))
    asked = ApprovalAsked(turn=1001, lane="root", id="a1", call="c1001", rule="r", layer="default")
    one.port.emit(started(1001), call_asked("c1001", "Run make", 1001), asked, call_asked("c1002", "Run x", 1001))
    one.port.emit(call_started("c1002", 1001))
    one.last, one.port.turn = 6005, None
    drawn: list[str] = []

    async def draw(asked: CallAsked, finished: CallFinished) -> list[AnyBlock]:
        drawn.append(asked.id)
        return [Note(text="drawn")]

    one.draw = draw  # type: ignore[method-assign]
    app = PegboardApp(host, one)
    async with app.run_test(size=(100, 30)) as pilot:
        view, shows = app.view, 0
        while len(drawn) < 100 and shows < 200:
            shows += 1
            await pilot.pause()
        assert len(view.fold.items) == 3002
        assert (view.fold.questions, view.fold.running, view.busy, view.used) == ({}, {}, False, True)
        assert [item.state for item in view.fold.items[-2:] if isinstance(item, Made)] == ["lost", "lost"]
        assert drawn == [f"c{n}" for n in range(1000, 900, -1)]  # the last ones, the last first
        one.port.emit(ended(1001, "interrupted"))
        await pilot.pause()
        assert view.fold.turn is None


async def test_faults_of_widgets_renderers_and_the_log_are_told_and_end_nothing(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()

    async def slow(asked: CallAsked, finished: CallFinished) -> list[AnyBlock]:
        await asyncio.sleep(0.2)
        return [Text(text="drawn at last")]

    one.draw = slow  # type: ignore[method-assign]

    def broken(*_: object) -> None:
        raise ValueError("cannot [draw]")

    app = PegboardApp(host, one)
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        view, show = app.view, app.view.live.show
        view.live.show = broken  # type: ignore[method-assign]
        one.port.emit(started(), call_asked("c1", "Run x"), call_finished("c1", "plain", data={"n": 1}))
        await until(pilot, lambda: any("ValueError: cannot [draw]" in note.message for note in app._notifications))
        await until(pilot, lambda: "drawn at last" in seen(app))
        view.live.show = show  # type: ignore[method-assign]

        async def fails(*_: object) -> None:
            raise RuntimeError("[/red] out of order")

        view.doing.do = fails  # type: ignore[method-assign, assignment]
        await typed(pilot, "/copy")
        assert "what was sent failed: RuntimeError: [/red] out of order." in told(view)[-1]
        one.port.emit(Message(turn=1, text="still here"))
        await pilot.pause()
        assert app.is_running and "still here" in seen(app)


class Counted:
    """Events by hand; it keeps how many were taken at a time."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[AnyEvent | None] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        while (event := await self.queue.get()) is not None:
            yield event


async def test_pieces_of_text_come_at_most_twenty_times_a_second_and_what_happens_at_once() -> None:
    events = Counted()
    batches: list[int] = []
    times: list[float] = []

    async def follow() -> None:
        async for batch in Batches(aiter(events)):
            batches.append(len(batch))
            times.append(time.monotonic())

    following = asyncio.create_task(follow())
    for _ in range(60):
        events.queue.put_nowait(Said(turn=1, text="x"))
        await asyncio.sleep(0.005)
    assert sum(batches) <= 60 and len(batches) <= (times[-1] - times[0]) / 0.045 + 2
    before = len(batches)
    events.queue.put_nowait(Said(turn=1, text="x"))
    events.queue.put_nowait(Prompt(seq=1, turn=1, text="now"))
    events.queue.put_nowait(None)
    await following
    assert sum(batches) == 62 and len(batches) > before


async def test_the_log_comes_whole_in_the_first_batch_and_a_broken_one_is_raised() -> None:
    events = Counted()

    async def follow() -> list[list[int | None]]:
        return [[event.seq for event in batch] async for batch in Batches(aiter(events), until=3)]

    following = asyncio.create_task(follow())
    for seq in (1, 2, 3):
        events.queue.put_nowait(Prompt(seq=seq, turn=1, text="x"))
        await asyncio.sleep(0.01)
    events.queue.put_nowait(None)
    assert await following == [[1, 2, 3]]

    async def broken() -> AsyncIterator[AnyEvent]:
        yield Prompt(seq=1, turn=1, text="x")
        raise PegboardError("the log is damaged")

    with pytest.raises(PegboardError, match="damaged"):
        async for batch in Batches(broken()):
            assert [event.seq for event in batch] == [1]


async def test_what_a_turn_was_told_and_did_not_read_waits_and_what_is_sent_is_looked_at(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    talk = host.open()
    app = PegboardApp(host, talk)
    async with app.run_test(size=(80, 20)) as pilot:
        view = app.view
        talk.port.turn = 1
        talk.port.emit(started(), Prompt(turn=1, text="go"), Message(turn=1, text="a line\n\n" * 60))
        await until(pilot, lambda: view.busy and view.transcript.window.following)
        view.transcript.scroll_lines(-30)
        await typed(pilot, "look at b instead", "ctrl+t")
        assert view.transcript.window.following and view.queued.steered == ["look at b instead"]
        view.transcript.scroll_lines(-30)
        assert not view.transcript.window.following
        await pilot.press("end")
        assert view.transcript.window.following
        talk.port.emit(ended())
        await until(pilot, lambda: not view.queued.steered)
        await until(pilot, lambda: talk.port.sent[-1] == port.Prompt(text="look at b instead"))
