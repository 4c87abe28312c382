"""The files of the workspace by name: read beside the loop, looked through a little at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from heapq import heappush, heapreplace
from time import monotonic, perf_counter
from typing import TypeAlias

from pegboard.port import Host

from pegboard_tui.composer.fuzzy import name_of, score

FRESH = 3.0
"""Seconds for which a list is not read anew."""
_SLICE = 0.004
"""Seconds of looking after which others have their turn."""
_STEP = 64
Entry: TypeAlias = "tuple[str, int, str]"
"""A path in lower case, where its last part begins, and the path."""


class Files:
    """What can be mentioned: files, and the folders they lie in (these end with a slash).

    `trouble`: why the last read failed; None: it did not."""

    def __init__(self, host: Host) -> None:
        self.trouble: str | None = None
        self.loaded = False
        self._host = host
        self._all: Sequence[Entry] = ()
        self._read_at = float("-inf")
        self._query = ""
        self._found: Sequence[Entry] = ()

    @property
    def stale(self) -> bool:
        """Whether the list is to be read anew before it is looked through."""
        return monotonic() - self._read_at > FRESH

    async def read(self) -> None:
        """Read the list anew. One that fails leaves what was there."""
        self._read_at = monotonic()
        try:
            names = await self._host.files()
            self._all = await asyncio.to_thread(_entries, names)
            self.trouble = None
        except Exception as error:  # noqa: BLE001 - isolates hosts: without the list one can still type
            self.trouble = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        self._query, self._found = "", self._all
        self._read_at = monotonic()
        self.loaded = True

    async def find(self, query: str, most: int) -> list[str]:
        """The best first."""
        query = query.lower()
        if not query:
            return [path for _, _, path in self._all[:most]]
        pool = self._found if self._query and query.startswith(self._query) else self._all
        found: list[Entry] = []
        best: list[tuple[int, int, str]] = []
        until = perf_counter() + _SLICE
        for number, entry in enumerate(pool):
            if number % _STEP == 0 and perf_counter() > until:
                await asyncio.sleep(0)
                until = perf_counter() + _SLICE
            if points := score(query, entry[0], entry[1]):
                found.append(entry)
                rated = (points, -len(entry[2]), entry[2])
                if len(best) < most:
                    heappush(best, rated)
                elif rated > best[0]:
                    heapreplace(best, rated)
        self._query, self._found = query, found
        return [path for _, _, path in sorted(best, key=lambda one: (-one[0], -one[1], one[2]))]

    def beginning(self, start: str, most: int) -> list[str]:
        """Those whose path begins so, one level of them."""
        found = []
        for _, _, path in self._all:
            if path.startswith(start) and path != start and "/" not in path[len(start) : -1]:
                found.append(path)
                if len(found) == most:
                    break
        return found


def _entries(names: Sequence[str]) -> list[Entry]:
    """Files and folders: hidden ones last, shallow ones first."""
    folders: set[str] = set()
    for name in names:
        end = name.rfind("/")
        while end > 0 and (folder := name[: end + 1]) not in folders:
            folders.add(folder)
            end = name.rfind("/", 0, end)
    paths = sorted([*names, *folders], key=lambda path: ("/." in f"/{path}", path.count("/", 0, len(path) - 1), path))
    return [(path.lower(), name_of(path), path) for path in paths]
