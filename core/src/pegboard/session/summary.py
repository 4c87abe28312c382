"""What a list says of a session, from the two ends of its log: a list of thousands must not read gigabytes.

Numbers are gap-free and turns are counted, so the last lines know how many there were. What is damaged in the middle of a
log is not noticed here; whoever reads it whole is told.
"""

from __future__ import annotations

import os

import msgspec

from pegboard.errors import SessionError
from pegboard.events import AnyEvent, CallAsked, Prompt, TurnEnded, TurnStarted
from pegboard.session.files import UNREADABLE, decode, open_log

_CHUNK = 1 << 14
_HEAD = 1 << 18
"""Bytes from the beginning in which the first request is looked for."""
TITLE = 80


class Summary(msgspec.Struct):
    """`changed`: seconds since 1970, None when there is no log. See `store.SessionInfo` for the rest."""

    events: int = 0
    turns: int = 0
    title: str = ""
    status: str | None = None
    changed: float | None = None


def summary(log: str) -> Summary:
    """What the ends of a log say. One that is not of this version, or no regular file, is `unreadable`."""
    found = Summary()
    try:
        fd = open_log(log)
    except FileNotFoundError:
        return found
    except SessionError:
        found.status = "unreadable"
        return found
    try:
        info = os.fstat(fd)
        found.changed = info.st_mtime
        _read_ends(fd, info.st_size, found)
    except (*UNREADABLE, OSError):
        found.status = "unreadable"
    finally:
        os.close(fd)
    return found


def _read_ends(fd: int, size: int, found: Summary) -> None:
    end = _last(fd, size, b"\n") + 1  # behind it a line is being written, or was torn
    if not end:
        return
    last = _event_at(fd, _last(fd, end - 1, b"\n") + 1)
    found.events = last.seq or 0
    found.title = _title(fd)
    turn = last if isinstance(last, TurnEnded | TurnStarted) else _last_turn(fd, end)
    match turn:
        case TurnStarted(turn=number):
            found.turns, found.status = number or 1, "open"
        case TurnEnded(turn=number, status=status):
            found.turns, found.status = number or 1, status
        case _:
            pass


def _last_turn(fd: int, end: int) -> AnyEvent | None:
    """The last event that begins or ends a turn. Its bytes cannot stand inside a text: quotes are escaped there."""
    at = _last(fd, end, b'\n{"event":"turn_')
    if at >= 0:
        return _event_at(fd, at + 1)
    first = _event_at(fd, 0)
    return first if isinstance(first, TurnStarted | TurnEnded) else None


def _title(fd: int) -> str:
    """The first line of the first request; a session of single calls has none, so what the first of them did."""
    head = os.pread(fd, _CHUNK, 0)
    at = head.find(b'{"event":"prompt"')
    if at < 0 and len(head) == _CHUNK:
        head += os.pread(fd, _HEAD - _CHUNK, _CHUNK)
        at = head.find(b'{"event":"prompt"')
    if at < 0:
        at = head.find(b'{"event":"call_asked"')
    if at < 0:
        return ""
    match _event_at(fd, at):
        case Prompt(text=text):
            return text.strip().split("\n", 1)[0][:TITLE]
        case CallAsked(summary=summary, requested=requested):
            return (summary.split("\n", 1)[0] or requested)[:TITLE]
    return ""


def _event_at(fd: int, at: int) -> AnyEvent:
    """The event whose line begins here."""
    line = bytearray()
    while piece := os.pread(fd, _CHUNK if not line else 1 << 20, at + len(line)):
        whole, newline, _ = piece.partition(b"\n")
        line += whole
        if newline:
            break
    return decode(line)


def _last(fd: int, end: int, needle: bytes) -> int:
    """Where `needle` stands last before `end`; -1 where it does not. Read backwards, in steps that grow."""
    step, after = _CHUNK, b""
    while end > 0:
        start = max(0, end - step)
        piece = os.pread(fd, end - start, start)
        found = (piece + after).rfind(needle)
        if found >= 0:
            return start + found
        after = piece[: len(needle) - 1]
        end, step = start, min(step * 4, 1 << 22)
    return -1
