"""Rows of the app: how soon it is there, how it feels in a long session, and that the loop does not stall."""

from __future__ import annotations

import asyncio
import itertools
import os
import pty
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import transcript
from harness import Pair, Row
from rows_process import PEGBOARD, environment, wall

if TYPE_CHECKING:
    from pegboard.models import ReplyPart, Request

IMPORT_TEXTUAL = [sys.executable, "-c", "import textual.app"]
SHOWN = b"offline"
"""Who answers. The app's first picture names it, above an input that takes keys (tests/plugins/tui/test_app.py holds both),
and what stands there before it, the frame of `splash`, does not. By then the board, its tools and the session are built;
the welcome in the transcript, with what one may try, comes with a later picture."""
LIMIT = 60.0


def painted(command: list[str], folder: Path) -> float:
    """Seconds until a program on a terminal of its own has painted `SHOWN`. It is killed then."""
    leader, follower = pty.openpty()
    try:
        os.set_blocking(leader, False)
        env = environment(folder / "home") | {"TERM": "xterm-256color", "COLUMNS": "110", "LINES": "32"}
        begun = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=folder, env=env, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
        )
        try:
            seen = b""
            while SHOWN not in seen:
                left = begun + LIMIT - time.perf_counter()
                if left <= 0 or child.poll() is not None:
                    raise RuntimeError(f"nothing was painted: {seen[-400:]!r}")
                if select.select([leader], [], [], min(left, 0.2))[0]:
                    seen += os.read(leader, 65536)
            return time.perf_counter() - begun
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    finally:
        os.close(leader)
        os.close(follower)


@contextmanager
def painting(scratch: Path) -> Iterator[Pair]:
    """The app's start, until its first picture is on a terminal, beside a process that imports Textual and ends."""
    command = [PEGBOARD, "tui", "--model", "offline"]
    yield Pair(ours=lambda: painted(command, scratch), yardstick=wall(IMPORT_TEXTUAL, scratch))


# --- stalls -----------------------------------------------------------------------------------------------------------

STALL = 3.0
"""Seconds that eight tools run."""
EIGHT = 8
PIECES = ("A **word** or two, ", "`code`, and more words that make a sentence.\n", "- an item\n", "\n")


class Talker:
    """A provider whose answer is text, for as long as eight tools run."""

    banner, cautious, context = "a bench", False, None

    async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """The text, fifty pieces a second."""
        from pegboard.models import EndPart, TextPart

        until, pieces = time.perf_counter() + STALL, itertools.cycle(PIECES)
        while time.perf_counter() < until:
            yield TextPart(next(pieces))
            await asyncio.sleep(0.02)
        yield EndPart()

    async def close(self) -> None:
        """Nothing is held."""


async def late(seconds: float) -> list[float]:
    """How late a timer of 1 ms comes, in ms, for so long."""
    found: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        begun = time.perf_counter()
        await asyncio.sleep(0.001)
        found.append((time.perf_counter() - begun - 0.001) * 1000)
    return found


async def stalled(scratch: Path, *, tools: int) -> float:
    """The 99th percentile of how late the app's loop is, in ms, while so many commands print and a text streams, all of it
    in the session that is looked at."""
    import gc

    from pegboard import port
    from pegboard.board import Board
    from pegboard.calls import Call
    from pegboard.conversation import Talk
    from pegboard.hosting import Hosted
    from pegboard.lane import Lane
    from pegboard.slashes import Slashes
    from pegboard_tui.app import PegboardApp

    board = Board.build(str(scratch), user_file=scratch / "config.toml", environ={}, state=scratch / "state")
    session = board.session()
    agent = board.agent(session, answers="--yes", model="bench", provider=Talker())
    road = board.road(session, answers="--yes")
    talk = Talk(board, session, agent, Slashes(board.assembled.entries, board.loaded))
    command = f"for i in $(seq {int(STALL * 20)}); do seq 40; sleep 0.05; done"
    app = PegboardApp(Hosted(board, answers="--yes"), talk)
    gc.collect()
    gc.freeze()
    try:
        async with app.run_test(size=(110, 32)) as pilot:
            await pilot.pause()
            await agent.send(port.Prompt(text="go"))
            calls = [
                Call(id=f"b{n}", name="bash", arguments={"command": command}, caller="program") for n in range(tools)
            ]
            running = [asyncio.create_task(road.travel(call, Lane())) for call in calls]
            found = await late(STALL)
            await asyncio.gather(*running)
            await agent.wait()
        return statistics.quantiles(found, n=100)[98]
    finally:
        gc.unfreeze()
        await board.close()


@contextmanager
def stalling(scratch: Path) -> Iterator[Pair]:
    """The app's loop with eight tools and a text, beside the app with a text alone."""
    yield Pair(
        ours=lambda: asyncio.run(stalled(scratch, tools=EIGHT)),
        yardstick=lambda: asyncio.run(stalled(scratch, tools=0)),
    )


ROWS = [
    *transcript.ROWS,
    Row(
        name="time to first paint of the app",
        target=1.8,
        against="a process that imports textual.app",
        best_peer="not measured",
        set_up=painting,
    ),
    Row(
        name="loop stall of the app while eight tools run and text streams, p99",
        target=10,
        unit="ms",
        against="the app with a text alone",
        best_peer="not measured",
        set_up=stalling,
        pairs=3,
    ),
]
