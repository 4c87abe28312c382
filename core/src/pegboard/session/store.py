"""The sessions in the state folder: listed and read without locking anything, and without following a link out of it."""

from __future__ import annotations

import os
import secrets
import time
from pathlib import Path

import msgspec

from pegboard.errors import SessionElsewhere
from pegboard.events import AnyEvent
from pegboard.session import records
from pegboard.session.files import Damage, read_around, read_log
from pegboard.session.places import NAME
from pegboard.session.summary import summary
from pegboard.wire import clean

LOG, META = "events.jsonl", "session.json"


class SessionInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One session in a list. `started`, `changed`: seconds since 1970. `size`: bytes of its whole folder.

    title: the first line of the first request, or what the first call did where there was none.
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


_read_meta = msgspec.json.Decoder(_Meta).decode


def sessions(store: Path) -> list[SessionInfo]:
    """Every session below `store`, the one that changed last first. Links and folders of other things are left out."""
    found = [info for folder in folders(store) if (info := _info(folder)) is not None]
    return sorted(found, key=lambda info: (-info.changed, info.id))


def info_of(folder: Path) -> SessionInfo | None:
    """One session's line; None when it is none."""
    return _info(str(folder))


def latest(store: Path, root: str) -> str | None:
    """The id of the session that last changed among those that work in this root (links resolved); None when there is none.

    One of single calls alone does not count: there is no conversation in it to go on with."""
    real, ages = _real(root), []
    for folder in folders(store):
        try:
            ages.append((os.lstat(f"{folder}/{LOG}").st_mtime, folder))
        except OSError:
            continue
    for _, folder in sorted(ages, reverse=True):
        meta = _meta(folder)
        if meta is not None and meta.root is not None and _real(meta.root) == real and summary(f"{folder}/{LOG}").turns:
            return os.path.basename(folder)
    return None


def read_events(folder: Path) -> list[AnyEvent]:
    """A session's durable events.

    Raises:
        SessionError: a line is not an event of this version.
    """
    return list(read_log(folder / LOG))


def readable_events(folder: Path) -> tuple[list[AnyEvent], list[Damage]]:
    """A session's durable events as far as they can be read, and the lines that cannot: one that a disk has spoilt must not
    take the others with it."""
    events: list[AnyEvent] = []
    damage: list[Damage] = []
    for one in read_around(folder / LOG):
        if isinstance(one, Damage):
            damage.append(one)
        else:
            events.append(one)
    return events, damage


def is_session(folder: Path) -> bool:
    """Whether a folder is a session's: a real one of a session's name, with a log or what is written at its beginning."""
    if not NAME.fullmatch(folder.name) or folder.is_symlink() or not folder.is_dir():
        return False
    return any(os.path.lexists(folder / name) for name in (LOG, META))


def size_of(folder: str | Path) -> int:
    """Bytes of all files in a folder; links count as links. What vanishes meanwhile is not counted."""
    size = 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    size += size_of(entry.path)
                else:
                    size += entry.stat(follow_symlinks=False).st_size
    except OSError:
        pass
    return size


def works_in(folder: Path, root: str) -> str | None:
    """None where a session works in this root (links resolved); else the root it works in, "" where that is not known."""
    meta = _meta(str(folder))
    known = meta.root if meta is not None else None
    return None if known and _real(known) == _real(root) else known or ""


def settle(folder: Path, root: str, *, named: bool) -> None:
    """See to it that a session that is to be used works in this root, and write down where one works that is new, or
    whose facts are lost. Where it worked is not guessed while there is something to undo there: `named` says that this
    is the one that is meant.

    Raises:
        SessionElsewhere: it works in another root, or in one that is not known.
        OSError: its facts cannot be written.
    """
    other = works_in(folder, root)
    if other == "" and (named or records.newest(str(folder)) is None):
        _write_meta(folder, root)
        other = works_in(folder, root)  # another process may have been first
    if other is not None:
        raise SessionElsewhere(elsewhere(folder.name, other, root))


def elsewhere(session: str, root: str, here: str) -> str:
    """That a session works in another root ("": in one that is not known) than this, and what to do."""
    another = "use another session (--session NAME)"
    if not root:
        where, advice = "in a folder that is not known any more", f"Name that folder with --path FOLDER, or {another}"
    elif os.path.isdir(root):
        where, advice = f"in {root}", f"Say --path FOLDER for that folder, or {another}"
    else:
        where = f"in {root}, which is not there now"
        advice = f"To go on, {another}; or, if that folder was moved, put a link to it in its old place"
    return f"session {session} worked {where}; this is {here}. Nothing was done. {advice}."


def folders(store: Path) -> list[str]:
    """Folders that may be sessions. As texts: making a Path takes as long as reading a small log."""
    try:
        with os.scandir(store) as entries:
            return [e.path for e in entries if NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _info(folder: str) -> SessionInfo | None:
    """One session's line; None when it is none, or vanished meanwhile."""
    meta, ends = _meta(folder), summary(f"{folder}/{LOG}")
    if meta is None and ends.changed is None and ends.status is None:
        return None
    try:
        changed = ends.changed or os.stat(folder).st_mtime
    except OSError:
        return None
    return SessionInfo(
        id=os.path.basename(folder),
        root=meta.root if meta else None,
        started=(meta.started if meta else 0.0) or changed,
        changed=changed,
        events=ends.events,
        turns=ends.turns,
        title=ends.title,
        status=ends.status,
        size=size_of(folder),
    )


def _meta(folder: str) -> _Meta | None:
    """What was written at a session's beginning; None where nothing is, empty where it cannot be read."""
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(f"{folder}/{META}", flags)
    except FileNotFoundError:
        return None
    except OSError:
        return _Meta()
    try:
        return _read_meta(os.read(fd, 1 << 16))
    except (OSError, msgspec.DecodeError, RecursionError):
        return _Meta()
    finally:
        os.close(fd)


def _write_meta(folder: Path, root: str) -> None:
    """What the log does not say: where a session works. Wholly or not at all, whatever becomes of the disk or of us, and
    not over what another process has just written."""
    path, part = folder / META, folder / f"{META}.{secrets.token_hex(4)}.part"
    facts = {"id": folder.name, "root": clean(root), "started": time.time(), "version": 1}
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(msgspec.json.encode(facts))
        try:
            os.link(part, path)
        except OSError:  # there is one; or the file system has no hard links
            meta = _meta(str(folder))
            if meta is None or not meta.root:
                os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _real(root: str) -> str:
    r"""A root's real path as `session.json` spells it: bytes that are no UTF-8 as `\xNN`."""
    return clean(os.path.realpath(root))
