"""The Python test files of a project, at any depth: what is passed over here is a test that nobody runs."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Iterator

from pegboard.errors import DoorError
from pegboard.kit.workspace import Workspace

MOST_FILES = 2_000
"""Test files that are looked for."""
MOST_SECONDS = 0.5
"""How long folders are looked through: a person waits to be asked."""
_NAMED = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_PYTEST = re.compile(
    r"^[ \t]*(?:import|from) pytest\b|^(?:async )?def test|^class Test\w*(?:\((?:object)?\))?:", re.MULTILINE
)
_UNITTEST = re.compile(r"^[ \t]*(?:import|from) unittest\b|\bTestCase\b", re.MULTILINE)
_NEVER = frozenset({"__pycache__", "site-packages"})


def named(workspace: Workspace, folder: str) -> Iterator[str]:
    """Files below a folder that are called as tests are, relative to it, those of upper folders first. Not in what ignore
    files hide, hidden folders, environments and links. `folder`: relative to the root."""
    from pegboard.kit.walk.ignore import NEVER, top_scope

    parts = [] if folder == "." else os.fsencode(folder).split(b"/")
    folders = deque([("", top_scope(workspace.root).descend(parts))])
    until, found = time.monotonic() + MOST_SECONDS, 0
    while folders and found < MOST_FILES and time.monotonic() < until:
        path, scope = folders.popleft()
        try:
            entries = workspace.scan(os.path.normpath(os.path.join(folder, path)))
        except DoorError:
            continue
        names = frozenset(os.fsencode(entry.name) for entry in entries)
        if path and b"pyvenv.cfg" in names:
            continue
        scope = scope.loaded(names) if path else scope
        for entry in entries:
            name, is_folder = os.fsencode(entry.name), entry.kind == "folder"
            if is_folder:
                wanted = not entry.name.startswith(".") and name not in NEVER and entry.name not in _NEVER
            else:
                wanted = entry.kind == "file" and _NAMED.fullmatch(entry.name) is not None
            if not wanted or scope.ignored(name, folder=is_folder):
                continue
            if is_folder:
                folders.append((os.path.join(path, entry.name), scope.at(name)))
            else:
                found += 1
                yield os.path.join(path, entry.name)


def for_pytest(text: str) -> bool:
    """Whether a test file is written for pytest: unittest would pass over it without a word."""
    return _PYTEST.search(text) is not None


def for_unittest(text: str) -> bool:
    """Whether a test file has to do with unittest."""
    return _UNITTEST.search(text) is not None
