"""Paths that are there for as long as some program runs, so that it cannot make them itself.

A sandbox keeps a path from being written by mounting something over it, and there must be a path to mount over. Whoever
needs one holds a lock on it; the last one removes it, in whichever process that is. What was made bears a time that nothing
else has, so that what a person made is never removed, and what a killed process left is known for what it is.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress

import msgspec

from pegboard.errors import ToolError

MADE = 413_287_861
"""When each was last changed, in seconds: the mark. Writing to it, or making something in it, takes the mark away."""


class StandIns:
    """The paths of one program. Made before it starts; `release` when it has ended."""

    def __init__(self, wanted: Mapping[str, str | None], kept_while: Mapping[str, str] | None = None) -> None:
        """`wanted`: paths, and the text of a file; None: an empty folder. `kept_while`: those that stay afterwards for as
        long as this other path is there.

        Raises:
            ToolError: one is not to be had, or something else is there by now; then nothing is held.
        """
        self._held: list[tuple[int, str, str | None]] = []
        self._kept = dict(kept_while or {})
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
        """Let go. What we made and nobody else holds is removed, unless it was made into something else."""
        while self._held:
            fd, path, text = self._held.pop()
            try:
                _remove(fd, path, text, self._kept.get(path))
            finally:
                os.close(fd)


def clear(left: Iterable[tuple[str, str | None, str | None]]) -> bool:
    """Remove what a killed process may have left: paths, their text, what each is kept for. Whether none is there now."""
    over = True
    for path, text, kept in left:
        try:
            fd = _opened(path, text)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:  # a link, or not to be opened: not what we made
            continue
        try:
            over = _remove(fd, path, text, kept) and over
        finally:
            os.close(fd)
    return over


def _remove(fd: int, path: str, text: str | None, kept: str | None) -> bool:
    """Remove what bears our mark, that nobody holds; False when it does and is still there."""
    if not (_is_marked(fd) and _is_as_made(fd, path, text)):
        return True
    if not _alone(fd) or (kept is not None and os.path.lexists(kept)):
        return False
    try:
        os.rmdir(path) if text is None else os.unlink(path)
    except OSError:
        return False
    return True


def _hold(path: str, text: str | None) -> int:
    """A lock on what is there under this name, as it is wanted."""
    while True:
        with suppress(FileExistsError):
            _make(path, text)
        try:
            fd = _opened(path, text)
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


def _opened(path: str, text: str | None) -> int:
    kind = os.O_DIRECTORY if text is None else 0
    return os.open(path, os.O_RDONLY | kind | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _make(path: str, text: str | None) -> None:
    if text is None:
        os.mkdir(path)
        os.utime(path, (MADE, MADE))
        return
    made = f"{path}.{os.urandom(6).hex()}"  # whole at once, for those who look meanwhile
    with open(made, "x", encoding="utf-8") as file:
        file.write(text)
    try:
        os.utime(made, (MADE, MADE))
        os.link(made, path)
    finally:
        os.unlink(made)


def _is_marked(fd: int) -> bool:
    """Whether we made it, and nobody has changed it since."""
    return os.fstat(fd).st_mtime_ns == MADE * 1_000_000_000


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


class Record:
    """What this process has had made, written down in a folder for as long as it lives: the next one that begins there
    removes what a killed one left. Where it cannot be written nothing is removed later, and nothing else is amiss."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._file: int | None = None
        self._noted: set[tuple[str, str | None, str | None]] = set()

    def note(self, wanted: Mapping[str, str | None], kept_while: Mapping[str, str]) -> None:
        """Write down what is about to be made."""
        new = {(path, text, kept_while.get(path)) for path, text in wanted.items()} - self._noted
        if self._folder is None or not new:
            return
        with suppress(OSError):
            if self._file is None:
                self._file = self._begun(self._folder)
            os.write(self._file, b"".join(msgspec.json.encode(one) + b"\n" for one in sorted(new, key=str)))
            self._noted |= new

    def _begun(self, folder: str) -> int:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, os.urandom(8).hex())
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        _lock(fd)
        weakref.finalize(self, _ended, fd, path, self._noted, os.getpid())
        return fd


def tidy(folder: str) -> None:
    """Remove what processes left that wrote it down in this folder and are no more."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if _alone(fd) and clear(_read(path)):
                    os.unlink(path)
            finally:
                os.close(fd)


def _read(path: str) -> list[tuple[str, str | None, str | None]]:
    found = []
    with open(path, "rb") as file:
        for line in file:
            with suppress(msgspec.MsgspecError):  # the last line of one that was killed may be half
                found.append(msgspec.json.decode(line, type=tuple[str, str | None, str | None]))
    return found


def _ended(fd: int, path: str, noted: set[tuple[str, str | None, str | None]], owner: int) -> None:
    if os.getpid() == owner:
        with suppress(OSError):
            if clear(noted):
                os.unlink(path)
            os.close(fd)
