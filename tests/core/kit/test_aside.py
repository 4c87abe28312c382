"""Blocking work off the loop: its end is waited for, and its failure makes no noise beside a cancel."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest
from pegboard.kit.aside import apart


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancelled_call_waits_for_the_work_and_is_told_of_the_cancel_alone(fails: bool) -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), []
    noise: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: noise.append(context))

    def work() -> None:
        begun.set()
        go_on.wait(60)
        ended.append(True)
        if fails:
            raise ValueError("the disk is full")

    task = asyncio.ensure_future(apart(work))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.sleep(0)
    assert not task.done() and not ended
    go_on.set()
    await asyncio.wait({task})
    assert ended == [True] and task.cancelled()
    del task
    gc.collect()  # what nobody asked for is told of when it is thrown away
    assert noise == []


async def test_a_call_that_is_cancelled_again_waits_for_the_work_too() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), []

    def work() -> None:
        begun.set()
        go_on.wait(60)
        ended.append(True)

    task = asyncio.ensure_future(apart(work))
    while not begun.is_set():
        await asyncio.sleep(0.001)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.001)
        assert not task.done()
    go_on.set()
    await asyncio.wait({task})
    assert ended == [True] and task.cancelled()
