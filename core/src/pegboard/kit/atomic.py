"""Replacing a file in one step: a temporary file beside it, fsync, rename.

Where the system can (Linux, `O_TMPFILE`) the temporary file has no name until the moment of the rename, so that a process
killed while it writes leaves nothing behind.

Whatever fails on the way (a full disk, a killed process), the old file is still there, whole. Everything is done
relative to the descriptor of the folder, so the folder's name may be swapped meanwhile without effect.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from pegboard.kit.nature import Nature, put_on

_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_NEW_FLAGS: int = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_NAMELESS: int = getattr(os, "O_TMPFILE", 0)
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


class Beside:
    """A temporary file in the folder of the file it will become. A context manager: what was not placed is removed.

    `like`: what it is to be beside its content; None makes a new file, with the mode that the umask gives. `note`: what of
    that could not be, once it was written.
    """

    def __init__(self, folder: int, like: Nature | None) -> None:
        self._folder = folder
        self._like = like
        self._name = f".pegboard-{os.urandom(8).hex()}.tmp"
        self._there = False
        self._fd = -1
        self.note: str | None = None

    def __enter__(self) -> Beside:
        mode = 0o600 if self._like is not None else 0o666
        self._fd = self._nameless(mode)
        if self._fd < 0:
            self._fd = os.open(self._name, _NEW_FLAGS, mode, dir_fd=self._folder)
            self._there = True
        return self

    def _nameless(self, mode: int) -> int:
        """A file without a name in the folder; -1 where there is no such thing."""
        if not _NAMELESS or not os.path.isdir("/proc/self/fd"):
            return -1
        try:
            return os.open(".", _NAMELESS | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), mode, dir_fd=self._folder)
        except OSError:  # the file system does not know it; what else is wrong, the named file will say
            return -1

    def _link(self, name: str) -> None:
        os.link(f"/proc/self/fd/{self._fd}", name, dst_dir_fd=self._folder, follow_symlinks=True)

    def __exit__(self, *error: object) -> None:
        os.close(self._fd)
        if self._there:
            with suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)

    def write(self, data: bytes) -> None:
        """Write all of it, and have it on the disk."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]
        if self._like is not None:
            self.note = "; ".join(filter(None, (self._like.left, put_on(self._fd, self._like)))) or None
        os.fsync(self._fd)

    def replace(self, name: str) -> os.stat_result:
        """Become `name`, in place of what has that name. Returns its facts."""
        if not self._there:
            self._link(self._name)
            self._there = True
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._there = False
        return os.fstat(self._fd)

    def create(self, name: str) -> os.stat_result:
        """Become `name`, which must not exist (FileExistsError)."""
        if not self._there:
            self._link(name)
            return os.fstat(self._fd)
        move_new(self._folder, self._name, self._folder, name)
        self._there = False
        return os.fstat(self._fd)


def move_new(from_folder: int, name: str, to_folder: int, new: str) -> None:
    """Rename to a name that must not exist (FileExistsError), without a moment in which it could be overwritten."""
    try:
        os.link(name, new, src_dir_fd=from_folder, dst_dir_fd=to_folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        try:  # a file system without hard links: look, then rename
            os.lstat(new, dir_fd=to_folder)
        except FileNotFoundError:
            os.rename(name, new, src_dir_fd=from_folder, dst_dir_fd=to_folder)
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
    drop(from_folder, name, to_folder, new)


def drop(from_folder: int, name: str, to_folder: int, new: str) -> None:
    """Take the old name away; if that fails, the new one, so that there are not two."""
    try:
        os.unlink(name, dir_fd=from_folder)
    except OSError:
        with suppress(OSError):
            os.unlink(new, dir_fd=to_folder)
        raise
