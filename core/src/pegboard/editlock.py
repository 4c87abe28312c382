"""The edit lock: in a workspace, one process at a time changes files, from comparing to renaming.

It is apart from a session's turn lock, which says who runs the model: whoever changes files (a call, an undo) holds this,
whichever session it is in.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from pegboard.errors import ToolError

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
    It goes by the root: workspaces whose roots lie in each other have a lock each.

    `folder`: where locks are kept; None: there is nobody else. `alive`: called while it is waited for; it raises to give up.

    Raises ToolError on entering: another process has had it for `WAIT`, or the system does not give it.
    """

    def __init__(self, folder: Path | None, root: str, alive: Callable[[], None] = lambda: None) -> None:
        self._folder = folder
        self._root = root
        self._alive = alive
        self._fd: int | None = None

    def __enter__(self) -> None:
        deadline = time.monotonic() + WAIT
        try:
            while not self._try():
                self._overdue(deadline)
                time.sleep(_AGAIN)
        except BaseException:
            self.release()
            raise

    async def __aenter__(self) -> None:
        deadline = time.monotonic() + WAIT
        try:
            while not self._try():
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
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _try(self) -> bool:
        if self._folder is None or fcntl is None:
            return True
        try:
            if self._fd is None:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                name = hashlib.blake2b(os.fsencode(self._root), digest_size=12).hexdigest()
                self._fd = os.open(self._folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise ToolError(
                f"the lock for changing files cannot be had in {self._folder} ({error.strerror}); nothing was changed. "
                "The person has to look at that folder."
            ) from error
        return True

    def _overdue(self, deadline: float) -> None:
        self._alive()
        if time.monotonic() > deadline:
            raise ToolError(
                f"another process has been changing files in this workspace for {WAIT:g} s; nothing was changed. "
                "Try again later."
            )
