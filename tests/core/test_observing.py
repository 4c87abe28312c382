"""Observers: each has its own copy, in order; a slow one holds up nobody; one that fails is told of by name, once."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from pegboard.entries import Entry
from pegboard.events import CallAsked, Note
from pegboard.observing import ObserverSeat


def entry(*, own: bool = False) -> Entry:
    return Entry(
        name="watch", group="pegboard.observers", value="w", distribution="pegboard-watch", version="0.2", own=own
    )


def asked(number: int) -> CallAsked:
    return CallAsked(
        seq=number,
        turn=1,
        lane="root",
        id=f"c{number}",
        tool="t",
        requested="t",
        set=None,
        arguments={"a": [1]},
        summary="",
    )


async def tell(seat: ObserverSeat, *numbers: int) -> list[CallAsked]:
    events = [asked(number) for number in numbers]
    for event in events:
        seat(event)
    seat.close()
    await asyncio.sleep(0)
    return events


async def test_each_gets_a_copy_of_every_event_in_order() -> None:
    seen: list[Any] = []

    def meddle(event: Any) -> None:
        seen.append(event.seq)
        event.arguments["a"].append(2)
        event.arguments["b"] = 1

    for own in (True, False):
        seen.clear()
        events = await tell(ObserverSeat(meddle, entry(own=own), lambda text: None), 1, 2, 3)
        assert seen == [1, 2, 3]
        assert all(event.arguments == {"a": [1]} for event in events)


async def test_an_async_one_is_awaited() -> None:
    seen: list[int] = []

    async def observe(event: Any) -> None:
        await asyncio.sleep(0)
        seen.append(event.seq)

    await tell(ObserverSeat(observe, entry(own=True), lambda text: None), 1, 2)
    assert seen == [1, 2]


async def test_a_strangers_slow_one_is_waited_for_by_nobody() -> None:
    go = threading.Event()
    seen: list[int] = []

    def slow(event: Any) -> None:
        go.wait(60)
        seen.append(event.seq)

    seat = ObserverSeat(slow, entry(), lambda text: None)
    for number in (1, 2, 3):
        seat(asked(number))  # comes back although nothing was taken
    assert seen == []
    go.set()
    seat.close()
    assert seen == [1, 2, 3]


async def test_one_that_fails_is_told_of_once_and_told_of_nothing_more() -> None:
    for own in (True, False):
        notes: list[str] = []
        seen: list[int] = []

        def fails(event: Any, seen: list[int] = seen) -> None:
            seen.append(event.seq)
            raise SystemExit(4)

        seat = ObserverSeat(fails, entry(own=own), notes.append)
        await tell(seat, 1)
        seat(asked(2))
        seat(Note(seq=3, turn=None, level="info", text=""))
        await asyncio.sleep(0)
        assert seen == [1]
        [note] = notes
        assert "plugin 'watch' (pegboard-watch 0.2)" in note and "SystemExit: 4" in note
        assert 'put "watch" in plugins.disable' in note
