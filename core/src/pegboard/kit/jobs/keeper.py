"""The process that keeps one job beyond the Pegboard that started it: drains it, and notes how it ended.

Started by `launching`, and by nothing else. It has a session of its own and no terminal.
"""

from __future__ import annotations

import os
import signal
import sys

import msgspec

from pegboard.errors import ToolError
from pegboard.kit.jobs.draining import JobSpool, drain, end_tree
from pegboard.kit.jobs.records import FOLDER, Store, Who
from pegboard.kit.launch import Launch, spawned
from pegboard.kit.settings import OutputSettings

GRACE_SECONDS = 0.2


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The job to keep: its record's id and the session's folder, and how output is kept."""

    id: str
    folder: str
    output: OutputSettings


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Whether it was started, told on stdout; why not."""

    error: str | None = None


def main(wanted: Wanted, launch: Launch) -> None:
    """Keep the job until it has ended."""
    store = Store(wanted.folder)
    entry = store.read(wanted.id)
    if entry is None:
        return _report(Report(error="the session's folder is gone. Nothing was started."))
    alive = _hold(wanted.folder)
    try:
        process, fds, tree = spawned(launch)
    except ToolError as error:
        return _report(Report(error=str(error)))
    entry.owner, entry.child, entry.mark = Who.of(os.getpid()), Who.of(process.pid), tree.mark
    try:
        store.write(entry)
    except OSError as error:
        end_tree(tree, (), 0.0, process)
        tree.over()
        return _report(Report(error=f"the job's record cannot be written ({error.strerror}). Nothing runs."))
    signal.signal(signal.SIGTERM, lambda *_: end_tree(tree, (), GRACE_SECONDS))
    for fd in launch.pass_fds:
        os.close(fd)
    _report(Report())
    spool = JobSpool(wanted.folder, store.output_of(entry.id), wanted.output)
    drain(process, fds.values(), tree, spool, entry, store, grace=GRACE_SECONDS)
    store.write(entry)
    if alive >= 0:
        os.close(alive)


def _report(report: Report) -> None:
    """Tell who started us, and let go of all that was theirs."""
    os.write(1, msgspec.json.encode(report))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)


def _hold(folder: str) -> int:
    """Hold a lock that says that the session is in use: it is not deleted under a job that runs."""
    try:
        import fcntl
    except ImportError:
        return -1
    fd = os.open(os.path.join(folder, FOLDER, "alive.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(fd, fcntl.LOCK_SH)
    return fd


def begin() -> None:
    """Read from stdin what is to be kept, and keep it."""
    import json  # what is no text (names, variables) passes as it is

    if os.fork():  # whoever started us waits for this one, and has no child to look after
        os._exit(0)
    said = json.loads(sys.stdin.buffer.read())
    os.chdir("/")
    main(msgspec.convert(said["wanted"], Wanted), msgspec.convert(said["launch"], Launch))
