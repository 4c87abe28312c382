"""The edit lock: in a folder, one process at a time changes files, from comparing to renaming.

It is apart from a session's turn lock, which says who runs the model: whoever changes files (a call, an undo) holds this,
whichever session it is in.

Workspaces may lie in each other, so a folder is locked with those around it: its own lock for oneself, the lock of every
folder above it shared. Whoever works further in or further out then waits, and whoever works beside does not. The locks
are had all at once or not at all, so nobody waits with one in hand that another waits for.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from pegboard.errors import ToolError
from pegboard.kit.names import shown

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

WAIT = 30.0
"""Seconds that the lock is waited for."""
_AGAIN = 0.01


def lock_folder(state: Path | None) -> Path | None:
    """Where edit locks of all workspaces are kept; None where nothing is kept."""
    return state / "locks" if state is not None else None


class EditLock:
    """The lock of one workspace; a context manager, also for `async with`. The system lets go of it when a process ends.

    `folder`: where locks are kept; None: there is nobody else. `root`: a real path. `outside`: real paths of files outside
    of it that are to be changed, too; the folder of each is locked as the root is. `alive`: called while it is waited for;
    it raises to give up.

    Nobody stands in line: whoever finds it taken tries again a hundred times a second. An edit takes milliseconds and a
    model's next one comes seconds later, so there are gaps enough also for who works further out and needs all others
    gone in the same moment.

    Raises ToolError on entering: another process has had it for `WAIT`, or the system does not give it.
    """

    def __init__(
        self, folder: Path | None, root: str, outside: Iterable[str] = (), *, alive: Callable[[], None] = lambda: None
    ) -> None:
        self._folder = folder
        self._wanted = _wanted([shown(root), *map(os.path.dirname, outside)])
        self._alive = alive
        self._fds: list[int] = []

    def __enter__(self) -> None:
        deadline = time.monotonic() + WAIT
        try:
            while not self.attempt():
                self._overdue(deadline)
                time.sleep(_AGAIN)
        except BaseException:
            self.release()
            raise

    async def __aenter__(self) -> None:
        deadline = time.monotonic() + WAIT
        try:
            while not self.attempt():
                self._overdue(deadline)
                await asyncio.sleep(_AGAIN)
        except BaseException:
            self.release()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.release()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.release()

    def release(self) -> None:
        """Let go of it. Again does nothing."""
        while self._fds:
            os.close(self._fds.pop())

    def attempt(self) -> bool:
        """Take all of it if nobody has any of it; else none. True where it was had."""
        if self._folder is None or fcntl is None:
            return True
        try:
            for name, how in self._wanted.items():
                fd = self._open(self._folder, name)
                self._fds.append(fd)
                fcntl.flock(fd, how | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            return False
        except OSError as error:
            raise ToolError(
                f"the lock for changing files cannot be had in {self._folder} ({error.strerror}); nothing was changed. "
                "The person has to look at that folder."
            ) from error
        return True

    @staticmethod
    def _open(folder: Path, name: str) -> int:
        path, flags = f"{folder}/{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            return os.open(path, flags, 0o600)

    def _overdue(self, deadline: float) -> None:
        self._alive()
        if time.monotonic() > deadline:
            raise ToolError(
                f"another process has been changing files in or around this workspace for {WAIT:g} s; nothing was "
                "changed. Try again later."
            )


def _wanted(folders: Iterable[str]) -> dict[str, int]:
    """The names of the locks, and how each is held: of these folders alone, of all above them shared."""
    if fcntl is None:
        return {}
    lines = {folder: _above(folder) for folder in folders}
    outermost = [f for f, above in lines.items() if lines.keys().isdisjoint(above)]  # shut out all that is further in
    wanted = {_name(above): fcntl.LOCK_SH for folder in outermost for above in lines[folder]}
    return wanted | {_name(folder): fcntl.LOCK_EX for folder in outermost}


def _above(folder: str) -> list[str]:
    """The folders that it lies in, the nearest first."""
    above = []
    while (upper := os.path.dirname(folder)) != folder:
        above.append(folder := upper)
    return above


def _name(folder: str) -> str:
    return hashlib.blake2b(folder.encode(), digest_size=12).hexdigest()
