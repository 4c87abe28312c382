"""What the sandbox keeps on disk while the board is there: the private tmp, and what is mounted over secrets."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from typing import Any

from pegboard_sandbox.places import is_inside

_PARENTS = ("/tmp", "/var/tmp", "/dev/shm")
_NAME = "pegboard-sandbox-"
_ROUNDS = 20
"""How often removing is tried: each goes one level further into what was closed."""
_NEW, _OLD = 60.0, 86400.0
"""Seconds. One that is new may not be locked yet; one that was never locked is nobody's after a day."""


class Scratch:
    """A folder of the person's alone. `tmp` is what programs see as /tmp, from the first to the last; `nowhere` and
    `nothing` are a folder and a file that nobody may read, `blank` is an empty file. It ends with us; where we are killed,
    the next one that is made removes it."""

    def __init__(self, root: str) -> None:
        """Raises OSError when none can be made outside of `root`, which programs may write."""
        parents = [path for path in (*_PARENTS, tempfile.gettempdir()) if not is_inside(os.path.realpath(path), root)]
        parent = next(filter(_fits, parents), None)
        if parent is not None:
            sweep(parent)
        self.folder = tempfile.mkdtemp(prefix=_NAME, dir=parent)
        self.tmp, self.nowhere = f"{self.folder}/tmp", f"{self.folder}/nowhere"
        self.nothing, self.blank = f"{self.folder}/nothing", f"{self.folder}/blank"
        held = os.open(f"{self.folder}/lock", os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(held, fcntl.LOCK_EX)
        os.mkdir(self.tmp, 0o700)
        os.mkdir(self.nowhere)
        os.chmod(self.nowhere, 0o000)
        for path, mode in ((self.nothing, 0o000), (self.blank, 0o444)):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
            os.chmod(path, mode)
        self._end = weakref.finalize(self, _end, self.folder, held, os.getpid())

    def close(self) -> None:
        """Remove it."""
        self._end()


def sweep(parent: str) -> None:
    """Remove what killed ones have left in a folder."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(_NAME) and entry.is_dir(follow_symlinks=False):
                stat = entry.stat(follow_symlinks=False)
                if stat.st_uid == os.geteuid() and _is_left(entry.path, time.time() - stat.st_mtime):
                    _remove(entry.path)


def _is_left(folder: str, age: float) -> bool:
    """Whether whoever made it is no more: nobody holds its lock."""
    if age < _NEW:
        return False
    try:
        fd = os.open(f"{folder}/lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return age > _OLD
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _fits(path: str) -> bool:
    return os.access(path, os.W_OK | os.X_OK)


def _end(folder: str, held: int, owner: int) -> None:
    if os.getpid() == owner:
        _remove(folder)
        os.close(held)


def _remove(folder: str) -> None:
    """Remove it with folders that may not be entered or changed, which programs leave and `nowhere` is."""

    def opened(_: Any, path: str, __: Any) -> None:
        for one in (path, os.path.dirname(path)):
            if is_inside(one, folder):
                _open(one)

    for _ in range(_ROUNDS):
        shutil.rmtree(folder, onerror=opened)
        if not os.path.lexists(folder):
            return


def _open(folder: str) -> None:
    """Let the person into a folder of their own: by a descriptor, for a program may put a link in its place meanwhile."""
    with suppress(OSError):
        fd = os.open(folder, getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.chmod(f"/proc/self/fd/{fd}" if sys.platform == "linux" else fd, 0o700)
        finally:
            os.close(fd)
