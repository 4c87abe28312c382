"""Matching up to white space, for `edit.tolerance = "whitespace"`: blanks at line ends, and one shift of all indentation.

Whole lines are compared. Each line of the file must be the one that was sent, but for blanks at its end, and for one and
the same run of blanks that stands before every line of one side. What is put there is indented by that shift, where that
gives lines indented as those around; lines that the edit leaves as they are keep the file's own bytes. No language is read:
a line within a string is shifted like any other, so it is told which lines were.
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

    @property
    def indents(self) -> bool:
        """Whether new lines are to be moved."""
        return bool(self.more or self.less)

    def moved(self, new: Sequence[bytes], there: Sequence[bytes]) -> list[bytes]:
        """New lines, indented as the file is, of which `there` are the lines that matched.

        Raises EditError where one is not indented as the sent lines are, or would mix tabs and blanks where the file does
        not.
        """
        if not self.indents:
            return list(new)
        kinds = {kind for line in there if _holds(line) for kind in _indentation(line)}
        return [self._moved(line, kinds) if _holds(line) else line for line in new]

    def _moved(self, line: bytes, kinds: set[int]) -> bytes:
        if not line.startswith(self.less):
            raise self._unfit(line, "has not even that")
        made = self.more + line[len(self.less) :]
        mine = set(_indentation(made))
        if len(mine | kinds) > 1 and not mine <= kinds:
            raise self._unfit(line, "would mix tabs and blanks")
        return made

    def _unfit(self, line: bytes, what: str) -> EditError:
        how = f"{_blanks(self.more or self.less)} {'more' if self.more else 'less'}"
        return EditError(
            f"The text is indented by {how} in the file, and a new line {what}: "
            f"{line[:80].decode('utf-8', 'replace')!r}. Nothing was changed. Send the text as it is in the file."
        )

    def __str__(self) -> str:
        parts = ["white space at line ends"] if self.trailing else []
        if self.indents:
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
    middle = shift.moved(given[head : len(given) - tail], there)
    piece, made = b"\n".join(there), b"\n".join([*there[:head], *middle, *there[len(there) - tail :]])
    start = begin + sum(map(len, lines[:at])) + at
    if piece == made:
        raise EditError(f"{path} differs from new_string in {shift} only. Nothing was changed.")
    (hunk,) = difference(piece, made)
    note = told(at + 1, at + count, shift, [(at + head + 1, middle)])
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


def told(first: int, last: int, shift: Shift, made: Sequence[tuple[int, Sequence[bytes]]]) -> str:
    """What is said of lines that were taken although they differ, and of the new ones.

    Lines count from 1. `made`: runs of new lines, each with the number that its first has now.
    """
    text = f"Not an exact match: {_lines(first, last)} of the file differed in {shift} (edit.tolerance is whitespace)."
    runs = [(at, at + len(lines) - 1) for at, lines in made if any(map(_holds, lines))]
    if not shift.indents or not runs:
        return text
    what = _blanks(shift.more or shift.less)
    how = f"{what} {_were(what)} {'put before' if shift.more else 'taken from the beginning of'}"
    where = f"each new line that is not blank ({', '.join(_lines(*run) for run in runs)} now)"
    return f"{text} {how} {where}, within a string of several lines too: look at the diff."


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _were(what: str) -> str:
    return "was" if what.startswith("1 ") else "were"


def _holds(line: bytes) -> bool:
    """Whether a line has anything but white space."""
    return bool(line.strip(BLANKS + b"\r"))


def _indentation(line: bytes) -> bytes:
    return line[: len(line) - len(line.lstrip(BLANKS))]


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
