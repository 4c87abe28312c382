"""A session: its log, what is folded from it, who watches it, and its locks."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from pegboard.errors import SessionError
from pegboard.events import AnyEvent, CallFinished, TurnEnded
from pegboard.session.fold import NEVER_STARTED, UNFINISHED, Fold
from pegboard.session.log import Entry, FileLog, Log, MemoryLog

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
_BEHIND = 10_000
_TURN_WAIT = 2.0


class SessionBusy(SessionError):
    """Another process runs a turn in this session."""


class Session:
    """One session. `folder` is None for one that lives in memory only.

    Not thread-safe by itself: it belongs to the loop, and `call_soon_threadsafe` brings worker threads' events there."""

    def __init__(self, id: str, root: str, folder: Path | None = None) -> None:
        self.id = id
        self.root = root
        self.folder = folder
        self.fold = Fold()
        self._take = self.fold.handlers.get  # once per event of every call: no detour
        self.observers: list[Callable[[AnyEvent], None]] = []
        self._viewers: list[Viewer] = []
        self._log: Log = FileLog(folder, self._observe) if folder else MemoryLog(self._observe)
        self._present = self._announce(folder) if folder and fcntl is not None else None

    @classmethod
    def open(cls, store: Path, id: str | None, root: str) -> Session:
        """Open a session's folder below `store` (0700), making it if it is missing.

        Raises:
            SessionError: the name is not one, or the folder cannot be made.
        """
        name = id if id is not None else fresh_id()
        if not NAME.fullmatch(name):
            raise SessionError(
                f"{name!r} is no session's name (letters, digits and -, at most 64); nothing was started"
            )
        folder = store / name
        try:
            store.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            _write_meta(folder, name, root)
            return cls(name, root, folder)
        except OSError as error:
            raise SessionError(
                f"the session folder {folder} cannot be used: {error.strerror}; nothing was started"
            ) from None

    @property
    def last(self) -> int:
        """The number of the last event in the log, as far as it was read; 0 when it is new."""
        return self._log.last

    def append(self, *entries: Entry) -> list[AnyEvent]:
        """Keep durable events, numbered; an entry may be a function that makes its event under the lock."""
        return self._log.append(entries)

    def emit(self, event: AnyEvent) -> None:
        """Show an ephemeral event to whoever watches now."""
        for viewer in self._viewers:
            viewer.put(event)

    def read(self, since: int = 0) -> Iterator[AnyEvent]:
        """Durable events numbered above `since`."""
        return self._log.read(since)

    def watch(self, since: int = 0) -> Viewer:
        """A viewer: what is in the log after `since`, then all that follows. Starts now, before it is iterated."""
        viewer = Viewer(self, since)
        self._viewers.append(viewer)
        return viewer

    def unwatch(self, viewer: Viewer) -> None:
        """Forget a viewer."""
        if viewer in self._viewers:
            self._viewers.remove(viewer)

    def save_undo(self, call: str, changes: list[Any]) -> None:
        """Keep what a call replaced, 0600, beside the log; it is never exported (decision 57)."""
        if self.folder is None:
            return
        folder = self.folder / "undo"
        folder.mkdir(mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        with open(os.open(folder / f"{call}.msgpack", flags, 0o600), "wb") as file:
            file.write(msgspec.msgpack.encode(changes))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the turn lock: one model loop a session (decision 61). What a killed process left open is closed first.

        Raises:
            SessionBusy: another process holds it, still after two seconds; its number is in the text.
        """
        fd = await self._take_turn()
        try:
            self._log.refresh()  # another process may have run a turn since
            self._close_left_open(in_turns_only=True)
            yield
        finally:
            self._log.sync()
            if fd is not None:
                os.close(fd)

    def close(self) -> None:
        """End all viewers and close the log."""
        for viewer in list(self._viewers):
            viewer.end()
        self._log.close()
        if self._present is not None:
            os.close(self._present)
            self._present = None

    def _observe(self, event: AnyEvent) -> None:
        take = self._take(type(event))
        if take is not None:
            take(event)
        for viewer in self._viewers:
            viewer.put(event)
        for observer in self.observers:
            observer(event)

    async def _take_turn(self) -> int | None:
        if self.folder is None or fcntl is None:
            return None
        fd = os.open(self.folder / "turn.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _TURN_WAIT
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    await asyncio.sleep(0.05)
                    continue
                holder = os.pread(fd, 20, 0).decode(errors="replace").strip() or "unknown"
                os.close(fd)
                raise SessionBusy(
                    f"session {self.id} is running a turn in process {holder}; nothing was started. "
                    "Wait for it, or use another session."
                ) from None
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
            return fd

    def _announce(self, folder: Path) -> int:
        """Hold `alive.lock` shared for as long as the session is open. Who can have it alone is the only one here, and
        every call that is open then was left by a process that is gone."""
        fd = os.open(folder / "alive.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            self._close_left_open(in_turns_only=False)
        fcntl.flock(fd, fcntl.LOCK_SH)
        return fd

    def _close_left_open(self, *, in_turns_only: bool) -> None:
        """Write down what became of calls whose process is gone: started and not finished *is* interrupted."""
        left: list[Entry] = []
        for asked, started in list(self.fold.open_calls.values()):
            if asked.turn is not None or not in_turns_only:
                left.append(
                    CallFinished(
                        turn=asked.turn,
                        lane=asked.lane,
                        id=asked.id,
                        outcome="interrupted" if started else "blocked",
                        block=None if started else "denied",
                        why="turn_ended" if started else None,
                        text=UNFINISHED if started else NEVER_STARTED,
                        data=None,
                        truncated=False,
                        decision=None,
                        duration_ms=0.0,
                    )
                )
        if self.fold.turn_open:
            text = "the process that ran this turn was stopped"
            left.append(TurnEnded(turn=self.fold.turn, status="interrupted", text="", usage={}, error=text))
        if left:
            self.append(*left)


class Viewer:
    """One reader of a session, at its own pace. A slow one loses ephemeral events only, and holds up nobody."""

    def __init__(self, session: Session, since: int) -> None:
        self._session = session
        self._queue: deque[AnyEvent] = deque(session.read(since))
        self._last = max([since, *(event.seq or 0 for event in self._queue)])
        self._wake = asyncio.Event()
        self._ended = False

    def put(self, event: AnyEvent) -> None:
        """Hand an event over; called on the loop."""
        if event.seq is None and len(self._queue) > _BEHIND:
            return
        if event.seq is not None and event.seq <= self._last:
            return
        self._last = event.seq or self._last
        self._queue.append(event)
        self._wake.set()

    def end(self) -> None:
        """No more events will come."""
        self._ended = True
        self._wake.set()

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        """Events in order; durable ones exactly once."""
        try:
            while True:
                while self._queue:
                    yield self._queue.popleft()
                if self._ended:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            self._session.unwatch(self)


def fresh_id() -> str:
    """A new session's name: its day and four random hex digits and more, `20261129-1a2b3c`."""
    return f"{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}"


def _write_meta(folder: Path, name: str, root: str) -> None:
    """What the log does not say: where the session works. Written once."""
    path = folder / "session.json"
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    with open(fd, "wb") as file:
        root_shown = root.encode("utf-8", "backslashreplace").decode()
        file.write(msgspec.json.encode({"id": name, "root": root_shown, "started": time.time(), "version": 1}))
