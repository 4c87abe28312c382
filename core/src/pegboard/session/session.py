"""A session: its log, what is folded from it, who watches it, and its locks."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.errors import SessionError
from pegboard.events import AnyEvent, CallFinished, Note, TurnEnded
from pegboard.session import records
from pegboard.session.fold import NEVER_STARTED, UNFINISHED, Fold
from pegboard.session.log import Entry, FileLog, Log, MemoryLog
from pegboard.session.places import NAME, private_folder, same_file
from pegboard.session.store import settle
from pegboard.session.unused import forget
from pegboard.session.viewer import Viewer
from pegboard.wire import encode

if TYPE_CHECKING:
    from pegboard.kit.changes import Change
    from pegboard.session.presence import Company
    from pegboard.session.redaction import Redactor

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

_TURN_WAIT = 2.0


class SessionBusy(SessionError):
    """Another process runs a turn in this session."""


class Session:
    """One session. `folder` is None for one that lives in memory only. `fresh`: it was made here, and where nothing happens
    in it, it leaves nothing behind when it is closed.

    Not thread-safe by itself: it belongs to the loop, and `call_soon_threadsafe` brings worker threads' events there."""

    def __init__(
        self, id: str, root: str, folder: Path | None = None, redactor: Redactor | None = None, *, fresh: bool = False
    ) -> None:
        """`redactor` keeps credentials out of a folder's log, and from observers. The fold (a running model's history) and
        viewers have events as they happened: who is asked must see what would run. A resumed session has what was kept."""
        self.id = id
        self.root = root
        self.folder = folder
        self._fresh = fresh
        self.redactor = redactor if folder else None
        self.fold = Fold()
        self._take = self.fold.handlers.get  # once per event of every call: no detour
        self.observers: list[Callable[[AnyEvent], None]] = []
        self._viewers: list[Viewer] = []
        self._happened: dict[int, AnyEvent] = {}  # by number, where the log has it otherwise
        self._company: Company | None = None
        self._log: Log = FileLog(folder, self._observe, redactor) if folder else MemoryLog(self._observe)
        self._present = self._announce(folder) if folder and fcntl is not None else None

    @classmethod
    def open(
        cls,
        store: Path,
        id: str | None,
        root: str,
        redactor: Redactor | None = None,
        *,
        state: Path | None = None,
        named: bool = False,
        traceless: bool = False,
    ) -> Session:
        """Open a session's folder below `store` (0700), making it if it is missing. `state`: the folder that `store` is kept
        in, which is closed to others too: who can write to it could put another `store` in the place of this. `named`:
        the root was named, and is not just where somebody is: a session that lost its own takes it. `traceless`: one that is
        made here, and in which nothing happens, is gone once it is closed.

        Raises:
            SessionElsewhere: it works in another root.
            SessionError: the name is not one, or the folder cannot be made.
        """
        name = id if id is not None else fresh_id()
        if not NAME.fullmatch(name):
            raise SessionError(
                f"{name!r} is no session's name (letters, digits and -, at most 64); nothing was started"
            )
        folder = store / name
        fresh = traceless and not os.path.lexists(folder)
        try:
            for each in (state, store):
                if each is not None:
                    private_folder(each)
            private_folder(folder, follow=False)
            settle(folder, root, named=named)
            return cls(name, root, folder, redactor, fresh=fresh)
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

    def live(self, since: int = 0) -> Iterator[AnyEvent]:
        """Durable events numbered above `since`, as they happened where that was in this process, else as they were kept."""
        for event in self._log.read(since):
            yield self._happened.get(event.seq or 0, event)

    def line(self, event: AnyEvent) -> bytes:
        """An event as a line of JSON without its end: for a durable one, the bytes that stand in the log."""
        line = encode(event)
        return self.redactor.event(event, line)[1] if self.redactor is not None else line

    def keep_company(self, company: Company) -> None:
        """Be told at every turn of other agents in the same folder. Closed with the session."""
        self._company = company

    def save_undo(self, call: str, changes: list[Change]) -> None:
        """Keep what a call replaced, 0600, beside the log; it is never exported (decision 56). What was kept of it before
        comes first."""
        if self.folder is not None:
            records.save(self.folder, call, [*(records.load(self.folder, call) or ()), *changes])

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
            if self._company is not None and (news := self._company.news()):
                self.append(*(Note(level="warning", text=text) for text in news))
            yield
        finally:
            self._log.sync()
            if fd is not None:
                os.close(fd)

    def close(self) -> None:
        """End all viewers and close the log. A fresh one in which nothing happened is gone then."""
        for viewer in list(self._viewers):
            viewer.end()
        self._log.close()
        if self._company is not None:
            self._company.close()
            self._company = None
        if self._fresh and self.folder is not None and not self.last:
            forget(self.folder, self._present)
        self._fresh = False
        if self._present is not None:
            os.close(self._present)
            self._present = None

    def _observe(self, event: AnyEvent, shown: AnyEvent) -> None:
        take = self._take(type(event))
        if take is not None:
            take(event)
        if shown is not event:
            self._happened[event.seq or 0] = event
        for viewer in self._viewers:
            viewer.put(event)
        for observer in self.observers:
            observer(shown)

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
        if not same_file(fd, folder / "alive.lock"):  # it was being deleted while it was opened
            os.close(fd)
            self._log.close()
            raise SessionError(f"session {self.id} was deleted just now; nothing was started. Try again for a new one.")
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


def fresh_id() -> str:
    """A new session's name: its day and four random hex digits and more, `20261129-1a2b3c`."""
    return f"{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}"
