"""What of a repository makes git run something: programs that its own configuration names, and repositories in it.

All of it may come with the workspace, or be written by what ran there. It is read when a line is judged, and only as far as
that is cheap; what cannot be read counts as naming a program.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_LONGEST = 262_144
"""Bytes of a configuration that are read."""
_LARGEST = 16_000_000
"""Bytes of an index that are read."""
_MOST = 200
"""Repositories inside one that are looked at."""
_DEEPEST = 4

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$", re.DOTALL)
_HARMLESS = re.compile(r"true|false|yes|no|on|off|0|1", re.IGNORECASE)
_LFS = re.compile(r"git-lfs (?:clean|smudge|filter-process)(?: --skip)?(?: -- %f)?|true|false")
_LOCAL = re.compile(
    r"core\.(?:fsmonitor|worktree|gitproxy|alternaterefscommand|attributesfile)|include\.path|includeif\..*\.path"
    r"|diff\.external|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)"
    r"|gpg\.program|gpg\..*\.(?:program|defaultkeycommand)|log\.showsignature|(?:core\.)?pager(?:\..*)?"
    r"|uploadpack\.packobjectshook|remote\..*\.(?:vcs|uploadpack)|extensions\.(?!worktreeconfig|partialclone|"
    r"refstorage|noop|preciousobjects).*"
)
"""Settings that name a program, or further settings, for commands that only look."""
_FURTHER = re.compile(
    r"core\.(?:sshcommand|askpass|editor)|sequence\.editor|credential\.(?:.*\.)?helper|remote\..*\.receivepack"
    r"|merge\..*\.driver|mergetool\..*|difftool\..*|interactive\.difffilter|trailer\..*\.(?:command|cmd)|tar\..*\.command"
    r"|browser\..*|man\..*|web\.browser|instaweb\..*|guitool\..*|sendemail\..*|init\.templatedir|ssh\.variant|alias\..*"
    r"|url\..*\.(?:insteadof|pushinsteadof)|protocol\..*|lfs\.(?:customtransfer|extension)\..*"
)
"""Those for what does more."""
_URL = re.compile(r"(?:remote\..*\.(?:url|pushurl)|submodule\..*\.(?:url|update))")


class Tracked(NamedTuple):
    """An index: paths of files, and of repositories inside the work tree."""

    files: tuple[str, ...]
    links: tuple[str, ...]


def folder_of(place: str) -> str | None:
    """The `.git` folder of the work tree that a place lies in; "": there is no repository. None: it cannot be told."""
    while True:
        here = os.path.join(place, ".git")
        if os.path.isdir(here):
            return here
        if os.path.lexists(here):
            return _pointed(here, place)
        if place == os.path.dirname(place):
            return ""
        place = os.path.dirname(place)


def runs_something(place: str, *, looks: bool) -> str | None:
    """Why git may run a program that the repository of this folder names. looks: for a command that only looks."""
    folder = folder_of(place)
    if folder is None:
        return "lies in a repository that cannot be read"
    return _of(folder, work_tree(place), looks, 0) if folder else None


def tracked(place: str) -> Tracked | None:
    """What the index of this folder's repository holds; None: it cannot be told."""
    folder = folder_of(place)
    return None if folder is None else _index(folder) if folder else Tracked((), ())


def work_tree(place: str) -> str:
    """The folder that has the `.git` which holds here; there must be one."""
    while not os.path.lexists(os.path.join(place, ".git")):
        place = os.path.dirname(place)
    return place


def _pointed(file: str, place: str) -> str | None:
    """Where a `.git` file points."""
    text = _text(file)
    if text is None or not text.startswith("gitdir:"):
        return None
    folder = os.path.realpath(os.path.join(place, text[7:].strip()))
    return folder if os.path.isdir(folder) else None


def _of(folder: str, tree: str, looks: bool, depth: int) -> str | None:
    common = folder
    if os.path.lexists(os.path.join(folder, "commondir")):
        text = _text(os.path.join(folder, "commondir"))
        if text is None:
            return "lies in a repository that cannot be read"
        common = os.path.realpath(os.path.join(folder, text.strip()))
    for file in dict.fromkeys(
        os.path.join(one, name) for one in (common, folder) for name in ("config", "config.worktree")
    ):
        key = _named(file, looks, inner=depth > 0)
        if key is not None:
            return f"runs in a repository whose own settings have {key}, which may name a program"
    if looks and os.path.lexists(os.path.join(common, "hooks", "post-index-change")):
        return "runs in a repository with a hook for the index"
    index = _index(folder)
    if index is None:
        return "runs in a repository whose index cannot be read"
    if len(index.links) > _MOST or (index.links and depth >= _DEEPEST):
        return "runs in a repository with too many in it"
    for link in index.links:
        why = _inner(os.path.join(tree, link), common, looks, depth)
        if why is not None:
            return why
    return None


def _inner(tree: str, common: str, looks: bool, depth: int) -> str | None:
    """Of a repository inside: it must keep its settings with those of the outer one, where no tool writes them."""
    file = os.path.join(tree, ".git")
    if not os.path.lexists(file):
        return None
    folder = None if os.path.isdir(file) or os.path.islink(file) else _pointed(file, tree)
    if folder is None or not folder.startswith(os.path.realpath(common) + "/modules/"):
        return "runs in a repository with another in it, whose own settings may make it run something"
    return _of(folder, tree, looks, depth + 1)


def _named(file: str, looks: bool, *, inner: bool) -> str | None:
    """The first setting in a file that names a program."""
    if not os.path.lexists(file):
        return None
    text = _text(file)
    if text is None:
        return "what cannot be read"
    for key, value in _settings(text):
        if key == "core.fsmonitor" and _HARMLESS.fullmatch(value):
            continue
        if key.startswith("filter.lfs.") and _LFS.fullmatch(value):
            continue
        if key == "core.worktree" and inner:
            continue  # every submodule has one
        if key == "log.showsignature" and value.lower() in ("false", "no", "off", "0"):
            continue
        if key == "core.hookspath" and looks:
            return key
        if _LOCAL.fullmatch(key) or (not looks and _FURTHER.fullmatch(key)):
            return key
        if _URL.fullmatch(key) and re.match(r"\s*(?:!|\w+::)", value):
            return key
    return None


def _settings(text: str) -> Iterator[tuple[str, str]]:
    """The settings in a text, as git reads them, or more than those: keys in lower case, with their section."""
    section = ""
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        line = line.strip("\ufeff \t\r")
        while (found := _SECTION.match(line)) is not None:
            section = found[1].lower() + ("." + found[2].lower() if found[2] is not None else "")
            line = line[found.end() :].lstrip()
        if line.startswith("["):
            yield "include.path", line  # a section that is not understood
        key = _KEY.match(line)
        if key is not None:
            yield f"{section}.{key[1].lower()}", re.sub(r"\s*[#;].*$", "", key[2] or "true").strip(' \t"')


def _text(file: str) -> str | None:
    """What stands in an ordinary file that is not too long."""
    try:
        if not os.path.isfile(file) or os.stat(file).st_size > _LONGEST:
            return None
        with open(file, encoding="utf-8", errors="replace") as opened:
            return opened.read(_LONGEST)
    except OSError:
        return None


def _index(folder: str) -> Tracked | None:
    path = os.path.join(folder, "index")
    try:
        if any(name.startswith("sharedindex.") for name in os.listdir(folder)):
            return None
        found = os.stat(path)
    except FileNotFoundError:
        return Tracked((), ())
    except OSError:
        return None
    if not os.path.isfile(path) or found.st_size > _LARGEST:
        return None
    return _read(path, found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)


@lru_cache(8)
def _read(path: str, *_stamp: int) -> Tracked | None:
    try:
        with open(path, "rb") as opened:
            data = opened.read(_LARGEST)
        return _entries(data)
    except (OSError, IndexError, ValueError):
        return None


def _entries(data: bytes) -> Tracked | None:
    """The entries of an index of version 2 to 4 with SHA-1 names; None where it is not sure that it is one."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4) or count > len(data) // 62:
        return None
    files: list[str] = []
    links: list[str] = []
    at, path = 12, b""
    for _ in range(count):
        mode = int.from_bytes(data[at + 24 : at + 28], "big")
        flags = int.from_bytes(data[at + 60 : at + 62], "big")
        begin = at + (64 if flags & 0x4000 else 62)
        if mode not in (0o100644, 0o100755, 0o120000, 0o160000, 0o040000):
            return None
        kept = b""
        if version == 4:
            stripped, begin = _number(data, begin)
            kept = path[: len(path) - stripped]
        end = data.index(b"\0", begin)
        path = kept + data[begin:end]
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
        (links if mode == 0o160000 else files).append(os.fsdecode(path))
    return Tracked(tuple(files), tuple(links))


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of the pack format's offsets, and what is behind it."""
    value = data[at] & 0x7F
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | (data[at] & 0x7F)
    return value, at + 1
