"""Rows of whole processes: what a person waits for when they type `pegboard`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from harness import Pair, Row, seconds

PEGBOARD = str(Path(sys.executable).with_name("pegboard"))
IMPORT_TYPER = [sys.executable, "-c", "import typer"]
BARE_PYTHON = [sys.executable, "-c", "pass"]
OWN_SETTINGS = re.compile(r"PEGBOARD_.*|.*_API_KEY|PYTHONPATH")

PEAK = """
import os, resource, sys
quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
_, status, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet), 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Takes a program's peak memory from a small parent: Linux counts what a parent held at the fork as the child's."""


def environment(home: Path) -> dict[str, str]:
    """Of a person with an empty home, no settings and no keys."""
    kept = {name: value for name, value in os.environ.items() if not OWN_SETTINGS.fullmatch(name)}
    folders = {f"XDG_{kind}_HOME": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    return kept | folders | {"HOME": str(home)}


def run(command: Sequence[str], folder: Path) -> str:
    """What a program prints, run in `folder`. It must succeed: a fast failure is no figure."""
    done = subprocess.run(command, cwd=folder, env=environment(folder / "home"), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}"
        )
    return done.stdout


def wall(command: Sequence[str], folder: Path) -> Callable[[], float]:
    return lambda: seconds(lambda: run(command, folder))


def peak(command: Sequence[str], folder: Path) -> Callable[[], float]:
    """Peak resident memory in MiB."""
    per_mib = 1024 * 1024 if sys.platform == "darwin" else 1024
    return lambda: int(run([sys.executable, "-ISE", "-c", PEAK, *command], folder)) / per_mib


def started(
    *arguments: str,
    by: Callable[[Sequence[str], Path], Callable[[], float]] = wall,
    beside: Sequence[str] = IMPORT_TYPER,
) -> Callable[[Path], AbstractContextManager[Pair]]:
    """The set-up of a row: `pegboard ARGUMENTS` beside another program, in a folder with a README.md."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        (scratch / "README.md").write_text("# A project\n\n" + "A line of its page.\n" * 60, encoding="utf-8")
        yield Pair(ours=by([PEGBOARD, *arguments], scratch), yardstick=by(beside, scratch))

    return set_up


TYPER = "a process that imports typer"
ROWS = [
    Row(
        name="pegboard --version",
        target=0.5,
        against=TYPER,
        best_peer="1.9 (kimi-cli)",
        set_up=started("--version"),
    ),
    Row(
        name="pegboard --help",
        target=1.5,
        against=TYPER,
        best_peer="3.1 (kimi-cli)",
        set_up=started("--help"),
    ),
    Row(
        name="pegboard tool read_file",
        target=2.8,
        against=TYPER,
        best_peer="none offers it",
        set_up=started("tool", "read_file", "path=README.md"),
    ),
    Row(
        name="peak memory at --help",
        target=24,
        unit="MiB",
        against="bare Python",
        best_peer="32 MiB",
        set_up=started("--help", by=peak, beside=BARE_PYTHON),
        pairs=5,
    ),
]
