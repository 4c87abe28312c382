"""A unified diff read line by line, with line numbers, and with the words that changed between two lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import groupby, zip_longest
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["@", " ", "+", "-", "\\", "?"]
"""Head of a hunk; unchanged; added; removed; a mark (no newline at the end); what is none of these."""
Span: TypeAlias = tuple[int, int]

_HEAD = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)")
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
_MOST = 400
"""Characters of a line whose changed words are looked for."""
_ALIKE = 0.3
"""Two lines of which less than this is the same are different lines, in which no words are marked."""


@dataclass(slots=True)
class Row:
    """One line of a diff. text: without its sign; of a hunk's head what stands behind it.

    old, new: its number on either side. changed: the parts of the text that differ from its partner's."""

    kind: Kind
    text: str
    old: int | None = None
    new: int | None = None
    changed: Sequence[Span] = field(default_factory=tuple)


Pair: TypeAlias = tuple[Row | None, Row | None]


def read(lines: Sequence[str]) -> list[Row]:
    """The rows of a diff. What fits no hunk is kept as it is; numbers are left out where no hunk's head says them."""
    rows: list[Row] = []
    old: int | None = None
    new: int | None = None
    for line in lines:
        sign = line[:1]
        if found := _HEAD.fullmatch(line):
            old, new = int(found[1]), int(found[3])
            rows.append(Row("@", found[5].strip(), old, new))
        elif sign == "+":
            rows.append(Row("+", line[1:], None, new))
            new = new + 1 if new is not None else None
        elif sign == "-":
            rows.append(Row("-", line[1:], old, None))
            old = old + 1 if old is not None else None
        elif sign in (" ", ""):
            rows.append(Row(" ", line[1:], old, new))
            old, new = (old + 1 if old is not None else None), (new + 1 if new is not None else None)
        elif sign == "\\":
            rows.append(Row("\\", line))
        else:
            rows.append(Row("?", line))
    return rows


def changes(rows: Sequence[Row]) -> Iterator[list[Pair]]:
    """The rows side by side, in groups: what was removed beside what came in its place, all else on both sides.

    A mark stands with the row before it."""
    side = " "
    keyed: list[tuple[str, Row]] = []
    for row in rows:
        side = side if row.kind == "\\" else row.kind
        keyed.append((side, row))
    removed: list[Row] = []
    for kind, group in groupby(keyed, key=lambda one: one[0]):
        found = [row for _, row in group]
        if kind == "-":
            removed += found
        elif kind == "+":
            yield list(zip_longest(removed, found))
            removed = []
        else:
            if removed:
                yield [(row, None) for row in removed]
                removed = []
            yield [(row, row) for row in found]
    if removed:
        yield [(row, None) for row in removed]


def mark_words(rows: Sequence[Row]) -> None:
    """Tell the rows that stand for each other which of their parts differ."""
    for group in changes(rows):
        for left, right in group:
            if left is not None and right is not None and left.kind == "-" and right.kind == "+":
                left.changed, right.changed = differing(left.text, right.text)


def differing(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """The parts of two lines that differ, by whole words; none where the lines have little in common."""
    if len(old) > _MOST or len(new) > _MOST or not old.strip() or not new.strip():
        return [], []
    ours, theirs = _WORD.findall(old), _WORD.findall(new)
    start, least = 0, min(len(ours), len(theirs))
    while start < least and ours[start] == theirs[start]:
        start += 1
    end = 0
    while end < least - start and ours[-1 - end] == theirs[-1 - end]:
        end += 1
    left, right = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    same = [*ours[:start], *ours[len(ours) - end :]]
    spans: tuple[list[Span], list[Span]] = ([], [])
    at = [len("".join(ours[:start]))] * 2
    for tag, a, b, c, d in _steps(left, right):
        for number, part in enumerate((left[a:b], right[c:d])):
            length = len("".join(part))
            if tag != "equal" and length:
                _add(spans[number], at[number], at[number] + length)
            at[number] += length
        same += left[a:b] if tag == "equal" else []
    alike = len("".join(same).strip()) / max(len(old.strip()), len(new.strip()))
    return spans if alike >= _ALIKE else ([], [])


def _steps(left: list[str], right: list[str]) -> list[tuple[str, int, int, int, int]]:
    if len(left) < 2 or len(right) < 2 or len(left) * len(right) > 4_000:
        return [("replace", 0, len(left), 0, len(right))]
    return list(SequenceMatcher(None, left, right, autojunk=False).get_opcodes())


def _add(spans: list[Span], start: int, end: int) -> None:
    """Add a part; one that touches the last belongs to it."""
    if spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))
