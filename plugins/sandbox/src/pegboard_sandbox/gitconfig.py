"""Paths that settings of git name: folders of hooks, files of attributes, further files of settings.

The files are read as git reads them, save that what is included under a condition counts as if it held. What was read of a
file is kept for as long as it does not change.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

_LONGEST, _DEEPEST = 256 * 1024, 5
_SECTION = re.compile(r'\[\s*([\w.-]+)\s*(?:"(?:\\.|[^"\\])*")?\s*\]')
_SETTING = re.compile(r'([A-Za-z][\w-]*)[ \t]*=[ \t]*((?:\\.|"(?:\\.|[^"\\])*"|[^\\"#;\n])*)', re.DOTALL)
_ESCAPE = re.compile(r'\\(.)|"', re.DOTALL)
_LEADS = {"core.hookspath": "dir", "core.attributesfile": "file", "include.path": "file", "includeif.path": "file"}


class Named(NamedTuple):
    """A path that a file of settings names, as it stands there. kind: `dir` (of hooks) or `file`. included: it is read as
    settings, and begins at the file that names it. source: that file."""

    path: str
    kind: str
    included: bool
    source: str


def named_in(file: str, depth: int = 0) -> list[Named]:
    """What a file of settings names, and what it includes does."""
    found = list(_named(file))
    if depth < _DEEPEST:
        for one in tuple(found):
            if one.included:
                found += named_in(os.path.join(os.path.dirname(file), os.path.expanduser(one.path)), depth + 1)
    return found


def of_person(home: str) -> list[Named]:
    """What a person's own settings name, and those of the system."""
    config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    files = [f"{home}/.gitconfig", f"{config}/git/config", os.environ.get("GIT_CONFIG_GLOBAL", ""), "/etc/gitconfig"]
    return [one for file in files if file for one in named_in(file)]


def _named(file: str) -> tuple[Named, ...]:
    try:
        stat = os.stat(file)
    except (OSError, ValueError):
        return ()
    return _read(file, (stat.st_mtime_ns, stat.st_ino, stat.st_size))


@lru_cache(maxsize=256)
def _read(file: str, seen: tuple[int, int, int]) -> tuple[Named, ...]:
    """seen: what tells this state of the file from others."""
    text, found, section = "", [], ""
    with suppress(OSError), open(file, encoding="utf-8", errors="surrogateescape") as opened:
        text = opened.read(_LONGEST).removeprefix("\ufeff")
    at = 0
    while at < len(text):
        if header := _SECTION.match(text, at):
            section, at = header[1].lower(), header.end()
        elif setting := _SETTING.match(text, at):
            name, at = f"{section}.{setting[1].lower()}", setting.end()
            value = _ESCAPE.sub(lambda one: "" if one[1] in (None, "\n") else one[1], setting[2]).strip()
            if name in _LEADS and value:
                found.append(Named(value, _LEADS[name], name.startswith("include"), file))
        elif text[at] in "#;" or not text[at].isspace():  # a comment, or a name without a value
            at = text.find("\n", at) % (len(text) + 1)
        else:
            at += 1
    return tuple(found)
