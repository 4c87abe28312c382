"""The blocks of lines in which rg reads a file, so that a NUL ends the search at the same place in both engines."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from pegboard.kit.walk.walker import Trouble

BLOCK = 65536
MAX_LINE_BYTES = 64 * 1024 * 1024
"""A longer line ends the search of its file."""


class Block(NamedTuple):
    """Whole lines. number: of the first, from 1; offset: of its first byte. nul: where the file's search ended."""

    number: int
    offset: int
    data: bytes
    nul: int | None = None


class _Source:
    """The bytes of a file without its byte order mark, UTF-16 with a mark as UTF-8."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.head = b""
        while len(self.head) < 3 and (more := os.read(fd, 3 - len(self.head))):
            self.head += more
        self.decoder = None
        for mark, codec in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
            if self.head.startswith(mark):
                self.decoder = codecs.getincrementaldecoder(codec)("replace")
                self.head = self.head[len(mark) :]
        if self.decoder is None:
            self.head = self.head.removeprefix(codecs.BOM_UTF8)

    def read(self, size: int) -> bytes:
        """Up to `size` bytes (UTF-16: somewhat more); empty at the end. As rg, it gives the head by itself."""
        while True:
            data = self.head or os.read(self.fd, size)
            self.head = b""
            if self.decoder is None:
                return data
            text = self.decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "replace")


def blocks_of(path: bytes, trouble: Trouble, name: bytes, *, text: bool) -> Iterator[Block]:
    """The blocks of a regular file. `text`: a NUL does not end the search.

    What cannot be read is told to `trouble` under `name`.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(path, flags)
    except OSError as error:
        trouble(name, error)
        return
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            yield from _blocks(_Source(fd), text)
    except OSError as error:
        trouble(name, error)
    finally:
        os.close(fd)


def _blocks(source: _Source, text: bool) -> Iterator[Block]:
    number, offset, rest = 1, 0, b""
    while True:
        data, rest, nul = _block(source, rest, text, offset)
        if data or nul is not None:
            yield Block(number, offset, data, nul)
        if not data:
            return
        number += data.count(b"\n")
        offset += len(data)


def _block(source: _Source, rest: bytes, text: bool, offset: int) -> tuple[bytes, bytes, int | None]:
    """Whole lines (the last one without its end at the end of the file), what follows them, and where a NUL is."""
    pieces, have = [rest], len(rest)
    while True:
        data = source.read(BLOCK - have if have < BLOCK else have)
        if not data or have > MAX_LINE_BYTES:
            return b"".join(pieces), b"", None
        if not text and (at := data.find(b"\0")) >= 0:
            return b"", b"", offset + have + at
        if (end := data.rfind(b"\n") + 1) > 0:
            return b"".join([*pieces, data[:end]]), data[end:], None
        pieces.append(data)
        have += len(data)
