"""What happens in this process while a plugin is imported or called: programs that are started, a network that is asked for.

Python's audit events tell of it. A network is not there: who asks for one is told that it cannot be reached, as on a machine
without. What files are written is seen by `pegboard.testing.writes`.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pegboard.kit.tree import MARK

_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "os.exec"})


@dataclass(slots=True)
class Deeds:
    """What was done. `started`: programs, except through the kit; `asked`: addresses and names of the network."""

    started: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Seat:
    """Who is told. An audit hook cannot be taken away again, so it stays, and mostly tells nobody."""

    hooked: bool = False
    deeds: Deeds | None = None


_SEAT = _Seat()


@contextmanager
def watched() -> Iterator[Deeds]:
    """While the block runs, what is done anywhere in this process comes into the deeds, and there is no network."""
    if not _SEAT.hooked:
        _SEAT.hooked = True
        sys.addaudithook(_hook)
    before, _SEAT.deeds = _SEAT.deeds, Deeds()
    try:
        yield _SEAT.deeds
    finally:
        _SEAT.deeds = before


def _hook(event: str, given: tuple[Any, ...]) -> None:
    deeds = _SEAT.deeds
    if deeds is None:
        return
    if event in _STARTS:
        if not _by_kit(event, given):
            deeds.started.append(_program(event, given))
    elif event == "socket.getaddrinfo":
        deeds.asked.append(str(given[0]))
        import socket

        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg") and isinstance(given[1], tuple):
        deeds.asked.append(str(given[1][0]))
        raise OSError(errno.ENETUNREACH, "Network is unreachable")


def _by_kit(event: str, given: tuple[Any, ...]) -> bool:
    """Whether a program is started by the kit, as `ctx.run` has it done: it is given a mark of its own."""
    env = given[3] if event == "subprocess.Popen" and len(given) > 3 else None
    return isinstance(env, Mapping) and env.get(MARK, "") != os.environ.get(MARK, "")


def _program(event: str, given: tuple[Any, ...]) -> str:
    named = given[1] if event == "subprocess.Popen" and len(given) > 1 else given[0] if given else event
    words = named if isinstance(named, list | tuple) else [named]
    return " ".join(os.fsdecode(word) if isinstance(word, str | bytes) else str(word) for word in words)[:100] or event
