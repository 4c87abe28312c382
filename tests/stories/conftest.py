"""Ten stories of strangers: each plugin is a project of its own (`strangers/`), installed as pip would leave it, and found.

A test puts what it wants in front of `sys.path`; the board finds it there by its entry points, looks at it in a child
process, selects and loads it, all as on a person's machine. One state folder serves all, so that a plugin is looked at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pegboard import Board

WITHOUT_TABLE = ("csv", "csv-table", "freeze", "house", "scout", "spell")
STRANGERS = Path(__file__).parent / "strangers"
PROGRAM = Path(sys.executable).with_name("pegboard")


class Shelf:
    """What may be installed: a site folder for each distribution, as `pip install --target` would leave it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.state = folder / "shelf", folder / "state"
        self.folder.mkdir()
        for project in sorted(STRANGERS.glob("*/pyproject.toml")):
            modules = {module.stem: module.read_text("utf-8") for module in project.parent.glob("*.py")}
            self.add(project.read_text("utf-8"), **modules)

    def add(self, pyproject: str, **modules: str) -> str:
        """A distribution, by the text of its project and of its modules; its name."""
        project = tomllib.loads(pyproject)["project"]
        name: str = project["name"]
        info = self.folder / name / f"{name.replace('-', '_')}-{project['version']}.dist-info"
        if info.exists():
            return name
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n", "utf-8")
        groups = project["entry-points"].items()
        points = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in rows.items()) for group, rows in groups]
        (info / "entry_points.txt").write_text("\n".join(points), "utf-8")
        for module, text in modules.items():
            (info.parent / f"{module}.py").write_text(text, "utf-8")
        return name


class Machine:
    """A person's: a workspace, a file of settings, a state folder, and what was installed."""

    def __init__(self, folder: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.shelf, self.state = folder / "work", shelf, shelf.state
        self.file = folder / "config" / "pegboard" / "config.toml"
        for made in (self.root, self.file.parent):
            made.mkdir(parents=True)
        self.file.touch()
        self._sites: list[str] = []
        self._monkeypatch = monkeypatch

    def install(self, *distributions: str) -> None:
        """Put distributions of the shelf on the path."""
        for name in distributions:
            self._sites.append(str(self.shelf.folder / name))
            self._monkeypatch.syspath_prepend(self._sites[-1])

    def files(self, **texts: str) -> None:
        """Files of the workspace, `_` for `.` and `__` for `/`."""
        for name, text in texts.items():
            file = self.root / name.replace("__", "/").replace("_", ".")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")

    def board(self, **flags: Any) -> Board:
        """A board that finds what is installed here, ours and strangers'. `flags`: settings; `__` stands for a dot."""
        given = {name.replace("__", "."): value for name, value in flags.items()}
        return Board.build(str(self.root), user_file=self.file, environ=dict(os.environ), state=self.state, flags=given)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """The command `pegboard`, in a process."""
        environ = os.environ | {"PYTHONPATH": os.pathsep.join(self._sites)}
        environ |= {"XDG_CONFIG_HOME": str(self.file.parents[1]), "XDG_STATE_HOME": str(self.state.parent / "xdg")}
        return subprocess.run([PROGRAM, *words], cwd=self.root, env=environ, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """All that is used as it is shipped is looked at together: each look costs the start of a process."""
    made = Shelf(tmp_path_factory.mktemp("stories"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        machine = Machine(made.folder.parent, made, monkeypatch)
        machine.install(*(f"pegboard-{name}" for name in WITHOUT_TABLE))
        machine.file.write_text('[plugins]\nrewriters = ["spell"]\n')
        machine.board()
    return made


@pytest.fixture
def machine(tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    yield Machine(tmp_path, shelf, monkeypatch)
    for name in list(sys.modules):  # the next test imports its own
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(shelf.folder)):
            del sys.modules[name]
