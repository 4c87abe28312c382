"""Measure the rows of the performance targets and print them.

    run.py [--only TEXT] [--pairs N] [--json FILE] [--list] [--strict]

Exit 0 when every row was measured, 1 when one could not be (with --strict also when one is over its target).
"""

from __future__ import annotations

import argparse
import compileall
import importlib
import json
import platform
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import Measured, Row, measure

HERE = Path(__file__).resolve().parent
COLUMNS = ("row", "figure", "target", "verdict", "best peer", "spread", "ours", "yardstick")


def rows() -> Iterator[Row]:
    """The rows of every module `rows_*.py` beside this one, in the order of their names."""
    for path in sorted(HERE.glob("rows_*.py")):
        yield from importlib.import_module(path.stem).ROWS


def compile_sources() -> None:
    """Bytecode for our sources: where Python is told to write none, an edited module is compiled at each start."""
    for folder in [
        *HERE.parent.glob("core/src"),
        *HERE.parent.glob("toolsets/*/src"),
        *HERE.parent.glob("plugins/*/src"),
    ]:
        compileall.compile_dir(folder, quiet=1)


def amount(value: float, unit: str) -> str:
    """A figure for people: seconds scaled to what reads well, ratios and MiB as they are."""
    if unit != "s":
        return f"{value:.2f} {unit}".strip()
    for scale, name in ((1, "s"), (1e3, "ms"), (1e6, "us")):
        if value * scale >= 1:
            return f"{value * scale:.3g} {name}"
    return f"{value * 1e9:.0f} ns"


def line(done: Measured) -> tuple[str, ...]:
    row, inner = done.row, done.row.unit or "s"
    return (
        row.name,
        amount(done.figure, row.unit),
        f"<= {row.target:g} {row.unit}".strip(),
        done.verdict,
        row.best_peer,
        f"{done.low:.2f} to {done.high:.2f}",
        amount(done.ours, inner),
        f"{amount(done.yardstick, inner)} ({row.against})",
    )


def table(lines: Iterable[tuple[str, ...]]) -> str:
    everything = [COLUMNS, *lines]
    widths = [max(map(len, column)) for column in zip(*everything, strict=True)]
    padded = ([f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)] for cells in everything)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def as_json(done: Measured) -> dict[str, object]:
    of_row = {name: getattr(done.row, name) for name in ("name", "target", "unit", "against", "best_peer")}
    of_run = {name: getattr(done, name) for name in ("figure", "verdict", "low", "high", "ours", "yardstick")}
    return of_row | of_run


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose name holds TEXT")
    parser.add_argument("--pairs", type=int, help="how many pairs to sample, instead of each row's own number")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--list", action="store_true", help="only name the rows")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a row is over its target")
    options = parser.parse_args(arguments)
    chosen = [row for row in rows() if options.only in row.name]
    if options.list or not chosen:
        print("\n".join(row.name for row in chosen) or f"no row's name holds {options.only!r}")
        return 0 if chosen else 1

    compile_sources()
    measured: list[Measured] = []
    missing: list[str] = []
    for row in chosen:
        print(f"{row.name} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory(prefix="pegboard-bench-") as scratch:
            try:
                measured.append(measure(row, Path(scratch), options.pairs))
            except Exception as error:  # noqa: BLE001 - one row that cannot be measured must not hide the others
                missing.append(f"not measured: {row.name}: {type(error).__name__}: {error}")

    print(f"Python {platform.python_version()}, {platform.system()}; medians of pairs, with quartiles\n")
    print(table(map(line, measured)))
    print("".join(f"{reason}\n" for reason in missing), end="")
    if options.json:
        options.json.write_text(json.dumps([as_json(done) for done in measured], indent=1) + "\n", encoding="utf-8")
    over = options.strict and any(done.verdict == "over" for done in measured)
    return 1 if missing or over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
