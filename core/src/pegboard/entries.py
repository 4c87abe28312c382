"""Entry points of ours as they stand on disk. Nothing of them is imported, and little is imported to find them.

`entry_points.txt` of installed distributions is read directly: importlib.metadata parses every METADATA and costs a
third of the start. `pegboard --help` lists commands of plugins through this module alone.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

GROUP = "pegboard."


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An entry point: its name in its group, what it names (`module` or `module:object`), and whose it is.

    `own`: the distribution is one of those that `pegboard` itself names. `module`: given by a program, not on disk.
    `info`: the folder of the installed metadata; empty where there is none."""

    name: str
    group: str
    value: str
    distribution: str
    version: str
    own: bool
    module: Any = None
    info: str = ""


def scan(paths: Iterable[str] | None = None) -> list[Entry]:
    """Every entry point of ours on `sys.path`: our own distributions first, others by name (decision 58)."""
    found: list[tuple[str, str, str, str, str, str]] = []
    seen: set[str] = set()
    ours: frozenset[str] = frozenset()
    for folder in dict.fromkeys(_absolute(path) for path in (sys.path if paths is None else paths)):
        for info, distribution, version in _distributions(folder):
            if distribution in seen:
                continue  # an earlier path wins, as for imports
            seen.add(distribution)
            if distribution == "pegboard":
                ours = _required(os.path.join(folder, info))
            where = os.path.join(folder, info)
            for group, name, value in _entry_points(os.path.join(where, "entry_points.txt")):
                found.append((group, name, value, distribution, version, where))
    entries = [
        Entry(name=n, group=g, value=v, distribution=d, version=version, own=d in ours, info=info)
        for g, n, v, d, version, info in found
    ]
    return sorted(entries, key=lambda e: (not e.own, e.distribution, e.group, e.name))


def own_distributions(entries: Iterable[Entry]) -> frozenset[str]:
    """The distributions that make up Pegboard itself, as far as they are installed."""
    return frozenset({"pegboard", "pegboard-core", "pegboard-cli", *(e.distribution for e in entries if e.own)})


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path or ".")
    except FileNotFoundError:  # the current folder is gone
        return path


def _distributions(folder: str) -> Iterator[tuple[str, str, str]]:
    """(folder of the metadata, name, version) of what is installed in a folder of `sys.path`."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for info in names:
        stem, dot, ending = info.rpartition(".")
        if dot and ending in ("dist-info", "egg-info"):
            name, _, version = stem.partition("-")
            yield info, _normal(name), version.split("-py")[0]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _entry_points(path: str) -> Iterator[tuple[str, str, str]]:
    """(group, name, value) of our groups in one file. The format: sections in brackets, `name = value`, comments."""
    text = _read(path)
    section = ""
    for line in text.splitlines() if GROUP in text else ():
        line = line.strip()
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section.startswith(GROUP) and "=" in line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield section, name.strip(), value.strip()


def _required(info: str) -> frozenset[str]:
    """The distributions that the distribution `pegboard` names: those are our own."""
    lines = _read(os.path.join(info, "METADATA")).splitlines()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("Requires-Dist:"))
    return frozenset({"pegboard", *(_normal(re.split(r"[^\w.\-]", name)[0]) for name in names)})


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
