"""The one edit engine: exact replacements in a file's bytes, planned in memory and written once.

A text matches exactly or not at all; near misses are explained, never taken, unless `edit.tolerance` allows it
(`kit.tolerance`). What is not replaced keeps every byte: encoding, byte order mark, line ends, a missing last newline.
Work is done on bytes (a text of a large file would cost up to four times its size), as `kit.plan` narrows them.

Line ends: in a file whose line ends are all CRLF, an LF in the arguments stands for CRLF. In a file without any CRLF,
an old text that was sent with CRLF stands for LF, and so does its new text. In a mixed file all is taken as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from pegboard.blocks import Block, Note
from pegboard.errors import ToolError
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import Hunk, compose, hunks_at
from pegboard.kit.plan import MAX_LISTED, body_of, listed, narrowed, widened
from pegboard.kit.plan import EditError as EditError
from pegboard.kit.plan import Plan as Plan
from pegboard.kit.plan import diff_of as diff_of
from pegboard.kit.seen import SeenFiles, check_fresh
from pegboard.kit.settings import EditSettings, Tolerance
from pegboard.kit.text import HEAD, Encoding, binary_error, encode, is_utf8, sniff

if TYPE_CHECKING:
    from pegboard.kit.workspace import Workspace

MAX_OVERLAPPING = 100
MAX_PLACES = 50_000
"""Replaced places that are kept one by one; more are kept as one stretch from the first to the last."""


class Edit(msgspec.Struct, frozen=True):
    """Replace `old` by `new`. `count`: how many places, from the first; 1 must be the only one, 0 means all."""

    old: str
    new: str
    count: int = 1


def plan(
    data: bytes,
    edits: Sequence[Edit],
    *,
    path: str,
    numbered: bool = False,
    max_bytes: int = EditSettings().max_bytes,
    tolerance: Tolerance = "exact",
) -> Plan:
    """Apply `edits` in order, each to what the one before it made; all of them, or EditError.

    `numbered` says which edit failed: for tools that take a list. `max_bytes` bounds the file, before and after.
    """
    if not edits:
        raise EditError("The list of edits is empty. Nothing was changed.")
    content, wide = narrowed(data, path)
    work = _Work(path, content, max_bytes, tolerance)
    for number, edit in enumerate(edits, 1):
        try:
            told = work.apply(edit)
        except ToolError as error:
            if not numbered:
                raise
            text = str(error).replace("Nothing was changed.", "No edits were applied.", 1)
            raise EditError(f"edit {number}: {text}") from None
        if told is not None:
            work.notes.append(f"edit {number}: {told}" if numbered else told)
    if work.data == work.original:
        raise EditError(f"The edits leave {path} as it is. Nothing was changed.")
    return widened(path, data, wide, work.data, work.hunks, replaced=work.replaced, exact=work.exact, notes=work.notes)


class FilePlan(NamedTuple):
    """What edits make of a file, the stamp that it had then, and a warning where staleness only warns."""

    plan: Plan
    stamp: Stamp
    warning: str | None

    def blocks(self) -> list[Block]:
        """What is shown before anybody says yes."""
        return [self.plan.diff(), *(Note(text=note) for note in self.plan.notes)]


def plan_file(
    workspace: Workspace,
    path: str,
    edits: Sequence[Edit],
    settings: EditSettings,
    *,
    seen: SeenFiles | None = None,
    numbered: bool = False,
) -> FilePlan:
    """`plan` for a file as it is now. `seen`: what the session was shown, which must still be there; None in a preview.

    Raises DoorError and EditError; nothing is changed.
    """
    with workspace.open(path, "edit") as opened:
        warning = None if seen is None else check_fresh(opened, seen.get(opened.at), settings, whole=False)
        data = opened.read(settings.max_bytes)
    made = plan(
        data, edits, path=opened.at, numbered=numbered, max_bytes=settings.max_bytes, tolerance=settings.tolerance
    )
    return FilePlan(made, opened.stamp, warning)


class _Work:
    """A file's content while edits are applied to it. Line ends and encoding are found out only when it matters."""

    def __init__(self, path: str, data: bytes, max_bytes: int, tolerance: Tolerance = "exact") -> None:
        self.path = path
        self.original = data
        self.data = data
        self.hunks: list[Hunk] = []
        self.replaced = 0
        self.exact = True
        self.notes: list[str] = []
        self._max_bytes = max_bytes
        self._tolerance = tolerance

    @cached_property
    def _crlf(self) -> bool:
        """Every line ends with CRLF. Most files show with their first line that they do not."""
        first = self.original.find(b"\n")
        if first <= 0 or self.original[first - 1] != 0x0D:
            return False
        return self.original.count(b"\r\n") == self.original.count(b"\n")

    @cached_property
    def _encoding(self) -> Encoding:
        return "utf-8" if is_utf8(self.original) else "latin-1"

    def _encode(self, text: str, what: str) -> bytes:
        return text.encode() if text.isascii() else encode(text, self._encoding, what)

    def apply(self, edit: Edit) -> str | None:
        """Make one edit, or raise ToolError. Returns what should be told of it: that it matched only up to white space."""
        _check(edit)
        old_text, new_text = edit.old, edit.new
        if self._crlf:
            old_text, new_text = (re.sub("\r?\n", "\r\n", text) for text in (old_text, new_text))
        elif "\r\n" in old_text and b"\r\n" not in self.data:
            old_text, new_text = old_text.replace("\r\n", "\n"), new_text.replace("\r\n", "\n")
        old, new = self._encode(old_text, "old_string"), self._encode(new_text, "new_string")
        if old == new:
            raise _same_error()
        if edit.count == 1:
            return self._replace_only(old, new)
        self._replace_many(old, new, edit.count)
        return None

    def addition(self, text: str, wide: Encoding | None) -> bytes:
        """`text` as it goes at the end of the file; `wide` is its encoding where that has two bytes a character."""
        if wide is None:
            return self._encode(re.sub("\r?\n", "\r\n", text) if self._crlf else text, "content")
        return encode(text, wide, "content")

    def _replace_only(self, old: bytes, new: bytes) -> str | None:
        if self._tolerance == "whitespace" and self.data.find(old, body_of(self.data)) < 0:
            return self._replace_loosely(old, new)
        start = self._first(old)
        if self.data.find(old, start + 1) >= 0:
            raise _ambiguous(self.data, old, self.path)
        self._put(start, len(old), new)
        return None

    def _replace_loosely(self, old: bytes, new: bytes) -> str:
        from pegboard.kit.tolerance import loosely  # only near misses need it

        found = loosely(self.data, old, new, self.path)
        if found is None:
            raise self._missing(old)
        self._put(found.start, found.length, found.new)
        return found.note

    def _put(self, start: int, length: int, new: bytes) -> None:
        self._bound(len(new) - length)
        view = memoryview(self.data)
        self.data = b"".join((view[:start], new, view[start + length :]))
        self._note(hunks_at([start], length, len(new)), 1)

    def _replace_many(self, old: bytes, new: bytes, count: int) -> None:
        start = self._first(old)
        there = self.data.count(old, start)
        if there < count:
            text = f"old_string appears {_times(there)} in {self.path}, and count is {count}. Nothing was changed."
            raise EditError(text)
        times = count or there
        self._bound(times * (len(new) - len(old)))
        hunks = self._hunks(old, new, start, times)
        self.data = self.data[:start] + self.data[start:].replace(old, new, times)
        self._note(hunks, times)

    def _hunks(self, old: bytes, new: bytes, start: int, times: int) -> list[Hunk]:
        if times > MAX_PLACES:
            self.exact = False
            end = self.data.rfind(old) + len(old)
            return [Hunk(start, end, start, end + times * (len(new) - len(old)))]
        starts = [start]
        while len(starts) < times:
            starts.append(self.data.find(old, starts[-1] + len(old)))
        return hunks_at(starts, len(old), len(new))

    def _first(self, old: bytes) -> int:
        """The first place; a byte order mark is no part of the text."""
        start = self.data.find(old, body_of(self.data))
        if start < 0:
            raise self._missing(old)
        return start

    def _missing(self, old: bytes) -> EditError:
        from pegboard.kit.near import hint  # only failures need it

        return EditError(f"old_string not found in {self.path}. Nothing was changed. {hint(self.data, old)}")

    def _bound(self, growth: int) -> None:
        if len(self.data) + growth > self._max_bytes:
            text = f"{self.path} would be larger than the limit of {self._max_bytes:,} bytes. Nothing was changed."
            raise EditError(text)

    def _note(self, hunks: list[Hunk], places: int) -> None:
        self.hunks = compose(self.hunks, hunks)
        self.replaced += places


def _check(edit: Edit) -> None:
    if not edit.old:
        raise EditError("old_string is empty. Nothing was changed. Give the text to replace.")
    if edit.old == edit.new:
        raise _same_error()
    if "\0" in edit.new:
        raise EditError("new_string holds a NUL, which would make the file binary. Nothing was changed.")
    if edit.count < 0:
        raise EditError(f"count is {edit.count}; it must be 0 (all places) or more. Nothing was changed.")


def _ambiguous(data: bytes, old: bytes, path: str) -> EditError:
    begin = body_of(data)
    times = data.count(old, begin)
    step, most = (len(old), MAX_LISTED) if times > 1 else (1, MAX_OVERLAPPING)  # `aa` is twice in `aaa`
    lines: list[int] = []
    line, counted, at = 1, 0, data.find(old, begin)
    while at >= 0 and len(lines) < most:
        line, counted = line + data.count(b"\n", counted, at), at
        lines.append(line)
        at = data.find(old, at + step)
    times = max(times, len(lines))
    return EditError(
        f"old_string appears {_times(times)} in {path}. Add surrounding context or set replace_all. "
        f"Nothing was changed. It begins on lines {listed(lines, times)}."
    )


def _times(number: int) -> str:
    return f"{number} time" if number == 1 else f"{number} times"


def _same_error() -> EditError:
    return EditError("old_string and new_string are the same. Nothing was changed.")


def plan_append(path: str, data: bytes, text: str, *, max_bytes: int = EditSettings().max_bytes) -> Plan:
    """The plan of putting `text` after the end of a file, in its encoding and with its line ends."""
    encoding = sniff(data[:HEAD])
    if encoding == "binary":
        raise binary_error(path, data[:HEAD], len(data))
    added = _Work(path, data, max_bytes).addition(text, encoding)
    end = Hunk(len(data), len(data), len(data), len(data) + len(added))
    return Plan(path, data, data + added, [end], replaced=1)
