"""Whether a program runs, and waiting for what another process or thread does, on machines of any speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

LIMITS = (0.3, 3.0, 20.0)
"""Seconds. A time limit by which something is to have begun cannot be known: the first is enough, save on a busy machine."""


def running(command: str) -> bool:
    """Whether a process has just this command line: for programs that may write nothing that would tell."""
    words = command.encode().replace(b" ", b"\0") + b"\0"
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            with suppress(OSError):
                if (process / "cmdline").read_bytes() == words:
                    return True
    return False


def alive(pid: int) -> bool:
    """Whether a process runs; the dead that nobody has waited for do not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Wait for something to hold."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


def pid_in(file: Path) -> int:
    """The number of a process that writes it into a file, once it has."""
    until(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


def given_time(attempt: Callable[[float], None], limits: tuple[float, ...] = LIMITS) -> None:
    """Try what has a time limit by which something is to have begun; with a longer one where it had not."""
    *short, longest = limits
    for limit in short:
        with suppress(AssertionError):
            return attempt(limit)
    return attempt(longest)
