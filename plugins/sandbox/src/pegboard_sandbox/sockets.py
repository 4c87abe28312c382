"""Sockets that have a path, of programs outside the sandbox. Another network of its own does not shut them off, and a mount
that is read-only does not either: each that is there is covered."""

from __future__ import annotations

import os

_LISTENS = "00010000"
"""The flag of a socket that takes connections (net/unix: __SO_ACCEPTCON)."""
_MOST = 200


def listening(table: str = "/proc/net/unix") -> list[str]:
    """The paths at which programs of this machine listen."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as file:
            rows = [line.rstrip("\n").split(None, 7) for line in file]
    except OSError:
        return []
    named = {row[7] for row in rows if len(row) == 8 and row[3] == _LISTENS and row[7].startswith("/")}
    return sorted(path for path in named if os.path.exists(path))[:_MOST]
