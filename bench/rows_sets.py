"""Rows of the set edit-plus, in a board, beside the plainest program that does the same job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boarded import board
from harness import Pair, Row, seconds
from rows_tools import EDITED, SAME_RG, TREE, Counter, beside_rg, edit_plainly, program

SOME = [str(path.relative_to(TREE)) for path in sorted(TREE.glob("[a-d]*.py"))[:20]]
"""Twenty files of the tree; together they are more than a result may hold."""


@contextmanager
def reading_many(scratch: Path) -> Iterator[Pair]:
    """Twenty files in one call, beside twenty calls that read one each."""
    with board(TREE, scratch) as caller:
        one_by_one = [("read_file", {"path": path}) for path in SOME]
        yield Pair(
            ours=lambda: caller.seconds("read_many_files", files=SOME),
            yardstick=lambda: caller.sequence(one_by_one) * len(SOME),
        )


@contextmanager
def counting(scratch: Path) -> Iterator[Pair]:
    """The lines of a file of 50 MB, beside wc."""
    root = scratch / "root"
    root.mkdir()
    line = "a line of plain text, as a log has them, until it is long enough to count\n"
    (root / "big.txt").write_text(line * (50_000_000 // len(line)), encoding="utf-8")
    with board(root, scratch / "state") as caller:
        yield Pair(
            ours=lambda: caller.seconds("line_count", path="big.txt"),
            yardstick=program(["wc", "-lm", "big.txt"], root),
        )


@contextmanager
def patching(scratch: Path) -> Iterator[Pair]:
    """One line in each of twenty files, 10 MB together, all or none and undoable."""
    root = scratch / "root"
    root.mkdir()
    ours, theirs = ([Counter(root / f"{who}{n}.txt", EDITED // 20) for n in range(20)] for who in ("ours", "theirs"))

    def patch() -> str:
        hunks = [(counter.path.name, *counter.step()) for counter in ours]
        files = [f"*** Update File: {name}\n@@\n-{old}\n+{new}\n" for name, old, new in hunks]
        return f"*** Begin Patch\n{''.join(files)}*** End Patch\n"

    def plainly() -> None:
        for counter in theirs:
            edit_plainly(counter)

    with board(root, scratch / "state") as caller:
        yield Pair(ours=lambda: caller.seconds("apply_patch", patch=patch()), yardstick=lambda: seconds(plainly))


ROWS = [
    Row(
        name="list_dir, depth 2",
        target=0.2,
        against="rg --files of the whole tree",
        best_peer="1.0 to 1.6, without ignore rules",
        set_up=beside_rg("list_dir", ["--files"], path="."),
    ),
    Row(
        name="find, few matches",
        target=1.15,
        against=f"{SAME_RG}, --files",
        best_peer="not measured",
        set_up=beside_rg("find", ["--files"], pattern="taskgroup"),
    ),
    Row(
        name="read_many_files, 20 files",
        target=1.5,
        against="20 calls of read_file",
        best_peer="not measured",
        set_up=reading_many,
    ),
    Row(
        name="line_count, 50 MB",
        target=1.0,
        against="wc -lm",
        best_peer="not measured",
        set_up=counting,
    ),
    Row(
        name="apply_patch, 20 files, 10 MB together",
        target=1.4,
        against="read, replace, fsync, rename of each",
        best_peer="not measured",
        set_up=patching,
    ),
]
