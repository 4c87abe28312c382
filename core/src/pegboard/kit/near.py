"""Help when a text was not found: the place in the file that comes nearest, and what differs there.

Bounded in time on any file: candidates are found by searching for the longest words of the text, and for what they were
meant to be where they have a slip in them, at the speed of `bytes.find`; a clock stops the search.
"""

from __future__ import annotations

import difflib
import operator
import re
import time
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from pegboard.kit.diffs import cut
from pegboard.kit.text import line_text

MAX_SECONDS = 0.3
MAX_PLACES = 400
MAX_WORDS = 8
MAX_SLIPS = 50
"""Places of words that one word with a slip in it may have been meant for."""
SLICE = 1 << 16
"""Bytes that are searched between two looks at the clock."""
MAX_OLD_LINES = 200
MAX_KEY = 2000
"""Bytes of a line of the file that are compared."""

_LETTER = rb"[\w\x80-\xff]"
_WORD = re.compile(_LETTER + rb"+")
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
    seen: set[int] = set()
    for at, number in _hits(data.lower(), words, deadline):
        start = _lines_up(data, at, number)
        if start is not None and start not in seen:
            seen.add(start)
            yield start
        if len(seen) == MAX_PLACES or time.monotonic() > deadline:
            return


def _hits(folded: bytes, words: dict[bytes, int], deadline: float) -> Iterator[tuple[int, int]]:
    """Where the longest words are, once a line, and in which line of the text each is: the likeliest first.

    A word that is not in the file may have a slip in it, and what it was meant to be is worth more than all that is
    there; of these the rarest say most; of what has two slips a half may be left.
    """
    longest = sorted(words, key=len, reverse=True)[:MAX_WORDS]
    counts = {word: folded.count(word) for word in longest}
    absent = [word for word in longest if not counts[word]]
    began = time.monotonic()
    for turn, word in enumerate(absent, 1):  # half of the time, shared out, so that no common letters use up all of it
        until = began + (deadline - began) * turn / (2 * len(absent))
        for at in islice(_slips(folded, word, until), MAX_SLIPS):
            yield at, words[word]
    halves = [(half, words[word]) for word in absent[:4] for half in _halves(word) if len(half) >= 3]
    there = [(word, words[word]) for word in sorted(filter(counts.get, longest), key=counts.__getitem__)]
    for part, number in [*there, *halves]:
        for at in _once_a_line(folded, re.compile(re.escape(part))):
            yield at, number


def _once_a_line(folded: bytes, pattern: re.Pattern[bytes]) -> Iterator[int]:
    found = pattern.search(folded)
    while found:
        yield found.start()
        end = folded.find(b"\n", found.end())
        found = pattern.search(folded, end) if end >= 0 else None


def _slips(folded: bytes, word: bytes, deadline: float) -> Iterator[int]:
    """Where words begin that differ from `word` by one letter: another, one more, one less, or two in turned order.

    One half of the word is then there as it was sent, or the two letters in its middle are turned.
    """
    head, tail = _halves(word)
    if len(word) < 3:
        return
    turned = head[:-1] + tail[:1] + head[-1:] + tail[1:]
    ends = rb"(?!" + _LETTER + rb")"
    for found in _timed(re.escape(head) + _LETTER + rb"{0,%d}" % (len(tail) + 4) + ends, folded, deadline):
        if _one_slip(found[0], word) and not _letter_before(folded, found.start()):
            yield found.start()
    for part in (tail, turned):
        for found in _timed(re.escape(part) + ends, folded, deadline):
            before = folded[max(found.start() - len(head) - 4, 0) : found.end()]
            *_, last = _WORD.finditer(before)
            if _one_slip(last[0], word) and (last.start() or len(before) < found.end()):
                yield found.end() - len(last[0])


def _timed(pattern: bytes, folded: bytes, deadline: float) -> Iterator[re.Match[bytes]]:
    """Matches of a pattern, each shorter than itself by far, until the time is over."""
    compiled, most = re.compile(pattern), 2 * len(pattern)
    for start in range(0, len(folded), SLICE):
        for found in compiled.finditer(folded, start, start + SLICE + most):
            if found.start() < start + SLICE:
                yield found
        if time.monotonic() > deadline:
            return


def _letter_before(folded: bytes, at: int) -> bool:
    return at > 0 and _WORD.match(folded, at - 1) is not None


def _one_slip(one: bytes, other: bytes) -> bool:
    there, sent = line_text(one), line_text(other)
    if abs(len(there) - len(sent)) > 1:
        return False
    at = _common(there, sent)
    turned = there[at : at + 2] == sent[at : at + 2][::-1] and there[at + 2 :] == sent[at + 2 :]
    pairs = ((at + 1, at + 1), (at + 1, at), (at, at + 1))
    return turned or any(there[i:] == sent[j:] for i, j in pairs)


def _common(one: str, other: str) -> int:
    """How many letters two words have in common at their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _halves(word: bytes) -> tuple[bytes, bytes]:
    """The two halves, no letter cut in two where the word is UTF-8."""
    middle = len(word) // 2
    while middle and word[middle] & 0xC0 == 0x80:
        middle -= 1
    return word[:middle], word[middle:]


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
            total += 0.9 * _likeness(sent.lower(), there.lower(), partly)
    return total / len(keys)


def _likeness(sent: bytes, there: bytes, partly: bool) -> float:
    matcher = difflib.SequenceMatcher(None, there, sent, autojunk=False)
    if partly and len(there) > len(sent):
        match = matcher.find_longest_match()
        start = max(match.a - match.b, 0)
        matcher.set_seq1(there[start : start + len(sent)])
    return matcher.ratio()
