"""The end of a job: its pipes drained by one thread until it is over, and what began with it ended with it.

No event loop has a part in it: a front end may let its own stand still for as long as a person thinks.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

from pegboard.kit.child import CHUNK, LINGER_SECONDS
from pegboard.kit.jobs.records import Entry, Store
from pegboard.kit.process import signal_name
from pegboard.kit.settings import OutputSettings
from pegboard.kit.spool import Spool
from pegboard.kit.tree import Tree, is_alive

_GLANCE = 0.05
"""Seconds between two looks at a process, where the system does not tell of its end."""
_FULL_PAUSE = 0.005
"""A pause after each piece that is thrown away, so that one who floods us is slowed down, and not we."""
_GIVE_UP = 2.0


class JobSpool(Spool):
    """Keeps the output of a job in the file that its record was made with, under the quotas of all output.

    `on_full` is called once, when something is first left out, with what keeps it out."""

    def __init__(self, folder: str, path: str, settings: OutputSettings) -> None:
        super().__init__(folder, os.path.basename(path).removesuffix(".txt"), settings)
        self._path = path
        self.on_full: Callable[[str], None] | None = None

    def write(self, data: bytes) -> None:
        super().write(data)
        if self._cut and self.on_full is not None:
            told, self.on_full = self.on_full, None
            told(self._cut)

    @property
    def full(self) -> str:
        """What keeps out the rest; empty while there is room."""
        return self._cut

    def _open(self) -> None:
        if self._fd < 0:
            self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
            self._name = os.path.basename(self._path)


def drain(
    process: subprocess.Popen[bytes],
    pipes: Iterable[int],
    tree: Tree,
    spool: JobSpool,
    entry: Entry,
    store: Store,
    *,
    grace: float,
) -> None:
    """Take all that a child prints, wait for its end, end what it left behind, and note how it ended in `entry`.

    `store`: where it is written down meanwhile that output is dropped from now on."""

    def full(limit: str) -> None:
        entry.cut = limit
        with suppress(OSError):  # the session was deleted, or the disk is full: it is told at the end
            store.write(entry)

    spool.on_full = full
    open_pipes = set(pipes)
    try:
        _watch(process, open_pipes, spool)
        if open_pipes or _someone_left(tree):
            end_tree(tree, open_pipes, grace)
            _rest(open_pipes, spool)
    finally:
        for fd in open_pipes:
            os.close(fd)
        spool.close()
    code = tree.over(process.wait()) or 0
    entry.exit_code, entry.signal = (code, None) if code >= 0 else (None, signal_name(-code))
    entry.ended, entry.cut = round(time.time(), 3), spool.full


def end_tree(tree: Tree, pipes: Iterable[int], grace: float, process: subprocess.Popen[bytes] | None = None) -> bool:
    """End all that began with a child: SIGTERM, and after `grace` seconds SIGKILL. False: something could not be ended.

    `process`: the child, where it is ours to wait for."""
    held = list(pipes)
    members = tree.members(held)
    tree.signal(signal.SIGTERM, members)
    _until(lambda: not any(map(is_alive, members)), grace)
    until = time.monotonic() + _GIVE_UP
    while members := tree.members(held):
        tree.signal(signal.SIGKILL, members)
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    if process is not None:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GIVE_UP)
    return True


def _until(over: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not over() and time.monotonic() < until:
        time.sleep(0.005)


def _watch(process: subprocess.Popen[bytes], pipes: set[int], spool: JobSpool) -> None:
    """Until it has ended and its pipes are at their end, or somebody holds those still a little later."""
    with selectors.DefaultSelector() as selector:
        for fd in pipes:
            os.set_blocking(fd, False)
            selector.register(fd, selectors.EVENT_READ)
        end = _end_of(process)
        if end >= 0:
            selector.register(end, selectors.EVENT_READ)
        try:
            exited: float | None = None
            while exited is None or (pipes and time.monotonic() < exited + LINGER_SECONDS):
                ready = {key.fd for key, _ in selector.select(None if end >= 0 and exited is None else _GLANCE)}
                for fd in ready & pipes:
                    if not _take(fd, spool):
                        selector.unregister(fd)
                        pipes.discard(fd)
                        os.close(fd)
                if exited is None and process.poll() is not None:
                    exited = time.monotonic()
                    if end >= 0:
                        selector.unregister(end)
        finally:
            if end >= 0:
                os.close(end)


def _take(fd: int, spool: JobSpool) -> bool:
    """One piece; False at the end."""
    try:
        data = os.read(fd, CHUNK)
    except BlockingIOError:
        return True
    spool.write(data)
    if spool.full and data:
        time.sleep(_FULL_PAUSE)
    return bool(data)


def _rest(pipes: Iterable[int], spool: JobSpool) -> None:
    """What the pipes hold still, without waiting."""
    for fd in pipes:
        with suppress(BlockingIOError):
            for _ in range(16):
                if not (data := os.read(fd, CHUNK)):
                    break
                spool.write(data)


def _end_of(process: subprocess.Popen[bytes]) -> int:
    """A descriptor that tells of a process's end; -1 where there is none."""
    try:
        return os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return -1


def _someone_left(tree: Tree) -> bool:
    return hasattr(os, "killpg") and tree.signal_group(0)
