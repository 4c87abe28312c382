"""Which command a project's tests, linter and formatter are, where no setting says. The first that fits decides:

    test      pytest, if its configuration says so; the scripts of package.json; Cargo.toml; go.mod; Python test files,
              with pytest or unittest as they are written; a makefile's target `test`; unittest
    lint      ruff, if its configuration says so; a script `lint`; Cargo.toml; go.mod; a target `lint`; ruff
    format    ruff, if its configuration says so; a script `format`; Cargo.toml; go.mod; a target `format`; ruff

The last of each is the default. It is not taken where files say that something else builds the project.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pegboard.errors import ToolError

from pegboard_tools_dev.project import Project

Task = Literal["test", "lint", "format"]


def detected(task: Task, project: Project) -> tuple[str, ...]:
    """The command line.

    Raises:
        ToolError: nothing fits, or the program that fits is not installed.
    """
    found = _test(project) if task == "test" else _tidy(task, project)
    if found is not None:
        return found
    if (manifests := project.manifests) and not project.is_python:
        raise ToolError(
            f"nothing here says how to {_DOES[task]} ({', '.join(manifests[:4])}). Nothing was run. "
            f"Set {task}_cmd under [dev] in your own configuration, or run the command with a shell tool."
        )
    return (python(project), "-m", "unittest", "discover") if task == "test" else _ruff(task, project)


_DOES: dict[Task, str] = {"test": "run the tests", "lint": "check the code", "format": "format the code"}
_CARGO: dict[Task, tuple[str, ...]] = {"lint": ("cargo", "clippy"), "format": ("cargo", "fmt")}
_GO: dict[Task, tuple[str, ...]] = {"lint": ("go", "vet", "./..."), "format": ("gofmt", "-l", "-w", ".")}


def _test(project: Project) -> tuple[str, ...] | None:
    if project.uses_pytest:
        return pytest(project)
    if "test" in project.scripts:
        manager = project.package_manager
        return (manager, "run", "test") if manager == "bun" else (manager, "test")
    if "Cargo.toml" in project.files:
        return ("cargo", "test")
    if "go.mod" in project.files:
        return ("go", "test", "./...")
    tests = project.tests()
    if tests.pytest:
        return pytest(project)
    if tests.files:
        return _unittest(project, tests.files)
    return ("make", "test") if project.makes("test") else None


def _unittest(project: Project, files: list[str]) -> tuple[str, ...]:
    """What finds all of these. unittest looks for `test*.py` in one folder and the packages below it; where that is too
    little, pytest runs the same tests, and without it each is named."""
    folders = sorted({project.importable_from(path) for path in files})
    if len(folders) == 1 and all(os.path.basename(path).startswith("test") for path in files):
        inside = () if folders == ["."] else ("-s", _word(folders[0]))
        return (python(project), "-m", "unittest", "discover", *inside)
    environments = project.environments()
    if not environments or any(project.has_package(at, "pytest") for _, at in environments):
        with suppress(ToolError):  # it is nowhere
            return pytest(project)
    return (python(project), "-m", "unittest", *map(_word, files))


def _word(path: str) -> str:
    return f"./{path}" if path.startswith("-") else path


def _tidy(task: Task, project: Project) -> tuple[str, ...] | None:
    if project.uses_ruff:
        return _ruff(task, project)
    if task in project.scripts:
        return (project.package_manager, "run", task)
    if "Cargo.toml" in project.files:
        return _CARGO[task]
    if "go.mod" in project.files:
        return _GO[task]
    return ("make", task) if project.makes(task) else None


def python(project: Project) -> str:
    """The project's interpreter: of a virtual environment in its folder, else the one that runs here."""
    for path, at in project.environments():
        if project.has_program(at, "python"):
            return os.path.join(path, "bin", "python")
    return sys.executable


def pytest(project: Project) -> tuple[str, ...]:
    """pytest, from where it is installed: the project's environment, the active one, PATH, beside this interpreter. That one
    is last: what is installed with Pegboard is seldom what the project needs.

    Raises:
        ToolError: it is in none of these.
    """
    for path, at in project.environments():
        if project.has_package(at, "pytest"):
            return (os.path.join(path, "bin", "python"), "-m", "pytest")
    active = os.environ.get("VIRTUAL_ENV", "")
    if active and any(Path(active).glob("lib/python*/site-packages/pytest")):
        return (os.path.join(active, "bin", "python"), "-m", "pytest")
    if shutil.which("pytest"):
        return ("pytest",)
    if find_spec("pytest") is not None:
        return (sys.executable, "-m", "pytest")
    raise ToolError(
        "the tests are for pytest, which is not installed: not in .venv or venv of the project, not in the active "
        "environment, not on PATH. Nothing was run. Install it, or set test_cmd under [dev] in your own configuration."
    )


def _ruff(task: Task, project: Project) -> tuple[str, ...]:
    rest = ("check", ".") if task == "lint" else ("format", ".")
    for path, at in project.environments():
        if project.has_program(at, "ruff"):
            return (os.path.join(path, "bin", "ruff"), *rest)
    if shutil.which("ruff"):
        return ("ruff", *rest)
    beside = os.path.join(os.path.dirname(sys.executable), "ruff")
    if os.access(beside, os.X_OK):
        return (beside, *rest)
    raise ToolError(
        "ruff is not installed: not in .venv or venv of the project, not on PATH. Nothing was run. "
        f"Install it, or set {task}_cmd under [dev] in your own configuration."
    )
