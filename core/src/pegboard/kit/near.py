"""Help when a text was not found: the place in the file that comes nearest, and what differs there.

Bounded in time on any file: candidates are found by searching for the longest words of the text at the speed of
`bytes.find`, and a clock stops the search.
"""

from __future__ import annotations

import difflib
import operator
import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from pegboard.kit.diffs import cut
from pegboard.kit.text import line_text

MAX_SECONDS = 0.3
MAX_PLACES = 400
MAX_WORDS = 8
MAX_OLD_LINES = 200
MAX_KEY = 2000
"""Bytes of a line of the file that are compared."""

_WORD = re.compile(rb"[\w\x80-\xff]+")
_LOOK_ALIKE = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})


class Near(NamedTuple):
    """The nearest place: first line (1-based), its lines there, how alike (0 to 1)."""

    line: int
    lines: list[bytes]
    score: float


def hint(data: bytes, old: bytes, *, whole: bool = False) -> str:
    """One or a few lines that say where the text nearly is, and how that differs. `whole`: of whole lines, not parts."""
    near = nearest(data, old)
    if near is None:
        return "Nothing in the file comes near it."
    wanted = old.split(b"\n")[:MAX_OLD_LINES]
    reason = difference_of(b"\n".join(near.lines), b"\n".join(wanted), whole=whole)
    last = near.line + len(near.lines) - 1
    place = f"line {near.line}" if last == near.line else f"lines {near.line}-{last}"
    shown = [f"The nearest text is at {place}" + (f"; it differs in {reason}:" if reason else ":")]
    pairs = [(n, a, b) for n, (a, b) in enumerate(zip(near.lines, wanted, strict=False)) if a != b]
    for number, there, sent in pairs[:3]:
        shown.append(f"  {near.line + number} in the file: {_quoted(there, sent)}")
        shown.append(f"  {' ' * len(str(near.line + number))} in the call: {_quoted(sent, there)}")
    if len(pairs) > 3:
        shown.append(f"  (and {len(pairs) - 3} more lines)")
    return "\n".join(shown)


def _quoted(line: bytes, other: bytes) -> str:
    return msgspec.json.encode(cut(line, other)).decode()


def difference_of(there: bytes, sent: bytes, *, whole: bool = False) -> str | None:
    """What two texts differ in, when it is one nameable thing. Not `whole`: what was sent may be a part of what is there."""
    fits = operator.eq if whole else operator.contains
    if fits(there.replace(b"\r", b""), sent.replace(b"\r", b"")):
        return "line endings (CR)"
    one, two = line_text(there), line_text(sent)
    if fits(_bare(one), _bare(two)):
        return "white space (tabs, blanks, indentation or empty lines)"
    if fits(one.casefold(), two.casefold()):
        return "letter case"
    if fits(_folded(one), _folded(two)):
        return "characters that look alike (quotes, dashes, accents)"
    return "white space and letter case" if fits(_bare(one.casefold()), _bare(two.casefold())) else None


def _bare(text: str) -> str:
    return "".join(text.split())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_LOOK_ALIKE)


def nearest(data: bytes, old: bytes) -> Near | None:
    """The lines of `data` most like `old`; None when no word of it is found, or nothing is alike."""
    deadline = time.monotonic() + MAX_SECONDS
    wanted = old.split(b"\n")[:MAX_OLD_LINES]
    keys = [_key(line) for line in wanted]
    best: tuple[float, int, list[bytes]] | None = None
    for start in _places(data, wanted, deadline):
        lines = _lines_at(data, start, len(wanted))
        score = _score(keys, wanted, lines)
        if best is None or score > best[0]:
            best = (score, start, lines)
        if time.monotonic() > deadline:
            break
    if best is None or best[0] < 0.5:
        return None
    score, start, lines = best
    return Near(data.count(b"\n", 0, start) + 1, lines, score)


def _key(line: bytes) -> bytes:
    return b"".join(line.lower().split())


def _places(data: bytes, wanted: Sequence[bytes], deadline: float) -> Iterator[int]:
    """Starts of lines at which `wanted` might be meant to begin, each once."""
    words: dict[bytes, int] = {}  # the word, and in which line of `wanted` it is
    for number, line in enumerate(wanted):
        for word in _WORD.findall(line[:2000]):
            words.setdefault(word.lower(), number)
    folded = data.lower()
    seen: set[int] = set()
    for word in _keywords(words):
        at = folded.find(word)
        while at >= 0 and len(seen) < MAX_PLACES and time.monotonic() < deadline:
            start = _lines_up(data, at, words[word])
            if start is not None and start not in seen:
                seen.add(start)
                yield start
            end = data.find(b"\n", at)
            at = folded.find(word, end) if end >= 0 else -1


def _keywords(words: dict[bytes, int]) -> list[bytes]:
    """What to search for: the longest words, then their halves, which survive a slip in the other half."""
    longest = sorted(words, key=len, reverse=True)[:MAX_WORDS]
    halves: list[bytes] = []
    for word in longest[:4]:
        for half in (word[: len(word) // 2], word[len(word) // 2 :]):
            if len(half) >= 3:
                words.setdefault(half, words[word])
                halves.append(half)
    return [*longest, *halves]


def _lines_up(data: bytes, at: int, lines: int) -> int | None:
    """The start of the line so many lines before the one that holds `at`; of the first line when there are fewer."""
    start = data.rfind(b"\n", 0, at) + 1
    for _ in range(lines):
        if start == 0:
            return None
        start = data.rfind(b"\n", 0, start - 1) + 1
    return start


def _lines_at(data: bytes, start: int, count: int) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < count and start <= len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        lines.append(data[start:end])
        start = end + 1
    return lines


def _score(keys: Sequence[bytes], wanted: Sequence[bytes], lines: Sequence[bytes]) -> float:
    """The share of lines that agree but for blanks and case; a line that does not counts by its likeness.

    The first and the last line of a wanted text may be parts of lines.
    """
    total = 0.0
    compared = 0
    for number, (key, sent, there) in enumerate(zip(keys, wanted, lines, strict=False)):
        partly = number in (0, len(keys) - 1)
        found = _key(there[:MAX_KEY])
        if sent == there:
            total += 1
        elif key == found or (partly and key in found):
            total += 0.99
        elif compared < 3 and len(sent) < 500 and len(there) < MAX_KEY:
            compared += 1
            total += 0.9 * _likeness(sent, there, partly)
    return total / len(keys)


def _likeness(sent: bytes, there: bytes, partly: bool) -> float:
    matcher = difflib.SequenceMatcher(None, there, sent, autojunk=False)
    if partly and len(there) > len(sent):
        match = matcher.find_longest_match()
        start = max(match.a - match.b, 0)
        matcher.set_seq1(there[start : start + len(sent)])
    return matcher.ratio()
