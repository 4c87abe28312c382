"""Paths of a call as git is given them, and which files it may show."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pegboard.errors import ToolError
from pegboard.kit.names import given, shown
from pegboard.kit.workspace import Workspace

from pegboard_tools_git.repository import Repository


def pathspecs(workspace: Workspace, repository: Repository, paths: Sequence[str]) -> list[str]:
    """Paths relative to the top of the work tree, or to a bare repository's own tree; none for the top itself.

    Raises:
        ToolError: one lies outside the repository. Nothing was run.
    """
    specs = []
    for path in paths:
        spec = _relative(workspace, repository, path)
        if spec == ".":
            return []
        specs.append(spec)
    return specs


def _relative(workspace: Workspace, repository: Repository, path: str) -> str:
    """The letters of a path are kept where no folder on its way is a link: a tracked link is meant itself."""
    full = os.path.normpath(os.path.join(workspace.root, path))
    folder, name = os.path.split(full)
    place = workspace.place(path)
    if full != workspace.root and not (parent := workspace.place(folder)).outside:
        full = os.path.normpath(os.path.join(workspace.root, parent.at, name))
    else:
        full = os.path.normpath(os.path.join(workspace.root, place.at))
    other = given(full)
    if other is not None and not os.path.lexists(full) and os.path.lexists(other):
        full = other
    if place.outside or not f"{full}/".startswith(f"{repository.top}/"):
        raise ToolError(
            f"{path} lies outside the repository at {shown(repository.at)}. Nothing was run. Name paths of one repository."
        )
    return os.path.relpath(full, repository.top)


def may_not_read(workspace: Workspace, repository: Repository, name: str) -> bool:
    """Whether a file of the repository, by its path in it, must not be shown: guards say so, or it is no place in it."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts:
        return True  # a forged index can name what lies outside
    return workspace.refusal("read", repository.workspace_path(name)) is not None


def path_in_ref(ref: str) -> str | None:
    """The path in a revision that names a file's content (`HEAD:a.py`, `:a.py`, `:2:a.py`), as git finds it."""
    if ref.startswith(":/"):
        return None  # a search through messages
    if ref.startswith(":"):
        stage = len(ref) > 2 and ref[1] in "0123" and ref[2] == ":"
        return ref[3:] if stage else ref[1:]
    depth = 0
    for at, letter in enumerate(ref):
        depth += (letter == "{") - (letter == "}")
        if letter == ":" and depth <= 0:
            return ref[at + 1 :]
    return None
