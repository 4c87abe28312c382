"""What was typed in line sessions, for the arrow keys: a JSON text a line in the state folder, for this user's eyes only."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

KEPT = 1000
"""Entries that are kept; the file is cut back to them once it holds twice as many."""
MOST_CHARS = 10_000
"""A longer prompt (a pasted file) is not kept."""


class History:
    """The entries of one file. Where it cannot be read or written there is none, and nothing is said: it is a comfort.

    file: None keeps nothing."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._last = ""

    def load(self) -> list[str]:
        """The newest entries, oldest first."""
        lines = self._lines()
        if len(lines) > 2 * KEPT:
            lines = lines[-KEPT:]
            self._write(os.O_TRUNC, b"".join(line + b"\n" for line in lines))
        return [entry for entry in map(_entry, lines[-KEPT:]) if entry]

    def add(self, text: str) -> bool:
        """Keep an entry. False: it was blank, the one before, or too long."""
        if not text.strip() or text == self._last or len(text) > MOST_CHARS:
            return False
        self._last = text
        self._write(os.O_APPEND, msgspec.json.encode(text) + b"\n")
        return True

    def _lines(self) -> list[bytes]:
        if self._file is None:
            return []
        try:
            with open(os.open(self._file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
                return file.read().splitlines()
        except OSError:
            return []

    def _write(self, how: int, data: bytes) -> None:
        if self._file is None:
            return
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | how
            with open(os.open(self._file, flags, 0o600), "wb") as file:
                file.write(data)


def _entry(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=str)
    except msgspec.DecodeError:
        return ""
