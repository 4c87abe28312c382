"""Paths that are there for as long as some program runs, so that it cannot make them itself.

A sandbox keeps a path from being written by mounting something over it, and there must be a path to mount over. Whoever
needs one holds a lock on it; the last one removes it, in whichever process that is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress

from pegboard.errors import ToolError


class StandIns:
    """The paths of one program. Made before it starts; `release` when it has ended."""

    def __init__(self, wanted: Mapping[str, str | None]) -> None:
        """`wanted`: paths, and the text of a file; None: an empty folder.

        Raises:
            ToolError: one is not to be had, or something else is there by now; then nothing is held.
        """
        self._held: list[tuple[int, str, str | None]] = []
        path = ""
        try:
            for path, text in wanted.items():
                self._held.append((_hold(path, text), path, text))
        except OSError as error:
            self.release()
            why = error.strerror or error
            raise ToolError(
                f"{path} could not be kept for the sandbox ({why}). Nothing was run. Call again."
            ) from error

    def release(self) -> None:
        """Let go. What nobody else holds is removed, unless it was made into something else."""
        while self._held:
            fd, path, text = self._held.pop()
            try:
                if _alone(fd) and _is_as_made(fd, path, text):
                    with suppress(OSError):
                        os.rmdir(path) if text is None else os.unlink(path)
            finally:
                os.close(fd)


def _hold(path: str, text: str | None) -> int:
    """A lock on what is there under this name, as it is wanted."""
    while True:
        with suppress(FileExistsError):
            _make(path, text)
        kind = os.O_DIRECTORY if text is None else 0
        try:
            fd = os.open(path, os.O_RDONLY | kind | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            _lock(fd)
            if _is_as_made(fd, path, text):
                return fd
            if os.path.lexists(path) and os.path.samestat(os.fstat(fd), os.lstat(path)):
                raise OSError(0, "something else is there")
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _make(path: str, text: str | None) -> None:
    if text is None:
        os.mkdir(path)
        return
    made = f"{path}.{os.urandom(6).hex()}"  # whole at once, for those who look meanwhile
    with open(made, "x", encoding="utf-8") as file:
        file.write(text)
    try:
        os.link(made, path)
    finally:
        os.unlink(made)


def _is_as_made(fd: int, path: str, text: str | None) -> bool:
    """Whether what is held has this name still, and nothing but what it was made with."""
    try:
        if not os.path.samestat(os.fstat(fd), os.lstat(path)):
            return False
        return not os.listdir(fd) if text is None else os.pread(fd, len(text) + 1, 0) == text.encode()
    except OSError:
        return False


def _lock(fd: int) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_SH)


def _alone(fd: int) -> bool:
    if sys.platform != "win32":
        import fcntl

        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True
