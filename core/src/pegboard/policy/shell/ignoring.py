"""Ignore files that bring hidden names back: `!.env` in one makes a search read what it would leave out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

IGNORE_FILES = frozenset([".ignore", ".rgignore", ".gitignore"])
_LONGEST = 65_536
"""Bytes of an ignore file that are read; a longer one may say anything."""


def above(folder: str) -> Iterator[str]:
    """The ignore files that hold in a folder from outside of it."""
    place = os.path.realpath(folder)
    while True:
        yield os.path.join(place, ".git", "info", "exclude")
        if place == os.path.dirname(place):
            return
        place = os.path.dirname(place)
        for name in sorted(IGNORE_FILES):
            yield os.path.join(place, name)


def brought_back(paths: Sequence[str], files: Sequence[str]) -> bool:
    """Whether a line of these ignore files may bring one of these paths back, by any name in it."""
    names = {part.casefold() for path in paths for part in path.split("/") if part}
    return any(fnmatchcase(name, pattern) for file in files for pattern in _patterns(file) for name in names)


def _patterns(file: str) -> Iterator[str]:
    """The last names of what a file brings back, as globs; `*` where it is not sure what the pattern means."""
    try:
        if os.stat(file).st_size > _LONGEST:
            yield "*"
            return
        with open(file, encoding="utf-8", errors="replace") as opened:
            lines = opened.read(_LONGEST).splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        yield "*"
        return
    for line in lines:
        line = line.strip("\ufeff \t")
        if line.startswith("!"):
            last = line[1:].rstrip("/").rpartition("/")[2].casefold()
            yield "*" if not last or set(last) & set("\\[]{}") else last
