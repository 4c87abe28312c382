"""A line that is too long to be read: what may be a command in it, for rules that deny. It takes too much for one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pegboard.policy.shell.line import Command, Trouble, Word
from pegboard.policy.shell.runners import started

MOST = 500
"""Different beginnings of commands that are looked at; with more, any command may be in the line."""
_WORDS = 12
_SEEN = 20_000
_STARTED = 6
_BETWEEN = re.compile(r"[;&|\n(){}`'\"<>$\\]+")
_EMPTY = re.compile(r"[ \t;&|\n(){}`'\"<>$\\]*")
_ANY = Word("*", 0, 0, plain=False, inert=False, glob=True)


def plainly(text: str, why: Trouble) -> tuple[Command, ...]:
    """A command for each piece between what may end one, and one that may be any where there are more."""
    pieces: dict[str, None] = {}
    at = _EMPTY.match(text).end()  # type: ignore[union-attr]
    seen = 0
    while at < len(text) and len(pieces) <= MOST and seen < _SEEN:
        seen += 1
        following = _BETWEEN.search(text, at)
        end = following.start() if following else len(text)
        pieces[text[at : min(end, at + 2000)]] = None
        at = following.end() if following else len(text)
    found = [one for piece in pieces if not piece.isspace() for one in _commands(piece, why)]
    if at < len(text):
        found.append(Command("*", 0, len(text), (_ANY,) * _WORDS, nested=True, risk=why))
    return tuple(found)


def _commands(piece: str, why: Trouble) -> Iterator[Command]:
    """The command that a piece may be, and those that it may start."""
    words: Sequence[Word] = [
        Word(word, 0, 0, plain=False, glob=any(char in word for char in "*?[")) for word in piece.split()
    ]
    first = next((at for at, word in enumerate(words) if "=" not in word.text), 0)
    waiting = [words[first:]]
    for _ in range(_STARTED):
        if not waiting:
            return
        words = waiting.pop()
        yield Command(piece, 0, why.end, tuple(words), nested=True, risk=why)
        waiting += [rest for rest in started(words[:_WORDS]) if rest]
