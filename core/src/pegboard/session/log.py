"""The log on disk: one JSON object a line, appended under a short file lock; many processes may append.

Each append takes the lock and first reads what others wrote, so that `seq` has no gaps. A torn last line (its writer was
killed in the middle) is completed if it is whole but for its newline, else set aside in `torn.txt`, never lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeAlias

import msgspec

from pegboard.errors import SessionError
from pegboard.events import AnyEvent
from pegboard.session.files import (
    UNREADABLE,
    FileLock,
    decode,
    decode_lines,
    lines_of,
    no_collection,
    private_opener,
    regular,
    tighten,
)
from pegboard.wire import encode_lines

Entry: TypeAlias = AnyEvent | Callable[[], AnyEvent]
"""An event, or a function that makes it under the lock (for numbers that must not be given twice)."""
Observe: TypeAlias = Callable[[AnyEvent, AnyEvent], None]
"""Told of an event as it happened, and as it stands in the record: the same one unless a credential was taken out."""


class Keeper(Protocol):
    """What keeps credentials out of the record (`session.redaction.Redactor`)."""

    suspects: Callable[[bytes], bool]

    def event(self, event: AnyEvent, line: bytes) -> tuple[AnyEvent, bytes]:
        """The event and its line as they are to be kept."""


_CHUNK = 1 << 18
_set = msgspec.structs.force_setattr


class Log(Protocol):
    """Where durable events are kept."""

    @property
    def last(self) -> int:
        """The number of the last event known here; 0 before the first."""

    def append(self, entries: Iterable[Entry]) -> list[AnyEvent]:
        """Number the events and keep them. Returns them, preceded by what other processes appended meanwhile."""

    def refresh(self) -> None:
        """Take in what other processes appended meanwhile."""

    def read(self, since: int = 0) -> Iterator[AnyEvent]:
        """The events numbered above `since`."""

    def sync(self) -> None:
        """Make what was appended survive a power cut."""

    def close(self) -> None:
        """Let go of the file."""


class MemoryLog:
    """A log that ends with the process, for programs and tests."""

    def __init__(self, observe: Observe) -> None:
        self._events: list[AnyEvent] = []
        self._observe = observe

    @property
    def last(self) -> int:
        """How many there are."""
        return len(self._events)

    def append(self, entries: Iterable[Entry]) -> list[AnyEvent]:
        """Number and keep."""
        events, observe = self._events, self._observe
        first = len(events)
        for entry in entries:
            event = entry() if callable(entry) else entry
            events.append(event)
            _set(event, "seq", len(events))
            observe(event, event)
        return events[first:]

    def refresh(self) -> None:
        """No other process has it."""

    def read(self, since: int = 0) -> Iterator[AnyEvent]:
        """The events numbered above `since`."""
        yield from self._events[since:]

    def sync(self) -> None:
        """Nothing outlives the process."""

    def close(self) -> None:
        """Nothing is held."""


class FileLog:
    """`events.jsonl` in a session's folder. `observe` is told of every event in order, our own and others'.

    `keeper` looks at every line before it is written."""

    def __init__(self, folder: Path, observe: Observe, keeper: Keeper | None = None) -> None:
        self._path = folder / "events.jsonl"
        self._fd = regular(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        tighten(self._fd, 0o600)
        self._observe = observe
        self._keeper = keeper
        self._size = 0
        self._seq = 0
        self._lock = FileLock(self._fd)
        with self._lock:
            for _ in self._unread(os.lseek(self._fd, 0, os.SEEK_END)):
                pass

    @property
    def last(self) -> int:
        """The number of the last event read or written."""
        return self._seq

    def append(self, entries: Iterable[Entry]) -> list[AnyEvent]:
        """Number the events and write them with one write.

        Raises:
            SessionError: the disk is full or the file cannot be written; nothing of it was kept.
        """
        with self._lock:
            fresh = self._catch_up()
            made = [entry() if callable(entry) else entry for entry in entries]
            number = self._seq
            for event in made:
                number += 1
                # Frozen for everyone else: the number is part of making it, and known only under the lock.
                _set(event, "seq", number)
            shown, data = made, encode_lines(made)
            if self._keeper is not None and self._keeper.suspects(data):
                shown, data = self._kept(made, data, self._keeper)
            if data:
                self._write(data)
            self._seq = number
        for event, as_kept in zip(made, shown):  # noqa: B905 - one for one; asking for it costs as much as the loop
            self._observe(event, as_kept)
        return fresh + made

    def refresh(self) -> None:
        """Take in what other processes appended meanwhile.

        Raises:
            SessionError: a line is not an event of this version.
        """
        with self._lock:
            self._catch_up()

    def read(self, since: int = 0) -> Iterator[AnyEvent]:
        """The events numbered above `since`, read from disk without the lock."""
        for line in lines_of(self._path):
            event = decode(line)
            if event.seq is not None and event.seq > since:
                yield event

    def sync(self) -> None:
        """fsync, once a turn."""
        os.fsync(self._fd)

    def close(self) -> None:
        """Close the file. Again does nothing."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @staticmethod
    def _kept(made: list[AnyEvent], data: bytes, keeper: Keeper) -> tuple[list[AnyEvent], bytes]:
        """The events, and all lines of them, without what the keeper takes out."""
        kept = [keeper.event(*pair) for pair in zip(made, data.splitlines(), strict=True)]
        return [event for event, _ in kept], b"".join([line + b"\n" for _, line in kept])

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            os.ftruncate(self._fd, self._size)
            raise SessionError(
                f"the session's log {self._path} could not be written ({error.strerror}). "
                "Make room for it, or use another session."
            ) from error
        self._size += len(data)

    def _catch_up(self) -> list[AnyEvent]:
        """Read what others appended since, and mend a torn last line. Holds the lock."""
        size = os.lseek(self._fd, 0, os.SEEK_END)  # for a tenth of what fstat costs; nobody reads from there
        if size == self._size:
            return []
        return [event for events in self._unread(size) for event in events]

    def _unread(self, size: int) -> Iterator[list[AnyEvent]]:
        """The same piece by piece, so that the events of a long log need not all be held at once."""
        at, torn = self._size, b""
        with no_collection():
            # As much again as is left of a long line: else it would be copied for every piece of it.
            while piece := os.pread(self._fd, min(max(_CHUNK, len(torn)), size - at), at):
                at += len(piece)
                whole, newline, torn = (torn + piece).rpartition(b"\n")
                if newline:
                    yield self._take_in(self._decoded(whole), at - len(torn))
            if torn:
                yield self._take_in(self._mend(torn), self._size)

    def _decoded(self, whole: bytes) -> list[AnyEvent]:
        try:
            return decode_lines(whole)
        except UNREADABLE as error:
            raise SessionError(
                f"{self._path}:{self._line_of_damage(whole)} is not an event this version knows ({error}); nothing was "
                f"changed. `pegboard sessions export {self._path.parent.name}` writes down the rest of it"
            ) from None

    def _line_of_damage(self, whole: bytes) -> int:
        """The number of the first line that is no event, in the file; `whole` is what follows what was read so far."""
        before, at = 0, 0
        while at < self._size and (piece := os.pread(self._fd, min(_CHUNK, self._size - at), at)):
            before, at = before + piece.count(b"\n"), at + len(piece)
        for number, line in enumerate(whole.split(b"\n"), before + 1):
            try:
                if line:
                    decode(line)
            except UNREADABLE:
                return number
        return before + 1

    def _take_in(self, events: list[AnyEvent], end: int) -> list[AnyEvent]:
        self._size, observe = end, self._observe
        self._seq = next((event.seq for event in reversed(events) if event.seq), self._seq)
        for event in events:
            observe(event, event)
        return events

    def _mend(self, torn: bytes) -> list[AnyEvent]:
        try:
            event = decode(torn)
        except UNREADABLE:
            with open(self._path.with_name("torn.txt"), "ab", opener=private_opener) as aside:
                aside.write(torn + b"\n")
            os.ftruncate(self._fd, self._size)
            return []
        self._size += len(torn)
        self._write(b"\n")
        return [event]
