"""What the tests here share: the wheels, built once a run, and empty environments to install them into.

Nothing is downloaded: dependencies come from uv's cache, which `make setup` has filled with these very versions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace
from pegboard.checking.child import run as check
from pegboard.checking.report import Report
from pegboard.checking.target import found
from pegboard_cli.scaffold.naming import KINDS, names_of
from pegboard_cli.scaffold.writing import write

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"
EXAMPLES = ROOT / "examples"


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


def same_file(source: str, target: str) -> None:
    """A link, which costs nothing, where it can be: Python replaces bytecode and never writes into it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def packages_of(venv: Path) -> Path:
    return next((venv / "lib").glob("python*")) / "site-packages"


@pytest.fixture(scope="session")
def compiled(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], None]:
    """Give a fresh environment the bytecode of what it holds: that of our wheels, compiled once a run, and of the same files
    in the environment of this run. Bytecode of anything else Python would refuse, by its source's time and size."""
    ours = tmp_path_factory.mktemp("compiled") / "venv"
    uv("venv", ours)
    uv("pip", "install", "--no-deps", "--python", ours, *wheels.values())
    subprocess.run([sys.executable, "-m", "compileall", "-q", packages_of(ours)], check=True)
    sources = [packages_of(ours), Path(sysconfig.get_path("purelib"))]

    def compiled(venv: Path) -> None:
        target = packages_of(venv)
        for folder in {path.parent for path in target.rglob("*.py")}:
            below = folder.relative_to(target) / "__pycache__"
            kept = next((source / below for source in sources if (source / below).is_dir()), None)
            if kept is not None and not (target / below).exists():
                shutil.copytree(kept, target / below, copy_function=same_file)

    return compiled


@pytest.fixture(scope="session")
def environment(compiled: Callable[[Path], None]) -> Callable[[Path, Sequence[Path | str]], Path]:
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
        compiled(folder)
        return folder

    return make


BUILDS = """
import os, sys
from hatchling import build
for folder in sys.argv[2:]:
    os.chdir(folder)
    build.build_wheel(sys.argv[1])
"""


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wheel of every distribution, by name, from what `make dist` builds from: the core's in an environment of its own, as
    uv builds one; the others by the same backend in one process (`test_every_folder_is_built_alike`)."""
    out = tmp_path_factory.mktemp("dist")
    sources = tmp_path_factory.mktemp("sources")
    staged = subprocess.run(
        [sys.executable, ROOT / "scripts" / "manifests.py", sources], capture_output=True, text=True
    )
    assert staged.returncode == 0, staged.stdout + staged.stderr
    uv("build", sources / "core", "--wheel", "--build-constraint", CONSTRAINTS, "--out-dir", out)
    others = [
        sources,
        *(path.parent for kind in ("toolsets", "plugins") for path in sources.glob(f"{kind}/*/pyproject.toml")),
    ]
    subprocess.run([sys.executable, "-c", BUILDS, out, *others], check=True, stdout=subprocess.DEVNULL)
    return {path.name.partition("-")[0].replace("_", "-"): path for path in out.glob("*.whl")}


@dataclass(frozen=True)
class Strangers:
    """An environment with packages that are not ours beside Pegboard: those of examples/, and a new one of each kind.

    folders: where the new ones lie, by kind. state: a state folder for runs that need not look at them anew. reports: what
    `plugin check --write` said of the new ones before they were built. built: their wheels, and those of the examples."""

    venv: Path
    folders: dict[str, Path]
    state: Path
    reports: dict[str, Report]
    built: Path


@pytest.fixture(scope="session")
def strangers(
    wheels: dict[str, Path],
    environment: Callable[[Path, Sequence[Path | str]], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Strangers:
    """Pegboard's wheels, pytest, and wheels of the examples and of what `pegboard plugin new` writes."""
    top = tmp_path_factory.mktemp("strangers")
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    examples = [
        shutil.copytree(project.parent, top / "examples" / project.parent.name, ignore=ignored)
        for project in EXAMPLES.glob("*/pyproject.toml")
    ]
    folders = {kind: top / f"pegboard-my-{kind}" for kind in KINDS}
    for kind, folder in folders.items():
        write(folder, kind, names_of(f"my-{kind}"))
    with ExitStack() as stack:
        targets = [stack.enter_context(found(f"{folder}{os.sep}")) for folder in folders.values()]
        reports = dict(zip(folders, check([replace(target, write=True) for target in targets]), strict=True))
    built = top / "dist"
    command = [sys.executable, "-c", BUILDS, built, *examples, *folders.values()]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    venv = environment(top / "venv", [*wheels.values(), *built.glob("*.whl"), "pytest"])
    shutil.rmtree(top / "examples")
    return Strangers(venv, folders, top / "state", reports, built)


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
