"""The shared adversarial cases, through the real command line: what `tests/shared/cases/run` finds short, fails here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "shared" / "cases"
PEGBOARD = Path(sys.executable).with_name("pegboard")
TOOLS = "read_file,write_file,edit,glob,grep,git_status,git_diff,git_log,git_show"


@pytest.mark.parametrize("corpus", ["edits", "paths", "search", "git"])
def test_every_case_of_the_tools_on_offer_holds(corpus: str) -> None:
    command = [sys.executable, str(CASES / "run"), "--bin", str(PEGBOARD), corpus, "--tools", TOOLS, "--verbose"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    held = int(done.stdout.split(" of ", 1)[0].rsplit(" ", 1)[-1])
    assert held > 20, done.stdout
