"""Finding a name by some of its letters. Textual's own matcher tries every way to place them: two seconds for a hundred
thousand paths, and no end for a name of many equal letters. This one places them once, and places them well enough.

A score says how well a query fits; 0: not at all. What counts, in this order: the query stands in the last part of the
path as it is, it stands somewhere as it is, its letters stand in the last part in their order, or somewhere. Among equals:
at the beginning of a word, letters in a row, near each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_BEFORE_WORDS = frozenset("/_-. :")
_WHOLE, _IN_NAME, _ANYWHERE, _SPREAD_IN_NAME, _SPREAD = 5_000, 4_000, 3_000, 2_000, 1_000


def _starts(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in _BEFORE_WORDS


def name_of(path: str) -> int:
    """Where the last part of a path begins, be it a folder's with its slash."""
    return path.rfind("/", 0, len(path) - 1) + 1


def _spread(query: str, text: str, start: int) -> list[int]:
    """Places of the letters: as early as they end, then as late as they begin."""
    at = start - 1
    for letter in query:
        at = text.find(letter, at + 1)
        if at < 0:
            return []
    places = [at]
    for letter in reversed(query[:-1]):
        at = text.rfind(letter, start, at)
        places.append(at)
    return places[::-1]


def places(query: str, text: str, name: int) -> Sequence[int]:
    """Where the letters of `query` are found in `text`, both in lower case; empty: not. name: where its last part begins."""
    if (at := text.find(query, name)) >= 0 or (at := text.find(query)) >= 0:
        return range(at, at + len(query))
    return _spread(query, text, name) or _spread(query, text, 0)


def score(query: str, text: str, name: int) -> int:
    """How well `query` fits `text`; see `places`."""
    if not query:
        return 1
    if (at := text.find(query, name)) >= 0:
        rest = text[name:].rstrip("/")
        found = _WHOLE if rest == query else _IN_NAME
        return found + 300 * (at == name) + 150 * _starts(text, at) - min(len(text) - name, 99)
    if (at := text.find(query)) >= 0:
        return _ANYWHERE + 150 * _starts(text, at) - min(len(text), 99)
    if len(query) == 1 or not (anywhere := _spread(query, text, 0)):
        return 0
    in_name = _spread(query, text, name) if name else anywhere
    found, at_each = (_SPREAD_IN_NAME, in_name) if in_name else (_SPREAD, anywhere)
    rows = sum(1 for one, after in pairwise(at_each) if after == one + 1)
    words = sum(1 for one in at_each if _starts(text, one))
    return (
        found + 15 * min(rows, 20) + 20 * min(words, 20) - min(at_each[-1] - at_each[0], 99) - min(len(text), 99) // 2
    )
