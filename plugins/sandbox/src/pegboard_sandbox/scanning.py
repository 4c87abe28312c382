"""Secrets and repositories below the root of a workspace: found by a short look, nearest first.

A look at every file before every command would cost more than the command. It goes four levels down and through four hundred
folders, passes over what others wrote (dependencies, build results), and counts for half a minute. The root itself is looked
at anew each time.
"""

from __future__ import annotations

import os
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field

from pegboard_sandbox.names import is_secret

DEPTH, FOLDERS, SECONDS = 4, 400, 30.0
_OTHERS = (
    "node_modules",
    ".venv",
    "venv",
    "site-packages",
    "target",
    "dist",
    "build",
    "vendor",
    "__pycache__",
    ".tox",
    ".nox",
)
_KEPT = (
    ".git",
    ".hg",
    ".svn",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".cache",
    ".next",
    ".gradle",
    ".terraform",
)
_PASSED = frozenset((*_OTHERS, *_KEPT))


@dataclass(slots=True)
class Found:
    """What was found, by path: secrets, the `.git` of repositories, folders that are one without, and `.pegboard`."""

    secrets: list[str] = field(default_factory=list)
    repositories: list[str] = field(default_factory=list)
    bare: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


class Scanner:
    """Remembers what it found below the roots it was asked about."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Found]] = {}

    def __call__(self, root: str) -> Found:
        """What there is below a root, the root's own entries included."""
        found = Found()
        below = _look(root, found)
        seen = self._known.get(root)
        if seen is None or time.monotonic() - seen[0] > SECONDS:
            deep = Found()
            queue = deque((path, 1) for path in below)
            for _ in range(FOLDERS):
                if not queue:
                    break
                path, depth = queue.popleft()
                inner = _look(path, deep)
                if depth < DEPTH - 1:
                    queue.extend((one, depth + 1) for one in inner)
            seen = self._known[root] = (time.monotonic(), deep)
        deep = seen[1]
        found.secrets += filter(os.path.lexists, deep.secrets)
        found.repositories += filter(os.path.lexists, deep.repositories)
        found.bare += filter(os.path.lexists, deep.bare)
        found.own += filter(os.path.lexists, deep.own)
        return found


def _look(folder: str, found: Found) -> list[str]:
    """Note what is in a folder; the folders to look into."""
    below, names = [], set()
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            names.add(name)
            if name == ".git":
                found.repositories.append(entry.path)
            elif name == ".pegboard":
                found.own.append(entry.path)
            elif is_secret(entry.path):
                found.secrets.append(entry.path)
            elif name not in _PASSED and entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
    if {"HEAD", "objects", "refs"} <= names:
        found.bare.append(folder)
    return below
