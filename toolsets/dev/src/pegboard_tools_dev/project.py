"""What a project's files say of its tools. Read through the workspace's door, never run: what is found out here is a
command line that rules, guards and persons judge before it is run."""

from __future__ import annotations

import json
import os
import re
import time
import tomllib
from functools import cached_property
from typing import Any, NamedTuple

from pegboard.errors import DoorError
from pegboard.kit.workspace import Workspace

from pegboard_tools_dev import looking

_MOST = 256 * 1024
_MOST_OF_A_TEST = 64 * 1024
_SECONDS = 0.5
"""How long test files are read: a person waits to be asked."""
_TEST_FILE = re.compile(r"test.*\.py|.*_test\.py")
_UNSET_TEST = "no test specified"  # what `npm init` writes
_FOREIGN = re.compile(
    r"package\.json|deno\.jsonc?|Makefile|makefile|GNUmakefile|CMakeLists\.txt|meson\.build|pom\.xml|build\.gradle(\.kts)?"
    r"|Gemfile|Rakefile|mix\.exs|composer\.json|Package\.swift|stack\.yaml|dune-project|build\.zig|pubspec\.yaml"
    r"|.*\.(cabal|csproj|fsproj|sln|gemspec)"
)


class Tests(NamedTuple):
    """Test files, as paths from the project's folder. pytest: one is for pytest (and the others were not looked for)."""

    pytest: bool
    files: list[str]


class Project:
    """A folder of the workspace with a project in it. `folder`: relative to the root."""

    def __init__(self, workspace: Workspace, folder: str) -> None:
        self.workspace = workspace
        self.folder = folder

    @cached_property
    def files(self) -> frozenset[str]:
        """The names in its folder."""
        return self.names(".")

    @property
    def manifests(self) -> list[str]:
        """Files that say that it is built by something of which nothing is known here."""
        return sorted(name for name in self.files if _FOREIGN.fullmatch(name))

    def names(self, folder: str) -> frozenset[str]:
        """The names in one of its folders; none where there is no such folder."""
        try:
            return frozenset(entry.name for entry in self.workspace.scan(self._path(folder)))
        except DoorError:
            return frozenset()

    def text(self, name: str, most: int = _MOST) -> str:
        """A file's text; empty where there is none that may be read."""
        try:
            with self.workspace.open(self._path(name)) as file:
                return file.read(most).decode("utf-8", "replace") if file.size <= most else ""
        except DoorError:
            return ""

    @cached_property
    def pyproject(self) -> dict[str, Any]:
        """The table `[tool]` of pyproject.toml."""
        try:
            tool = tomllib.loads(self.text("pyproject.toml")).get("tool")
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}
        return tool if isinstance(tool, dict) else {}

    @cached_property
    def scripts(self) -> dict[str, str]:
        """The scripts of package.json that do something."""
        try:
            package = json.loads(self.text("package.json") or "null")
        except (ValueError, RecursionError):
            return {}
        scripts = package.get("scripts") if isinstance(package, dict) else None
        found = scripts.items() if isinstance(scripts, dict) else ()
        return {name: text for name, text in found if isinstance(text, str) and text and _UNSET_TEST not in text}

    @property
    def package_manager(self) -> str:
        """The program that runs those scripts, told by its lock file."""
        locks = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
        return next((program for lock, program in locks.items() if lock in self.files), "npm")

    def makes(self, target: str) -> bool:
        """Whether its makefile has such a target."""
        name = next((name for name in ("GNUmakefile", "makefile", "Makefile") if name in self.files), None)
        rule = re.compile(rf"^(?:[\w./-]+ +)*{re.escape(target)}(?: +[\w./-]+)* *:(?!=|:=)", re.MULTILINE)
        return name is not None and rule.search(self.text(name)) is not None

    @cached_property
    def uses_pytest(self) -> bool:
        """Whether its configuration says pytest."""
        ini = {"tox.ini": r"^\[pytest\]", "setup.cfg": r"^\[tool:pytest\]"}
        return (
            not self.files.isdisjoint(("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "conftest.py"))
            or "pytest" in self.pyproject
            or any(name in self.files and re.search(line, self.text(name), re.MULTILINE) for name, line in ini.items())
            or any("conftest.py" in self.names(folder) for folder in ("tests", "test") if folder in self.files)
        )

    @cached_property
    def uses_ruff(self) -> bool:
        """Whether its configuration says ruff."""
        return "ruff" in self.pyproject or not self.files.isdisjoint(("ruff.toml", ".ruff.toml"))

    @property
    def is_python(self) -> bool:
        """Whether there is Python in its folder, or one below `src`, `tests` or `test`."""
        if not self.files.isdisjoint(("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")):
            return True
        folders = [".", *(name for name in ("src", "tests", "test") if name in self.files)]
        return any(name.endswith(".py") for folder in folders for name in self.names(folder))

    def tests(self) -> Tests:
        """Its Python test files, at any depth."""
        beside = [".", *(name for name in ("tests", "test") if name in self.files)]
        near = [os.path.normpath(os.path.join(at, name)) for at in beside for name in sorted(self.names(at))]
        near = [path for path in near if _TEST_FILE.fullmatch(os.path.basename(path))]
        deep = [] if self.folder.startswith("/") else looking.named(self.workspace, self.folder)
        found, until = list[str](), time.monotonic() + _SECONDS
        for path in dict.fromkeys((*near, *deep)):
            text = self._head(path) if time.monotonic() < until else ""
            if os.path.basename(path) == "conftest.py" or looking.for_pytest(text):
                return Tests(pytest=True, files=[path])
            if path in near or looking.for_unittest(text):
                found.append(path)
        return Tests(pytest=False, files=found)

    def importable_from(self, path: str) -> str:
        """The folder from which a file is imported: the nearest above it that is no package."""
        at = os.path.dirname(path)
        while at and "__init__.py" in self.names(at):
            at = os.path.dirname(at)
        return at or "."

    def _head(self, name: str) -> str:
        try:
            with self.workspace.open(self._path(name)) as file:
                return os.pread(file.fd, _MOST_OF_A_TEST, 0).decode("utf-8", "replace")
        except (DoorError, OSError):
            return ""

    def environments(self) -> list[tuple[str, str]]:
        """Virtual environments in its folder and in the root: their path as a program that runs in the folder is given it,
        and from the root. They are looked at by name alone: their interpreters are links out of the workspace."""
        found = []
        for base in dict.fromkeys((self.folder, self.folder if self.folder.startswith("/") else ".")):
            for name in (".venv", "venv"):
                at = os.path.normpath(os.path.join(base, name))
                if any(self._there(at, *program) for program in (("bin", "python"), ("Scripts", "python.exe"))):
                    found.append((os.path.relpath(at, self.folder), at))
        return found

    def has_program(self, environment: str, name: str) -> bool:
        """Whether an environment (its path from the root) has a program."""
        return self._there(environment, "bin", name)

    def has_package(self, environment: str, name: str) -> bool:
        """Whether a package is installed in an environment (its path from the root)."""
        try:
            versions = [entry.name for entry in self.workspace.scan(f"{environment}/lib")]
        except DoorError:
            versions = []
        inside = [f"lib/{version}/site-packages" for version in versions if version.startswith("python")]
        return any(self._there(environment, folder, name) for folder in (*inside, "Lib/site-packages"))

    def _there(self, environment: str, folder: str, name: str) -> bool:
        try:
            return any(entry.name == name for entry in self.workspace.scan(f"{environment}/{folder}"))
        except DoorError:
            return False

    def _path(self, name: str) -> str:
        return os.path.normpath(os.path.join(self.folder, name))
