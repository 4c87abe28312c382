"""Blocking work off the loop, and what other dialects call the parameters of tools for files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")
PATH_ALIASES = {"file_path": "path", "file": "path", "filename": "path", "file_name": "path"}
FOLDER_ALIASES = {"directory": "path", "dir": "path", "folder": "path", "root": "path"}
HIDDEN_ALIASES = {"hidden": "include_hidden", "no_ignore": "include_ignored"}
EDIT_ALIASES = {"old_text": "old_string", "new_text": "new_string", "old_str": "old_string", "new_str": "new_string"}


def as_list(paths: Any) -> Any:
    """For aliases of a list: a single path stands for a list of one, and what may be a list as JSON is left to be read."""
    return paths if isinstance(paths, list) or (isinstance(paths, str) and paths.lstrip()[:1] == "[") else [paths]


async def apart(work: Callable[[], T], *, stop: Callable[[], object] = lambda: None) -> T:
    """Do blocking work in a thread. When the call is cancelled, be it again and again, the work ends first: no lock or file
    is let go early. `stop` then tells the work, if it wants to know."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        stop()
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # the cancel goes first; nobody else will ask for it
        raise
