"""What the door hands out: where a path leads, what a folder holds, an opened file, and what tells its states apart."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

import msgspec

from pegboard.errors import DoorError

BLOCK = 1 << 18
"""Bytes read at a time: larger blocks are not faster."""


class Stamp(msgspec.Struct, frozen=True):
    """What tells two states of a file apart without reading it. Times in nanoseconds."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @staticmethod
    def of(info: os.stat_result) -> Stamp:
        return Stamp(info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns)


class Place(msgspec.Struct, frozen=True):
    """Where a path leads: relative to the root, or absolute when it lies outside."""

    at: str
    outside: bool = False


class Opened(msgspec.Struct, frozen=True):
    """What a preview saw of a file: None when it was missing. `digest` is over all of its bytes."""

    stamp: Stamp | None
    digest: str = ""


EntryKind = Literal["file", "folder", "link", "special"]


class Entry(msgspec.Struct, frozen=True):
    """One name in a folder, as the operating system gives it (`kit.names.shown` makes it printable)."""

    name: str
    kind: EntryKind


class OpenFolder(NamedTuple):
    """A folder, open for listing. `fd` serves as `dir_fd` and for `os.scandir`."""

    fd: int
    at: str


class OpenFile:
    """A regular file, open for reading; a context manager. `at`: its real place. `stamp`, `size`: as it was opened."""

    def __init__(self, fd: int, at: str) -> None:
        self.fd = fd
        self.at = at
        self.info = os.fstat(fd)
        self.stamp = Stamp.of(self.info)

    @property
    def size(self) -> int:
        return self.info.st_size

    def read(self, limit: int | None = None) -> bytes:
        """All bytes. Raises DoorError (too_large) when there are more than `limit`."""
        if limit is not None and self.size > limit:
            raise self._too_large(limit)
        chunks, left = [], self.size + 1
        while left > 0 and (chunk := os.read(self.fd, left)):
            chunks.append(chunk)
            left = max(left - len(chunk), BLOCK)
            if limit is not None and sum(map(len, chunks)) > limit:
                raise self._too_large(limit)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def digest(self, start: int = 0, end: int | None = None) -> str:
        """Of the bytes from `start` to `end`, read by position: the file's own position does not move."""
        import hashlib  # seldom needed, and slow to load

        found, at = hashlib.sha256(), start
        while end is None or at < end:
            chunk = os.pread(self.fd, BLOCK if end is None else min(BLOCK, end - at), at)
            if not chunk:
                break
            found.update(chunk)
            at += len(chunk)
        return found.hexdigest()

    def _too_large(self, limit: int) -> DoorError:
        text = f"{self.at} is larger than the limit of {limit:,} bytes ({self.size:,}). Nothing was changed."
        return DoorError(text, reason="too_large", path=self.at)

    def close(self) -> None:
        os.close(self.fd)

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
