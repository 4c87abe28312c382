"""What a call names: the folder to run in, and the paths given to the program, checked before anything is run."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

import msgspec
from pegboard.errors import ToolError
from pegboard.kit.names import given
from pegboard.kit.workspace import SESSION, Workspace


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A path as it is given to a program: relative to the folder the program runs in. `member`: what follows a `::`."""

    path: str
    folder: bool = False
    member: str = ""

    @property
    def word(self) -> str:
        """The path as an argument that no program takes for an option or for a file of options (`@file`)."""
        return f"./{self.path}" if self.path.startswith(("-", "@")) else self.path


def place_to_run(workspace: Workspace, cwd: str) -> str:
    """The folder to run in, relative to the root.

    Raises:
        ToolError: it is not there, or is no folder.
    """
    place = workspace.place(cwd)
    if place.outside or place.at == ".":
        return place.at
    info = workspace.stat(cwd)
    if info is None or not stat.S_ISDIR(info.st_mode):
        raise ToolError(f"{cwd}: there is no such folder to run in. Nothing was run. Name a folder that exists as cwd.")
    return place.at


def paths_of(path: str | list[str] | None) -> list[str]:
    """One path, several or none, as a list."""
    return [path] if isinstance(path, str) else path or []


def file_part(path: str) -> str:
    """`tests/test_a.py` of `tests/test_a.py::test_one`."""
    return path.partition("::")[0]


def targets(workspace: Workspace, paths: Sequence[str], cwd: str) -> list[Target]:
    """The paths of a call, for a program that runs in `cwd` (from `place_to_run`).

    What leads outside is not looked at: that is for policy to refuse.

    Raises:
        ToolError: a path that is not there, or that cannot be given to a program.
    """
    return [_target(workspace, path, cwd) for path in paths]


def _target(workspace: Workspace, path: str, cwd: str) -> Target:
    file, colons, member = path.partition("::")
    if path.startswith("-"):
        raise ToolError(f"{path} would be taken for an option. Nothing was run. Name a path; options belong in [dev].")
    if file.startswith(SESSION):
        raise ToolError(f"{path} is no file of the project. Nothing was run. Name one that is.")
    place = workspace.place(file)
    if place.outside:
        return Target(path=place.at, member=colons + member)
    info = workspace.stat(file)
    if info is None:
        raise ToolError(
            f"{file} does not exist. Nothing was run. Check the path; it is relative to the workspace root."
        )
    if not stat.S_ISDIR(info.st_mode) and not stat.S_ISREG(info.st_mode):
        raise ToolError(f"{file} is neither a file nor a folder. Nothing was run.")
    if given(place.at) and not os.path.lexists(os.path.join(workspace.root, place.at)):
        raise ToolError(f"{file} has a name that is not UTF-8. Nothing was run. Name the folder that it is in.")
    at = os.path.join(workspace.root, place.at) if cwd.startswith("/") else place.at
    path = at if cwd == "." else os.path.relpath(at, cwd)
    return Target(path=path, folder=stat.S_ISDIR(info.st_mode), member=colons + member)
