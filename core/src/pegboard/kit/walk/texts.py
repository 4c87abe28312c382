"""The text of hits, read again through the workspace's door.

An engine only says where a hit is. What is shown comes from the file as the door opened it: beneath the root, a regular
file, let through by the checks. So neither a link nor a swap during the search shows what lies elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec

from pegboard.errors import DoorError
from pegboard.kit.handles import OpenFile
from pegboard.kit.names import shown
from pegboard.kit.text import BOMS, line_text, sniff
from pegboard.kit.walk.engine import Record
from pegboard.kit.walk.query import Hit
from pegboard.kit.workspace import Workspace

MAX_DECODED_BYTES = 64 * 1024 * 1024
"""A UTF-16 file larger than this is not decoded for its hits' text."""


class Texts(msgspec.Struct):
    """The hits with their text; refused: files that the door did not open, and why; protected: those that a check
    refused, as the engine named them."""

    hits: list[Hit] = []
    refused: list[DoorError] = []
    protected: list[bytes] = []
    changed: list[str] = []


def texts(workspace: Workspace, prefix: str, mode: str, records: Iterable[Record], max_chars: int) -> Texts:
    """Make hits of places. `prefix` stands in front of the records' paths. Blocks; call it in a thread."""
    found = Texts(hits=[], refused=[], protected=[], changed=[])
    for path, places in groupby(records, key=lambda record: record.path):
        name = prefix + os.fsdecode(path)
        try:
            with workspace.open(name) as opened:
                if mode != "content":
                    count = next(iter(places)).line
                    found.hits.append(Hit(path=shown(name), count=count if mode == "count" else None))
                    continue
                for place, text in _lines(opened, places, max_chars):
                    if text is None:
                        found.changed.append(shown(name))
                    else:
                        found.hits.append(Hit(path=shown(name), line=place.line, text=text[0], cut=text[1]))
        except DoorError as error:
            if error.reason == "protected":
                found.protected.append(path)
            else:
                found.refused.append(error)
        except OSError as error:
            found.refused.append(DoorError(f"{shown(name)}: {error.strerror}", reason="system", path=shown(name)))
    return found


def _lines(
    opened: OpenFile, places: Iterable[Record], max_chars: int
) -> Iterator[tuple[Record, tuple[str, bool] | None]]:
    """Each place's text and whether it was cut; None when there is no such line any more."""
    encoding = sniff(os.pread(opened.fd, 16, 0))
    if encoding in ("utf-16-le", "utf-16-be"):
        data = opened.read(MAX_DECODED_BYTES)[len(BOMS[encoding]) :]
        lines = data.decode(encoding, "replace").split("\n")
        for place in places:
            yield place, _around(lines[place.line - 1], place.column, max_chars) if place.line <= len(lines) else None
        return
    shift = 3 if os.pread(opened.fd, 3, 0) == BOMS["utf-8-sig"] else 0
    for place in places:
        yield place, _line(opened.fd, place.offset + shift, place.column, max_chars, first=place.offset == 0)


def _line(fd: int, start: int, column: int, max_chars: int, *, first: bool) -> tuple[str, bool] | None:
    window = 4 * max_chars + 4
    if not first and os.pread(fd, 1, start - 1) != b"\n":
        return None
    data = os.pread(fd, window, start)
    end = data.find(b"\n")
    if end >= 0 or len(data) < window:
        if not data or column - 1 > (end if end >= 0 else len(data)):
            return None
        line = data[: end if end >= 0 else None].removesuffix(b"\r")
        return _around(line_text(line), _char(line, column), max_chars, chars=True)
    lead, match = max_chars // 3, start + column - 1
    begin = max(start, match - 4 * lead)
    before = _piece(os.pread(fd, match - begin, begin), inside=begin > start)
    after = _piece(os.pread(fd, window, match).partition(b"\n")[0], inside=False)
    return (before[max(0, len(before) - lead) :] + after)[:max_chars], True


def _piece(data: bytes, *, inside: bool) -> str:
    """A part of a line, which may begin and end in the middle of a character."""
    lead = 0
    while inside and lead < min(3, len(data)) and data[lead] & 0xC0 == 0x80:
        lead += 1
    for skip in (lead, 0):
        for tail in range(4):
            try:
                return data[skip : len(data) - tail].decode()
            except UnicodeDecodeError:
                continue
    return data.decode("latin-1")


def _char(line: bytes, column: int) -> int:
    """The index of the character at a byte column that counts from 1."""
    return len(line_text(line[: column - 1]))


def _around(text: str, place: int, max_chars: int, *, chars: bool = False) -> tuple[str, bool]:
    """At most `max_chars` of a line, with the match in it. `place`: a character's index, or a column in UTF-8."""
    text = text.removesuffix("\r")
    if len(text) <= max_chars:
        return text, False
    index = place if chars else len(text.encode("utf-8", "replace")[: place - 1].decode("utf-8", "ignore"))
    start = max(0, min(index - max_chars // 3, len(text) - max_chars))
    return text[start : start + max_chars], True
