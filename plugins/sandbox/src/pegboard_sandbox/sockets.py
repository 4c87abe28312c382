"""Sockets that have a path, of programs outside the sandbox. A network of its own does not shut them off, and a mount that
is read-only does not either: each that the system can name is covered. It cannot name one that was bound by a relative path,
or moved since."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

_LISTENS = "00010000"
"""The flag of a socket that takes connections (net/unix: __SO_ACCEPTCON)."""


def listening(table: str = "/proc/net/unix") -> list[str]:
    """The paths at which programs of this machine listen."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split(None, 7) for line in file]
    except OSError:
        return []
    named = {row[7] for row in rows if len(row) == 8 and row[3] == _LISTENS and row[7].startswith("/")}
    return sorted(filter(_is_socket, named))


def _is_socket(path: str) -> bool:
    """Whether one is there still. What else has come to lie there, or does in another view of the file system, is none."""
    with suppress(OSError, ValueError):
        return stat.S_ISSOCK(os.stat(path).st_mode)
    return False
