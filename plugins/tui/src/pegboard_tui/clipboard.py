"""Copying beyond the terminal: what tmux keeps to itself is put into its buffer besides."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

PATIENCE = 2.0
"""Seconds that tmux has."""


async def to_tmux(text: str, environ: Mapping[str, str]) -> None:
    """Put a text into tmux's buffer, and with `-w` into the clipboard of the terminal around it. Inside tmux the sequence
    that sets a clipboard goes no further unless tmux is told to pass it on. Without tmux, and when it fails, nothing."""
    if not environ.get("TMUX"):
        return
    with suppress(OSError, TimeoutError):
        process = await asyncio.create_subprocess_exec(
            "tmux",
            "load-buffer",
            "-w",
            "-",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await asyncio.wait_for(process.communicate(text.encode("utf-8", "replace")), PATIENCE)
        finally:  # it took too long, or the app ends
            if process.returncode is None:
                process.kill()
                await process.wait()
