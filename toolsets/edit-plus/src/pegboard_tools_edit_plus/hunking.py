"""What the hunks of a patch make of one file: found as whole lines, in order, each at one place alone.

A patch has lines, not line ends: lines are compared without theirs, kept lines keep them, and new ones get those of the
file. A missing last line end stays missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from pegboard.kit.hunks import Hunk as Replaced
from pegboard.kit.hunks import compose
from pegboard.kit.linerun import LineRuns, starts
from pegboard.kit.plan import Plan, body_of, listed, narrowed, widened
from pegboard.kit.settings import EditSettings
from pegboard.kit.text import Encoding, encode, is_utf8
from pegboard.kit.tolerance import Shift, places, stripped, told

from pegboard_tools_edit_plus.patch_parser import Hunk, PatchError

MOST = 50
"""Places that are counted."""
Found = tuple[int, Shift]
"""The index of the first line of a place, and how it is indented against the patch."""


def patched(data: bytes, updates: Sequence[Sequence[Hunk]], *, path: str, settings: EditSettings) -> Plan:
    """Apply the hunks of each update of a file to what the one before it made. Raises PatchError; nothing is written."""
    content, wide = narrowed(data, path)
    encoding: Encoding = "utf-8" if is_utf8(content) else "latin-1"
    made, replaced, notes = content, list[Replaced](), list[str]()
    count = 0
    for hunks in updates:
        lines = _Lines(made, path, encoding, loose=settings.tolerance == "whitespace")
        changes = _touching_joined(lines.apply(hunks))
        made, here = _put(made, changes)
        replaced = compose(replaced, here)
        notes += lines.notes
        count += len(changes)
    if made == content:
        raise PatchError(f"The patch leaves {path} as it is. Nothing was changed.")
    if len(made) > settings.max_bytes:
        limit = f"{settings.max_bytes:,} bytes"
        raise PatchError(f"{path} would be larger than the limit of {limit}. Nothing was changed.")
    return widened(path, data, wide, made, replaced, replaced=count, notes=notes)


class _Change(NamedTuple):
    """Bytes `start:end` of the file become `new`."""

    start: int
    end: int
    new: bytes


def _touching_joined(changes: Iterable[_Change]) -> list[_Change]:
    joined: list[_Change] = []
    for change in changes:
        if joined and change.start == joined[-1].end:
            last = joined.pop()
            change = _Change(last.start, change.end, last.new + change.new)
        joined.append(change)
    return joined


def _put(data: bytes, changes: Sequence[_Change]) -> tuple[bytes, list[Replaced]]:
    view, done, grown = memoryview(data), 0, 0
    pieces: list[bytes | memoryview] = []
    hunks: list[Replaced] = []
    for start, end, new in changes:
        pieces += [view[done:start], new]
        hunks.append(Replaced(start, end, start + grown, start + grown + len(new)))
        grown += len(new) - (end - start)
        done = end
    return b"".join([*pieces, view[done:]]), hunks


class _Lines:
    """A file's lines while hunks are applied to them. Indices count lines from 0."""

    def __init__(self, data: bytes, path: str, encoding: Encoding, *, loose: bool) -> None:
        self.notes: list[str] = []
        self._path = path
        self._encoding: Encoding = encoding
        self._loose = loose
        self._begin = body_of(data)
        self._raw = data[self._begin :].split(b"\n")
        self._ended = self._raw[-1] == b""
        if self._ended:
            self._raw.pop()
        self._lines = [line.removesuffix(b"\r") for line in self._raw] if b"\r" in data else self._raw

    @cached_property
    def _starts(self) -> list[int]:
        """Where each line begins, and where the last ends, in the bytes from `_begin` on."""
        return self._exact.starts if self._lines is self._raw else starts(self._raw)

    @cached_property
    def _exact(self) -> LineRuns:
        return LineRuns(self._lines)

    @cached_property
    def _stripped(self) -> list[bytes]:
        return stripped(self._lines)

    @cached_property
    def _bare(self) -> LineRuns:
        return LineRuns(self._stripped)

    def apply(self, hunks: Sequence[Hunk]) -> Iterator[_Change]:
        """The changes that the hunks make, in order."""
        at = grown = 0  # grown: by how many lines the file is longer up to here
        for number, hunk in enumerate(hunks, 1):
            name = f"hunk {number} of {self._path} (patch line {hunk.line})"
            first, shift = self._find(hunk, at, name)
            last = first + len(hunk.old)
            at = last if all(sign == " " for sign, _ in hunk.lines) else first
            made: list[tuple[int, list[bytes]]] = []
            for start, end, texts in _runs(hunk, first):
                new = shift.moved([self._encode(text) for text in texts], self._lines[first:last])
                yield self._change(start, end, new)
                at = end  # the context below may be the context above the next hunk
                made.append((start + grown + 1, new))
                grown += len(new) - (end - start)
            if shift != Shift():
                self.notes.append(f"hunk {number}: {told(first + 1, last, shift, made)}")

    def _change(self, start: int, end: int, new: Sequence[bytes]) -> _Change:
        """Lines `start:end` become the new ones."""
        stop = self._line_end(start)
        pieces = [line.removesuffix(b"\r") if stop == b"\r\n" else line for line in new]
        there = len(self._raw)
        text = b"".join(piece + stop for piece in pieces)
        first, last = (self._begin + self._starts[at] for at in (start, end))
        if end < there or self._ended or not there:
            return _Change(first, last, text)
        last -= 1  # the last line has no end
        if start == there:
            return _Change(last, last, stop + text.removesuffix(stop)) if pieces else _Change(last, last, b"")
        return _Change(first, last, text.removesuffix(stop))

    def _line_end(self, at: int) -> bytes:
        """What ends new lines at a place: as the lines around do. The last line may have no end to go by."""
        ended = len(self._raw) - (not self._ended)
        if self._lines is self._raw or not ended:
            return b"\n"
        model = min(max(at - 1, 0), ended - 1)
        return b"\r\n" if self._raw[model].endswith(b"\r") else b"\n"

    def _encode(self, text: str) -> bytes:
        return text.encode() if text.isascii() else encode(text, self._encoding, "the patch")

    def _find(self, hunk: Hunk, at: int, name: str) -> Found:
        start, certain = self._below(hunk.anchors, at, name)
        wanted = [self._encode(text.removesuffix("\r")) for text in hunk.old]
        if not wanted:
            return self._insertion(hunk, start, certain, name), Shift()
        found = self._places(wanted, max(start, len(self._lines) - len(wanted)) if hunk.at_end else start)
        if len(found) == 1 or (found and hunk.anchors and certain):
            return found[0]
        if found:
            where = listed([place + 1 for place, _ in found])
            times = f"more than {MOST}" if len(found) > MOST else len(found)
            raise PatchError(
                f"{name}: its lines are in the file {times} times, from lines {where}. Nothing was changed. "
                "Add lines of context, or an @@ line that names the function or class above."
            )
        raise self._missing(hunk, wanted, start, name)

    def _places(self, wanted: Sequence[bytes], start: int) -> list[Found]:
        """Where the wanted lines stand, MOST places and one more at most."""
        exact = [(place, Shift()) for place in islice(self._exact.find(wanted, start), MOST + 1)]
        if exact or not self._loose:
            return exact
        return list(islice(places(self._lines, wanted, start, self._bare), MOST + 1))

    def _insertion(self, hunk: Hunk, start: int, certain: bool, name: str) -> int:
        """Where lines go that come with no other lines."""
        if hunk.at_end or not self._lines:
            return len(self._lines)
        if hunk.anchors and certain:
            return start + 1
        what = "its @@ line is in the file more than once" if hunk.anchors else "it has no line that is in the file"
        raise PatchError(
            f"{name}: nothing says where its lines go, as {what}. Nothing was changed. Add lines of context, "
            "or *** End of File below it for the end of the file."
        )

    def _below(self, anchors: Sequence[str], at: int, name: str) -> tuple[int, bool]:
        """The line of the last anchor, and whether it is certain that this one is meant: the first anchor is the only line
        that says so, and each further one the first below that."""
        start, certain, below = at, True, at
        for number, anchor in enumerate(anchors):
            text = self._encode(anchor)
            found = list(islice(self._bare.find([text], below), 2))
            found = found or [n for n in range(below, len(self._stripped)) if self._stripped[n].startswith(text)]
            if not found:
                where = "" if not below else f" below line {below}"
                raise PatchError(
                    f"{name}: no line{where} of the file begins as its @@ line: {anchor!r}. Nothing was changed."
                )
            certain = certain and (number > 0 or len(found) == 1)
            start, below = found[0], found[0] + 1
        return start, certain

    def _missing(self, hunk: Hunk, wanted: Sequence[bytes], start: int, name: str) -> PatchError:
        above = self._places(wanted, 0)
        if above:
            where = listed([place + 1 for place, _ in above])
            if hunk.at_end:
                problem = f"its lines are not at the end of the file, but from line {where} on"
            else:
                problem = (
                    f"its lines are in the file only above what comes before it in the patch, from line {where} on"
                )
            return PatchError(f"{name}: {problem}. Nothing was changed. Hunks come in the order of the file.")
        from pegboard.kit.near import hint  # only failures need it

        help = hint(b"\n".join(self._lines), b"\n".join(wanted), whole=True)
        return PatchError(f"{name}: its lines are not in the file. Nothing was changed. {help}")


def _runs(hunk: Hunk, first: int) -> Iterator[tuple[int, int, list[str]]]:
    """The lines that go and those that come in their place, for each stretch between lines that stay."""
    start = end = first
    new: list[str] = []
    for sign, text in [*hunk.lines, (" ", "")]:
        match sign:
            case "-":
                end += 1
            case "+":
                new.append(text)
            case _:
                if end > start or new:
                    yield start, end, new
                start = end = end + 1
                new = []
