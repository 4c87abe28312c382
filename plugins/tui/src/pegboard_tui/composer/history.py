"""The prompts of a project, kept from one session to the next: a JSON text a line, oldest first, for this user's eyes only.

Several processes share the file. Each appends whole lines; one that finds it too long writes a shorter one beside it and
puts that in its place, under a lock that appends take too. Where the file cannot be read or written there is no history
but this process's own, and nothing is said: it is a comfort. Lines that are not ours are passed over.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
from pegboard.terminal import plain

MOST_ENTRIES = 2_000
MOST_BYTES = 1_000_000
"""What the file holds at most; once it does it is cut back to three quarters."""
MOST_CHARS = 50_000
"""A longer prompt (a pasted file) is kept in this process alone."""
_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


def collapsed(entries: Iterable[str]) -> list[str]:
    """Each entry once, where it stands last."""
    return list(dict.fromkeys(reversed(list(entries))))[::-1]


class Prompts:
    """What was sent. `entries`: oldest first. file: None keeps them in this process alone. `read` and `keep` work on the
    file: call them in a thread."""

    def __init__(self, file: Path | None) -> None:
        self.entries: list[str] = []
        self._own: list[str] = []
        self._file = file

    def remember(self, text: str) -> bool:
        """Take an entry into `entries`. False: it begins with a space or is blank, and is not kept."""
        if not text.strip() or text.startswith(" "):
            return False
        self._own = collapsed([*self._own, text])[-MOST_ENTRIES:]
        self.entries = collapsed([*self.entries, text])[-MOST_ENTRIES:]
        return True

    def read(self) -> list[str]:
        """What all processes have put into the file until now."""
        with suppress(OSError):
            if self._file is not None:
                with open(os.open(self._file, os.O_RDONLY | _FLAGS), "rb") as file:
                    return _entries(_lines(file.fileno()))
        return []

    def take(self, entries: list[str]) -> None:
        """Have `entries` be these, and then what was remembered here."""
        self.entries = collapsed([*entries, *self._own])[-MOST_ENTRIES:]

    def keep(self, text: str) -> None:
        """Put an entry that was remembered into the file."""
        if self._file is None or len(text) > MOST_CHARS:
            return
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = _locked(self._file)
            try:
                _append(fd, msgspec.json.encode(plain(text)) + b"\n")
                if len(lines := _lines(fd)) > MOST_ENTRIES or os.fstat(fd).st_size > MOST_BYTES:
                    _cut(self._file, lines)
            finally:
                os.close(fd)


def _locked(path: Path) -> int:
    """The file, locked, and the one that has that name now: another process may have put a shorter one in its place."""
    while True:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS, 0o600)
        try:
            opened = os.fstat(fd)
            if not stat.S_ISREG(opened.st_mode):
                raise OSError(f"{path} is no file")
            fcntl.flock(fd, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(opened, os.stat(path)):
                    return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _append(fd: int, line: bytes) -> None:
    """A line of its own, whatever a process that was killed has left behind."""
    size = os.fstat(fd).st_size
    torn = size and os.pread(fd, 1, size - 1) != b"\n"
    os.write(fd, b"\n" * bool(torn) + line)


def _lines(fd: int) -> list[bytes]:
    """The lines of an open file: of one that somebody has made huge, the last."""
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        return []
    begin = max(0, found.st_size - 2 * MOST_BYTES)
    return os.pread(fd, found.st_size - begin, begin).splitlines()


def _entries(lines: list[bytes]) -> list[str]:
    found = []
    for line in lines:
        with suppress(msgspec.DecodeError):
            found.append(msgspec.json.decode(line, type=str))
    return [entry for entry in found if entry.strip()]


def _cut(path: Path, lines: list[bytes]) -> None:
    size, kept = 0, []
    for entry in reversed(collapsed(_entries(lines))[-MOST_ENTRIES * 3 // 4 :]):
        line = msgspec.json.encode(entry) + b"\n"
        size += len(line)
        if size > MOST_BYTES * 3 // 4:
            break
        kept.append(line)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600), "wb") as file:
            file.writelines(reversed(kept))
        os.replace(beside, path)
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        raise


class Walk:
    """Where somebody is who goes back through the prompts; at the end stands what they were writing."""

    def __init__(self) -> None:
        self._entries: list[str] = []
        self._at = 0

    def back(self, prompts: Prompts) -> str | None:
        """The one before; None: there is none."""
        if not self.walking:
            self._entries = list(prompts.entries)
            self._at = len(self._entries)
        if self._at == 0:
            return None
        self._at -= 1
        return self._entries[self._at]

    def on(self) -> str | None:
        """The one after; None: that is what they were writing."""
        self._at = min(self._at + 1, len(self._entries))
        return self._entries[self._at] if self.walking else None

    @property
    def walking(self) -> bool:
        """Whether an older one is shown."""
        return self._at < len(self._entries)

    def stop(self) -> None:
        """What is shown is theirs now."""
        self._at = len(self._entries)


def matching(entries: list[str], words: str, most: int) -> list[str]:
    """The latest entries that have all these words, whatever their case; the latest first."""
    wanted = words.lower().split()
    found: list[str] = []
    for entry in reversed(entries):
        low = entry.lower()
        if all(word in low for word in wanted):
            found.append(entry)
            if len(found) == most:
                break
    return found
