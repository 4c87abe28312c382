"""The sessions in the state folder: listed and read without locking anything."""

from __future__ import annotations

from pathlib import Path

import msgspec

from pegboard.errors import SessionError
from pegboard.events import AnyEvent, Prompt, TurnEnded, TurnStarted
from pegboard.session.log import read_log


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One session in a list. `started`, `changed`: seconds since 1970. `size`: bytes of its whole folder.

    status: of its last turn; open, when that has not ended; unreadable, when the log is not of this version."""

    id: str
    root: str | None
    started: float
    changed: float
    events: int
    turns: int
    title: str
    status: str | None
    size: int


class _Meta(msgspec.Struct):
    id: str = ""
    root: str | None = None
    started: float = 0.0


def sessions(store: Path) -> list[SessionInfo]:
    """Every session below `store`, the newest first."""
    found = [_info(folder) for folder in store.iterdir() if folder.is_dir()] if store.is_dir() else []
    return sorted(found, key=lambda info: (-info.changed, info.id))


def latest(store: Path, root: str) -> str | None:
    """The id of the session that last changed among those that work in this root; None when there is none."""
    return next((info.id for info in sessions(store) if info.root == root), None)


def read_events(folder: Path) -> list[AnyEvent]:
    """A session's durable events.

    Raises:
        SessionError: a line is not an event of this version.
    """
    return list(read_log(folder / "events.jsonl"))


def _info(folder: Path) -> SessionInfo:
    try:
        meta = msgspec.json.decode((folder / "session.json").read_bytes(), type=_Meta)
    except (OSError, msgspec.DecodeError):
        meta = _Meta()
    events = turns = 0
    title, status = "", None
    try:
        for event in read_log(folder / "events.jsonl"):
            events += 1
            match event:
                case Prompt(text=text):
                    title = title or text.strip().split("\n", 1)[0][:80]
                case TurnStarted():
                    turns, status = turns + 1, "open"
                case TurnEnded(status=ended):
                    status = ended
                case _:
                    pass
    except SessionError:
        status = "unreadable"  # one session of another version does not hide the others
    files = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return SessionInfo(
        id=folder.name,
        root=meta.root,
        started=meta.started or folder.stat().st_mtime,
        changed=max((info.st_mtime for info in files), default=folder.stat().st_mtime),
        events=events,
        turns=turns,
        title=title,
        status=status,
        size=sum(info.st_size for info in files),
    )
