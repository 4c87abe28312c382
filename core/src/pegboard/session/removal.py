"""Deleting sessions. One that a process uses is left alone; nothing outside of the store is ever touched.

A folder is first renamed, so that nobody meets a half-deleted session, then removed. What a killed process left in the
middle of that is swept up by the next deletion.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import msgspec

from pegboard.errors import SessionError
from pegboard.session.places import NAME
from pegboard.session.store import SessionInfo, is_session, sessions, size_of

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

_LOCKS = ("alive.lock", "turn.lock", "jobs/alive.lock")
"""What a process that uses a session holds."""
_DOOMED = ".deleted-"
_PATIENCE = 0.5
"""Seconds that a deletion waits for who is about to let go: a job's keeper has the lock still when it has told its end,
and who only looks whether a session is open holds it for a moment."""


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a session that was to be deleted. `size`: bytes freed, or that would be."""

    id: str
    size: int
    outcome: Literal["deleted", "would be deleted", "in use", "failed"]
    why: str | None = None


class SessionInUse(SessionError):
    """A process has the session open."""


def delete(store: Path, id: str) -> int:
    """Delete a session and all that is kept with it; returns the bytes freed.

    Raises:
        SessionInUse: a process has it open; nothing was deleted.
        SessionError: there is no such session, or it cannot be deleted; how much is left is in the text.
    """
    folder = store / id
    if not NAME.fullmatch(id) or not os.path.lexists(folder):
        known = "`pegboard sessions list` names those there are"
        raise SessionError(f"there is no session {id!r}; nothing was deleted. {known}.")
    if not is_session(folder):
        raise SessionError(f"{folder} is a link, or no session's folder; nothing was deleted. Look at it yourself.")
    doomed = store / f"{_DOOMED}{id}-{secrets.token_hex(4)}"
    try:
        with ExitStack() as held:
            until = time.monotonic() + _PATIENCE
            for lock in _LOCKS:
                _hold(folder / lock, id, held, until)
            os.rename(folder, doomed)
        size = size_of(doomed)
        shutil.rmtree(doomed)
    except FileNotFoundError:
        raise SessionError(
            f"session {id} vanished while it was being deleted: another process deletes it, too"
        ) from None
    except OSError as error:
        kept = doomed if doomed.exists() else folder
        raise SessionError(
            f"session {id} cannot be deleted ({error.strerror}); what is left of it is in {kept}"
        ) from None
    return size


def delete_all(store: Path, chosen: Sequence[SessionInfo]) -> Iterator[Removed]:
    """Delete sessions one after the other, passing over those that are in use."""
    sweep(store)
    for info in chosen:
        try:
            yield Removed(id=info.id, size=delete(store, info.id), outcome="deleted")
        except SessionInUse as error:
            yield Removed(id=info.id, size=0, outcome="in use", why=str(error))
        except SessionError as error:
            yield Removed(id=info.id, size=0, outcome="failed", why=str(error))


def to_prune(
    store: Path, *, older_than: float | None = None, keep: int | None = None, max_bytes: int | None = None
) -> list[SessionInfo]:
    """Sessions that any of the limits would have gone, the oldest first.

    `older_than`: seconds since the last change. `keep`: how many of the newest stay. `max_bytes`: of the newest, as many
    stay as fit into so much."""
    now, total, chosen = time.time(), 0, []
    for number, info in enumerate(sessions(store)):
        old = older_than is not None and now - info.changed > older_than
        beyond = keep is not None and number >= keep
        total += info.size
        if old or beyond or (max_bytes is not None and total > max_bytes):
            chosen.append(info)
    return chosen[::-1]


def in_use(store: Path, id: str) -> bool:
    """Whether a process has the session open now."""
    try:
        with ExitStack() as held:
            for lock in _LOCKS:
                _hold(store / id / lock, id, held)
    except SessionInUse:
        return True
    except OSError:
        return False
    return False


def sweep(store: Path) -> None:
    """Remove what a killed process left of a deletion. Names that begin so cannot be sessions' own."""
    for folder in store.glob(f"{_DOOMED}*"):
        if not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)


def _hold(lock: Path, id: str, held: ExitStack, until: float = 0.0) -> None:
    """Hold one of a session's locks alone; until: by time.monotonic, how long to wait for it.

    Raises:
        SessionInUse: another has it.
    """
    if fcntl is None:
        return
    flags = os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(lock, flags)
    except FileNotFoundError:
        return  # as old as a session can be, or nobody ever ran a turn in it
    held.callback(os.close, fd)
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                text = f"session {id} is in use by a running process; nothing was deleted. End that first."
                raise SessionInUse(text) from None
        time.sleep(0.01)
