"""Rows of the road itself: a no-op tool in a board, beside json.loads, one conversion and the call."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from harness import Pair, Row
from pegboard import Ask, Call, Deny, Touch, tool
from pegboard.lane import Lane
from pegboard.testing.bench import TestBoard

TEXT = '{"name": "a", "count": 3}'
BATCH = 200


@tool(pure=True)
async def noop(name: str, count: int = 1) -> str:
    """Do nothing."""
    return name


@tool(pure=True)
def threaded(name: str, count: int = 1) -> str:
    """Do nothing, in a worker thread."""
    return name


class Passing:
    """A guard of our own that lets everything pass."""

    def __call__(self, call: Call, touches: list[Touch], /) -> Deny | Ask | None:
        return None


def beside(
    make: Callable[[Path], tuple[TestBoard, Callable[[], Any]]],
) -> Callable[[Path], AbstractContextManager[Pair]]:
    """A row whose work is made from a board; the yardstick is the plainest way to validate and call."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        (scratch / "root").mkdir()
        board, work = make(scratch / "root")
        struct = board.board.registry.tools[0].signature.struct
        with asyncio.Runner() as runner:

            async def plainly() -> float:
                begun = time.perf_counter()
                for _ in range(BATCH):
                    value = msgspec.convert(json.loads(TEXT), struct)
                    await noop(value.name, value.count)  # type: ignore[attr-defined]
                return (time.perf_counter() - begun) / BATCH

            try:
                yield Pair(ours=work, yardstick=lambda: runner.run(plainly()))
            finally:
                board.close()

    return set_up


def validated(root: Path) -> tuple[TestBoard, Callable[[], float]]:
    """Arguments validated and made canonical."""
    board = TestBoard(root, tools=[noop])
    read = board.board.registry.tools[0].read
    sent = json.loads(TEXT)

    def work() -> float:
        begun = time.perf_counter()
        for _ in range(BATCH):
            read(sent)
        return (time.perf_counter() - begun) / BATCH

    return board, work


def road(
    *, guards: int, recorded: bool, thread: bool = False
) -> Callable[[Path], tuple[TestBoard, Callable[[], float]]]:
    """Calls down the whole road."""

    def make(root: Path) -> tuple[TestBoard, Callable[[], float]]:
        board = TestBoard(root, tools=[threaded if thread else noop], guards=[Passing() for _ in range(guards)])
        session = board.session if recorded else board.board.session(in_memory=True)
        travel = board.board.road(session).travel
        lane, sent, numbers = Lane(), json.loads(TEXT), iter(range(10**9))
        name = "threaded" if thread else "noop"

        async def batch() -> float:
            calls = [Call(id=f"c{next(numbers)}", name=name, arguments=sent) for _ in range(BATCH)]
            begun = time.perf_counter()
            for call in calls:
                await travel(call, lane, turn=1)
            return (time.perf_counter() - begun) / BATCH

        return board, lambda: board.run(batch())

    return make


@tool(pure=True, overlap="parallel")
async def pause(number: int) -> str:
    """Take a tenth of a second."""
    await asyncio.sleep(0.1)
    return ""


@contextmanager
def one_reply(scratch: Path) -> Iterator[Pair]:
    """Turns whose first reply has eight parallel calls; beside one call's own time."""
    (scratch / "root").mkdir()
    board = TestBoard(scratch / "root", tools=[pause])

    def work() -> float:
        board.model.script([[("pause", {"number": number}) for number in range(8)], "done"])
        begun = time.perf_counter()
        board.prompt()
        return time.perf_counter() - begun

    def plainly() -> float:
        begun = time.perf_counter()
        board.run(asyncio.sleep(0.1))
        return time.perf_counter() - begun

    try:
        yield Pair(ours=work, yardstick=plainly)
    finally:
        board.close()


YARDSTICK = "json.loads, msgspec.convert, call"

# The targets stand in microseconds, beside a yardstick of 2.4 us: as ratios here, since machines differ.
ROWS = [
    Row(name="a call validated", target=0.83, against=YARDSTICK, best_peer="1.0 us", set_up=beside(validated)),
    Row(
        name="the whole road, in memory, 3 guards",
        target=4.2,
        against=YARDSTICK,
        best_peer="8 us (no validation)",
        set_up=beside(road(guards=3, recorded=False)),
    ),
    Row(
        name="the whole road, recorded, 1 guard",
        target=8.3,
        against=YARDSTICK,
        best_peer="-",
        set_up=beside(road(guards=1, recorded=True)),
    ),
    Row(
        name="the whole road, a threaded tool",
        target=50.0,
        against=YARDSTICK,
        best_peer="-",
        set_up=beside(road(guards=1, recorded=False, thread=True)),
    ),
    Row(
        name="the whole road, eight parallel calls of 100 ms in one reply",
        target=1.3,
        against="one of them alone",
        best_peer="-",
        set_up=one_reply,
        pairs=7,
    ),
]
