"""Diffs as pages of lines: cut at a line end, continued with `offset`, without the files that may not be read."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec
from pegboard.kit.caps import Caps
from pegboard.kit.names import printable, shown

_BEGINS = (b"diff --git ", b"diff --cc ", b"diff --combined ")
_BODY = (b"@@", b"Binary files ", b"GIT binary patch")
_NAMED = (b"--- ", b"+++ ", b"rename from ", b"rename to ", b"copy from ", b"copy to ")
_ROOM = 200
"""Characters kept free for the lines that say what was left out and how to go on."""
_LONGEST_LINE = 1 << 22

Refused = Callable[[str], bool]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """Which lines of the whole were shown, counted from 1; `left_out`: files that may not be read."""

    first: int
    last: int
    left_out: list[str]


class Cut(Shown, frozen=True, kw_only=True):
    """There is more."""

    @property
    def more(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


class Page:
    """Takes git's output as it comes and keeps the lines from `offset` that fit.

    `refused` is asked for each file of a diff by its path in the repository; None where what comes is no diff."""

    def __init__(self, caps: Caps, offset: int = 1, refused: Refused | None = None) -> None:
        self.lines: list[str] = []
        self.more = False
        self.left_out: list[str] = []
        self._caps = caps
        self._offset = offset
        self._at = 0
        self._chars = self._bytes = 0
        self._rest = b""
        self._refused = refused
        self._held: list[bytes] | None = None
        self._dropping = False

    def feed(self, stream: str, data: bytes) -> bool:
        """Take a piece; True when the page is full."""
        if stream != "stdout" or self.more:
            return self.more
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)
            if self.more:
                return True
        self._rest = self._rest[:_LONGEST_LINE]
        return False

    def close(self) -> None:
        """There is no more to come."""
        if self._rest and not self.more:
            self._line(self._rest)
        self._release()
        self._rest = b""

    def result(self) -> tuple[str, Shown]:
        """The text, empty when there was nothing, and what of the whole it is."""
        last = self._offset + len(self.lines) - 1
        lines = list(self.lines)
        if self.left_out:
            lines.append(f"(left out, because they may not be read: {', '.join(map(quoted, self.left_out))})")
        if self.more:
            lines.append(f"... (more: offset={last + 1})")
        elif not self.lines and self._at:
            lines.append(f"(there is no line {self._offset}: the last one is {self._at})")
        kind = Cut if self.more else Shown
        return "\n".join(lines), kind(first=self._offset, last=last, left_out=self.left_out)

    def _line(self, line: bytes) -> None:
        if self._refused is None:
            return self._show(line)
        if line.startswith(_BEGINS):
            self._release()
            self._held, self._dropping = [line], False
        elif self._held is not None and not line.startswith(_BODY) and line and not line.startswith(b"commit "):
            self._held.append(line)
        else:
            self._release()
            if line.startswith(b"commit "):  # what follows is not of the file before it: its lines begin otherwise
                self._dropping = False
            if not self._dropping:
                self._show(line)

    def _release(self) -> None:
        """The head of a file's diff is whole: show it, or drop what belongs to it."""
        held, self._held = self._held, None
        if held is None or self._refused is None or len(held) == 1:
            return  # git looked at the time of a file that is as it was, and has nothing to say of it
        names = {name for line in held for name in _name(line)}
        refused = sorted(name for name in names if self._refused(name))
        self._dropping = bool(refused)
        self.left_out += [shown(name) for name in refused if shown(name) not in self.left_out]
        for line in () if refused else held:
            self._show(line, head=True)

    def _show(self, line: bytes, *, head: bool = False) -> None:
        if self.more:
            return
        self._at += 1
        if self._at < self._offset:
            return
        text = shown(os.fsdecode(line)) if head else decoded(line)
        if not self._fits(text):
            self.more = True
            if not self.lines:  # one line that is longer than a page: its beginning
                self.lines.append(text[: max(1, room(self._caps, _ROOM) // 4)] + " ... (cut)")
            return
        self.lines.append(text)

    def _fits(self, text: str) -> bool:
        self._chars += len(text) + 1
        self._bytes += (len(text) if text.isascii() else len(text.encode("utf-8", "replace"))) + 1
        caps = self._caps
        return not (
            0 < caps.max_chars - _ROOM < self._chars
            or 0 < caps.max_bytes - _ROOM < self._bytes
            or 0 < caps.max_lines - 2 < len(self.lines) + 1
        )


def room(caps: Caps, reserve: int) -> int:
    """How many characters fit, of one byte each, with so many kept free."""
    return min(n for n in (caps.max_chars, caps.max_bytes, 1 << 30) if n) - reserve


def decoded(line: bytes) -> str:
    """A line of a file: UTF-8, else byte for byte."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _name(line: bytes) -> list[str]:
    """The path in a line of a diff's head that names one, as the operating system gives it."""
    for word in _NAMED:
        if line.startswith(word):
            name = unquoted(line.removeprefix(word).rstrip(b"\t"))
            if word in (b"--- ", b"+++ "):
                if name == b"/dev/null":
                    return []
                name = name[2:]
            return [os.fsdecode(name)]
    return []


_LETTERS = {
    ord("a"): 7,
    ord("b"): 8,
    ord("t"): 9,
    ord("n"): 10,
    ord("v"): 11,
    ord("f"): 12,
    ord("r"): 13,
    ord('"'): 34,
    ord("\\"): 92,
}


def unquoted(name: bytes) -> bytes:
    """A name as git writes it in lines: in quotes with C's escapes where it holds any, else as it is."""
    if len(name) < 2 or not (name.startswith(b'"') and name.endswith(b'"')):
        return name
    out, at, name = bytearray(), 0, name[1:-1]
    while at < len(name):
        byte = name[at]
        at += 1
        if byte != 92 or at == len(name):
            out.append(byte)
        elif name[at] in _LETTERS:
            out.append(_LETTERS[name[at]])
            at += 1
        else:
            digits = name[at : at + 3]
            out.append(int(digits, 8) & 255 if len(digits) == 3 and not digits.strip(b"01234567") else 63)
            at += 3
    return bytes(out)


def quoted(name: str) -> str:
    """A name as it can stand in a line, as git writes it: in quotes, with escapes, where it holds a line end or the like."""
    plain = printable(name)
    if plain == shown(name):
        return plain
    return f'"{printable(name.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34)))}"'
