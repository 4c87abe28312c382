"""Files of a session: locked, opened without waiting and without following links, closed to others, read line by line."""

from __future__ import annotations

import errno
import gc
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from pegboard.errors import SessionError
from pegboard.events import AnyEvent

try:
    import fcntl
except ImportError:  # Windows: one process a session, until a lock there is proved
    fcntl = None  # type: ignore[assignment]

_decoder = msgspec.json.Decoder(AnyEvent)
decode = _decoder.decode
"""A line of a log to its event. Raises one of `UNREADABLE`."""
decode_lines = _decoder.decode_lines
"""Whole lines of a log to their events. Raises one of `UNREADABLE`."""
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # the last for lines nested without end


@contextmanager
def no_collection() -> Iterator[None]:
    """Hold the cycle collector back while a long log is taken in: all of it stays, so looking through it again and again
    finds nothing, and takes more than half of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class FileLock:
    """An exclusive lock on an open file, released on exit. Reentrancy is not needed and not offered."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        if fcntl is not None:
            fcntl.flock(self._fd, fcntl.LOCK_EX)

    def __exit__(self, *exc: object) -> None:
        if fcntl is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)


def tighten(fd: int, mode: int) -> None:
    """Take from others what they may do with an open file or folder of ours: an old umask may have given it."""
    info = os.fstat(fd)
    if info.st_mode & 0o777 & ~mode and hasattr(os, "getuid") and info.st_uid == os.getuid():
        os.fchmod(fd, info.st_mode & mode)


def private_opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def open_log(path: Path | str) -> int:
    """A log, open for reading. Never waits, and follows no link.

    Raises:
        FileNotFoundError: it is not there.
        SessionError: it is no regular file, or cannot be opened.
    """
    return regular(path, os.O_RDONLY)


def lines_of(path: Path) -> Iterator[bytes]:
    """Whole lines of a log; a last line without its newline is still being written and is left out."""
    for _, line in numbered(path):
        yield line


def numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    """The same with the number that an editor shows for each."""
    try:
        fd = regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    with open(fd, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.endswith(b"\n") and line != b"\n":
                yield number, line


def regular(path: Path | str, flags: int) -> int:
    """Open a log. Never waits for a pipe.

    Raises:
        FileNotFoundError: it is not there.
        SessionError: it is no regular file, or cannot be opened.
    """
    try:
        quick = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        fd = os.open(path, flags | os.O_CLOEXEC | quick, 0o600)
    except FileNotFoundError:
        raise
    except OSError as error:
        reason = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise SessionError(f"{path} cannot be opened ({reason}); nothing was changed") from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise SessionError(f"{path} is no regular file, so it was left alone")
    return fd


def read_log(path: Path) -> Iterator[AnyEvent]:
    """The events of a log file, without locking it.

    Raises:
        SessionError: a line is not an event of this version.
    """
    for number, line in numbered(path):
        try:
            yield decode(line)
        except UNREADABLE as error:
            raise SessionError(
                f"{path}:{number} is not an event this version knows ({error}); nothing was changed"
            ) from None


class Damage(msgspec.Struct, frozen=True):
    """A line of a log that is no event of this version: its number, and why."""

    line: int
    why: str


def read_around(path: Path) -> Iterator[AnyEvent | Damage]:
    """The events of a log file, and what stands between them that is none. Does not lock it.

    Raises:
        SessionError: the file cannot be opened.
    """
    for number, line in numbered(path):
        try:
            yield decode(line)
        except UNREADABLE as error:
            yield Damage(number, str(error))
