"""What a benchmark row is, and how one is measured. README.md beside this file shows how to add one."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Sample: TypeAlias = Callable[[], float]
"""Does the work once (or a batch of it) and returns what was measured, per unit of work: seconds, MiB, ..."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Ours and the yardstick, ready to be sampled in turn."""

    ours: Sample
    yardstick: Sample


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the performance targets.

    `set_up` gets an empty folder and gives the pair for as long as the row is measured. The figure is ours / yardstick;
    in a row with a `unit` (MiB, ms) it is ours itself, in that unit, and the yardstick is shown for scale.
    """

    name: str
    target: float
    against: str
    best_peer: str
    set_up: Callable[[Path], AbstractContextManager[Pair]]
    unit: str = ""
    pairs: int = 15


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A row's figure: the median over the pairs, with the quartiles around it, and both sides' own medians."""

    row: Row
    figure: float
    low: float
    high: float
    ours: float
    yardstick: float

    @property
    def verdict(self) -> str:
        """Against the target. On a shared machine 15 % in a row shorter than 15 ms mean nothing: that is `near`."""
        if self.figure <= self.row.target:
            return "ok"
        noisy = not self.row.unit and self.ours < 0.015
        return "near" if noisy and self.figure <= 1.15 * self.row.target else "over"


def measure(row: Row, scratch: Path, pairs: int | None = None) -> Measured:
    """Sample ours and the yardstick in turn (A B A B ...), after one pair that only warms the caches."""
    with row.set_up(scratch) as pair:
        pair.ours(), pair.yardstick()
        samples = [(pair.ours(), pair.yardstick()) for _ in range(pairs or row.pairs)]
    figures = [ours if row.unit else ours / yardstick for ours, yardstick in samples]
    low, middle, high = quartiles(figures)
    return Measured(
        row=row,
        figure=middle,
        low=low,
        high=high,
        ours=statistics.median(ours for ours, _ in samples),
        yardstick=statistics.median(yardstick for _, yardstick in samples),
    )


def quartiles(figures: Sequence[float]) -> tuple[float, float, float]:
    if len(figures) == 1:
        return figures[0], figures[0], figures[0]
    low, middle, high = statistics.quantiles(figures, n=4, method="inclusive")
    return low, middle, high


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Seconds for one call of `work`, the mean over `times` calls, with the garbage collector held back."""
    repeat = range(times)
    enabled = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        for _ in repeat:
            work()
        return (time.perf_counter() - start) / times
    finally:
        if enabled:
            gc.enable()
