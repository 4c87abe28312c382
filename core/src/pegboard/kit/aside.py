"""Blocking work off the loop, and the names that other dialects have for a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATH_ALIASES = {"file_path": "path", "file": "path", "filename": "path", "file_name": "path"}


async def apart(work: Callable[[], T]) -> T:
    """Do blocking work in a thread. When the call is cancelled, the work ends first: no lock or file is let go early."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
