"""Which command is chosen where no setting says, and what it becomes when a call names paths or tests."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pegboard.errors import ToolError
from pegboard.kit.workspace import Workspace
from pegboard_tools_dev.detect import Task, detected
from pegboard_tools_dev.fitting import checking, fitted, fitted_paths, kind_of
from pegboard_tools_dev.project import Project
from pegboard_tools_dev.targets import Target, targets

Write = Callable[[dict[str, str]], None]
PYTHON = sys.executable
UNITTEST = f"{PYTHON} -m unittest discover"
PYTEST = f"{PYTHON} -m pytest"
NPM = '{"scripts": {"test": "vitest run", "lint": "eslint .", "format": "prettier --write ."}}'
CASE = "import unittest\nclass T(unittest.TestCase):\n    def test_one(self): pass\n"


def line(root: Path, task: Task = "test", folder: str = ".") -> str:
    return shlex.join(detected(task, Project(Workspace(str(root)), folder)))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, UNITTEST),
        ({"pyproject.toml": "[project]\nname = 'x'"}, UNITTEST),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, PYTEST),
        ({"pyproject.toml": "[tool.pytest"}, UNITTEST),
        ({"pytest.ini": ""}, PYTEST),
        ({"tox.ini": "[tox]\n[pytest]\n"}, PYTEST),
        ({"setup.cfg": "[metadata]\n[tool:pytest]\n"}, PYTEST),
        ({"setup.cfg": "[metadata]\n"}, UNITTEST),
        ({"tests/conftest.py": ""}, PYTEST),
        ({"test_a.py": "def test_one(): pass"}, PYTEST),
        ({"tests/a_test.py": "import pytest"}, PYTEST),
        ({"tests/test_a.py": "class TestA:\n    def test_one(self): pass"}, PYTEST),
        ({"test_a.py": CASE}, UNITTEST),
        ({"tests/test_a.py": CASE}, f"{UNITTEST} -s tests"),
        ({"tests/test_a.py": CASE, "tests/__init__.py": ""}, UNITTEST),
        ({"a/test_x.py": "def test_a(): pass"}, PYTEST),
        ({"src/app/tests/test_x.py": "import pytest", "pyproject.toml": "[project]\nname = 'x'"}, PYTEST),
        ({"a/b/test_x.py": "class TestX(object):\n    def test_a(self): pass"}, PYTEST),
        ({"a/b/conftest.py": "", "test_a.py": CASE}, PYTEST),
        ({"test_a.py": CASE, "a/b/x_test.py": "async def test_a(): pass"}, PYTEST),
        ({"test_a.py": f"{CASE}{'#' * 70_000}\n", "test_b.py": f"def test_b(): pass\n{'#' * 70_000}"}, PYTEST),
        ({f"test_{n}.py": CASE for n in range(50)} | {"test_z.py": "def test_a(): pass"}, PYTEST),
        ({"a/test_x.py": CASE}, f"{UNITTEST} -s a"),
        ({"a/b/test_x.py": CASE, "a/__init__.py": "", "a/b/__init__.py": ""}, UNITTEST),
        ({"src/a/test_x.py": CASE, "src/a/__init__.py": "", "src/test_y.py": CASE}, f"{UNITTEST} -s src"),
        ({"a/test_x.py": CASE, "b/test_y.py": CASE}, PYTEST),
        ({"a/x_test.py": CASE}, PYTEST),
        ({"a/test_data.py": "DATA = 1", "Makefile": "test:\n"}, "make test"),
        ({"out/test_x.py": "def test_a(): pass", ".gitignore": "out/\n", "test_a.py": CASE}, UNITTEST),
        ({"env/pyvenv.cfg": "", "env/lib/test_x.py": "def test_a(): pass", "test_a.py": CASE}, UNITTEST),
        ({"node_modules/x/test_x.py": "def test_a(): pass", ".nox/test_x.py": "import pytest"}, UNITTEST),
        ({"package.json": NPM}, "npm test"),
        ({"package.json": NPM, "pnpm-lock.yaml": ""}, "pnpm test"),
        ({"package.json": NPM, "yarn.lock": ""}, "yarn test"),
        ({"package.json": NPM, "bun.lock": ""}, "bun run test"),
        ({"package.json": NPM, "pytest.ini": ""}, PYTEST),
        ({"package.json": NPM, "test_a.py": CASE}, "npm test"),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"Cargo.toml": "", "package.json": "{}"}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
        ({"Makefile": "test:\n"}, "make test"),
        ({"GNUmakefile": "lint test : dep\n"}, "make test"),
        ({"Makefile": "test:\n", "test_a.py": CASE}, UNITTEST),
        ({"Makefile": "test := 1\nattest:\n", "a.py": ""}, UNITTEST),
    ],
)
def test_the_first_that_fits_runs_the_tests(tmp_path: Path, write: Write, files: dict[str, str], expected: str) -> None:
    write(files)

    assert line(tmp_path) == expected


@pytest.mark.parametrize(
    ("files", "lint", "format"),
    [
        ({}, "ruff check .", "ruff format ."),
        ({"a.py": "", "Makefile": "all:"}, "ruff check .", "ruff format ."),
        ({"pyproject.toml": "[tool.ruff]", "package.json": NPM}, "ruff check .", "ruff format ."),
        ({"ruff.toml": "", "Makefile": "lint:\nformat:\n"}, "ruff check .", "ruff format ."),
        ({"package.json": NPM}, "npm run lint", "npm run format"),
        ({"package.json": NPM, "yarn.lock": ""}, "yarn run lint", "yarn run format"),
        ({"Cargo.toml": ""}, "cargo clippy", "cargo fmt"),
        ({"go.mod": ""}, "go vet ./...", "gofmt -l -w ."),
        ({"Makefile": "lint:\nformat:\n", "a.py": ""}, "make lint", "make format"),
    ],
)
def test_the_first_that_fits_lints_and_formats(
    tmp_path: Path, write: Write, files: dict[str, str], lint: str, format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(files)
    monkeypatch.setenv("PATH", os.path.dirname(PYTHON))

    assert (line(tmp_path, "lint"), line(tmp_path, "format")) == (lint, format)


@pytest.mark.parametrize("files", [{"package.json": "{}"}, {"Makefile": "all:\n"}, {"x.cabal": ""}, {"pom.xml": ""}])
@pytest.mark.parametrize("task", ["test", "lint", "format"])
def test_what_something_else_builds_names_the_setting(
    tmp_path: Path, write: Write, files: dict[str, str], task: Task
) -> None:
    write(files)

    with pytest.raises(ToolError, match=rf"{next(iter(files))}.*Nothing was run. Set {task}_cmd under \[dev\]"):
        line(tmp_path, task)


def test_npms_own_placeholder_is_no_test(tmp_path: Path, write: Write) -> None:
    write({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}', "test_a.py": CASE})

    assert line(tmp_path) == UNITTEST


@pytest.mark.parametrize("text", ["[", "null", "[1]", '{"scripts": 1}', '{"scripts": {"test": 1}}', "[" * 100_000])
def test_files_that_are_broken_say_nothing(tmp_path: Path, write: Write, text: str) -> None:
    write({"package.json": text, "pyproject.toml": text, "a.py": ""})

    assert line(tmp_path) == UNITTEST


def test_links_out_and_devices_among_its_files_say_nothing(tmp_path: Path, write: Write) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    outside.mkdir()
    (outside / "package.json").write_text(NPM)
    write({"a.py": ""})
    (tmp_path / "package.json").symlink_to(outside / "package.json")
    (tmp_path / "tests").symlink_to(outside)
    os.mkfifo(tmp_path / "Makefile")

    assert line(tmp_path) == UNITTEST


def test_tests_in_several_folders_are_named_where_the_project_has_no_pytest(tmp_path: Path, write: Write) -> None:
    write({"a/test_x.py": CASE, "b/y_test.py": CASE, "-h_test.py": CASE, ".venv/bin/python": ""})

    assert line(tmp_path) == ".venv/bin/python -m unittest ./-h_test.py a/test_x.py b/y_test.py"


def test_a_projects_own_environment_is_used(tmp_path: Path, write: Write) -> None:
    write({".venv/bin/ruff": "", ".venv/lib/python3.12/site-packages/pytest/x.py": "", "api/pytest.ini": ""})
    (tmp_path / ".venv/bin/python").symlink_to("/usr/bin/env")

    assert line(tmp_path) == ".venv/bin/python -m unittest discover"
    assert line(tmp_path, "lint") == ".venv/bin/ruff check ."
    assert line(tmp_path, folder="api") == "../.venv/bin/python -m pytest"


def test_pytest_that_is_nowhere_is_told(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"pytest.ini": ""})
    monkeypatch.setattr("pegboard_tools_dev.detect.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ToolError, match=r"not installed.*Nothing was run. Install it, or set test_cmd"):
        line(tmp_path)

    write({"bin/pytest": ""})
    (tmp_path / "bin/pytest").chmod(0o755)
    assert line(tmp_path) == "pytest"

    write({"active/lib/python3.12/site-packages/pytest/__init__.py": ""})
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert line(tmp_path) == f"{tmp_path}/active/bin/python -m pytest"


def test_ruff_is_taken_from_path_else_from_beside_the_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("ruff") is None
    assert line(tmp_path, "lint") == f"{os.path.dirname(PYTHON)}/ruff check ."

    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ToolError, match=r"ruff is not installed.*Nothing was run.*lint_cmd"):
        line(tmp_path, "lint")


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("pytest -q", "pytest"),
        ("uv run --no-sync pytest", "pytest"),
        ("/x/python3 -m pytest", "pytest"),
        ("python -m unittest discover", "unittest"),
        ("coverage run -m unittest", "unittest"),
        ("make pytest", "make"),
        ("npm test", "script"),
        ("uv run ruff check", "ruff"),
        ("sh -c pytest.sh", ""),
    ],
)
def test_what_a_command_comes_down_to(command: str, kind: str) -> None:
    assert kind_of(command.split()) == kind


FILE, FOLDER = Target(path="tests/test_a.py"), Target(path="tests", folder=True)
ONE = Target(path="tests/test_a.py", member="::T::test_one")


@pytest.mark.parametrize(
    ("command", "where", "filter", "expected"),
    [
        ("pytest -q", [FILE, ONE], None, "pytest -q tests/test_a.py tests/test_a.py::T::test_one"),
        ("pytest .", [FILE], "one and two", "pytest . -k 'one and two' tests/test_a.py"),
        ("python -m unittest discover", [], "one", "python -m unittest discover -k one"),
        ("python -m unittest discover -s x", [FOLDER], None, "python -m unittest discover -s tests"),
        ("python -m unittest", [FILE, ONE], None, "python -m unittest tests.test_a tests.test_a.T.test_one"),
        ("cargo test -- --nocapture", [], "one", "cargo test one -- --nocapture"),
        ("go test ./...", [FILE, FOLDER], "^TestA$", "go test '-run=^TestA$' ./tests ./tests/..."),
        ("go test -v ./...", [Target(path="a_test.go")], None, "go test -v ."),
        ("go test -race ./x", [], "A", "go test -race -run=A ./x"),
        ("npm test", [FILE], "one", "npm test -- tests/test_a.py -t one"),
        ("npm test -- --coverage", [FILE], None, "npm test -- --coverage tests/test_a.py"),
        ("yarn test", [FILE], None, "yarn test tests/test_a.py"),
        ("tox -- {path}", [FILE], None, "tox -- tests/test_a.py"),
        ("tox -- {path}", [], None, "tox --"),
        ("make test", [], None, "make test"),
    ],
)
def test_each_program_takes_paths_and_names_in_its_own_way(
    tmp_path: Path, write: Write, command: str, where: list[Target], filter: str | None, expected: str
) -> None:
    write({"package.json": NPM})

    assert shlex.join(fitted(tuple(command.split()), Project(Workspace(str(tmp_path)), "."), where, filter)) == expected


@pytest.mark.parametrize(
    ("command", "where", "filter", "said"),
    [
        ("make test", [FILE], None, r"make takes no paths.*put \{path\} into test_cmd"),
        ("make test", [], "one", "make takes no filter"),
        ("cargo test", [FILE], None, "cargo test takes no paths"),
        ("cargo test", [ONE], None, "only pytest and unittest take `::`"),
        ("npm test", [], "one", "`node --test` picks tests by name is not known"),
        ("python -m unittest", [FOLDER, FILE], None, "takes tests alone or files"),
        ("python -m unittest", [FILE, Target(path="a-b.py")], None, "import by name"),
    ],
)
def test_what_a_program_does_not_take_is_refused(
    tmp_path: Path, write: Write, command: str, where: list[Target], filter: str | None, said: str
) -> None:
    write({"package.json": '{"scripts": {"test": "node --test"}}'})

    with pytest.raises(ToolError, match=said) as refused:
        fitted(tuple(command.split()), Project(Workspace(str(tmp_path)), "."), where, filter)
    assert "Nothing was run." in str(refused.value)


@pytest.mark.parametrize(
    ("command", "check", "paths"),
    [
        ("ruff format .", "ruff format --check .", "ruff format a.py"),
        ("black -q .", "black -q . --check", "black -q a.py"),
        ("npx prettier --write .", "npx prettier --check .", "npx prettier --write a.py"),
        ("gofmt -l -w .", "gofmt -l .", "gofmt -l -w a.py"),
        ("cargo fmt", "cargo fmt --check", None),
        ("npm run format", "npm run format:check", None),
        ("make format", None, None),
    ],
)
def test_formatters_check_and_take_paths_where_they_can(
    tmp_path: Path, write: Write, command: str, check: str | None, paths: str | None
) -> None:
    write({"package.json": '{"scripts": {"format": "x", "format:check": "y"}}'})
    project, argv = Project(Workspace(str(tmp_path)), "."), tuple(command.split())

    def said(make: Callable[[], tuple[str, ...]]) -> str | None:
        try:
            return shlex.join(make())
        except ToolError as error:
            assert "Nothing was run." in str(error)
            return None

    assert said(lambda: checking(argv, project)) == check
    assert said(lambda: fitted_paths(argv, [Target(path="a.py")], "format_cmd under [dev]")) == paths
    assert said(lambda: fitted_paths(argv, [], "format_cmd under [dev]")) == command


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=12)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES.filter(lambda name: name not in (".", "..") and "::" not in name))
def test_a_file_of_any_name_is_given_as_a_path_or_refused(tmp_path: Path, name: str) -> None:
    workspace = Workspace(str(tmp_path))
    try:
        (tmp_path / name).write_text("")
    except OSError:
        return
    try:
        [target] = targets(workspace, [f"./{name}"], ".")
    except ToolError:
        (tmp_path / name).unlink()
        raise
    assert not target.word.startswith(("-", "@"))
    assert os.path.samefile(tmp_path / target.word, tmp_path / name)
    (tmp_path / name).unlink()


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("")

    with pytest.raises(ToolError, match=r"not UTF-8. Nothing was run"):
        targets(Workspace(str(tmp_path)), ["caf\\xe9.py"], ".")


def test_the_examples_are_few_and_name_what_there_is(board: Any) -> None:
    tools = board().board.registry.expand(["dev"])
    assert [tool.name for tool in tools] == ["code_test", "code_lint", "code_format"]
    for tool in tools:
        assert 6 <= len(tool.declaration.examples) <= 12
        assert (tool.declaration.category, tool.declaration.permission) == ("exec", "bash")
        assert tool.wire_size() < 600


def test_the_set_is_there_without_what_reads_projects_and_output() -> None:
    code = (
        "import sys, pegboard_tools_dev as dev; dev.pegboard_tools(); dev.Settings()\n"
        "late = {f'pegboard_tools_dev.{name}' for name in ('commands', 'detect', 'fitting', 'project', 'reading.readers')}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
