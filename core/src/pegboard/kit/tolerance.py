"""Matching up to white space, for `edit.tolerance = "whitespace"`: blanks at line ends, and one shift of all indentation.

Whole lines are compared. Each line of the file must be the one that was sent, but for blanks at its end, and for one and
the same run of blanks that stands before every line of one side. What is put there is indented by that shift; lines that
the edit leaves as they are keep the file's own bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pegboard.kit.hunks import difference
from pegboard.kit.linerun import LineRuns
from pegboard.kit.plan import EditError, body_of, listed

BLANKS = b" \t"
MOST_LOOKED = 500
"""Places that are compared in detail."""


class Shift(NamedTuple):
    """How lines of the file differ from those that were sent.

    `more` stands before each line in the file only, `less` before each that was sent only; one of them is empty.
    `trailing`: blanks at the ends of lines differ.
    """

    more: bytes = b""
    less: bytes = b""
    trailing: bool = False

    def moved(self, line: bytes) -> bytes:
        """A new line, indented as the file is. Raises EditError where it is not indented as the sent lines are."""
        if not line.strip(BLANKS + b"\r"):
            return line
        if not line.startswith(self.less):
            raise EditError(
                f"The text is indented by {_blanks(self.less)} less in the file, and a new line has not even that: "
                f"{line[:80].decode('utf-8', 'replace')!r}. Nothing was changed. Send the text as it is in the file."
            )
        return self.more + line[len(self.less) :]

    def __str__(self) -> str:
        parts = ["white space at line ends"] if self.trailing else []
        if self.more or self.less:
            parts.append(
                f"indentation ({_blanks(self.more or self.less)} {'more' if self.more else 'less'} in the file)"
            )
        return " and ".join(parts)


class Loose(NamedTuple):
    """A place that matches up to white space: what is replaced there, by what, and what is told of it."""

    start: int
    length: int
    new: bytes
    note: str


def loosely(data: bytes, old: bytes, new: bytes, path: str) -> Loose | None:
    """The only place where `old` matches up to white space. None: there is none. Raises EditError when there are more."""
    begin = body_of(data)
    lines = data[begin:].split(b"\n")
    found = [(place, end) for end in (b"", b"\r") for place in _places(lines, old, end)]
    if not found:
        return None
    if len(found) > 1:
        raise _ambiguous(path, sorted(place[0] + 1 for place, _ in found))
    ((at, shift), end) = found[0]
    wanted, given = (old + end).split(b"\n"), (new + end).split(b"\n")
    closed = _closed(wanted)
    count = len(wanted) - closed
    there = lines[at : at + count] + [b""] * closed
    head = _common(wanted, given)
    tail = _common(wanted[head:][::-1], given[head:][::-1])
    middle = [shift.moved(line) for line in given[head : len(given) - tail]]
    piece, made = b"\n".join(there), b"\n".join([*there[:head], *middle, *there[len(there) - tail :]])
    start = begin + sum(map(len, lines[:at])) + at
    if piece == made:
        raise EditError(f"{path} differs from new_string in {shift} only. Nothing was changed.")
    (hunk,) = difference(piece, made)
    note = told(at + 1, at + count, shift)
    return Loose(start + hunk.old_start, hunk.old_end - hunk.old_start, made[hunk.new_start : hunk.new_end], note)


def _places(lines: Sequence[bytes], old: bytes, end: bytes) -> list[tuple[int, Shift]]:
    """Places of `old`. `end` is what ends the lines besides the LF, where `old` stops short of that."""
    if end and old.endswith(b"\n"):
        return []
    wanted = (old + end).split(b"\n")
    closed = _closed(wanted)
    count = len(wanted) - closed
    found = places(lines, wanted[:count])
    return [(at, shift) for at, shift in found if not closed or at + count < len(lines)]


def _closed(wanted: Sequence[bytes]) -> bool:
    """Whether the last line's end is part of the text."""
    return len(wanted) > 1 and wanted[-1] == b""


def told(first: int, last: int, shift: Shift) -> str:
    """What is said of lines (1-based) that were taken although they differ."""
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    how = "; the new text was indented likewise" if shift.more or shift.less else ""
    return f"Not an exact match: {where} of the file differed in {shift}{how} (edit.tolerance is whitespace)."


def places(
    lines: Sequence[bytes], wanted: Sequence[bytes], start: int = 0, runs: LineRuns | None = None
) -> Iterator[tuple[int, Shift]]:
    """Where in `lines` (without their LF), from `start` on, the wanted ones stand up to white space.

    `runs`: of `stripped(lines)`, where it is there already. Raises EditError when too many places look alike.
    """
    bare = stripped(wanted)
    if not any(bare):
        return
    for looked, first in enumerate((runs or LineRuns(stripped(lines))).find(bare, start)):
        if looked == MOST_LOOKED:
            raise EditError(
                f"Up to white space, more than {MOST_LOOKED:,} places look like that text. Nothing was changed. "
                "Send it exactly as it is in the file."
            )
        shift = fit(lines[first : first + len(wanted)], wanted)
        if shift is not None:
            yield first, shift


def stripped(lines: Sequence[bytes]) -> list[bytes]:
    """The lines without the white space around them."""
    return [line.strip(BLANKS + b"\r") for line in lines]


def fit(there: Sequence[bytes], wanted: Sequence[bytes]) -> Shift | None:
    """The shift between lines of the file and those that were sent; None where they differ in more than white space."""
    if len(there) != len(wanted):
        return None
    shift: tuple[bytes, bytes] | None = None
    trailing = False
    for one, two in zip(there, wanted, strict=True):
        if one.endswith(b"\r") != two.endswith(b"\r"):
            return None
        bare, sent = (line.removesuffix(b"\r").rstrip(BLANKS) for line in (one, two))
        if bare.lstrip(BLANKS) != sent.lstrip(BLANKS):
            return None
        if not bare:
            trailing = trailing or one != two
            continue
        trailing = trailing or len(one) - len(bare) != len(two) - len(sent) or one[len(bare) :] != two[len(sent) :]
        if bare.endswith(sent):
            here = (bare[: len(bare) - len(sent)], b"")
        elif sent.endswith(bare):
            here = (b"", sent[: len(sent) - len(bare)])
        else:
            return None
        if shift is not None and here != shift:
            return None
        shift = here
    return None if shift is None else Shift(*shift, trailing)


def _common(one: Sequence[bytes], two: Sequence[bytes]) -> int:
    """How many lines two lists have in common at their beginning."""
    count = 0
    while count < min(len(one), len(two)) and one[count] == two[count]:
        count += 1
    return count


def _blanks(run: bytes) -> str:
    kind = {b" ": "blank", b"\t": "tab"}.get(run[:1], "") if len(set(run)) == 1 else "blanks and tabs"
    return f"{len(run)} {kind}{'s' if len(run) > 1 and not kind.endswith('s') else ''}"


def _ambiguous(path: str, lines: Sequence[int]) -> EditError:
    return EditError(
        f"old_string is not in {path} exactly, and up to white space {len(lines)} places match, from lines {listed(lines)}. "
        "Nothing was changed. Send the text exactly as it is in the file, or more of it."
    )
