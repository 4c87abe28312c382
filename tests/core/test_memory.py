"""What a call leaves behind: its events, and nothing else. Values of the road are not tracked by the cycle collector."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Annotated, Any

import pytest
from pegboard.context import Context
from pegboard.tooling import tool
from pegboard.touches import Reads

CALLS = 200
PER_CALL = 400
"""Bytes that a call may leave on the average, by far less than one of its values takes."""


@tool(pure=True)
async def plain(text: str) -> str:
    """Say it."""
    return text


@tool(pure=True, inline=True)
def inline(text: str) -> str:
    """Say it at once."""
    return text


@tool
async def given(path: Annotated[str, Reads("A file")], ctx: Context) -> str:
    """Read with a context."""
    return ctx.workspace.read_text(path)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(plain, {"text": "x" * 500}), (inline, {"text": "x" * 500}), (given, {"path": "a.txt"}), (given, {"path": "no"})],
    ids=["plain", "inline", "context", "failing"],
)
def test_a_call_that_is_over_is_let_go_of(pegboard_board: Any, tmp_path: Any, function: Any, arguments: Any) -> None:
    (tmp_path / "a.txt").write_text("text")
    board = pegboard_board(tools=[function], session="kept-on-disk")
    for _ in range(20):  # what is made once is made
        board.call(function.__name__, **arguments)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(CALLS):
            board.call(function.__name__, **arguments)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < CALLS * PER_CALL, f"{grown / CALLS:.0f} bytes a call"
