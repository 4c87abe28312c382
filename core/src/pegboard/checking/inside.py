"""What the child process does: it checks targets one after another, and tells of each step on a descriptor of its own.

Started by `child`, and by nothing else. It may hang, or die, or be killed; whoever reads the lines sees how far it came.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from contextlib import suppress

import msgspec

from pegboard.checking.report import Begun, Finding, Key, Loaded
from pegboard.checking.target import Target

_DEADLY = [
    getattr(signal, f"SIG{name}")
    for name in ("TERM", "INT", "HUP", "QUIT", "ALRM", "USR1", "USR2")
    if hasattr(signal, f"SIG{name}")
]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A target, and what an earlier attempt found: see `Findings`."""

    target: Target
    known: list[Finding] = []
    ended: list[Key] = []


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the report. `job`: its number; one of the others is there. `size`: bytes of its tools; it is through."""

    job: int
    begun: Begun | None = None
    finding: Finding | None = None
    loaded: Loaded | None = None
    size: int | None = None


def main(report: int, memory: int) -> None:
    """Check what stdin names; report to the descriptor `report`, and end without waiting for anybody's threads.

    memory: bytes that this process may take for its data, where the system allows to say so; 0: any."""
    _limit(memory)
    _go_on_in_a_copy(report)
    jobs = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Job])
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    pid = os.getpid()

    def say(line: Line) -> None:
        if os.getpid() == pid:
            os.write(report, msgspec.json.encode(line) + b"\n")

    from pegboard.checking.checks import check

    for number, job in enumerate(jobs):

        def tell(said: Begun | Finding | Loaded, number: int = number) -> None:
            match said:
                case Begun():
                    say(Line(job=number, begun=said))
                case Finding():
                    say(Line(job=number, finding=said))
                case Loaded():
                    say(Line(job=number, loaded=said))

        for name in job.target.preload:
            with suppress(ImportError):
                importlib.import_module(name)
        made = check(job.target, tell, known=job.known, ended=job.ended)
        say(Line(job=number, size=made.bytes))
    os._exit(0)


def _go_on_in_a_copy(report: int) -> None:
    """Return in a copy of this process, and end as that ends. A module that ends its parent, whoever that may be, ends this
    one and not Pegboard; the copy goes with it."""
    if not hasattr(os, "fork") or not (copy := os.fork()):
        return

    def ends(number: int, _: object) -> None:
        with suppress(OSError):
            os.kill(copy, signal.SIGKILL)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    for number in _DEADLY:
        signal.signal(number, ends)
    os.close(report)
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    if code < 0:
        with suppress(OSError, ValueError):  # SIGKILL is as it is
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(abs(code))


def _limit(memory: int) -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash may be expected here, and its image is of no use
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
