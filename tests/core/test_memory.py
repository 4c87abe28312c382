"""What a call leaves behind: its events, and nothing else. Values of the road are not tracked by the cycle collector."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard.board import Board
from pegboard.context import Context
from pegboard.testing.scripted import Scripted
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
def test_a_call_that_is_over_is_let_go_of(tmp_path: Path, function: Any, arguments: Any) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("text")

    async def grown() -> int:
        given = {"environ": {}, "user_file": tmp_path / "none.toml", "state": tmp_path / "state", "discover": False}
        async with Board.build(str(tmp_path / "root"), tools=[function], **given) as board:
            agent = board.agent(board.session("kept-on-disk"), answers="--yes", provider=Scripted([]))
            for _ in range(20):  # what is made once is made
                await agent.call(function.__name__, arguments)
            gc.collect()
            tracemalloc.start()
            try:
                before = tracemalloc.get_traced_memory()[0]
                for _ in range(CALLS):
                    await agent.call(function.__name__, arguments)
                gc.collect()
                return tracemalloc.get_traced_memory()[0] - before
            finally:
                tracemalloc.stop()

    bytes_more = asyncio.run(grown())
    assert bytes_more < CALLS * PER_CALL, f"{bytes_more / CALLS:.0f} bytes a call"
