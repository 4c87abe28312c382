"""Reading what test programs print. Each reader takes lines and gives a Report, or None where it is another's output.

Text is read rather than a report file asked for: it needs no option that a project's own configuration might not bear, and
no file outside of the workspace. What is not understood costs the counts, never the output.
"""

from __future__ import annotations

from collections.abc import Callable

from pegboard_tools_dev.reading.compiled import cargo, go
from pegboard_tools_dev.reading.javascript import jest, mocha, node, vitest
from pegboard_tools_dev.reading.python import pytest, unittest
from pegboard_tools_dev.reading.report import UNKNOWN, Failure, Report, lines_of

__all__ = ["READERS", "Failure", "Report", "read"]

READERS: dict[str, Callable[[list[str]], Report | None]] = {
    "pytest": pytest,
    "unittest": unittest,
    "cargo": cargo,
    "go": go,
    "jest": jest,
    "vitest": vitest,
    "mocha": mocha,
    "node": node,
}


def read(kind: str, text: str) -> Report:
    """What the output says. A `kind` without a reader of its own (make, npm, whatever is configured) is tried with each."""
    lines = lines_of(text)
    readers = [READERS[kind]] if kind in READERS else READERS.values()
    return next((report for reader in readers if (report := reader(lines)) is not None), UNKNOWN)
