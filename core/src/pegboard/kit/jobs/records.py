"""The records of jobs: a small file for each in the session's folder, written by its owner alone.

What others have to say of a job (that they cancelled it, that the model was told of its end) are empty files beside it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import msgspec

from pegboard.errors import ToolError
from pegboard.kit.spool import FOLDER as OUT
from pegboard.kit.tree import born

try:
    import fcntl
except ImportError:  # Windows: one process at a time on a session
    fcntl = None  # type: ignore[assignment]

FOLDER = "jobs"
_ID = re.compile(r"j[1-9][0-9]{0,8}\Z")
_RECORD = ".json"
_LOCK_SECONDS = 2.0
"""Others hold the lock for milliseconds; one that was stopped in the middle must not stop us, too."""


class Who(msgspec.Struct, frozen=True, kw_only=True):
    """A process, told apart from later ones of the same number by when it was started, and by the system's own start."""

    pid: int
    born: str
    boot: str

    @classmethod
    def of(cls, pid: int) -> Who:
        """The process that has this number now."""
        return cls(pid=pid, born=born(pid), boot=boot())

    @property
    def alive(self) -> bool:
        """Whether this very process still runs."""
        return bool(self.born) and born(self.pid) == self.born and self.boot == boot()


class Entry(msgspec.Struct, kw_only=True):
    """One job's record. `began`, `ended`: seconds since 1970. `owner`: the process that drains it. closed: it was ended
    because its Pegboard was. cut: what kept out the rest of its output."""

    id: str
    label: str
    owner: Who
    began: float
    keep: bool = False
    child: Who | None = None
    mark: str = ""
    ended: float | None = None
    exit_code: int | None = None
    signal: str | None = None
    closed: bool = False
    cut: str = ""


class Store:
    """The records of one session."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._jobs = os.path.join(folder, FOLDER)

    def reserve(self, label: str, *, keep: bool, most: int, runs: Callable[[Entry], bool]) -> Entry:
        """A new record with an id that no other has, and its empty output; made under a lock of all processes.

        Raises:
            ToolError: as many run already, or the files cannot be made; nothing was started.
        """
        try:
            with self._lock():
                running = [entry.id for entry in self.all() if runs(entry)]
                if len(running) >= most:
                    raise ToolError(
                        f"{len(running)} jobs run already, as many as may: {', '.join(running)}. Nothing was started. "
                        "Wait for one of them, or cancel one."
                    )
                entry = Entry(
                    id=self._fresh(), label=label, owner=Who.of(os.getpid()), began=round(time.time(), 3), keep=keep
                )
                self.write(entry)
        except OSError as error:
            raise ToolError(
                f"a job needs a file in the session's folder, and none can be made ({error.strerror}). Nothing was started."
            ) from None
        return entry

    def forget(self, entry: Entry) -> None:
        """Take away the record of a job that could not be started."""
        for path in (self.output_of(entry.id), self._path(entry.id)):
            with suppress(OSError):
                os.unlink(path)

    def write(self, entry: Entry) -> None:
        """Write a record, whole or not at all. Raises OSError."""
        path = self._path(entry.id)
        part = f"{path}.{os.getpid()}"
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(msgspec.json.encode(entry))
        os.replace(part, path)

    def read(self, id: str) -> Entry | None:
        """One record; None where there is none, or one that cannot be read."""
        if not _ID.match(id):
            return None
        try:
            with open(self._path(id), "rb") as file:
                return msgspec.json.decode(file.read(), type=Entry)
        except (OSError, msgspec.MsgspecError):
            return None

    def ids(self) -> list[str]:
        """The ids there are, oldest first."""
        try:
            names = os.listdir(self._jobs)
        except OSError:
            return []
        ids = [name.removesuffix(_RECORD) for name in names if name.endswith(_RECORD)]
        return sorted((id for id in ids if _ID.match(id)), key=lambda id: int(id[1:]))

    def all(self) -> list[Entry]:
        """The records there are, oldest first."""
        return [entry for id in self.ids() if (entry := self.read(id)) is not None]

    def output_of(self, id: str) -> str:
        """The file of a job's output."""
        return os.path.join(self.folder, OUT, f"{id}.txt")

    def mark(self, id: str, what: str) -> None:
        """Note something about a job; another process may own its record."""
        with suppress(OSError):
            os.close(os.open(f"{self._path(id)}.{what}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def marked(self, id: str, what: str) -> bool:
        """Whether that was noted."""
        return os.path.exists(f"{self._path(id)}.{what}")

    def _path(self, id: str) -> str:
        return os.path.join(self._jobs, f"{id}{_RECORD}")

    def _fresh(self) -> str:
        """An id that is free, as record and as output (a call's own output may have such a name)."""
        os.makedirs(os.path.join(self.folder, OUT), mode=0o700, exist_ok=True)
        number = max((int(id[1:]) for id in self.ids()), default=0)
        while True:
            number += 1
            with suppress(FileExistsError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                os.close(os.open(self.output_of(f"j{number}"), flags, 0o600))
                return f"j{number}"

    @contextmanager
    def _lock(self) -> Iterator[None]:
        os.makedirs(self._jobs, mode=0o700, exist_ok=True)
        fd = os.open(os.path.join(self._jobs, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            until = time.monotonic() + _LOCK_SECONDS
            while fcntl is not None:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        text = "another process holds the jobs of this session. Nothing was started. Try again."
                        raise ToolError(text) from None
                    time.sleep(0.005)
            yield
        finally:
            os.close(fd)


def boot() -> str:
    """The system's present start; empty where it has no name."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
