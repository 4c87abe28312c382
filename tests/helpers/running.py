"""Whether a program runs: found by its command line, for programs that may write nothing that would tell."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def running(command: str) -> bool:
    """Whether a process has just this command line."""
    words = command.encode().replace(b" ", b"\0") + b"\0"
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                if (process / "cmdline").read_bytes() == words:
                    return True
    return False
