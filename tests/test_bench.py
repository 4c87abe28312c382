"""The benchmark runner: finds rows, measures them in pairs, and never hides one that could not be measured."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench"

FAILS = """
from contextlib import contextmanager
from harness import Pair, Row

@contextmanager
def failing(scratch):
    def ours(): raise RuntimeError("exit 3: no such command")
    yield Pair(ours=ours, yardstick=lambda: 1.0)

@contextmanager
def steady(scratch):
    yield Pair(ours=lambda: 3.0, yardstick=lambda: 2.0)

ROWS = [
    Row(name="fails", target=1, against="-", best_peer="-", set_up=failing),
    Row(name="steady", target=1.4, against="-", best_peer="-", set_up=steady),
    Row(name="memory", target=4, unit="MiB", against="-", best_peer="-", set_up=steady),
]
"""


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A folder with the harness alone; a test puts its rows beside it."""
    folder = tmp_path / "bench"
    folder.mkdir()
    for name in ("harness.py", "run.py"):
        shutil.copy(BENCH / name, folder)
    return folder


def run(bench: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, bench / "run.py", *options], capture_output=True, text=True)


def test_the_row_in_the_readme_is_found_and_measured(bench: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", (BENCH / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (bench / "rows_readme.py").write_text("\n".join(blocks), encoding="utf-8")
    done = run(bench, "--pairs", "2", "--json", str(bench / "out.json"))
    assert done.returncode == 0, done.stderr
    (figure,) = json.loads((bench / "out.json").read_text("utf-8"))
    assert figure["name"] == "read a page"
    assert figure["low"] <= figure["figure"] <= figure["high"]


def test_a_row_that_fails_is_named_and_the_others_are_measured(bench: Path) -> None:
    (bench / "rows_some.py").write_text(FAILS, encoding="utf-8")
    done = run(bench, "--pairs", "1", "--json", str(bench / "out.json"))
    assert done.returncode == 1
    assert "not measured: fails: RuntimeError: exit 3: no such command" in done.stdout
    steady, memory = json.loads((bench / "out.json").read_text("utf-8"))
    assert (steady["figure"], steady["verdict"]) == (1.5, "over")
    assert (memory["figure"], memory["verdict"]) == (3.0, "ok")


def test_over_the_target_fails_only_when_asked(bench: Path) -> None:
    (bench / "rows_some.py").write_text(FAILS, encoding="utf-8")
    assert run(bench, "--only", "steady").returncode == 0
    assert run(bench, "--only", "steady", "--strict").returncode == 1
    assert run(bench, "--only", "no such row").returncode == 1


def test_our_own_rows_are_all_there() -> None:
    listed = run(BENCH, "--list")
    assert listed.returncode == 0, listed.stderr
    assert {"pegboard --version", "pegboard --help", "peak memory at --help"} <= set(listed.stdout.splitlines())
