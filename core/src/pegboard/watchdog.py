"""Notices a plugin that holds up a session: code of it that runs on the event loop and does not give it back.

A front end of a person watches its loop so; a program that uses a `Board` has its own loop and is left alone. A thread asks
the loop for a sign of life. Where none comes and a stranger's code is what runs, whoever watches is told after a while, and
later told to start again without it; a person who does not want to wait presses Ctrl-C. A program that is told to end while
its loop cannot hear it ends. What can be seen from a thread is Python that runs or waits: a loop in C that keeps the
interpreter's lock (`re`, a library) stops this thread as well.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from types import FrameType
from typing import Any

import msgspec

from pegboard.entries import Entry
from pegboard.kit.tree import kill_all
from pegboard.plugins.claims import is_stranger
from pegboard.plugins.loaded import PROJECT, log_failure, switch_off
from pegboard.selection import may_be_off

TICK = 0.25
"""Seconds between two looks."""
NOTICE = 2.0
"""Seconds after which a person is told."""
_DEBUGGERS = frozenset({"pdb", "bdb", "debugpy", "pydevd"})


class Culprit(msgspec.Struct, frozen=True):
    """Whose code holds the loop. `entries`: what its module is an entry of. `place`: the file and line of it."""

    entries: tuple[Entry, ...]
    place: str

    @property
    def names(self) -> list[str]:
        """What is switched off to be without it; a guard is never among it."""
        return sorted({entry.name for entry in self.entries if may_be_off(entry)})

    @property
    def text(self) -> str:
        """Who it is, for a person."""
        names = sorted({repr(entry.name) for entry in self.entries})
        first, many = self.entries[0], "s" if len(names) > 1 else ""
        return f"the plugin{many} {' and '.join(names)} ({first.distribution} {first.version}) at {self.place}"


class Watchdog:
    """Of the loop that runs in this thread. `told`: is given a text, in the watching thread; `over`: on the loop, when it
    goes on after all; let_go: gives the terminal back, before what is next; restart: starts again and does not return, or
    cannot, and returns. restart None: nothing is started again, and Ctrl-C ends the program."""

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        patience: float,
        told: Callable[[str], object],
        restart: Callable[[Culprit], object] | None,
        over: Callable[[], object] = lambda: None,
        let_go: Callable[[], object] = lambda: None,
    ) -> None:
        self._entries = [entry for entry in entries if is_stranger(entry)]
        self._patience = patience
        self._told, self._restart, self._over, self._let_go = told, restart, over, let_go
        self._loop = asyncio.get_running_loop()
        self._watched = threading.get_ident()
        self._ended = threading.Event()
        self._alive = threading.Event()
        self._said = False
        self._signal: int | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch while the block runs. Where no stranger is installed there is nothing to watch."""
        if not self._entries:
            yield
            return
        thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        thread.start()
        try:
            with _noticed(self._heard):
                yield
        finally:
            self._ended.set()

    def press(self) -> None:
        """Ctrl-C, from any thread: a person who was told who holds up the session does not want to wait."""
        self._heard(signal.SIGINT)

    def _heard(self, number: int) -> None:
        """No lock is taken: as a signal's handler this may run in the middle of anything."""
        if number != signal.SIGINT or (self._said and self._signal is None):
            self._signal = number

    def _watch(self) -> None:
        try:
            held, last = 0.0, None
            self._ask()
            while not self._ended.wait(TICK):  # counted in looks: a machine that slept has held up nobody
                if self._alive.is_set():
                    if self._said:
                        self._loop.call_soon_threadsafe(self._over)
                    held, last, self._said, self._signal = 0.0, None, False, None
                    self._ask()
                    continue
                found = self._culprit()
                same = found is not None and (last is None or found.entries == last.entries)
                held, last = (held + TICK if same else 0.0), found
                if found is None:
                    continue
                if self._said and self._signal is not None:
                    self._do_not_wait(found, self._signal)
                    return
                if held >= self._patience and self._restart is not None:
                    self._let_go()
                    self._restart(found)
                    return
                if held >= min(NOTICE, self._patience / 2) and not self._said:
                    self._said = True
                    self._told(self._what_comes(found, self._patience - held))
        except RuntimeError:
            return  # the loop is closed
        except (OSError, ValueError) as error:  # a terminal that is gone
            log_failure("the watchdog could not tell", error)

    def _what_comes(self, found: Culprit, left: float) -> str:
        held = f"{found.text} hold{'s' if len({one.name for one in found.entries}) == 1 else ''} up this session"
        if self._restart is None:
            return f"{held}; it is not started again, since prompts come from a pipe. Ctrl-C ends it"
        return f"{held}; it starts again without in {left:.0f} s if that goes on, at Ctrl-C now"

    def _do_not_wait(self, found: Culprit, number: int) -> None:
        self._let_go()
        if number == signal.SIGINT and self._restart is not None:
            self._restart(found)
            return
        kill_all()
        os._exit(128 + number)

    def _ask(self) -> None:
        self._alive.clear()
        self._loop.call_soon_threadsafe(self._alive.set)

    def _culprit(self) -> Culprit | None:
        """The stranger whose code the watched thread is in, itself or by what it called; None: it waits, or it is ours."""
        frame = sys._current_frames().get(self._watched)
        modules = list(_modules(frame))
        if any(name.partition(".")[0] in _DEBUGGERS for name, _ in modules):
            return None
        for at, (name, place) in enumerate(modules):
            if whose := [entry for entry in self._entries if _top(entry, name)]:
                return Culprit(self._nearest(whose, [one for one, _ in modules[at:]]), place)
            if name.partition(".")[0].partition("_")[0] == "pegboard":
                return None
        return None

    @staticmethod
    def _nearest(whose: list[Entry], names: list[str]) -> tuple[Entry, ...]:
        """Of a package's entries those whose module is on the way; where none is, all."""
        for name in names:
            if found := [entry for entry in whose if _module(entry) == name or entry.distribution == PROJECT]:
                return tuple(found)
        return tuple(whose)


@contextmanager
def _noticed(heard: Callable[[int], object]) -> Iterator[None]:
    """Be told of the signals that the loop hears as soon as they come, and not when the loop runs. Who heard them before
    still does."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {}

    def noticed(number: int, frame: FrameType | None) -> None:
        heard(number)
        if callable(then := before[number]):
            then(number, frame)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and callable(there := signal.getsignal(number)):
            before[number] = there
            _handle(number, noticed)
    try:
        yield
    finally:
        for number, there in before.items():
            if signal.getsignal(number) is noticed:
                _handle(number, there)


def _handle(number: int, handler: Any) -> None:
    signal.signal(number, handler)
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(number, False)  # as the loop has it


def _modules(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """(module, file:line) of a stack, the innermost first."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        file = PurePath(frame.f_code.co_filename).name
        yield (name if isinstance(name, str) else ""), f"{file}:{frame.f_lineno}"
        frame = frame.f_back


def _module(entry: Entry) -> str:
    return entry.value.partition(":")[0]


def _top(entry: Entry, name: str) -> bool:
    if entry.distribution == PROJECT:
        return name.startswith("pegboard_project_") and name.endswith(f"_{entry.name.replace('-', '_')}")
    return _module(entry).partition(".")[0] == name.partition(".")[0]


def why_again(culprit: Culprit) -> str:
    """What the next process tells the person."""
    names = culprit.names
    said = f"{culprit.text} held up the session, which was started again"
    if names:
        keep = " and ".join(f"/plugins off {name} keep" for name in names)
        back = "it" if len(names) == 1 else "them"
        return f"{said} without {' and '.join(names)}; the next start has {back} again, unless you say {keep}"
    return f"{said}, with it: update or uninstall it, or {switch_off(culprit.entries[0])}"
