"""Words of a command that lead out of the workspace, to a secret, or into what no tool writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pegboard.policy.shell import table_data as data
from pegboard.policy.shell.line import Word
from pegboard.policy.shell.table_names import base
from pegboard.policy.shell.table_places import Place

_ELSEWHERE = frozenset(["rsync", "scp"])
_HOST = re.compile(r"(?:[\w.@-]+:(?!\\)|rsync://).*", re.DOTALL)
_MOST = 1000
"""Words that are looked at; of more nothing is known."""
_INSIDE = re.compile(r"[/~]|\.\.")


def writes(words: Sequence[Word]) -> bool:
    """Whether the program makes, changes or removes the files that it is given."""
    return base(words[0].text) in data.names().writers


def leads_out(words: Sequence[Word], place: Place | None) -> tuple[int, int] | None:
    """Where the words stand that may name such a file; None: there are none. place: None where it is not known."""
    if len(words) > _MOST:
        place = None
    writing, program = writes(words), base(words[0].text)
    found = [
        word
        for word in words[1:]
        if (place is None and not word.text.startswith("-"))
        or (program in _ELSEWHERE and _HOST.fullmatch(word.text))
        or (place is not None and not all(_fits(text, place, writing) for text in _named(word, place)))
    ]
    return (found[0].start, found[-1].end) if found else None


def _fits(text: str, place: Place, writing: bool) -> bool:
    return place.writable(text) if writing else place.readable(text)


def _named(word: Word, place: Place) -> Iterator[str]:
    """What a word may name: itself, the value of an option, and whatever may be joined to a short one."""
    for text in (place.expanded(word.text) or ["/"]) if word.glob else [word.text]:
        if not text.startswith("-"):
            yield text
            if "=" in text:  # `of=x`
                yield text.partition("=")[2]
            continue
        name, joined, value = text.partition("=")
        if joined:
            yield value
        if not name.startswith("--"):
            yield text[2:]
            inner = _INSIDE.search(text)
            if inner is not None:
                yield text[inner.start() :]
