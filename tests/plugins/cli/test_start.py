"""What a start costs is what it imports: held here by name, in time by the benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pegboard_cli.main import VERSION

ROOT = Path(__file__).resolve().parents[3]
HEAVY = (
    "asyncio",
    "msgspec",
    "pluggy",
    "rich",
    "pydantic",
    "textual",
    "httpx2",
    "pegboard_guard",
    "pegboard_offline",
    "tomllib",
)
CODE = """\
import json, sys
before = set(sys.modules)
sys.argv = ["pegboard", *sys.argv[1:]]
from pegboard_cli.main import main
code = main()
print(json.dumps([code, sorted(set(sys.modules) - before)]), file=sys.stderr)
"""


def imports(*args: str) -> tuple[int, list[str]]:
    """The exit code of a command line, and the modules that it imported."""
    done = subprocess.run([sys.executable, "-c", CODE, *args], capture_output=True, text=True, timeout=60)
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, names


def test_the_version_is_printed_before_anything_is_imported() -> None:
    assert imports("--version") == (0, ["pegboard_cli", "pegboard_cli.main"])


def test_the_version_is_that_of_the_distribution() -> None:
    for folder in ("plugins/cli", "."):
        project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]
        assert project["version"] == VERSION


@pytest.mark.parametrize(
    "args", [["--help"], [], ["run", "--help"], ["tool", "--help"], ["tools", "--help"], ["sessions", "--help"]]
)
def test_help_imports_no_board_no_plugin_and_no_provider(args: list[str]) -> None:
    code, names = imports(*args)
    assert code == 0
    assert not [name for name in names if name.split(".")[0] in HEAVY]
    assert {name for name in names if name.startswith("pegboard.")} <= {
        "pegboard.entries",
        "pegboard.lazily",
        "pegboard.terminal",
    }


def test_a_call_loads_no_model() -> None:
    _, names = imports("tool", "nosuch")
    assert not {"pegboard_offline", "pydantic", "rich", "textual", "httpx2"} & set(names)


def test_help_fits_in_24_mebibytes() -> None:
    if sys.platform != "linux":
        pytest.skip("peak memory in KiB is Linux's way to say it")
    code = (
        "import os, sys; command = [sys.executable, '-m', 'pegboard_cli.main', '--help'];"
        "pid = os.spawnv(os.P_NOWAIT, sys.executable, command); print(os.wait4(pid, 0)[2].ru_maxrss, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "Commands:" in done.stdout
    assert int(done.stderr.split()[-1]) <= 24 * 1024
