"""A window of a file's lines, with the counts of the whole file, in bounded memory.

The file is read once, block by block: newlines and characters are counted, and only the lines of the window are kept, at
most as many bytes as the caps let through. Text is decoded by the rule of `kit.text`; whether a file is UTF-8 is known at
its end, so the window is decoded then.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec

from pegboard.kit.caps import Caps
from pegboard.kit.handles import BLOCK, OpenFile
from pegboard.kit.text import BOMS, HEAD, Encoding, Utf8, binary_error, sniff

MARGIN = 400
"""Characters left free for what stands around the lines: header, and how to go on."""

LineEnds = Literal["none", "lf", "crlf", "mixed"]


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Lines `first` to `last` (1-based; `last` is `first - 1` when there are none) and facts of the whole file.

    `lines` come without their line ends. `cut`: the only line did not fit, and its end is missing. `shown`: the bytes of
    the file that the lines stand for, as (start, end).
    """

    first: int
    last: int
    lines: list[str]
    total_lines: int
    total_chars: int
    encoding: Encoding
    line_ends: LineEnds
    shown: tuple[int, int]
    cut: bool = False

    @property
    def more(self) -> bool:
        """There are lines after the last one."""
        return self.last < self.total_lines

    @property
    def whole(self) -> bool:
        return self.first == 1 and not self.more and not self.cut


def read_window(opened: OpenFile, offset: int = 1, limit: int | None = None, caps: Caps | None = None) -> Window:
    """Lines from `offset` on, at most `limit` (None: all), as far as `N: text` of them fits the caps.

    Raises BinaryFile.
    """
    head = os.pread(opened.fd, HEAD, 0)
    kind = sniff(head)
    if kind == "binary":
        raise binary_error(opened.at, head, opened.size)
    mark: Encoding = kind or ("utf-8-sig" if head.startswith(BOMS["utf-8-sig"]) else "utf-8")
    wide = mark if kind else None
    counts = _Counts()
    caps = caps or Caps(max_chars=0, max_bytes=0, max_lines=0)
    limit = min(n for n in (limit, caps.max_lines or None, 1 << 62) if n is not None)
    piece = _Piece(offset, limit, caps.most_bytes(), len(BOMS[mark]), _wide_length if wide else len)
    for block in _blocks(opened, len(BOMS[mark]), wide):
        newlines = block.count(b"\n")
        piece.feed(block, newlines)
        counts.feed(block, newlines)
    counts.finish()
    encoding = "latin-1" if not counts.utf8 and wide is None else mark
    return _window(piece, counts, encoding, caps)


def _blocks(opened: OpenFile, start: int, wide: str | None) -> Iterator[bytes]:
    os.lseek(opened.fd, start, os.SEEK_SET)
    if wide is None:
        while block := os.read(opened.fd, BLOCK):
            yield block
        return
    decoder = codecs.getincrementaldecoder(wide)("replace")
    while block := os.read(opened.fd, BLOCK):
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def _wide_length(narrow: bytes) -> int:
    return len(narrow.decode("utf-8", "replace").encode("utf-16-le"))


class _Counts:
    """Lines, characters, line ends of what was fed, and whether it is UTF-8."""

    def __init__(self) -> None:
        self.newlines = 0
        self.chars = 0
        self.size = 0
        self.crlf = 0
        self.utf8 = True
        self._text = Utf8()
        self._last = b""

    def feed(self, block: bytes, newlines: int) -> None:
        if not block:
            return
        self.newlines += newlines
        self.size += len(block)
        if b"\r" in block:
            self.crlf += block.count(b"\r\n")
        if self._last == b"\r" and block.startswith(b"\n"):
            self.crlf += 1
        self._last = block[-1:]
        if self._text.valid:
            self._text.feed(block)

    def finish(self) -> None:
        """All was fed."""
        self.utf8 = self._text.finish()
        self.chars = self._text.chars if self.utf8 else self.size

    @property
    def lines(self) -> int:
        return self.newlines + (self._last not in (b"", b"\n"))

    @property
    def line_ends(self) -> LineEnds:
        if not self.newlines:
            return "none"
        return "crlf" if self.crlf == self.newlines else "mixed" if self.crlf else "lf"


class _Piece:
    """The bytes of the window: from the start of line `offset`, `limit` lines or `most` bytes."""

    def __init__(self, offset: int, limit: int, most: int, start: int, length: Callable[[bytes], int]) -> None:
        self.first = offset
        self.start = start  # where in the file the window begins
        self.length = length
        self.full = limit == 0  # holds all lines that were asked for
        self._skip = offset - 1  # newlines before the window
        self._left = limit
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, block: bytes, newlines: int) -> None:
        if self._skip > newlines:
            self._skip -= newlines
            self.start += self.length(block)
            return
        begin = 0
        if self._skip:
            begin = after_newlines(block, self._skip, 0)
            newlines -= self._skip
            self._skip = 0
        if not self._parts:
            self.start += self.length(block[:begin])
        if self.full or self._size > self._most:
            return
        end = len(block)
        if newlines >= self._left:
            end = after_newlines(block, self._left, begin)
            self.full = True
        self._left -= newlines
        end = min(end, begin + self._most + 1)
        self._parts.append(block[begin:end])
        self._size += end - begin

    def data(self) -> bytes:
        return b"".join(self._parts)

    @property
    def cut(self) -> bool:
        """There was more of the window than `most`."""
        return self._size > self._most


def after_newlines(block: bytes, number: int, start: int) -> int:
    """The position behind the `number`-th newline from `start` on; there are that many."""
    for _ in range(number):
        start = block.index(b"\n", start) + 1
    return start


class _Room:
    """What of the caps is left for lines as they are shown: `N: text`."""

    def __init__(self, caps: Caps) -> None:
        self._chars = max(caps.max_chars - MARGIN, 1) if caps.max_chars else 1 << 62
        self._bytes = max(caps.max_bytes - MARGIN, 1) if caps.max_bytes else 1 << 62

    def take(self, number: int, text: str) -> bool:
        """Whether the line fits; if so, it is counted."""
        around = len(f"{number}: \n")
        chars, size = around + len(text), around + (len(text) if text.isascii() else len(text.encode()))
        if chars > self._chars or size > self._bytes:
            return False
        self._chars -= chars
        self._bytes -= size
        return True

    def part(self, number: int, text: str) -> str:
        """As much of a line as fits."""
        around = len(f"{number}: \n")
        fits = text[: max(self._chars - around, 0)].encode()[: max(self._bytes - around, 0)]
        return fits.decode("utf-8", "ignore")


def _window(piece: _Piece, counts: _Counts, encoding: Encoding, caps: Caps) -> Window:
    data = piece.data()
    raw = data.split(b"\n")
    if not raw[-1] or (piece.cut and len(raw) > 1):
        raw.pop()  # what follows the last newline: nothing, or a line of which only a part was kept
    codec = "latin-1" if encoding == "latin-1" else "utf-8"
    room, lines, size, cut = _Room(caps), list[str](), 0, False
    for number, line in enumerate(raw, piece.first):
        text = line.removesuffix(b"\r").decode(codec, "ignore" if piece.cut else "replace")
        if room.take(number, text):
            lines.append(text)
            size += len(line) + 1
            continue
        if not lines:
            cut = True
            lines.append(room.part(number, text))
            size = len(lines[0].encode(codec))
        break
    end = piece.start + piece.length(data[:size])
    return Window(
        first=piece.first,
        last=piece.first + len(lines) - 1,
        lines=lines,
        total_lines=counts.lines,
        total_chars=counts.chars,
        encoding=encoding,
        line_ends=counts.line_ends,
        shown=(0 if piece.first == 1 else piece.start, end),
        cut=cut,
    )
