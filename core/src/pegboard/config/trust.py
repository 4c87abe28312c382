"""Which projects a person trusts: the folder, and every byte of what they were shown, kept in the state folder.

A record names a root by its real path and its inode, and holds a hash of the settings file and of every plugin file. A
project whose bytes are others, a moved or copied folder, and another folder in its place, are not trusted. Who could write
the record could trust anything, so one that others can write to, or that is no plain file of ours, counts for nothing.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec

from pegboard.config.project import Brought
from pegboard.errors import PegboardError

FOLDER = "trust"
"""Below the state folder: a file for each root."""
_VERSION = 1
_LARGEST = 1024 * 1024
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)

State = Literal["trusted", "changed", "untrusted"]


class Trusted(msgspec.Struct, frozen=True, kw_only=True):
    """One record. parts: every file with the hash of its bytes; config: the settings as they were shown; at: when."""

    version: int
    root: str
    inode: int
    digest: str
    parts: dict[str, str]
    config: str | None
    at: str


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """What a project brings, and whether a person trusts just that."""

    brought: Brought
    state: State


def standing(brought: Brought, state: Path | None) -> State:
    """Whether a person trusts just these bytes in just this folder. `state`: the state folder; None: nothing is known."""
    found = record(brought.root, state)
    if found is None or found.inode != brought.inode or not brought.inode:
        return "untrusted"
    return "trusted" if brought.fit and not brought.nothing and found.digest == brought.digest else "changed"


def record(root: str, state: Path | None) -> Trusted | None:
    """The record of a root (its real path), whatever is there now; None where there is none that counts."""
    if state is None or not os.path.lexists(state / FOLDER):
        return None
    found = _read(state / FOLDER, _name(root))
    return found if found is not None and found.root == root else None


def records(state: Path) -> list[Trusted]:
    """Every record, by root."""
    folder = state / FOLDER
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    found = [one for name in names if (one := _read(folder, name)) is not None and _name(one.root) == name]
    return sorted(found, key=lambda one: one.root)


def trust(brought: Brought, state: Path) -> Trusted:
    """Keep that a person trusts this: what was shown is what is kept, whatever lies there by now.

    Raises:
        PegboardError: it cannot be kept; nothing was changed.
    """
    kept = Trusted(
        version=_VERSION,
        root=brought.root,
        inode=brought.inode,
        digest=brought.digest,
        parts=brought.parts(),
        config=None if brought.config is None else brought.config.decode("utf-8"),
        at=time.strftime("%Y-%m-%d %H:%M:%S"),
    )
    name = _name(brought.root)
    part = f".{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        with _folder(state) as folder:
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder.fd)
            try:
                with open(fd, "wb") as file:
                    file.write(msgspec.json.encode(kept))
                    file.flush()
                    os.fsync(file.fileno())
                os.rename(part, name, src_dir_fd=folder.fd, dst_dir_fd=folder.fd)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part, dir_fd=folder.fd)
                raise
    except OSError as error:
        raise PegboardError(
            f"{state / FOLDER} cannot be written ({error.strerror}); nothing was trusted. "
            "Make it a folder of yours that nobody else can write to."
        ) from None
    return kept


def revoke(root: str, state: Path) -> bool:
    """Forget that a root (its real path) is trusted. False: it was not.

    Raises:
        PegboardError: the record cannot be removed, so it still counts.
    """
    try:
        os.unlink(state / FOLDER / _name(root))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise PegboardError(
            f"{state / FOLDER / _name(root)} cannot be removed ({error.strerror}), so the project is trusted still. "
            "Remove that file."
        ) from None
    return True


def _name(root: str) -> str:
    return f"{hashlib.sha256(root.encode('utf-8', 'surrogateescape')).hexdigest()}.json"


def _read(folder: Path, name: str) -> Trusted | None:
    """A record, if it is a plain file of this user's in a folder of theirs, neither writable for others."""
    try:
        with _Folder(folder) as opened:
            fd = os.open(name, _FLAGS, dir_fd=opened.fd)
            try:
                found = os.fstat(fd)
                if not stat.S_ISREG(found.st_mode) or not _ours_alone(found) or found.st_size > _LARGEST:
                    return None
                data = b"".join(_pieces(fd))
            finally:
                os.close(fd)
        kept = msgspec.json.decode(data, type=Trusted)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return kept if kept.version == _VERSION else None


def _pieces(fd: int) -> Iterator[bytes]:
    while piece := os.read(fd, 1 << 16):
        yield piece


def _ours_alone(found: os.stat_result) -> bool:
    """Whether nobody else could have written it."""
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o022


class _Folder:
    """An opened folder of this user's alone.

    Raises:
        OSError: it is none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fd = -1

    def __enter__(self) -> _Folder:
        flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
        parent = os.open(self._path.parent, flags)  # the state folder may be a link of the person's
        try:
            if not _ours_alone(os.fstat(parent)):
                raise PermissionError(0, "others can write to the state folder")
            self.fd = os.open(self._path.name, flags | getattr(os, "O_NOFOLLOW", 0), dir_fd=parent)
        finally:
            os.close(parent)
        if not _ours_alone(os.fstat(self.fd)):
            os.close(self.fd)
            raise PermissionError(0, "others can write to it")
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.fd)


def _folder(state: Path) -> _Folder:
    for each in (state, state / FOLDER):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    return _Folder(state / FOLDER)
