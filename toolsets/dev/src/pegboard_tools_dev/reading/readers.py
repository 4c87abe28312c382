"""The readers by the program whose output they read. Imported by a run of tests, not with the tool."""

from __future__ import annotations

from collections.abc import Callable

from pegboard_tools_dev.reading.compiled import cargo, go
from pegboard_tools_dev.reading.javascript import jest, mocha, node, vitest
from pegboard_tools_dev.reading.python import pytest, unittest
from pegboard_tools_dev.reading.report import UNKNOWN, Report, lines_of

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


SPEAKS_ON = {"pytest": "stdout", "unittest": "stderr"}
"""Where a program prints what is read here. On the other stream tests print."""


def read(kind: str, text: str) -> Report:
    """What the output says. A `kind` without a reader of its own (make, npm, whatever is configured) is tried with each."""
    lines = lines_of(text)
    if kind == "unittest":  # itself, not something that may run it several times
        return unittest(lines, once=True) or UNKNOWN
    readers = [READERS[kind]] if kind in READERS else READERS.values()
    return next((report for reader in readers if (report := reader(lines)) is not None), UNKNOWN)
