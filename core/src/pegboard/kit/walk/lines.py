"""The lines of a file as rg reads them: block by block, so that a NUL ends the search at the same place."""

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


class Line(NamedTuple):
    """number from 1; offset of its first byte; text without the LF; first: of its block."""

    number: int
    offset: int
    text: bytes
    first: bool


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
        """Up to `size` bytes (UTF-16: somewhat more); empty at the end."""
        while True:
            data = self.head + os.read(self.fd, max(size - len(self.head), 1))
            self.head = b""
            if self.decoder is None:
                return data
            text = self.decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "replace")


def lines_of(path: bytes, trouble: Trouble, name: bytes, *, text: bool) -> Iterator[Line | int]:
    """The lines of a regular file; last, if a NUL ended the search, its offset. `text`: a NUL does not.

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
            yield from _lines(_Source(fd), text)
    except OSError as error:
        trouble(name, error)
    finally:
        os.close(fd)


def _lines(source: _Source, text: bool) -> Iterator[Line | int]:
    number, offset, rest = 1, 0, b""
    while True:
        block, rest, nul = _block(source, rest, text, offset)
        if nul is not None:
            yield nul
            return
        if not block:
            return
        first = True
        start = 0
        while start < len(block):
            end = block.find(b"\n", start)
            end = len(block) if end < 0 else end
            yield Line(number, offset + start, block[start:end], first)
            first = False
            number += 1
            start = end + 1
        offset += len(block)


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
