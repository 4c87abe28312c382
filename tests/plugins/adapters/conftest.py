"""Boards whose tools are handed to other frameworks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from overlapping import Overlapping
from pegboard import Board, Deny


def guard(call: Any, touches: Any) -> Deny | None:
    """Nobody reads this file."""
    return Deny("secret", "it is secret") if any(touch.at == "secret.txt" for touch in touches) else None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    (root / "secret.txt").write_text("key\n")
    return root


@pytest.fixture
def overlapping() -> Overlapping:
    return Overlapping()


@pytest.fixture
async def board(root: Path, tmp_path: Path, overlapping: Overlapping) -> AsyncIterator[Board]:
    """The set `core`, a guard, and tools that tell what they overlap with."""
    async with Board.build(
        str(root),
        environ={},
        user_file=tmp_path / "config.toml",
        state=tmp_path / "state",
        sets=[],
        tools=overlapping.tools,
        guards=[guard],
    ) as board:
        yield board


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], Any]:
    """Let the loop run until something holds; the suite's time limit ends it if it never does."""

    async def until(holds: Callable[[], bool]) -> None:
        while not holds():
            await asyncio.sleep(0.001)

    return until
