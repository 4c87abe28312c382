"""Whether a plugin's files are still those that were looked at: their names, sizes and times, not what is in them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from pegboard.entries import Entry

MOST_FILES = 500


class Stamps:
    """Stamps of entries, each top package looked at once."""

    def __init__(self) -> None:
        self._packages: dict[str, str] = {}

    def of(self, entry: Entry) -> str:
        """The installed metadata and the module's package. Changes when the author edits the module."""
        module = entry.value.partition(":")[0]
        if module not in self._packages:
            self._packages[module] = _digest(_files(module))
        return f"{_row(os.path.join(entry.info, 'entry_points.txt'))} {self._packages[module]}"


def around(table: Mapping[str, Any]) -> str:
    """What a failure may also come from: the plugin's settings, and which packages are installed."""
    folders = [f"{path} {_row(path)}" for path in sys.path]
    return _digest([*folders, repr(msgspec.to_builtins(table))])


def digest_of(table: Mapping[str, Any]) -> str:
    """A plugin's settings, as they are told apart."""
    return _digest([repr(msgspec.to_builtins(table))])


def _digest(rows: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(rows).encode("utf-8", "surrogateescape")).hexdigest()[:24]


def _row(path: str) -> str:
    try:
        seen = os.stat(path)
    except OSError:
        return "-"
    return f"{seen.st_size} {seen.st_mtime_ns}"


def _files(module: str) -> Iterator[str]:
    """A row for each file of the package that a module stands in."""
    top, *rest = module.split(".")
    try:
        spec = importlib.util.find_spec(top)  # a package's parent is not imported for it: it has none
    except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: finders of editable installs are strangers' code
        spec = None
    if spec is None:
        yield "missing"
    elif not spec.submodule_search_locations:
        yield f"{os.path.basename(spec.origin or '')} {_row(spec.origin or '')}"
    else:
        folders = [str(place) for place in spec.submodule_search_locations]
        if spec.origin is None and rest:  # a namespace that others share: only our part of it
            yield from (_row(os.path.join(folder, *rest) + ".py") for folder in folders)
            folders = [os.path.join(folder, *rest) for folder in folders]
        for folder in folders:
            yield from _walk(folder)


def _walk(top: str) -> Iterator[str]:
    """Source and native modules below a folder, the nearest first, up to a limit. Caches change when they are imported."""
    count = 0
    queue = [top]
    while queue and count < MOST_FILES:
        folder = queue.pop(0)
        try:
            found = sorted(os.scandir(folder), key=lambda item: item.name)
        except OSError:
            continue
        for item in found:
            if item.name.endswith((".py", ".so", ".pyd")):
                count += 1
                yield f"{item.path[len(top) :]} {_row(item.path)}"
            elif item.name != "__pycache__" and not item.name.startswith(".") and item.is_dir(follow_symlinks=False):
                queue.append(item.path)
