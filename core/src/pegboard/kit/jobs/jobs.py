"""The jobs of one session, as one process looks after them."""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import msgspec

from pegboard.errors import ToolError
from pegboard.kit.caps import Caps
from pegboard.kit.jobs.draining import JobSpool, drain, end_tree
from pegboard.kit.jobs.keeper import Wanted
from pegboard.kit.jobs.output import Piece, read_page, read_piece
from pegboard.kit.jobs.records import Entry, Store, Who
from pegboard.kit.jobs.states import CANCELLED, Job, job_of, runs, those_there, tree_of
from pegboard.kit.launch import Launch, spawned
from pegboard.kit.process import Started
from pegboard.kit.settings import JobSettings, OutputSettings
from pegboard.kit.tree import Tree

CANCEL_SECONDS = 2.0
"""Between SIGTERM and SIGKILL: a server may want to put things in order."""
CLOSE_SECONDS = 0.5
"""The same when Pegboard ends: whoever presses Ctrl-C waits for it."""
LEFT_SECONDS = 0.2
"""The same for what a job leaves behind when it ends by itself."""
_TOLD = "told"


@dataclass(slots=True)
class _Own:
    """A job that a thread of this process drains."""

    entry: Entry
    process: subprocess.Popen[bytes]
    tree: Tree
    done: threading.Event = field(default_factory=threading.Event)


class Jobs:
    """Starts jobs, and looks after those of its session, whichever process started them.

    A job ends with `close`, unless it is kept. Used from the loop; each own job has a thread that drains it.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None,
        *,
        settings: JobSettings | None = None,
        output: OutputSettings | None = None,
        caps: Caps | None = None,
    ) -> None:
        """`folder`: the session's own; None for a session in memory, whose jobs' output goes with it."""
        self._given = os.fspath(folder) if folder is not None else None
        self._temporary: str | None = None
        self._settings = settings or JobSettings()
        self._output = output or OutputSettings()
        self._caps = caps or Caps.of(self._output)
        self._own: dict[str, _Own] = {}
        self._closed = False

    async def start(self, launch: Launch, *, label: str, keep: bool = False) -> Job:
        """Start a program in the background. `keep`: it outlives this process.

        Raises:
            ToolError: it could not be started, or too many run; nothing was started.
        """
        if keep and self._given is None:
            raise ToolError("a job is kept in its session's folder, and this session has none. Nothing was started.")
        store, entry = self._reserve(label, keep)
        try:
            if keep:
                from pegboard.kit.jobs.launching import keep as kept

                await kept(launch, Wanted(id=entry.id, folder=store.folder, output=self._output))
            else:
                process, fds, tree = spawned(launch)
                self._begin(entry, process, fds.values(), tree)
        except BaseException:
            store.forget(entry)
            raise
        return self.get(entry.id)

    def adopt(self, started: Started, *, label: str, held: Callable[[], bytes] = bytes) -> Job | None:
        """Let a program that runs already go on as a job; None where that cannot be, and then all is as it was.

        Its output from here on is the job's; what `held` gives begins it."""
        try:
            store, entry = self._reserve(label, keep=False)
        except ToolError:
            return None
        entry.began = round(time.time() - started.seconds, 3)
        released = started.child.release()
        if released is None:
            store.forget(entry)
            return None
        self._begin(entry, released[0], released[1].values(), started.child.tree, held())
        return self.get(entry.id)

    def all(self) -> list[Job]:
        """Every job of the session, oldest first."""
        return [job_of(self._newest(entry), store) for store in self._stores() for entry in store.all()]

    def get(self, id: str) -> Job:
        """One job as it stands now.

        Raises:
            ToolError: there is none of this name; the text names those there are.
        """
        store, entry = self._find(id)
        return job_of(entry, store)

    def output(self, id: str, since: int = 0) -> Piece:
        """What a job printed from byte `since` on, as much as fits a result; nothing from beyond the end."""
        store, entry = self._find(id)
        return read_piece(store.output_of(id), since, self._caps, over=job_of(entry, store).over)

    async def wait(
        self, id: str, timeout: float, *, since: int = 0, each: Callable[[bytes], None] | None = None
    ) -> Job:
        """Wait for a job's end, at most `timeout` seconds. What it prints from `since` on goes to `each` as it comes, as
        much as fits a result; the whole is what `output` gives afterwards."""
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + timeout, 0.01
        given, size, more = 0, -1, False
        while True:
            store, entry = self._find(id)
            job = job_of(entry, store)
            if each is not None and not more and job.size != size:
                size = job.size
                data, more, since = read_page(store.output_of(id), since, self._caps, over=job.over)
                if len(data) > given:
                    each(data[given:])
                    given = len(data)
            if job.over or loop.time() >= until:
                return job
            await asyncio.sleep(min(pause, max(0.0, until - loop.time())))
            pause = min(pause * 1.5, 0.5 if job.state == "left" else 0.1)

    async def cancel(self, id: str) -> Job:
        """End a job and all that began with it. One that is over stays as it is.

        Raises:
            ToolError: it cannot be ended, or not from here.
        """
        store, entry = self._find(id)
        if not runs(entry):
            return job_of(entry, store)
        store.mark(id, CANCELLED)
        own = self._own.get(id)
        tree = own.tree if own else tree_of(entry)
        if tree is None:  # it is just being started
            raise ToolError(f"{id} has not begun yet. Nothing was ended. Try again.")
        ended = await asyncio.to_thread(end_tree, tree, (), CANCEL_SECONDS)
        job = await self.wait(id, 2.0)
        if not ended or not job.over:
            raise ToolError(f"{id} was told to end, and something of it runs still. Look at process {job.pid}.")
        return job

    def news(self) -> list[Job]:
        """What the model was not told of yet: jobs that are over, or that were left behind. Each once."""
        news = []
        for store in self._stores():
            for id in store.ids():
                if store.marked(id, _TOLD) or (entry := store.read(id)) is None:
                    continue
                job = job_of(self._newest(entry), store)
                if job.state != "running":
                    store.mark(entry.id, _TOLD)
                    news.append(job)
        return news

    def tell(self, job: Job) -> None:
        """The model was told how a job stands: when it is over that is no news any more."""
        if job.over:
            for store in self._stores():
                store.mark(job.id, _TOLD)

    async def close(self) -> None:
        """End all jobs of this process that are not kept."""
        self._closed = True
        await asyncio.to_thread(self._end_all, CLOSE_SECONDS)

    def kill(self) -> None:
        """The same where nothing can be awaited any more."""
        self._closed = True
        self._end_all(0.0)

    def _end_all(self, grace: float) -> None:
        left = [own for own in self._own.values() if not own.done.is_set()]
        for own in left:
            own.entry.closed = True
        enders = [threading.Thread(target=end_tree, args=(own.tree, (), grace), daemon=True) for own in left]
        for ender in enders:
            ender.start()
        until = time.monotonic() + grace + 3.0
        for own, ender in zip(left, enders, strict=True):
            ender.join(max(0.0, until - time.monotonic()))
            own.done.wait(max(0.0, until - time.monotonic()))
        self._own.clear()
        atexit.unregister(self.kill)
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    def _reserve(self, label: str, keep: bool) -> tuple[Store, Entry]:
        if self._closed:
            raise ToolError("this session is being closed. Nothing was started.")
        if self._given is None and self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix="pegboard-jobs-")
        [store] = self._stores()
        return store, store.reserve(label, keep=keep, most=self._settings.max_jobs, runs=runs)

    def _stores(self) -> list[Store]:
        folder = self._given or self._temporary
        return [Store(folder)] if folder else []

    def _find(self, id: str) -> tuple[Store, Entry]:
        for store in self._stores():
            if (entry := store.read(id)) is not None:
                return store, self._newest(entry)
        there = [known for store in self._stores() for known in store.ids()]
        raise ToolError(f"there is no job {id[:40]!r}; nothing was done. {those_there(there)}")

    def _newest(self, entry: Entry) -> Entry:
        """A record as it is known here, where its end could not be written down."""
        own = self._own.get(entry.id)
        return own.entry if own is not None and own.done.is_set() else entry

    def _begin(
        self, entry: Entry, process: subprocess.Popen[bytes], pipes: Iterable[int], tree: Tree, held: bytes = b""
    ) -> None:
        [store] = self._stores()
        if not self._own:
            atexit.register(self.kill)  # whoever does not close us leaves nobody behind
        own = self._own[entry.id] = _Own(entry, process, tree)
        entry.child, entry.mark = Who.of(process.pid), tree.mark
        spool = JobSpool(store.folder, store.output_of(entry.id), self._output)
        try:
            store.write(entry)
            threading.Thread(target=_drain, args=(own, list(pipes), spool, store, held), daemon=True).start()
        except (OSError, RuntimeError) as error:
            del self._own[entry.id]
            end_tree(tree, (), 0.0, process)
            tree.over()
            for fd in pipes:
                os.close(fd)
            raise ToolError(f"the job could not be looked after ({error}); it was ended at once.") from None


def _drain(own: _Own, pipes: list[int], spool: JobSpool, store: Store, held: bytes) -> None:
    """The thread of one job."""
    entry = msgspec.structs.replace(own.entry)
    try:
        if held:
            spool.write(held)
        drain(own.process, pipes, own.tree, spool, entry, store, grace=LEFT_SECONDS)
        entry.closed = own.entry.closed
        own.entry = entry
        with suppress(OSError):  # the session was deleted
            store.write(entry)
    finally:
        own.done.set()
