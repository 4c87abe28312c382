"""What stands in quotes in a request, and what needs none: a JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_QUOTES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\"(?P<a>[^\"\n]*)\"",
        r"“(?P<a>[^”\n]*)”",
        r"«\s?(?P<a>[^»\n]*?)\s?»",
        r"‘(?P<a>[^’\n]*)’(?!\w)",
        r"(?<![\w'])'(?P<a>[^'\n]*(?:'\w[^'\n]*)*)'(?!\w)",
    )
)
_OPENS = re.compile(r"[\"“«‘'{]")
_JSON = json.JSONDecoder()


def quoted(bare: str, text: str) -> Iterator[tuple[str, int, int]]:
    """Texts in quotes and JSON objects, with where they stand. The outermost counts: its quotes do not end at others'."""
    at = 0
    while (opening := _OPENS.search(bare, at)) is not None:
        at = opening.start()
        if opening[0] == "{":
            end = _json_end(text, at)
            found = (text[at:end], end) if end else None
        else:
            match = next((match for quote in _QUOTES if (match := quote.match(bare, at))), None)
            found = (text[slice(*match.span("a"))], match.end()) if match else None
        if found is None:
            at += 1
            continue
        yield found[0], at, found[1]
        at = found[1]


def _json_end(text: str, start: int) -> int:
    """Where a JSON object that begins at `start` ends; 0 when there is none."""
    try:
        return _JSON.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return 0
