"""Rows of a long session: opening it, what a turn leaves in memory, Ctrl-C, and a loop that must not stall."""

from __future__ import annotations

import asyncio
import gc
import itertools
import statistics
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from boarded import board
from harness import Pair, Row, seconds
from pegboard import tool
from pegboard.calls import Call
from pegboard.events import AnyEvent
from pegboard.lane import Lane
from pegboard.models import ChatMessage
from pegboard.session import Session
from pegboard.testing.bench import TestBoard
from pegboard.testing.scripted import Step
from pegboard.wire import encode

EVENTS = 100_000
TURNS = 250
PRESSES = 60
EIGHT = 8
STALL = 1.0

_MIB = 1024 * 1024
_events = msgspec.json.Decoder(AnyEvent)


@tool(pure=True)
async def noop(name: str) -> str:
    """Do nothing."""
    return name


def script(text: str, turns: int) -> list[Step]:
    """A call and an answer, so many times."""
    call: Step = ("noop", {"name": text})
    return [call, "done"] * turns


# --- opening ----------------------------------------------------------------------------------------------------------


@contextmanager
def opening(scratch: Path) -> Iterator[Pair]:
    """A recorded session of 100,000 events, folded; beside it the same lines decoded and nothing else."""
    (scratch / "root").mkdir()
    with closing(TestBoard(scratch / "root", tools=[noop], steps=script("x" * 80, 60))) as recorded:
        for _ in range(60):
            recorded.prompt("do it once more")
        lines = [encode(event) for event in recorded.events]
        store, whole = recorded.state / "sessions", recorded.session.id
    log = store / whole / "events.jsonl"
    log.write_bytes(b"\n".join(_renumbered(lines)) + b"\n")

    def ours() -> float:
        opened: list[Session] = []
        elapsed = seconds(lambda: opened.append(Session.open(store, whole, str(scratch / "root"))))
        if opened[0].last < EVENTS:
            raise RuntimeError(f"{opened[0].last} events were read, not {EVENTS} and the end of the open turn")
        opened[0].close()
        return elapsed * 1000

    def plainly() -> float:
        return 1000 * seconds(lambda: [_events.decode(line) for line in log.read_bytes().split(b"\n") if line])

    yield Pair(ours=ours, yardstick=plainly)


def _renumbered(lines: list[bytes]) -> Iterator[bytes]:
    """These events over and over, as one session would have numbered them."""
    template = [msgspec.json.decode(line) for line in lines]
    calls = {event["id"]: number for number, event in enumerate((e for e in template if e["event"] == "call_asked"), 1)}
    turns = sum(event["event"] == "turn_started" for event in template)
    for number in range(EVENTS):
        lap, event = number // len(template), dict(template[number % len(template)])
        event["seq"] = number + 1
        if event.get("turn"):
            event["turn"] += lap * turns
        if event.get("id") in calls:
            event["id"] = f"c{lap * len(calls) + calls[event['id']]}"
        if event.get("calls"):
            event["calls"] = [{**call, "id": f"c{lap * len(calls) + calls[call['id']]}"} for call in event["calls"]]
        yield msgspec.json.encode(event)


# --- memory -----------------------------------------------------------------------------------------------------------


@contextmanager
def memory(scratch: Path) -> Iterator[Pair]:
    """What 1,000 turns leave behind beyond the history that the model is sent, in MiB."""

    def ours() -> float:
        root = scratch / f"root{time.monotonic_ns()}"
        root.mkdir()
        with closing(TestBoard(root, tools=[noop], steps=script("x" * 200, TURNS + 20))) as used:
            for _ in range(20):  # what is made once is made
                used.prompt("warm")
            used.model.requests.clear()
            tracemalloc.start()
            try:
                kept = used.session.fold.messages
                before, had = _held(), len(kept)
                for number in range(TURNS):
                    used.prompt(f"turn {number}")
                    used.model.requests.clear()  # the script keeps them, a provider does not
                grown = _held() - before
                copy_before = _held()
                copy = msgspec.json.decode(msgspec.json.encode(kept[had:]), type=list[ChatMessage])
                history = _held() - copy_before
                del copy
            finally:
                tracemalloc.stop()
        return (grown - history) / _MIB * 1000 / TURNS

    yield Pair(ours=ours, yardstick=lambda: 0.0)


def _held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------


@contextmanager
def interrupting(scratch: Path) -> Iterator[Pair]:
    """From the stop of a running command to its whole process tree dead: the worst of 60, in ms."""
    (scratch / "root").mkdir()
    tree = "echo $$ > {0}; sleep 300 & echo $! >> {0}; (sleep 300 & echo $! >> {0}; echo ready >> {0}; wait); wait"

    numbers = itertools.count()

    with board(scratch / "root", scratch) as caller:

        async def press(number: int) -> float:
            pids = scratch / f"pids{number}"
            lane = Lane()
            call = Call(id=f"k{number}", name="bash", arguments={"command": tree.format(pids)}, caller="program")
            running = asyncio.create_task(caller.road.travel(call, lane))
            while not (pids.exists() and "ready" in pids.read_text()):
                if running.done():
                    raise RuntimeError(f"it ended by itself: {running.result().text[:300]}")
                await asyncio.sleep(0.002)
            started = time.perf_counter()
            if not lane.stop(None, "person"):
                raise RuntimeError("there was nothing to stop")
            record = await running
            while any(_alive(int(pid)) for pid in pids.read_text().split()[:-1]):
                await asyncio.sleep(0.0005)
            if record.outcome != "interrupted":
                raise RuntimeError(f"{record.outcome}: {record.text[:200]}")
            return (time.perf_counter() - started) * 1000

        async def presses() -> float:
            taken = [await press(next(numbers)) for _ in range(PRESSES)]
            return max(taken)

        yield Pair(ours=lambda: caller.runner.run(presses()), yardstick=lambda: 0.0)


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


# --- stalls -----------------------------------------------------------------------------------------------------------


@contextmanager
def stalling(scratch: Path) -> Iterator[Pair]:
    """How late a loop's timer of 1 ms comes while eight tools run beside each other: the 99th percentile, in ms."""
    root = scratch / "root"
    root.mkdir()
    for number in range(400):
        (root / f"file{number}.txt").write_text("a line of text with a needle\n" * 200, encoding="utf-8")
    work: list[tuple[str, dict[str, Any]]] = [
        ("grep", {"pattern": "needle"}),
        ("glob", {"pattern": "**/*.txt"}),
        ("read_file", {"path": "file1.txt"}),
        ("bash", {"command": "seq 1 200000"}),
        ("grep", {"pattern": "nothing at all"}),
        ("read_file", {"path": "file2.txt", "offset": 100}),
        ("bash", {"command": "true"}),
        ("write_file", {"path": "new.txt", "content": "x\n" * 5000}),
    ]
    with board(root, scratch) as caller:

        async def busy(name: str, arguments: dict[str, Any], until: float) -> None:
            lane, number = Lane(), 0
            while time.perf_counter() < until:
                number += 1
                call = Call(id=f"{name}{id(lane)}-{number}", name=name, arguments=arguments, caller="program")
                record = await caller.road.travel(call, lane)
                await asyncio.sleep(0)  # between calls a model is waited for
                if record.outcome != "ok":
                    raise RuntimeError(f"{name}: {record.text[:200]}")

        async def late(until: float) -> list[float]:
            found: list[float] = []
            while time.perf_counter() < until:
                begun = time.perf_counter()
                await asyncio.sleep(0.001)
                found.append((time.perf_counter() - begun - 0.001) * 1000)
            return found

        async def measured(tools: int) -> float:
            until = time.perf_counter() + STALL
            busied = [asyncio.create_task(busy(*one, until)) for one in work[:tools]]
            found = await late(until)
            await asyncio.gather(*busied)
            return statistics.quantiles(found, n=100)[98]

        yield Pair(
            ours=lambda: caller.runner.run(measured(EIGHT)),
            yardstick=lambda: caller.runner.run(measured(0)),
        )


ROWS = [
    Row(
        name="opening a session of 100,000 events",
        target=300,
        unit="ms",
        against="its lines decoded",
        best_peer="not measured",
        set_up=opening,
        pairs=5,
    ),
    Row(
        name="memory for 1,000 turns, beyond the history",
        target=0.1,
        unit="MiB",
        against="-",
        best_peer="not measured",
        set_up=memory,
        pairs=3,
    ),
    Row(
        name="Ctrl-C to a dead process tree, worst of 60",
        target=150,
        unit="ms",
        against="-",
        best_peer="not measured",
        set_up=interrupting,
        pairs=1,
    ),
    Row(
        name="loop stall while eight tools run, p99",
        target=10,
        unit="ms",
        against="the same loop idle",
        best_peer="not measured",
        set_up=stalling,
        pairs=5,
    ),
]
