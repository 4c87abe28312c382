"""What has become of a job, from its record and from the processes that are there."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from pegboard.kit.jobs.records import Entry, Store, boot
from pegboard.kit.spool import FOLDER, SCHEME
from pegboard.kit.tree import Tree

State: TypeAlias = Literal["running", "ended", "left", "lost"]
CANCELLED = "cancelled"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it stands now.

    state: running; ended; left: whoever drained it was killed, and it goes on, heard by nobody; lost: the same, and it
    has ended since, nobody knows how. exit_code is None while it runs, and when a signal ended it, which `signal` names.
    `output`: where its output is read, `size`: bytes of it; `cut`: what kept out the rest. seconds: how long it ran.
    """

    id: str
    label: str
    state: State
    exit_code: int | None
    signal: str | None
    cancelled: bool
    closed: bool
    keep: bool
    pid: int | None
    seconds: float
    output: str
    size: int
    cut: str

    @property
    def over(self) -> bool:
        """Whether nothing of it runs any more."""
        return self.state in ("ended", "lost")


def job_of(entry: Entry, store: Store) -> Job:
    """A job from its record."""
    state = state_of(entry)
    try:
        size = os.stat(store.output_of(entry.id)).st_size
    except OSError:
        size = 0
    return Job(
        id=entry.id,
        label=entry.label,
        state=state,
        exit_code=entry.exit_code,
        signal=entry.signal,
        cancelled=store.marked(entry.id, CANCELLED),
        closed=entry.closed,
        keep=entry.keep,
        pid=entry.child.pid if entry.child and state in ("running", "left") else None,
        seconds=round(max(0.0, (entry.ended or time.time()) - entry.began), 3),
        output=f"{SCHEME}{FOLDER}/{entry.id}.txt",
        size=size,
        cut=entry.cut,
    )


def state_of(entry: Entry) -> State:
    """Running or not, whoever asks."""
    if entry.ended is not None:
        return "ended"
    if entry.owner.alive:
        return "running"
    tree = tree_of(entry)
    return "left" if tree is not None and tree.members() else "lost"


def runs(entry: Entry) -> bool:
    """Whether anything of it runs."""
    return state_of(entry) in ("running", "left")


def tree_of(entry: Entry) -> Tree | None:
    """The processes of a job, for one who did not start it; None where nothing of it can run."""
    child = entry.child
    if child is None or not child.born or child.boot != boot():
        return None
    return Tree.restored(child.pid, entry.mark, child.born)


def those_there(ids: Sequence[str]) -> str:
    """Which jobs could be meant, for one that named none of them."""
    return f"There are {', '.join(ids[-20:])}." if ids else "There are none in this session."


def line_of(job: Job, most: int) -> str:
    """What a job was started as, in a line of so many characters."""
    line = " ".join(job.label.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def news_of(job: Job) -> str:
    """A job and how it stands, for who did not start it."""
    return f"job {job.id} ({line_of(job, 60)}): {described(job)}"


def described(job: Job) -> str:
    """How it stands, in words; also that part of what it prints is not kept."""
    dropped = (
        f"; of its output the first {job.size:,} bytes are kept, the rest is dropped ({job.cut})" if job.cut else ""
    )
    return _stands(job) + dropped


def _stands(job: Job) -> str:
    length = f"{job.seconds:.0f} s" if job.seconds >= 10 else f"{job.seconds:.1f} s"
    if job.state == "running":
        return f"running for {length}"
    if job.state == "left":
        return f"left behind by a Pegboard that was killed: it goes on (process {job.pid}), and nobody hears it"
    if job.state == "lost":
        return (
            "cancelled"
            if job.cancelled
            else "left behind by a Pegboard that was killed; it has ended, how is not known"
        )
    how = f"killed by {job.signal}" if job.signal else f"exit code {job.exit_code}"
    if job.cancelled:
        return f"cancelled after {length} ({how})"
    if job.closed:
        return f"ended with Pegboard, after {length} ({how})"
    return f"ended after {length}: {how}"
