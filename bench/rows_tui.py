"""Rows of the app: how soon it is there, how it feels in a long session, and that the loop does not stall."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import Pair, Row
from rows_process import PEGBOARD, environment, wall

IMPORT_TEXTUAL = [sys.executable, "-c", "import textual.app"]
SHOWN = b"offline"
"""What stands on the first picture that is of any use: who answers."""
LIMIT = 60.0


def painted(command: list[str], folder: Path) -> float:
    """Seconds until a program on a terminal of its own has painted `SHOWN`. It is killed then."""
    leader, follower = pty.openpty()
    try:
        os.set_blocking(leader, False)
        env = environment(folder / "home") | {"TERM": "xterm-256color", "COLUMNS": "110", "LINES": "32"}
        begun = time.perf_counter()
        child = subprocess.Popen(
            command, cwd=folder, env=env, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
        )
        try:
            seen = b""
            while SHOWN not in seen:
                left = begun + LIMIT - time.perf_counter()
                if left <= 0 or child.poll() is not None:
                    raise RuntimeError(f"nothing was painted: {seen[-400:]!r}")
                if select.select([leader], [], [], min(left, 0.2))[0]:
                    seen += os.read(leader, 65536)
            return time.perf_counter() - begun
        finally:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    finally:
        os.close(leader)
        os.close(follower)


@contextmanager
def painting(scratch: Path) -> Iterator[Pair]:
    """The app's start, beside a process that imports Textual."""
    command = [PEGBOARD, "tui", "--model", "offline"]
    yield Pair(ours=lambda: painted(command, scratch), yardstick=wall(IMPORT_TEXTUAL, scratch))


ROWS = [
    Row(
        name="time to first paint of the app",
        target=1.8,
        against="a process that imports textual.app",
        best_peer="not measured",
        set_up=painting,
    ),
]
