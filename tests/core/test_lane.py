"""Lanes: calls run in order, one at a time; running ones can be stopped; a child's barrier is its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Any

import pytest
from pegboard.lane import Lane


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_calls_run_one_at_a_time_in_the_order_they_came() -> None:
    lane, ran = Lane(), []

    async def call(name: str) -> None:
        await lane.enter(name)
        ran.append(f"{name} in")
        await asyncio.sleep(0)
        ran.append(f"{name} out")
        lane.leave(name)

    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(call(name))
    assert ran == ["a in", "a out", "b in", "b out", "c in", "c out"]
    assert lane.running == {}


async def test_a_call_cancelled_while_it_waits_leaves_the_lane_as_it_was() -> None:
    lane = Lane()
    await lane.enter("a")
    waiting = asyncio.create_task(lane.enter("b"))
    await settle()
    waiting.cancel()
    await settle()
    lane.leave("a")
    await asyncio.wait_for(lane.enter("c"), 60)
    assert list(lane.running) == ["c"]


async def started(lane: Lane, name: str, done: list[str]) -> asyncio.Task[None]:
    async def call() -> None:
        running = await lane.enter(name)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            done.append(f"{name} {running.why} {running.check()}")
            raise
        finally:
            lane.leave(name)

    task = asyncio.create_task(call())
    await settle()
    return task


async def test_a_running_call_is_stopped_by_its_id_with_a_reason() -> None:
    lane, done = Lane(), list[str]()
    await started(lane, "a", done)
    assert not lane.stop("other", "person")
    assert lane.stop("a", "timeout")
    assert not lane.stop("a", "person")  # it is stopped already, for the first reason
    await settle()
    assert done == ["a timeout False"]
    assert not lane.stop(None, "person")


async def test_stopping_all_stops_the_innermost_calls_and_not_those_that_wait_for_them() -> None:
    lane, done = Lane(), list[str]()
    await started(lane, "a", done)
    inner = lane.child("a")
    assert (inner.name, lane.child("a")) == ("root/a", inner)
    await started(inner, "b", done)
    assert lane.stop(None, "person")
    await settle()
    assert done == ["b person False"]
    assert lane.stop(None, "person")
    await settle()
    assert done[1:] == ["a person False"]


async def test_a_call_in_a_child_lane_is_stopped_by_its_id_from_the_root() -> None:
    lane, done = Lane(), list[str]()
    await started(lane, "a", done)
    await started(lane.child("a"), "b", done)
    assert lane.stop("b", "person")
    await settle()
    assert done == ["b person False"]
    assert lane.stop("a", "person")
    await settle()


async def test_a_childs_calls_do_not_wait_for_their_parent() -> None:
    lane = Lane()
    await lane.enter("a")
    await asyncio.wait_for(lane.child("a").enter("b"), 60)
    lane.child("a").leave("b")
    lane.leave("a")
    assert lane.children == {}


async def test_a_held_lane_stays_shut_until_it_is_released() -> None:
    lane, released = Lane(), Future[Any]()
    await lane.enter("a")
    lane.hold_until(released)
    lane.leave("a")
    waiting = asyncio.create_task(lane.enter("b"))
    await settle()
    assert not waiting.done()
    released.set_result(None)
    await asyncio.wait_for(waiting, 60)
    lane.leave("b")
    await asyncio.wait_for(lane.enter("c"), 60)  # only once


async def test_one_that_gives_up_waiting_for_a_held_lane_does_not_shut_it_for_good() -> None:
    lane, released = Lane(), Future[Any]()
    await lane.enter("a")
    lane.hold_until(released)
    lane.leave("a")
    waiting = asyncio.create_task(lane.enter("b"))
    await settle()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    again = asyncio.create_task(lane.enter("c"))
    await settle()
    assert not again.done()  # still held
    released.set_result(None)
    await asyncio.wait_for(again, 60)
