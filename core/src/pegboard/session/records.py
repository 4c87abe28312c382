"""What undoing needs, beside the log: `undo/ID.msgpack` holds the changes of one call, for the owner alone (0600)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from pegboard.errors import SessionError
from pegboard.session.files import regular

if TYPE_CHECKING:
    from pegboard.kit.changes import Change

FOLDER, END = "undo", ".msgpack"


def save(session: Path, id: str, changes: list[Change]) -> None:
    """Keep the changes of one call in place of what was kept of it: wholly, or as it was."""
    folder = session / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    part = folder / f"{id}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(part, flags, 0o600), "wb") as file:
            file.write(msgspec.msgpack.encode(changes))
        os.replace(part, folder / f"{id}{END}")
    except OSError:
        part.unlink(missing_ok=True)
        raise


def load(session: Path, id: str) -> list[Change] | None:
    """The changes of one call, in order; None where nothing was kept of it.

    Raises:
        SessionError: what was kept cannot be read.
    """
    from pegboard.kit.changes import Change

    path = session / FOLDER / f"{id}{END}"
    try:
        with open(regular(path, os.O_RDONLY), "rb") as file:
            return msgspec.msgpack.decode(file.read(), type=list[Change])
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SessionError(f"what was kept of {id} in {path} cannot be read ({error}); nothing was changed") from None


def cut(session: Path, id: str, last: int) -> None:
    """Keep the last so many changes of one call no longer."""
    rest = (load(session, id) or [])[:-last]
    if rest:
        save(session, id, rest)
    else:
        (session / FOLDER / f"{id}{END}").unlink(missing_ok=True)  # which a full disk has room for


def saved_at(session: Path, id: str) -> float | None:
    """When a call's changes were last kept, in seconds since 1970."""
    try:
        return os.lstat(session / FOLDER / f"{id}{END}").st_mtime
    except OSError:
        return None


def newest(session: str) -> float | None:
    """When anything was last kept for undoing in a session; None where nothing is."""
    try:
        with os.scandir(os.path.join(session, FOLDER)) as entries:
            return max((e.stat(follow_symlinks=False).st_mtime for e in entries if e.name.endswith(END)), default=None)
    except OSError:
        return None
