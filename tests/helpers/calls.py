"""Calls of a board's tools, as tests of tools that change files make them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pegboard import port
from pegboard.calls import Record
from pegboard.events import ApprovalAsked
from pegboard.testing.bench import TestBoard


def write(folder: Path, name: str, data: bytes | str) -> Path:
    """A file below a folder, and the folders on the way to it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def ok(record: Record) -> str:
    """The text of a call that must have come out well."""
    assert record.outcome == "ok", record.text
    return record.text


def failed(record: Record) -> str:
    """The text of a call that must not have."""
    assert record.outcome in ("error", "blocked"), record.text
    assert record.text.startswith("Error: "), record.text
    return record.text


def approved(
    board: TestBoard, meanwhile: Callable[[], object], name: str, /, **arguments: Any
) -> tuple[Record, ApprovalAsked]:
    """A call that a person says yes to, after what happens `meanwhile`; and what the person was asked."""

    async def answer() -> tuple[Record, ApprovalAsked]:
        since = board.events[-1].seq or 0 if board.events else 0
        call = asyncio.ensure_future(board.agent.call(name, arguments, "person"))
        async for event in board.agent.events(since=since):
            if isinstance(event, ApprovalAsked):
                meanwhile()
                await board.agent.send(port.Answer(id=event.id, granted=True))
                return await call, event
        raise AssertionError(f"{name}: nobody was asked")

    return board.run(answer())
