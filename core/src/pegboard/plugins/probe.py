"""Look at strangers' plugins in a child process: five seconds each, and the whole tree of processes killed after.

Many in one child; what fails there is looked at again alone, for another one may have harmed it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import msgspec

from pegboard.entries import Entry
from pegboard.kit.reporting import reporting
from pegboard.plugins.child import Seen, Wanted

LIMIT = 5.0
"""Seconds that an entry may take to be imported and to register."""
START = 30.0
"""Seconds that the child may take to begin."""
_MAIN = "pegboard.plugins.child:main"

_SILENT = Seen(index=0, what="crash", error="it kept the process that looked at it from telling of it")


class CannotLook(Exception):
    """No child could be started, or it ended before it looked at anything."""


def probe(
    entries: Sequence[Entry], tables: Mapping[str, Mapping[str, Any]], where: Mapping[str, str], limit: float = LIMIT
) -> dict[Entry, Seen]:
    """What became of each entry.

    Raises:
        CannotLook: nothing can be said of any.
    """
    wanted = [Wanted.of(entry, tables.get(entry.name, {}), where.get(entry.name)) for entry in entries]
    found: dict[int, Seen] = {}
    begin = 0
    while begin < len(wanted):
        some = _child(wanted[begin:], limit)
        found |= {begin + index: seen for index, seen in some.items()}
        begin += max(some, default=0) + 1  # after the one that hung or ended the child, or all
    if len(wanted) > 1:
        failed = [index for index, seen in found.items() if seen.what is not None]
        found |= {index: _child([wanted[index]], limit).get(0, _SILENT) for index in failed}
    return {entry: found.get(index, _SILENT) for index, entry in enumerate(entries)}


def _child(wanted: Sequence[Wanted], limit: float) -> dict[int, Seen]:
    """What one child says of these, by index. The last is the one that hung or ended it, if one did."""
    with ExitStack() as stack:
        try:
            child = stack.enter_context(reporting(_MAIN, sent=msgspec.json.encode(wanted), kind=Seen))
        except OSError as failed:
            raise CannotLook(f"no child process can be started ({failed})") from None
        seen: dict[int, Seen] = {}
        under_way: int | None = None
        deadline = time.monotonic() + START
        while len(seen) < len(wanted):
            lines = child.told(deadline)
            if lines is None:
                if under_way is None:
                    raise CannotLook("the child process that looks at plugins did not begin")
                error = f"it did not come back within {limit:g} s when it was imported"
                return {**seen, under_way: Seen(index=under_way, what="hang", error=error)}
            if not lines:
                break
            for line in lines:
                if line.begun:
                    under_way, deadline = line.index, time.monotonic() + limit
                else:
                    seen[line.index], under_way = line, None
        if under_way is not None:
            error = f"it ended the process when it was imported ({child.how_it_ended()})"
            seen[under_way] = Seen(index=under_way, what="crash", error=error)
        elif not seen:
            raise CannotLook(f"the child process that looks at plugins ended at once ({child.how_it_ended()})")
        return seen
