"""Reading a job's output from where one left off: a piece that fits, cut at a line end, and where the next begins."""

from __future__ import annotations

import codecs
import os

import msgspec

from pegboard.kit.caps import Caps
from pegboard.kit.spool import unfinished

_MOST = 1024 * 1024


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an output. `since`, `next`: bytes from its beginning, before and after the part; one that was asked for
    from beyond the end begins at the end. more: there is more now."""

    text: str
    since: int
    next: int
    more: bool


def read_piece(path: str, since: int, caps: Caps, *, over: bool) -> Piece:
    """What a file holds from byte `since` on, as much as `caps` take. `over`: nothing is added to it any more."""
    data, more, since = read_page(path, since, caps, over=over)
    return Piece(text=data.decode("utf-8", "replace"), since=since, next=since + len(data), more=more)


def read_page(path: str, since: int, caps: Caps, *, over: bool) -> tuple[bytes, bool, int]:
    """The same as bytes; whether there is more; where they begin."""
    data, size = _read(path, since, min(caps.most_bytes(), _MOST))
    since = min(since, size)
    end = _fits(data, caps)
    last = since + end >= size
    if not (last and over):
        extra = unfinished(data[:end])
        end -= extra if extra < end or last else 0  # at the very end its rest may come; elsewhere there is none
    return data[:end], not last, since


def _read(path: str, since: int, most: int) -> tuple[bytes, int]:
    """Bytes from `since` on, and the size of the file; nothing where it is not there."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return b"", 0
    with open(fd, "rb") as file:
        return os.pread(file.fileno(), most, since), os.fstat(fd).st_size


def _is_text(data: bytes) -> bool:
    """Whether this is UTF-8, its last character whole or not."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _fits(data: bytes, caps: Caps) -> int:
    """How many bytes of `data` fit, up to a line end where that is not before the middle."""
    text = data.decode("utf-8", "replace")
    if not caps.exceeded_by(text):
        return len(data)
    end = len(data)
    if _is_text(data):
        if caps.max_bytes:
            end = min(end, caps.max_bytes)
        if caps.max_chars:
            end = len(data[:end].decode("utf-8", "ignore")[: caps.max_chars].encode()) or end
    else:  # each byte that is no text is shown as a character of three
        end = min([end, *(limit for limit in (caps.max_bytes // 3, caps.max_chars) if limit)])
    if caps.max_lines:
        at = 0
        for _ in range(caps.max_lines):
            at = data.find(b"\n", at, end) + 1
            if not at:
                break
        else:
            return at
    line = data.rfind(b"\n", 0, end) + 1
    return line if 2 * line >= end else max(1, end)
