"""Rows of the set edit-plus that look at files, in a board, beside the plainest program that does the same job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from boarded import board
from harness import Pair, Row
from rows_tools import SAME_RG, TREE, beside_rg, program

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
]
