"""What the tests here share: the wheels, built once a run, and empty environments to install them into.

Nothing is downloaded: dependencies come from uv's cache, which `make setup` has filled with these very versions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"


def uv(*arguments: str | Path) -> None:
    """Run uv without the network. A cache that lacks something is a failure in CI and a skip elsewhere."""
    program = shutil.which(ROOT / ".tools/bin/uv") or shutil.which("uv")
    if program is None:
        pytest.skip("uv is missing; `make setup` brings it")
    done = subprocess.run([program, "--offline", "--quiet", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0 and "network was disabled" in done.stderr and not os.environ.get("CI"):
        pytest.skip(f"uv's cache lacks something; `make distclean setup` fills it: {done.stderr}")
    assert done.returncode == 0, done.stderr


def compiling() -> dict[str, str]:
    """This environment, in which Python keeps the bytecode of what it imports: a fresh environment has none, and without
    it every start would compile hundreds of modules anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@pytest.fixture(scope="session")
def environment() -> Callable[[Path, Sequence[Path | str]], Path]:
    """Make a fresh environment in a folder, with these wheels, folders or names and what they ask for, nothing else."""

    def make(folder: Path, wanted: Sequence[Path | str]) -> Path:
        uv("venv", folder)
        uv(
            "pip",
            "install",
            "--python",
            folder,
            "--constraint",
            CONSTRAINTS,
            "--build-constraint",
            CONSTRAINTS,
            *wanted,
        )
        return folder

    return make


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel of every distribution, by name."""
    out = tmp_path_factory.mktemp("dist")
    uv("build", "--all-packages", "--wheel", "--build-constraint", CONSTRAINTS, "--out-dir", out)
    return {path.name.partition("-")[0].replace("_", "-"): path for path in out.glob("*.whl")}


@pytest.fixture(scope="session")
def run() -> Callable[..., str]:
    """What a program of an environment prints, started far from the checkout unless `cwd` says where."""

    def run(venv: Path, program: str, *arguments: str, cwd: Path | None = None) -> str:
        command = [venv / "bin" / program, *arguments]
        done = subprocess.run(
            command, cwd=cwd or venv.parent, env=compiling(), capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run
