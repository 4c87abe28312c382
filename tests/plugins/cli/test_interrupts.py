"""Ctrl-C: first what runs, then the turn, then the command."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest
from pegboard_cli.interrupts import SOON, Interrupts


class Pressed:
    """Interrupts with what they did written down, and a clock that a test turns."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch | None = None, *, turn_only: bool = False) -> None:
        self.done: list[str] = []
        self.running: set[str] = set()
        self.now = 1000.0
        if monkeypatch is not None:
            monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.interrupts = Interrupts(
            running=lambda: frozenset(self.running),
            stop_calls=lambda: self.done.append("calls"),
            end_turn=lambda: self.done.append("turn"),
            give_up=lambda: self.done.append("command"),
            turn_only=turn_only,
        )

    def press(self, after: float = 0.0) -> None:
        self.now += after
        self.interrupts.press()


def test_with_nothing_running_the_turn_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = Pressed(monkeypatch)
    pressed.press()
    assert pressed.done == ["turn"]


def test_a_running_call_is_stopped_and_the_turn_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = Pressed(monkeypatch)
    pressed.running = {"c1"}
    pressed.press()
    pressed.running = {"c2"}
    pressed.press(after=SOON + 1)
    assert pressed.done == ["calls", "calls"]


def test_a_second_press_ends_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = Pressed(monkeypatch)
    pressed.running = {"c1"}
    pressed.press()
    pressed.running = {"c2"}
    pressed.press(after=0.5)
    assert pressed.done == ["calls", "turn"]


def test_a_call_that_would_not_stop_ends_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = Pressed(monkeypatch)
    pressed.running = {"c1"}
    pressed.press()
    pressed.press(after=SOON + 1)
    pressed.press()
    assert pressed.done == ["calls", "turn", "command"]


def test_the_setting_for_people_who_always_mean_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed = Pressed(monkeypatch, turn_only=True)
    pressed.running = {"c1"}
    pressed.press()
    assert pressed.done == ["turn"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_signals_are_heard_and_given_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    pressed = Pressed()
    with pressed.interrupts.listening():
        os.kill(os.getpid(), number)
        while not pressed.done:
            await asyncio.sleep(0.01)
    assert pressed.done == ["turn"]
    assert signal.getsignal(number) == before
