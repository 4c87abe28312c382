"""Rows of the sandbox: what a command in it takes more than one outside."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boarded import board
from harness import Pair, Row, seconds

ALLOWED = '[[permission.rules]]\nkey = "bash"\naction = "allow"\nsandbox = true\n'
BARE = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "true"]
TIMES = 10


@contextmanager
def running(scratch: Path) -> Iterator[Pair]:
    """bash `true` in the sandbox less the same outside, in milliseconds, beside bare bubblewrap."""
    for name in ("inside", "outside", "work"):
        (scratch / name).mkdir()
    (scratch / "inside/config.toml").write_text(ALLOWED)
    with board(scratch / "work", scratch / "inside") as inside, board(scratch / "work", scratch / "outside") as outside:
        if (why := inside.board.launchers.missing()) is not None:
            raise RuntimeError(f"the sandbox does not work here: {why}")

        def more() -> float:
            held = inside.seconds("bash", times=TIMES, command="true")
            return 1000 * (held - outside.seconds("bash", times=TIMES, command="true"))

        yield Pair(
            ours=more,
            yardstick=lambda: 1000 * seconds(lambda: subprocess.run(BARE, stdin=subprocess.DEVNULL, check=True), TIMES),
        )


ROWS = [
    Row(
        name="bash true in the sandbox, more than outside",
        target=6,
        against="bare bubblewrap",
        best_peer="bare bubblewrap: 4 ms more",
        set_up=running,
        unit="ms",
    ),
]
