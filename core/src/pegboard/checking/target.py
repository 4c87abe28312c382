"""What is to be checked, found without importing anything of it: a folder with a pyproject.toml, a wheel, or an installed
distribution.

A folder's source is put on the path; it need not be installed. An author may help with a table in pyproject.toml:

    [tool.pegboard.check]
    budget = 2000                                   # bytes of a tool's schema above which it is warned of

    [tool.pegboard.check.samples]                   # arguments for calls, by tool; left out, they are made from its schema
    word_count = [{ path = "poem.txt" }]

    [tool.pegboard.check.files]                     # further files of the throw-away workspace
    "poem.txt" = "one two"

    [tool.pegboard.check.settings.words]            # the plugin's own table
    word = "FIXME"
"""

from __future__ import annotations

import os
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from pegboard.entries import GROUP, Entry, normal, scan
from pegboard.errors import PegboardError

BUDGET = 2000
"""Bytes of one tool's schema above which it is warned of, where the author states no other."""
_MOST_FILES = 20_000
_MOST_BYTES = 512 * 1024**2
_MOST_TOML = 1024**2
_SOURCES = ("src", ".", "lib", "python")


class NothingToCheck(PegboardError):
    """There is no such target, or it has no entry of ours. Nothing was run."""


class Hung(msgspec.Struct, frozen=True, kw_only=True):
    """An entry point of the target."""

    name: str
    group: str
    value: str

    def entry(self, distribution: str, version: str | None, info: str = "") -> Entry:
        """As the rest of Pegboard knows it."""
        return Entry(
            name=self.name,
            group=self.group,
            value=self.value,
            distribution=distribution,
            version=version or "0",
            own=False,
            info=info,
        )


class Wishes(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The author's table `[tool.pegboard.check]`."""

    budget: int = BUDGET
    samples: dict[str, list[dict[str, Any]]] = {}
    files: dict[str, str] = {}
    settings: dict[str, dict[str, Any]] = {}


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """A distribution to be checked. `paths`: folders that come first on the path; `folder`: the project's; `info`: the
    folder of installed metadata. `only`: the ids of checks that are wanted, all where it is empty. `write`: the manifest is
    written into the package. `preload`: modules of ours that are no part of what its loading costs."""

    target: str
    distribution: str
    version: str | None
    entries: list[Hung]
    paths: list[str] = []
    folder: str | None = None
    info: str = ""
    wishes: Wishes = Wishes()
    only: list[str] = []
    write: bool = False
    preload: list[str] = []

    @property
    def writable(self) -> bool:
        """Whether it is a project's folder, into which its manifest belongs."""
        return self.folder is not None and not self.info

    @property
    def known(self) -> list[Entry]:
        """Its entries, as the rest of Pegboard knows them."""
        return [one.entry(self.distribution, self.version, self.info) for one in self.entries]


@contextmanager
def found(target: str | None) -> Iterator[Target]:
    """The target that a person names, for as long as it is needed (a wheel is unpacked for that time).

    Raises:
        NothingToCheck: there is none; the text says what can be named.
    """
    named = target or "."
    path = Path(named)
    if path.is_dir() and (target is None or os.sep in named or (path / "pyproject.toml").is_file()):
        yield _of_folder(named, path.resolve())
    elif named.endswith(".whl") and path.is_file():
        with TemporaryDirectory(prefix="pegboard-check-") as folder:
            yield _of_wheel(named, path, Path(folder).resolve())
    elif os.sep in named or named.endswith(".whl"):
        raise NothingToCheck(f"{named} is no folder and no wheel. Nothing was checked.")
    else:
        yield _installed(named)


def _of_folder(named: str, folder: Path) -> Target:
    document = _read(folder / "pyproject.toml", named)
    project = _table(document, "project")
    poetry = _table(_table(document, "tool"), "poetry")
    groups = {**_table(poetry, "plugins"), **_table(project, "entry-points")}
    entries = [
        Hung(name=name, group=group, value=value)
        for group, table in groups.items()
        if group.startswith(GROUP) and isinstance(table, dict)
        for name, value in table.items()
        if isinstance(value, str)
    ]
    name = project.get("name") or poetry.get("name") or folder.name
    version = project.get("version") or poetry.get("version")
    if not entries:
        raise NothingToCheck(
            f"{named} has no entry point of Pegboard's in its pyproject.toml. Nothing was checked. "
            'Add one: [project.entry-points."pegboard.toolsets"], with name = "module".'
        )
    return Target(
        target=named,
        distribution=normal(str(name)),
        version=str(version) if version else None,
        entries=entries,
        paths=_sources(folder, document, entries),
        folder=str(folder),
        wishes=wishes_in(document, named),
    )


def _of_wheel(named: str, wheel: Path, folder: Path) -> Target:
    try:
        with zipfile.ZipFile(wheel) as archive:
            files = archive.infolist()
            if len(files) > _MOST_FILES or sum(file.file_size for file in files) > _MOST_BYTES:
                raise NothingToCheck(f"{named} is too large to be unpacked. Nothing was checked.")
            for file in files:
                target = (folder / file.filename).resolve()
                if not target.is_relative_to(folder):
                    raise NothingToCheck(
                        f"{named} would write outside its folder ({file.filename!r}). Nothing was checked."
                    )
            archive.extractall(folder)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as error:
        raise NothingToCheck(f"{named} cannot be read as a wheel ({error}). Nothing was checked.") from None
    return _in_metadata(named, scan([str(folder)]), [str(folder)], str(folder))


def _installed(name: str) -> Target:
    wanted = normal(name)
    entries = [entry for entry in scan() if entry.distribution == wanted]
    if not entries:
        raise NothingToCheck(
            f"no installed distribution {name!r} has an entry point of Pegboard's. Nothing was checked. "
            "Name a folder with a pyproject.toml, a wheel, or a distribution that `pegboard plugins` lists."
        )
    return _in_metadata(name, entries, [], None)


def _in_metadata(named: str, entries: list[Entry], paths: list[str], folder: str | None) -> Target:
    if not entries:
        raise NothingToCheck(f"{named} has no entry point of Pegboard's. Nothing was checked.")
    first = entries[0]
    return Target(
        target=named,
        distribution=first.distribution,
        version=first.version,
        entries=[Hung(name=one.name, group=one.group, value=one.value) for one in entries],
        paths=paths,
        folder=folder,
        info=first.info,
    )


def _read(file: Path, named: str) -> dict[str, Any]:
    try:
        if file.stat().st_size > _MOST_TOML:
            raise NothingToCheck(f"{file} is too large to be read. Nothing was checked.")
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise NothingToCheck(f"there is no pyproject.toml in {named}. Nothing was checked.") from None
    except (OSError, ValueError) as error:
        raise NothingToCheck(f"{file} cannot be read ({error}). Nothing was checked.") from None


def wishes_in(document: Mapping[str, Any], named: str) -> Wishes:
    """The author's table in a pyproject.toml.

    Raises:
        NothingToCheck: it is not understood.
    """
    table = _table(_table(_table(document, "tool"), "pegboard"), "check")
    try:
        return msgspec.convert(table, Wishes)
    except msgspec.ValidationError as error:
        raise NothingToCheck(
            f"{named}: [tool.pegboard.check] in pyproject.toml: {error}. Nothing was checked."
        ) from None


def _sources(folder: Path, document: Mapping[str, Any], entries: list[Hung]) -> list[str]:
    """The folders below which the modules of entries lie."""
    tool = _table(document, "tool")
    wheel = _table(_table(_table(_table(tool, "hatch"), "build"), "targets"), "wheel")
    said = [os.path.dirname(str(package)) or "." for package in wheel.get("packages", [])]
    said += [str(place) for place in _table(_table(tool, "setuptools"), "package-dir").values()]
    where: list[str] = []
    for one in entries:
        top = re.split(r"[.:]", one.value)[0]
        for place in (*said, *_SOURCES):
            source = (folder / place).resolve()
            if (source / top).is_dir() or (source / f"{top}.py").is_file():
                where.append(str(source))
                break
    return list(dict.fromkeys(where))


def _table(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}
