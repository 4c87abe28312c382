"""Fork bombs: a function that starts itself twice, at the same time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.policy.shell.simple import Scan, Simple

_DEFINED = re.compile(r"\s*\(\s*\)\s*")
_FUNCTION = re.compile(r"function\s+([^\s(){};|&]+)\s*(?:\(\s*\))?\s*")
_CLOSES = {"{": "}", "(": ")"}
_MOST = 40
"""Functions of one text that are looked at."""


def is_bomb(scanned: Scan) -> bool:
    """Whether a text defines one."""
    for number, (name, start, end) in enumerate(_functions(scanned)):
        if number >= _MOST:
            return False
        calls = [one for one in scanned.commands if start <= one.start < end]
        own = [one for one in calls if one.words and one.words[0].value == name]
        if len(own) < 2:
            continue
        starts = {one.start for one in own}
        together = any(
            one.start in starts and (after.before == "&" or (after.before in ("|", "|&") and after.start in starts))
            for one, after in pairwise([*calls, *_following(scanned, end)])
        )
        last = own[-1]
        if together or re.match(r"\s*[)}\s]*&(?!&)", scanned.text[last.end : last.end + 20]):
            return True
    return False


def _following(scanned: Scan, end: int) -> list[Simple]:
    return [one for one in scanned.commands if one.start >= end][:1]


def _functions(scanned: Scan) -> Iterator[tuple[str, int, int]]:
    """The name of each function, and where its body stands."""
    marks = [(one.start, one.text) for one in scanned.troubles if one.text in ("{", "}", "(", ")", "function")]
    for start, text in marks:
        found = _FUNCTION.match(scanned.text, start) if text == "function" else None
        if found:
            yield found[1], *_body(scanned.text, found.end(), marks)
    for one in scanned.commands:
        defined = _DEFINED.match(scanned.text, one.end) if len(one.words) == 1 else None
        if defined:
            yield one.words[0].value, *_body(scanned.text, defined.end(), marks)


def _body(text: str, at: int, marks: list[tuple[int, str]]) -> tuple[int, int]:
    opener = text[at : at + 1]
    closer, depth = _CLOSES.get(opener, ""), 0
    for start, mark in marks:
        if start < at:
            continue
        depth += {opener: 1, closer: -1}.get(mark, 0)
        if not depth:
            return at, start
    return at, len(text)
