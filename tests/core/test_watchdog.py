"""A stranger's code that holds the event loop is noticed, told of, and then started again without; ours is not blamed."""

from __future__ import annotations

import asyncio
import sys
import threading
from types import ModuleType
from typing import Any

import pytest
from pegboard import watchdog
from pegboard.entries import Entry
from pegboard.watchdog import Culprit, Restart, Watchdog, restarted, why_again

HOLDS = """
import time
def hold(until, by=None):
    while not until():
        time.sleep(0.002)
def through(other, until):
    other(until)
"""


def entry(name: str, value: str, group: str = "pegboard.toolsets", *, own: bool = False) -> Entry:
    return Entry(name=name, group=group, value=value, distribution=f"dist-{name}", version="1", own=own)


def module(name: str) -> Any:
    made: Any = ModuleType(name)
    exec(compile(HOLDS, f"/nowhere/{name}.py", "exec"), made.__dict__)
    return made


class Seen:
    """What the watchdog came to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, entries: list[Entry], patience: float = 0.2) -> None:
        monkeypatch.setattr(watchdog, "TICK", 0.01)
        monkeypatch.setattr(watchdog, "NOTICE", 0.05)
        self.told: list[str] = []
        self.culprits: list[Culprit] = []
        self.again = threading.Event()
        self.over = asyncio.Event()
        self.dog = Watchdog(
            entries, patience=patience, told=self.told.append, restart=self._restart, over=self.over.set
        )

    def _restart(self, culprit: Culprit) -> None:
        self.culprits.append(culprit)
        self.again.set()


ENTRIES = [entry("bad", "stranger_bad.tools"), entry("keeps", "stranger_bad.guard", "pegboard.guards")]


async def test_who_holds_the_loop_is_told_and_then_started_again_without(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, ENTRIES)
    with seen.dog.watching():
        module("stranger_bad.tools").hold(seen.again.is_set)
    (culprit,) = seen.culprits
    assert culprit.names == ["bad"] and "'bad' (dist-bad 1) at stranger_bad.tools.py:5" in seen.told[0]
    assert "started again without bad" in why_again(culprit) and "/plugins off bad keep" in why_again(culprit)


async def test_a_guard_is_named_and_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, ENTRIES)
    with seen.dog.watching():
        module("stranger_bad.guard").through(module("stranger_bad.deep").hold, seen.again.is_set)
    (culprit,) = seen.culprits
    assert [one.name for one in culprit.entries] == ["keeps"] and culprit.names == []
    assert "with it" in why_again(culprit) and "--without-guard keeps" in why_again(culprit)


async def test_what_gives_the_loop_back_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, ENTRIES, patience=1e6)
    with seen.dog.watching():
        module("stranger_bad.tools").hold(lambda: seen.told)
        await asyncio.wait_for(seen.over.wait(), 60)
    assert len(seen.told) == 1 and not seen.culprits


@pytest.mark.parametrize("name", ["pegboard_tools_core.bash", "somebody.else", "pdb"])
async def test_code_of_ours_of_nobody_and_a_debuggers_is_not_blamed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Though a plugin called it: what waits in ours, or for a person at a debugger, is no plugin's loop."""
    seen = Seen(monkeypatch, ENTRIES)
    looks = 0
    real = Watchdog._culprit

    def counted(self: Watchdog) -> Culprit | None:
        nonlocal looks
        looks += 1
        return real(self)

    monkeypatch.setattr(Watchdog, "_culprit", counted)
    outer = module("a.program" if name == "somebody.else" else "stranger_bad.tools")
    with seen.dog.watching():
        outer.through(module(name).hold, lambda: looks > 50)
    assert not seen.told and not seen.culprits


async def test_without_strangers_nothing_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, [entry("ours", "pegboard_tools_core", own=True)])
    with seen.dog.watching():
        assert not [thread for thread in threading.enumerate() if thread.name == "watchdog"]


def test_what_the_next_process_is_told_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Restart(sessions=["a", "b"], off=["bad"], why="it hung", model="x/y", draft="half a tho")
    ran: list[Any] = []
    monkeypatch.setattr(watchdog.os, "execv", lambda path, words: ran.append((path, words)))
    monkeypatch.setenv(watchdog.VARIABLE, "")
    watchdog.start_again(told)
    assert ran == [(sys.executable, [sys.executable, *sys.orig_argv[1:]])]
    assert restarted() == told and restarted() is None
