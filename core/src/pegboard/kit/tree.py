"""The processes of one call: found wherever they went, and killed.

A child is started as the leader of a session and group of its own, so one signal to the group reaches almost all.
What left the group (`setsid`, a daemon) is found by its parent, its session, a mark in its environment and the pipes
it still holds. On Linux /proc tells; elsewhere `ps` knows parents and groups; Windows has `taskkill /T`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from pegboard.kit import landlock

if TYPE_CHECKING:
    from pegboard.kit.standins import StandIns

MARK = "PEGBOARD_CALL"
"""Set in the environment of every child: a random word for each call, after those of the calls around it."""


_SIGNALS = 65

_PROC: bool = sys.platform == "linux"
"""Whether /proc tells about processes."""


class Process(NamedTuple):
    """One row of the table of processes. `started` tells two processes with the same pid apart (0: not known)."""

    pid: int
    parent: int
    group: int
    session: int
    started: int


class Tree:
    """The processes that began with one child. Made before the child is started.

    `stand_ins` and `shifted`: as its `Launch` had it; `scratch`: its folder for temporary files, removed with it; `over`
    when the child has ended."""

    def __init__(self) -> None:
        self.pid = 0
        self.mark = os.urandom(8).hex()
        self._since = _now()
        self._known: dict[int, int] = {}
        self.stand_ins: StandIns | None = None
        self.shifted = False
        self.scratch: str | None = None

    @classmethod
    def restored(cls, pid: int, mark: str, since: str) -> Tree:
        """The tree of a child that another process, or an earlier one, had started with this mark. `since`: see `born`.

        When the child itself is gone its number may be another's by now: then only the mark tells who is of the tree.
        """
        tree = cls()
        tree.mark, tree._since = mark, int(since) if _PROC else 0
        tree.pid = pid if born(pid) == since else 0
        return tree

    def marked(self, env: Mapping[str, str]) -> dict[str, str]:
        """These variables with the mark, after those of the calls around it."""
        return {**env, MARK: f"{env.get(MARK, '')} {self.mark}".strip()}

    def with_scratch(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """These variables with a folder of its own for temporary files, where the system can hold a child to reading."""
        if not landlock.available():
            return env
        self.scratch = tempfile.mkdtemp(prefix="pegboard-reading-")
        return {**env, "TMPDIR": self.scratch}

    def over(self, code: int | None = None) -> int | None:
        """It has ended: what was held for it is let go of. Its return code as `subprocess` has it, a signal as one."""
        RUNNING.discard(self)
        if self.stand_ins is not None:
            self.stand_ins.release()
            self.stand_ins = None
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)
            self.scratch = None
        return 128 - code if self.shifted and code is not None and 128 < code < 128 + _SIGNALS else code

    def members(self, pipes: Iterable[int] = ()) -> list[Process]:
        """Everything of the tree that is alive. Whoever was once found stays known, also after its parent died.

        `pipes` are the descriptors its output is still read from.
        """
        held = {f"pipe:[{os.fstat(fd).st_ino}]" for fd in pipes} if _PROC else set()
        table = [p for p in _table() if p.started >= self._since and p.pid != os.getpid()]
        found = {p.pid: p for p in table if self._is_ours(p, held)}
        children: dict[int, list[Process]] = {}
        for process in table:
            children.setdefault(process.parent, []).append(process)
        queue = [*([self.pid] if self.pid else ()), *found]
        while queue:
            for process in children.get(queue.pop(), ()):
                if process.pid not in found:
                    found[process.pid] = process
                    queue.append(process.pid)
        self._known.update((p.pid, p.started) for p in found.values())
        return list(found.values())

    def _is_ours(self, process: Process, held: Set[str]) -> bool:
        if self.pid and self.pid in (process.pid, process.group, process.session):
            return True
        return self._known.get(process.pid) == process.started or _bears(process.pid, self.mark, held)

    def signal_group(self, number: int) -> bool:
        """Signal the child's own group at once; False when nobody is in it any more."""
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:  # somebody is there whom we may not signal (sudo); macOS: only the dead
            return _PROC
        return True

    def kill_group(self) -> None:
        """Kill the child and its group at once; on Windows its descendants too."""
        if sys.platform == "win32":
            subprocess.run(taskkill(self.pid), capture_output=True)
        else:
            self.signal_group(signal.SIGKILL)

    def kill(self, pipes: Iterable[int] = ()) -> None:
        """Kill all that is found now, without waiting for it to die."""
        if sys.platform == "win32":
            self.kill_group()
        else:
            self.signal(signal.SIGKILL, self.members(pipes))

    def signal(self, number: int, members: Iterable[Process]) -> None:
        """Signal the group, and those of `members` that left it."""
        if self.pid:
            self.signal_group(number)
        for process in members:
            if not self.pid or process.group != self.pid:
                _signal(process, number)


def born(pid: int) -> str:
    """When the process that has this number now was started, in the system's own words; empty for one that is dead."""
    if _PROC:
        row = _row(str(pid))
        return str(row.started) if row else ""
    command = ["ps", "-p", str(pid), "-o", "stat=,lstart="]
    stat, _, started = subprocess.run(command, capture_output=True, text=True).stdout.strip().partition(" ")
    return "" if stat.startswith("Z") else " ".join(started.split())


def is_alive(process: Process) -> bool:
    """Whether this very process is still running (the dead that nobody has waited for do not count)."""
    if _PROC:
        row = _row(str(process.pid))
        return row is not None and row.started == process.started
    with suppress(OSError):
        os.kill(process.pid, 0)
        return True
    return False


def taskkill(pid: int) -> list[str]:
    """The command that ends a process and all its descendants on Windows."""
    return ["taskkill", "/T", "/F", "/PID", str(pid)]


def _now() -> int:
    """The present in the unit and from the origin of `Process.started`."""
    if _PROC:
        return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) - 1
    return 0


def _table() -> list[Process]:
    if _PROC:
        return [row for name in os.listdir("/proc") if name.isdigit() and (row := _row(name))]
    return parse_ps(subprocess.run(["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True).stdout)


def _row(pid: str) -> Process | None:
    """A process by /proc/PID/stat; None for one that is gone or dead."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        line = os.read(fd, 1024)
    except OSError:  # it ended meanwhile
        return None
    finally:
        os.close(fd)
    fields = line[line.rfind(b")") + 2 :].split()  # the name before it may hold anything
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Process(int(pid), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def parse_ps(text: str) -> list[Process]:
    """The rows of `ps -A -o pid=,ppid=,pgid=,stat=` that are alive."""
    rows = [line.split() for line in text.splitlines()]
    return [Process(int(r[0]), int(r[1]), int(r[2]), 0, 0) for r in rows if len(r) >= 4 and not r[3].startswith("Z")]


def _bears(pid: int, mark: str, held: Set[str]) -> bool:
    """Whether a process holds one of our pipes as its output, or our mark in its environment."""
    if not _PROC:
        return False
    for fd in (1, 2):
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{fd}") in held:
                return True
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return mark.encode() in file.read()
    return False


def _signal(process: Process, number: int) -> None:
    """Signal one process, sure that it is still the one that was found."""
    with suppress(ProcessLookupError, PermissionError):
        if not _PROC:
            os.kill(process.pid, number)
            return
        fd = os.pidfd_open(process.pid)
        try:
            if is_alive(process):
                signal.pidfd_send_signal(fd, number)
        finally:
            os.close(fd)


RUNNING: set[Tree] = set()
"""Of this process's calls, and of jobs that end with it."""


def kill_all() -> None:
    """Kill every program that this process's calls run, without waiting: it is about to be another program itself."""
    for tree in list(RUNNING):
        with suppress(OSError):
            tree.kill()
