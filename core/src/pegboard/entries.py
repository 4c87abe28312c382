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

    `own`: the distribution is one of those that `pegboard` itself names, and lies beside it. `module`: given by a
    program, not on disk.
    `info`: the folder of the installed metadata; empty where there is none."""

    name: str
    group: str
    value: str
    distribution: str
    version: str
    own: bool
    module: Any = None
    info: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """What is installed. `ours`: the distributions that `pegboard` names, itself among them; empty where it is not
    installed. `copies`: a sentence for each of ours that is there more than once."""

    entries: list[Entry]
    ours: frozenset[str]
    copies: list[str]


def scan(paths: Iterable[str] | None = None) -> list[Entry]:
    """Every entry point of ours on `sys.path`: our own distributions first, others by name (decision 58)."""
    return survey(paths).entries


def survey(paths: Iterable[str] | None = None) -> Survey:
    """The entry points as `scan` has them, and what they are told apart by.

    Of a distribution of ours the copy beside `pegboard` counts, wherever another stands on the path: a folder in
    PYTHONPATH takes none of ours away. Of others an earlier path wins, as for imports."""
    there: dict[str, list[_Copy]] = {}
    folders: dict[str, str] = {}  # lib64 may be a link to lib
    for path in sys.path if paths is None else paths:
        folders.setdefault(os.path.realpath(path or "."), _absolute(path))
    for folder in folders.values():
        for info, distribution, version in _distributions(folder):
            there.setdefault(distribution, []).append((folder, os.path.join(folder, info), version))
    base = _home(there.get("pegboard", ()))
    ours = _required(base[1]) if base else frozenset()
    core = _home(there.get("pegboard-core", ()))
    homes = {copy[0] for copy in (base, core) if copy}
    entries: dict[tuple[str, ...], Entry] = {}
    copies: list[str] = []
    for distribution, some in there.items():
        beside = [copy for copy in some if copy[0] in homes] if distribution in ours else []
        if distribution in ours and len(some) > 1:
            used = ", ".join(info for _, info, _ in beside or some[:1])
            every = ", ".join(info for _, info, _ in some)
            copies.append(f"{distribution} is installed {len(some)} times ({every}); what counts is {used}")
        for _, info, version in beside or some[:1]:
            for g, n, v in _entry_points(os.path.join(info, "entry_points.txt")):
                entry = Entry(
                    name=n, group=g, value=v, distribution=distribution, version=version, own=bool(beside), info=info
                )
                entries.setdefault((distribution, g, n, v), entry)
    found = sorted(entries.values(), key=lambda e: (not e.own, e.distribution, e.group, e.name))
    return Survey(entries=found, ours=ours, copies=sorted(copies))


def installed(name: str, paths: Iterable[str] | None = None) -> tuple[str, str] | None:
    """The folder of the metadata and the version of a distribution, as an import would find it; None: it is not there.

    `name`: as `normal` has it."""
    for path in sys.path if paths is None else paths:
        folder = _absolute(path)
        for info, distribution, version in _distributions(folder):
            if distribution == name:
                return os.path.join(folder, info), version
    return None


SETS = frozenset({"pegboard.toolsets", "pegboard.renderers", "pegboard.prompts"})
"""Groups whose plugins protect nothing and answer for nobody: a trusted project may set their tables."""


FORMS = "pegboard.forms"
"""The group of functions that draw blocks, `(blocks, width) -> str`, for `pegboard plugin check`."""
WITHOUT_TABLE = frozenset({"pegboard.slash", FORMS})
"""Groups whose entries have no settings: what is typed after a slash takes nothing from a table of that name."""


def table_names(entries: Iterable[Entry]) -> frozenset[str]:
    """The names of plugins that may have a table of settings, `[NAME]`."""
    return frozenset(entry.name for entry in entries if entry.group not in WITHOUT_TABLE)


def set_names(entries: Iterable[Entry]) -> frozenset[str]:
    """The names that plugins of `SETS` have, and no other plugin with a table."""
    groups: dict[str, set[str]] = {}
    for entry in entries:
        if entry.group not in WITHOUT_TABLE:
            groups.setdefault(entry.name, set()).add(entry.group)
    return frozenset(name for name, some in groups.items() if some <= SETS)


def own_distributions(entries: Iterable[Entry]) -> frozenset[str]:
    """The distributions that make up Pegboard itself, as far as they are installed."""
    return frozenset({"pegboard", "pegboard-core", "pegboard-cli", *(e.distribution for e in entries if e.own)})


def summary(entry: Entry) -> str:
    """The line in which an entry's distribution says what it is; empty where it does not."""
    lines = _read(os.path.join(entry.info, "METADATA")).split("\n\n", 1)[0].splitlines() if entry.info else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("Summary:")), "")


_Copy = tuple[str, str, str]
"""A distribution in one place: the folder of `sys.path`, the folder of the metadata, the version."""


def _home(copies: Iterable[_Copy]) -> _Copy | None:
    """The copy that this process runs: beside the package, or in this environment where that is editable."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = sys.prefix.rstrip(os.sep) + os.sep
    return min(copies, key=lambda copy: (copy[0] != package, not copy[0].startswith(inside)), default=None)


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path or ".")
    except FileNotFoundError:  # the current folder is gone
        return path


def normal(name: str) -> str:
    """A distribution's name as names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


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
            yield info, normal(name), version.split("-py")[0]


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
    return frozenset({"pegboard", *(normal(re.split(r"[^\w.\-]", name)[0]) for name in names)})


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""
