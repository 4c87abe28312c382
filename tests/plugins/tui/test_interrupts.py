"""Ctrl-C and Esc: what a press means, and what is sent because of it."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from pegboard import port
from pegboard.blocks import AnyBlock
from pegboard.config.schema import UISettings
from pegboard.events import ApprovalAsked, CallOutput, TurnEnded, TurnStarted
from pegboard_tui.app import PegboardApp
from pegboard_tui.interrupts import LATE, SOON, Presses, hearing
from pegboard_tui.items import Told
from pegboard_tui.sure import Sure
from scripted import ScriptedHost, call_asked, call_finished, call_started
from widgets import until

ONE = frozenset({"c1"})
NONE: frozenset[str] = frozenset()


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_first_press_stops_the_call_the_second_the_turn_and_hurried_ones_no_more() -> None:
    clock = Clock()
    presses = Presses(clock=clock)
    assert presses.press(calls=ONE, turn=True, asking=False) == "stop"
    clock.now += SOON / 2
    assert presses.press(calls=ONE, turn=True, asking=False) == "end"
    for _ in range(20):
        clock.now += SOON / 20
        assert presses.press(calls=NONE, turn=True, asking=False) == "wait"
    presses.ended(turn=True)
    clock.now += SOON / 2
    assert presses.press(calls=NONE, turn=False, asking=False) == "wait"  # it was meant for what has just ended
    clock.now += SOON + 0.1
    assert presses.press(calls=NONE, turn=False, asking=False) == "leave"


def test_a_call_that_will_not_stop_and_a_turn_that_will_not_end_can_be_left() -> None:
    clock = Clock()
    presses = Presses(clock=clock)
    assert presses.press(calls=ONE, turn=True, asking=False) == "stop"
    clock.now += 10
    assert presses.press(calls=ONE, turn=True, asking=False) == "end"
    clock.now += SOON + 0.1
    assert presses.press(calls=ONE, turn=True, asking=False) == "leave"
    clock.now += LATE
    assert presses.press(calls=ONE, turn=True, asking=False) == "end"


def test_what_was_pressed_for_the_process_before_does_not_leave_however_long_the_start_takes() -> None:
    clock = Clock()
    presses = Presses(clock=clock)
    presses.begin()
    for _ in range(3):
        clock.now += 10
        assert presses.press(calls=NONE, turn=False, asking=False) == "wait"
    presses.ended(turn=True)
    clock.now += SOON + 0.1
    assert presses.press(calls=NONE, turn=False, asking=False) == "leave"


def test_a_press_just_after_something_ended_by_itself_does_not_leave() -> None:
    clock = Clock()
    presses = Presses(clock=clock)
    presses.ended(turn=False)
    clock.now += SOON / 2
    assert presses.press(calls=NONE, turn=False, asking=False) == "wait"
    clock.now += SOON + 0.1
    assert presses.press(calls=NONE, turn=False, asking=False) == "leave"


def test_another_call_is_stopped_anew_and_a_question_or_the_setting_ends_the_turn_at_once() -> None:
    clock = Clock()
    presses = Presses(clock=clock)
    assert presses.press(calls=ONE, turn=True, asking=False) == "stop"
    clock.now += 5
    assert presses.press(calls=frozenset({"c1", "c2"}), turn=True, asking=False) == "stop"
    clock.now += SOON / 2
    assert presses.press(calls=frozenset({"c3"}), turn=True, asking=False) == "end"  # hurried: whatever runs by then
    assert Presses().press(calls=ONE, turn=True, asking=True) == "end"
    assert Presses(turn_only=True).press(calls=ONE, turn=True, asking=False) == "end"
    assert Presses().press(calls=ONE, turn=False, asking=False) == "stop"  # the person's own call


@pytest.mark.row("S-064")
async def test_esc_ends_the_turn_and_ctrl_c_the_call_then_the_turn_then_the_app(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(70, 16)) as pilot:
        await pilot.press("escape")  # nothing runs: nothing happens
        assert one.port.sent == []
        started = TurnStarted(turn=1, session="s-1", model="m", sets=[], not_loaded=[], offered=0)
        one.port.emit(started, call_asked("c1", "Run make"), call_started("c1"))
        one.port.emit(CallOutput(turn=1, id="c1", stream="stdout", text="cc -c a.c\n"))
        await pilot.pause()
        await pilot.press("escape")
        await pilot.pause()
        assert one.port.sent == [port.Interrupt()]
        one.port.sent.clear()
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert one.port.sent == [port.Cancel()]
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert one.port.sent == [port.Cancel(), port.Interrupt()]
        one.port.emit(call_finished("c1", outcome="interrupted", why="person"))
        one.port.emit(TurnEnded(turn=1, status="interrupted", text="", usage={}))
        await pilot.pause()
        app.view.presses = Presses()  # some time goes by
        await pilot.press("d", "ctrl+c")
        await pilot.pause()
        assert isinstance(app.screen, Sure)  # a draft would be lost
        await pilot.press("n")
        assert app.is_running and app.view.composer.text == "d"
        app.view.composer.write("")
        app.view.presses = Presses()
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_code == 0 and app.return_value == 0
    assert one.port.sent == [port.Cancel(), port.Interrupt()]


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
async def test_a_plugins_command_that_goes_on_is_told_of_and_a_press_stops_it_and_does_not_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setattr("pegboard_tui.doing.LONG", 0.01)
    host = ScriptedHost(tmp_path)
    one = host.open()
    ended: list[str] = []

    async def command(name: str, rest: str) -> list[AnyBlock]:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)
        return []

    monkeypatch.setattr(one, "command", command)
    app = PegboardApp(host, one)

    def told() -> str:
        return "\n".join(item.text for item in app.view.fold.items if isinstance(item, Told))

    async with app.run_test(size=(70, 16)) as pilot:
        await pilot.press(*"/sets", "escape", "enter")
        await until(pilot, lambda: "/sets goes on; Ctrl-C stops it" in told())
        await pilot.press(key)
        await until(pilot, lambda: "/sets was stopped" in told())
        await pilot.press("ctrl+c")  # a hurried one means no more than that
        assert app.is_running and ended == ["sets"] and one.port.sent == []


async def test_ctrl_c_at_a_question_ends_the_turn_and_with_a_selection_it_copies(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path, UISettings(ctrl_c="command"))
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(70, 16)) as pilot:
        await pilot.press("a", "b", "shift+left", "ctrl+c")
        await pilot.pause()
        assert app.clipboard == "b" and app.is_running and one.port.sent == []
        app.view.composer.write("")
        started = TurnStarted(turn=1, session="s-1", model="m", sets=[], not_loaded=[], offered=0)
        asked = ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default")
        one.port.emit(started, call_asked("c1", "Run make"), asked)
        await pilot.pause()
        assert list(app.view.fold.questions) == ["a1"]
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert one.port.sent == [port.Interrupt()]


async def test_a_signal_ends_the_turn_first_and_storms_of_them_end_the_app_without_a_trace(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(80, 20)) as pilot:
        started = TurnStarted(turn=1, session="s-1", model="m", sets=[], not_loaded=[], offered=0)
        one.port.emit(started)
        await pilot.pause()
        with hearing(lambda: app.call_next(app.action_interrupt), app.told_to_end):
            for _ in range(5):
                os.kill(os.getpid(), signal.SIGINT)
            await pilot.pause()
            assert app.is_running and one.port.sent == [port.Interrupt()]
            os.kill(os.getpid(), signal.SIGTERM)
            await until(pilot, lambda: one.port.sent[-1] == port.Interrupt(signal="SIGTERM"))
            assert app.is_running
            one.port.emit(TurnEnded(turn=1, status="interrupted", text="", usage={}))
            await pilot.pause()
    assert app.return_value == 130
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
