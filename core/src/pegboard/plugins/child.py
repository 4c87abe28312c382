"""The child process that looks at strangers' plugins: it imports each, calls its hooks, and reports one line for each.

Started by `probe`, and by nothing else. It may hang, or die, or be killed; whoever reads the lines sees how far it came.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec

from pegboard.entries import Entry
from pegboard.plugins.contained import Containment
from pegboard.plugins.loaded import LoadProblem, told
from pegboard.plugins.loading import load_one, tools_of

_TRACE = 8000


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """An entry to look at, with its settings."""

    entry: Entry
    table: dict[str, Any] = {}
    where: str | None = None

    @classmethod
    def of(cls, entry: Entry, table: Mapping[str, Any], where: str | None = None) -> Wanted:
        """What a child process is told of an entry, a stranger's, that it is to look at. `where`: the file and line of its
        table."""
        return cls(entry=replace(entry, own=False, module=None), table=dict(table), where=where)


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the report. `index`: the entry's place among those wanted. begun: it is about to be imported."""

    index: int
    begun: bool = False
    what: str | None = None
    error: str | None = None
    trace: str = ""
    hooks: list[str] = []
    tools: list[str] = []
    aliases: list[str] = []
    left_out: list[str] = []
    import_ms: float | None = None
    remarks: list[str] = []


def main(report: int) -> None:
    """Look at what stdin names; report to the descriptor `report`, and end without waiting for anybody's threads."""
    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Wanted])
    pid = os.getpid()
    forks: list[int] = []
    os.register_at_fork(after_in_parent=lambda: forks.append(1))
    with suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is expected here, and its image is of no use

    def say(seen: Seen) -> None:
        if os.getpid() == pid:
            os.write(report, msgspec.json.encode(seen) + b"\n")

    with Containment() as containment:
        for index, one in enumerate(wanted):
            say(Seen(index=index, begun=True))
            forks.clear()
            say(_look(index, one, containment, forks))
    os._exit(0)


def _look(index: int, wanted: Wanted, containment: Containment, forks: list[int]) -> Seen:
    remarks: list[str] = []
    with containment.watched(remarks):
        try:
            plugin = load_one(wanted.entry, wanted.table, wanted.where)
            box = tools_of(plugin)
            seen = Seen(
                index=index,
                hooks=sorted(plugin.contributions),
                tools=box.names,
                aliases=box.aliases,
                left_out=box.left_out,
                import_ms=plugin.import_ms,
            )
        except LoadProblem as problem:
            seen = Seen(index=index, what=problem.what, error=str(problem), trace=_trace(problem.__cause__))
        except BaseException as error:  # noqa: BLE001 - isolates plugins: in this process nothing else is to be ended
            seen = Seen(index=index, what="import", error=told(error, wanted.entry.value), trace=_trace(error))
    if forks:
        remarks.append("forks when it is loaded (the copy was ended)")
    return msgspec.structs.replace(seen, remarks=remarks)


def _trace(error: BaseException | None) -> str:
    """Where it came from, for `--debug` and for the author; the end of it, which names the place."""
    if error is None:
        return ""
    import traceback

    return "".join(traceback.format_exception(error, limit=-20))[-_TRACE:].encode("utf-8", "replace").decode()
