"""Lines that the judge would pass, run in a traced bash: nothing happens that it did not see."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pegboard.policy.shell import Command, Line, Word, read_line

BENCH = Path(__file__).parents[3] / "bench"


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    sys.path.insert(0, str(BENCH))
    try:
        import fuzz_shell
    finally:
        sys.path.remove(str(BENCH))
    why = fuzz_shell.missing()
    if why is not None:
        pytest.skip(why)
    return fuzz_shell


def test_the_traced_shell_sees_what_a_wrong_judge_would_let_through(fuzzer: ModuleType) -> None:
    """The fuzzer finds bugs: lines are given to it as if a judge had seen only `ls` in them."""
    wrong = [
        "ls; touch x",
        "/usr/bin/touch x",
        "ls >x",
        "ls $(touch x)",
        "eval ls a",
        "ls <<E\n$(rm x)\nE",
        "/bin/ls",
        "cat </dev/tcp/127.0.0.1/9",
    ]
    seen = Command("ls", 0, 2, words=(Word("ls", 0, 2),))

    found = fuzzer.run([Line(text=text, commands=(seen,)) for text in wrong])

    for text in wrong:
        assert any(finding.startswith(repr(text)) for finding in found), text
    assert not fuzzer.run(
        [read_line(text, settings=fuzzer.SETTINGS) for text in ("ls", "echo 'a;b' \"$\" >/dev/null", "true && ls -la")]
    )


def test_no_line_that_passes_does_anything_else(fuzzer: ModuleType) -> None:
    seconds = 600 if os.environ.get("PEGBOARD_LONG") else 4
    findings, judged, ran = fuzzer.fuzz(seconds, seed=int(os.environ.get("PEGBOARD_SEED", "1")))
    assert not findings
    assert ran > 20 and judged > ran
