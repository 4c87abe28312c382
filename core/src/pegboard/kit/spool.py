"""The rest of a long output, kept in the session's folder under quotas (decision 41)."""

from __future__ import annotations

import hashlib
import os
import re

from pegboard.kit.settings import OutputSettings

SCHEME = "session:"
FOLDER = "out"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z", re.ASCII)
_STEP = 8 * 1024 * 1024
"""Bytes written before the session's folder is measured again: other calls and processes write there too."""


def unfinished(data: bytes) -> int:
    """How many bytes at the end of `data` begin a UTF-8 character whose rest has not come yet (0 to 3)."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            needed = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if back < needed else 0
        if byte < 0x80:
            return 0
    return 0


class Spool:
    """Keeps the output of one call in `FOLDER/out/<call>.txt`, readable by its owner only.

    Nothing is made before the first `write`. What does not fit the quotas, or the disk, is left out and `rest` says so:
    an output that cannot be kept never fails the call.
    """

    def __init__(self, folder: str | os.PathLike[str], call: str, settings: OutputSettings | None = None) -> None:
        """`folder` is the session's own; `call` the call's id, whatever characters it holds."""
        self._folder = os.path.join(folder, FOLDER)
        self._stem = call if _PLAIN_NAME.match(call) else _digest(call)
        self._settings = settings or OutputSettings()
        self._name = ""
        self._fd = -1
        self._granted = 0
        self._cut = ""
        self.saved = 0

    @property
    def name(self) -> str | None:
        """Such as `session:out/c7.txt`; None while nothing is kept."""
        return f"{SCHEME}{FOLDER}/{self._name}" if self.saved else None

    @property
    def rest(self) -> str:
        """For the marker: where the whole output is, or how much of it, and what kept out the rest."""
        if not self._cut:
            return f"all of it: {self.name}" if self.saved else ""
        if not self.saved:
            return f"not kept: {self._cut}"
        return f"the first {self.saved:,} bytes of it ({self._cut}): {self.name}"

    def write(self, data: bytes) -> None:
        """Add `data`, as far as there is room for it. After the first cut nothing more is added."""
        if self._cut:
            return
        left = memoryview(data)
        try:
            while left:
                room, limit = self._room()
                if room <= 0:
                    self._cut = limit
                    self._end_at_char(data[: len(data) - len(left)])
                    return
                self._open()
                written = os.write(self._fd, left[:room])
                self.saved += written
                self._granted -= written
                left = left[written:]
        except OSError as error:
            self._cut = error.strerror or str(error)

    def close(self) -> None:
        """Close the file; it stays."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _room(self) -> tuple[int, str]:
        """How many bytes may be written now, and the setting that allows no more."""
        settings, room, limit = self._settings, _STEP, ""
        if settings.max_saved_bytes:
            room, limit = min(room, settings.max_saved_bytes - self.saved), "output.max_saved_bytes"
        if room > 0 and settings.max_session_bytes:
            if self._granted <= 0:
                self._granted = min(_STEP, settings.max_session_bytes - _size_of(self._folder))
            if self._granted < room:
                room, limit = self._granted, "output.max_session_bytes"
        return room, limit

    def _open(self) -> None:
        if self._fd >= 0:
            return
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        number = 1
        while self._fd < 0:  # an id may come twice: a tool calling itself, two processes in one session
            self._name = f"{self._stem}{f'-{number}' if number > 1 else ''}.txt"
            try:
                self._fd = os.open(os.path.join(self._folder, self._name), flags, 0o600)
            except FileExistsError:
                number += 1

    def _end_at_char(self, written: bytes) -> None:
        """Take back the beginning of a character that was cut, so that the file stays valid UTF-8."""
        extra = unfinished(written)
        if extra and self._fd >= 0:
            self.saved -= extra
            os.ftruncate(self._fd, self.saved)


def _digest(call: str) -> str:
    return "x-" + hashlib.sha256(call.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _size_of(folder: str) -> int:
    """Bytes of the files in `folder`; 0 where it is not there yet."""
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat(follow_symlinks=False).st_size for entry in entries)
    except FileNotFoundError:
        return 0
