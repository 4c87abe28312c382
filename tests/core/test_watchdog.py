"""A stranger's code that holds the event loop is noticed, told of, and then started again without; ours is not blamed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pegboard import Answer, hookimpl, restarting, tool, watchdog
from pegboard.board import Board
from pegboard.entries import Entry
from pegboard.plugins import given
from pegboard.restarting import Restart, restarted
from pegboard.watchdog import Culprit, Watchdog, why_again

HOLDS = """
import time
def hold(until, by=None):
    while not until():
        time.sleep(0.002)
def through(other, until):
    other(until)
async def later(until):
    hold(until)
"""


def entry(name: str, value: str, group: str = "pegboard.toolsets", *, own: bool = False) -> Entry:
    return Entry(name=name, group=group, value=value, distribution=f"dist-{name}", version="1", own=own)


def module(name: str) -> Any:
    made: Any = ModuleType(name)
    exec(compile(HOLDS, f"/nowhere/{name}.py", "exec"), made.__dict__)
    return made


class Seen:
    """What the watchdog came to."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, entries: list[Entry], patience: float = 0.2, *, piped: bool = False
    ) -> None:
        monkeypatch.setattr(watchdog, "TICK", 0.01)
        monkeypatch.setattr(watchdog, "NOTICE", 0.05)
        self.told: list[str] = []
        self.culprits: list[Culprit] = []
        self.again = threading.Event()
        self.over = asyncio.Event()
        self.order: list[Any] = []
        monkeypatch.setattr(watchdog.os, "_exit", self._exit)
        self.dog = Watchdog(
            entries,
            patience=patience,
            told=self.told.append,
            restart=None if piped else self._restart,
            over=self.over.set,
            let_go=lambda: self.order.append("terminal"),
        )

    def _exit(self, code: int) -> None:
        self.order.append(code)
        self.again.set()

    def _restart(self, culprit: Culprit) -> None:
        self.culprits.append(culprit)
        self.order.append("again")
        self.again.set()

    def until_told_then(self, number: int) -> Callable[[], bool]:
        """Holds until it was told of, gives itself that signal, and holds on until something comes of it."""
        given = False

        def over() -> bool:
            nonlocal given
            if self.told and not given:
                given = True
                os.kill(os.getpid(), number)
            return self.again.is_set()

        return over


def counted(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Grows by one with each look at who holds the loop."""
    looks: list[None] = []
    real = Watchdog._culprit

    def look(self: Watchdog) -> Culprit | None:
        looks.append(None)
        return real(self)

    monkeypatch.setattr(Watchdog, "_culprit", look)
    return looks


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


@pytest.mark.parametrize(
    ("number", "piped", "comes"),
    [
        (signal.SIGINT, False, "again"),
        (signal.SIGINT, True, 130),
        (signal.SIGTERM, False, 143),
        (signal.SIGHUP, False, 129),
    ],
)
async def test_who_was_told_need_not_wait_and_who_is_told_to_end_ends(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals, piped: bool, comes: Any
) -> None:
    """Though the loop, which hears signals, does not run. The terminal is given back before."""
    seen, loop, heard = (
        Seen(monkeypatch, ENTRIES, patience=1e6, piped=piped),
        asyncio.get_running_loop(),
        asyncio.Event(),
    )
    loop.add_signal_handler(number, heard.set)
    try:
        with seen.dog.watching():
            module("stranger_bad.tools").hold(seen.until_told_then(number))
            await asyncio.wait_for(heard.wait(), 60)  # the loop hears it, too, when it runs
    finally:
        loop.remove_signal_handler(number)
    assert seen.order == ["terminal", comes]
    assert ("Ctrl-C ends it" if piped else "at Ctrl-C now") in seen.told[0]


async def test_ctrl_c_before_anything_was_told_is_no_wish_to_start_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, ENTRIES, patience=1e6)
    with seen.dog.watching():
        for _ in range(3):
            seen.dog.press()
        module("stranger_bad.tools").hold(lambda: seen.told)
        await asyncio.wait_for(seen.over.wait(), 60)
    assert not seen.order


async def test_where_prompts_come_from_a_pipe_nothing_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, ENTRIES, piped=True)
    looks = counted(monkeypatch)
    with seen.dog.watching():
        module("stranger_bad.tools").hold(lambda: len(looks) > 50)
        await asyncio.wait_for(seen.over.wait(), 60)
    assert len(seen.told) == 1 and not seen.order


def _plugin(role: str, holds: Callable[[], Any]) -> Any:
    """One that holds the loop in this role, in a board where the tool `act` asks."""

    async def approve(asked: Any) -> Answer | None:
        if role == "approvers":  # one that only looks has a preview made
            await holds()
        return None

    async def guard(call: Any, touches: Any) -> None:
        await holds()

    async def rewrite(call: Any) -> None:
        await holds()

    hooks = {"approvers": approve, "guards": guard, "rewriters": rewrite}
    group = role if role in hooks else "approvers"
    made: Any = ModuleType("stranger_bad.tools")
    setattr(made, f"pegboard_{group}", hookimpl(lambda: [hooks[group]], specname=f"pegboard_{group}"))
    return given("bad", f"pegboard.{group}", made)


@pytest.mark.parametrize("role", ["approvers", "guards", "rewriters", "preview", "tool"])
async def test_who_holds_it_is_known_in_each_role_on_the_road(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, role: str
) -> None:
    stranger = module("stranger_bad.tools")
    seen = Seen(monkeypatch, [entry("bad", "stranger_bad.tools", f"pegboard.{role}")])

    async def holds() -> None:
        await stranger.later(seen.again.is_set)

    async def preview(arguments: Any, ctx: Any) -> list[Any]:
        await holds()
        return []

    @tool(preview=preview if role == "preview" else None, permission_fn=lambda arguments: "ask")
    async def act() -> str:
        """Act."""
        if role == "tool":
            await holds()
        return "done"

    toolset: Any = ModuleType("some_tools")
    toolset.pegboard_tools = hookimpl(lambda: [act], specname="pegboard_tools")
    extra = [given("some", "pegboard.toolsets", toolset), _plugin(role, holds)]
    file = tmp_path / "config.toml"
    file.write_text("[plugins]\napprovers = ['bad']\nrewriters = ['bad']\n")
    board = Board.build(str(tmp_path), user_file=file, environ={}, discover=False, extra=extra)
    with seen.dog.watching():
        calling = asyncio.create_task(board.call("act", answers="--yes" if role == "tool" else "person"))
        assert await asyncio.to_thread(seen.again.wait, 60)
        calling.cancel()  # at the latest it waits for a person
        await asyncio.wait([calling])
    await board.close()
    (culprit,) = seen.culprits
    assert culprit.place.startswith("stranger_bad.tools.py:")
    assert culprit.names == ([] if role in ("approvers", "guards", "rewriters") else ["bad"])


@pytest.mark.parametrize("name", ["pegboard_tools_core.bash", "somebody.else", "pdb"])
async def test_code_of_ours_of_nobody_and_a_debuggers_is_not_blamed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Though a plugin called it: what waits in ours, or for a person at a debugger, is no plugin's loop."""
    seen = Seen(monkeypatch, ENTRIES)
    looks = counted(monkeypatch)
    outer = module("a.program" if name == "somebody.else" else "stranger_bad.tools")
    with seen.dog.watching():
        outer.through(module(name).hold, lambda: len(looks) > 50)
    assert not seen.told and not seen.culprits


async def test_without_strangers_nothing_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, [entry("ours", "pegboard_tools_core", own=True)])
    before = set(threading.enumerate())
    with seen.dog.watching():
        assert set(threading.enumerate()) <= before


def press() -> None:
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_what_the_next_process_is_told_is_taken_once_and_it_hears_no_key_that_was_meant_for_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Restart(sessions=["a", "b"], off=["bad"], why="it hung", model="x/y", drafts={"a": "半" * 60_000})
    ran: list[Any] = []

    def execv(path: str, words: list[str]) -> None:
        own = os.environ[restarting.VARIABLE]
        assert os.get_inheritable(int(own))
        monkeypatch.setenv(
            restarting.VARIABLE, str(os.dup(int(own)))
        )  # the file is closed here where nothing came of it
        press()  # nobody of the next process is there to hear it
        ran.append((path, words, restarted(), restarted()))
        press()

    monkeypatch.setattr(restarting.os, "execv", execv)
    monkeypatch.setenv(restarting.VARIABLE, "")
    try:
        restarting.start_again(told)
    finally:
        restarting.hears_again()
    with pytest.raises(KeyboardInterrupt):
        press()
    assert ran == [(sys.executable, [sys.executable, *sys.orig_argv[1:]], told, None)]


@pytest.mark.parametrize("said", ["", "x", "0", "99999", "-1"])
def test_a_variable_that_names_no_file_of_ours_says_nothing(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv(restarting.VARIABLE, said)
    assert restarted() is None and restarting.VARIABLE not in os.environ


def test_where_no_process_can_be_started_in_its_place_ctrl_c_is_heard_as_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def execv(path: str, words: list[str]) -> None:
        raise OSError("no")

    monkeypatch.setattr(restarting.os, "execv", execv)
    restarting.start_again(Restart(sessions=["a"], off=[], why=""))
    with pytest.raises(KeyboardInterrupt):
        press()
    assert restarting.VARIABLE not in os.environ
