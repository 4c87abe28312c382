"""Rows of the core tools in a board, beside the plainest program that does the same job on the same files."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from boarded import board
from harness import Pair, Row, seconds

TREE = Path(sysconfig.get_path("stdlib"))
"""A real tree to search, with thousands of files and folders."""
RG = str(Path(sys.executable).with_name("rg"))
RG_FLAGS = ["--no-config", "--color=never", "--sort=path", "--no-require-git", "--glob=!.git", "--glob=!node_modules"]
GREP_FLAGS = ["--no-heading", "--with-filename", "--line-number", "--column", "--case-sensitive", "--no-mmap"]
SetUp = Callable[[Path], AbstractContextManager[Pair]]

WINDOW = 2000
ASCII_LINE, OTHER_LINE = (
    "a line of plain text, as a log has them, until it is long enough to count\n",
    "Zeile äöü 文字 " * 5 + "\n",
)
EDITED = 10 * 1024 * 1024
PRINTED = 200_000_000
FLOOD = f"yes 'a line of output of a chatty program' | head -c {PRINTED}"


def program(command: Sequence[str], folder: Path) -> Callable[[], float]:
    """Seconds a program takes, its output read and thrown away."""
    return lambda: seconds(lambda: subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True))


def beside_rg(tool: str, flags: Sequence[str], **arguments: Any) -> SetUp:
    """A search of the tree, beside `rg`."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        with board(TREE, scratch) as caller:
            rg = program([RG, *RG_FLAGS, *flags, "."], TREE)
            yield Pair(ours=lambda: caller.seconds(tool, **arguments), yardstick=rg)

    return set_up


def reading(line: str) -> SetUp:
    """The last lines of a file of 50 MB, beside sed."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        root = scratch / "root"
        root.mkdir()
        lines = 50_000_000 // len(line.encode())
        (root / "big.txt").write_text(line * lines, encoding="utf-8")
        first = lines - WINDOW + 1
        with board(root, scratch / "state") as caller:
            yield Pair(
                ours=lambda: caller.seconds("read_file", path="big.txt", offset=first, limit=WINDOW),
                yardstick=program(["sed", "-n", f"{first},{lines}p", "big.txt"], root),
            )

    return set_up


class Counter:
    """A file of `size` bytes with a number in its middle, which each edit raises."""

    def __init__(self, path: Path, size: int = EDITED) -> None:
        self.path, self.number = path, 0
        half = ASCII_LINE * (size // 2 // len(ASCII_LINE))
        path.write_text(f"{half}number = <0>\n{half}", encoding="utf-8")

    def step(self) -> tuple[str, str]:
        """What is there, and what to put in its place."""
        self.number += 1
        return f"number = <{self.number - 1}>", f"number = <{self.number}>"


def edit_plainly(counter: Counter) -> None:
    """Read, count, replace, write a temporary file, fsync, rename."""
    old, new = (text.encode() for text in counter.step())
    data = counter.path.read_bytes()
    if data.count(old) != 1:
        raise RuntimeError("the text to replace is not there once")
    temporary = counter.path.with_suffix(".part")
    with temporary.open("wb") as file:
        file.write(data.replace(old, new))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(counter.path)


@contextmanager
def editing(scratch: Path) -> Iterator[Pair]:
    """One exact edit in 10 MB, atomic and undoable."""
    root = scratch / "root"
    root.mkdir()
    ours, theirs = Counter(root / "ours.txt"), Counter(root / "theirs.txt")
    with board(root, scratch / "state") as caller:

        def edit() -> float:
            old, new = ours.step()
            return caller.seconds("edit_file", path="ours.txt", old_string=old, new_string=new)

        yield Pair(ours=edit, yardstick=lambda: seconds(lambda: edit_plainly(theirs)))


@contextmanager
def running(scratch: Path) -> Iterator[Pair]:
    """`true`, beside subprocess.run."""
    with board(scratch, scratch / "state") as caller:
        yield Pair(
            ours=lambda: caller.seconds("bash", command="true"), yardstick=program(["bash", "-c", "true"], scratch)
        )


def flooding(argv: Sequence[str], tool: str, **arguments: Any) -> SetUp:
    """A command that prints a lot, run by a tool, beside the same child writing to a file."""

    @contextmanager
    def set_up(scratch: Path) -> Iterator[Pair]:
        root = scratch / "root"
        root.mkdir()
        out = scratch / "out.txt"

        def to_file() -> None:
            with out.open("wb") as file:
                subprocess.run(argv, cwd=root, stdin=subprocess.DEVNULL, stdout=file)

        with board(root, scratch / "state") as caller:
            yield Pair(ours=lambda: caller.seconds(tool, **arguments), yardstick=lambda: seconds(to_file))

    return set_up


SAME_RG = "rg with the same flags"
ROWS = [
    Row(
        name="grep, few matches",
        target=1.05,
        against=SAME_RG,
        best_peer="0.96 to 1.2",
        set_up=beside_rg("grep", [*GREP_FLAGS, "--regexp=class TaskGroup"], pattern="class TaskGroup"),
    ),
    Row(
        name="grep, many matches",
        target=0.3,
        against="rg, all output",
        best_peer="1.0 to 1.4",
        set_up=beside_rg("grep", [*GREP_FLAGS, "--regexp=self"], pattern="self"),
    ),
    Row(
        name="glob, few matches",
        target=1.15,
        against="rg --files",
        best_peer="2.7 to 19",
        set_up=beside_rg("glob", ["--files"], pattern="**/asyncio/*.py"),
    ),
    Row(
        name="glob **/*.py, cut at the cap",
        target=0.2,
        against="rg --files",
        best_peer="2.7 to 19",
        set_up=beside_rg("glob", ["--files"], pattern="**/*.py"),
    ),
    Row(
        name="read 2,000 lines at the end of 50 MB",
        target=1.4,
        against="sed -n",
        best_peer="2.2",
        set_up=reading(ASCII_LINE),
    ),
    Row(
        name="the same, not ASCII",
        target=2.2,
        against="sed -n",
        best_peer="2.2",
        set_up=reading(OTHER_LINE),
    ),
    Row(
        name="edit, exact, 10 MB",
        target=1.4,
        against="read, replace, fsync, rename",
        best_peer="1.7 (no fsync, no undo)",
        set_up=editing,
    ),
    Row(
        name="bash true",
        target=1.3,
        against='subprocess.run(["bash", "-c", "true"])',
        best_peer="1.4",
        set_up=running,
    ),
    Row(
        name="bash printing 200 MB",
        target=1.8,
        against="the same child, to a file",
        best_peer="2.5 with +579 MB, or 20",
        set_up=flooding(["bash", "-c", FLOOD], "bash", command=FLOOD),
        pairs=3,
    ),
]
