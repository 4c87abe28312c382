"""Rows of the tool set exec: a program started without a shell, and one that prints a lot."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boarded import board
from harness import Pair, Row, seconds
from rows_tools import flooding

FLOOD = ["head", "-c", "200000000", "/dev/zero"]
STARTS = 20


@contextmanager
def starting(scratch: Path) -> Iterator[Pair]:
    """`true`, beside subprocess.run."""
    with board(scratch, scratch / "state") as caller:
        yield Pair(
            ours=lambda: caller.seconds("exec", times=STARTS, command="true"),
            yardstick=lambda: seconds(
                lambda: subprocess.run(["true"], cwd=scratch, stdin=subprocess.DEVNULL, capture_output=True), STARTS
            ),
        )


ROWS = [
    Row(
        name="exec of a short program",
        target=1.3,
        against="subprocess.run",
        best_peer="none offers it",
        set_up=starting,
    ),
    Row(
        name="200 MB of output through exec",
        target=1.8,
        against="the child writing to a file",
        best_peer="none offers it",
        set_up=flooding(FLOOD, "exec", command=FLOOD[0], args=FLOOD[1:]),
        pairs=5,
    ),
]
