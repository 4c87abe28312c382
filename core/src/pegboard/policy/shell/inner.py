"""Commands inside others: in substitutions, behind `sudo` and `xargs`, in what `bash -c` gets. Rules that deny see them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pegboard.policy.shell.bounds import DEPTH
from pegboard.policy.shell.line import Command, Trouble, Word
from pegboard.policy.shell.runners import SHELLS, base, lines, started
from pegboard.policy.shell.simple import Scan, Simple, scan
from pegboard.policy.shell.words import word_of

MOST = 2000
"""How many commands are looked for inside others; a line with more is not passed."""

WORK = 500_000
"""How many characters are read in the search for them, a text that stands in another counted again."""

_SEPARATOR = re.compile(r"[;&|\n(){}`'\"]")
_LIST = re.compile(r"\{([^{}]*,[^{}]*)\}")


def nested(scanned: Scan, commands: Sequence[Simple]) -> tuple[list[Command], Trouble | None]:
    """What stands inside a line's words and commands, and why that is not all."""
    finder = _Finder()
    finder.inside(scanned, 0, None, 0)
    finder.beyond(scanned, 0, None, 0)
    for simple in commands:
        finder.behind(tuple(map(word_of, simple.words)), simple, scanned, 0, (simple.start, simple.end))
    if not finder.full:
        return finder.found, None
    return finder.found, Trouble(scanned.text, 0, len(scanned.text), "R13", "holds more than can be looked at")


class _Finder:
    """Collects commands; `place` is where they stand in the line, when their own text is not a part of it."""

    def __init__(self) -> None:
        self.found: list[Command] = []
        self.full = False
        self.left = WORK

    def text(self, text: str, offset: int, place: tuple[int, int] | None, depth: int) -> None:
        """The commands in a text that stands at `offset`, or somewhere in `place`."""
        scanned = self._scan(text)
        self.all(scanned, offset, place, depth)
        self.beyond(scanned, offset, place, depth)

    def _scan(self, text: str) -> Scan:
        self.left -= len(text)
        self.full = self.full or self.left < 0
        return scan(text) if self.left >= 0 else Scan("")

    def all(self, scanned: Scan, offset: int, place: tuple[int, int] | None, depth: int) -> None:
        """The commands of a text, and what is inside and behind them."""
        if depth > DEPTH or len(self.found) > MOST:
            self.full = True
            return
        self.inside(scanned, offset, place, depth)
        for simple in scanned.commands:
            words = tuple(_moved(word_of(word), offset, place) for word in simple.words)
            span = place or (simple.start + offset, simple.end + offset)
            self.found.append(Command(scanned.text[simple.start : simple.end], *span, words=words, nested=True))
            self.behind(words, simple, scanned, depth, span)

    def inside(self, scanned: Scan, offset: int, place: tuple[int, int] | None, depth: int) -> None:
        """The substitutions of a text."""
        for inner in scanned.inners:
            span = place or ((inner.start + offset, inner.end + offset) if inner.text is not None else None)
            text = inner.text if inner.text is not None else scanned.text[inner.start : inner.end]
            self.text(text, offset + inner.start, span, depth + 1)

    def beyond(self, scanned: Scan, offset: int, place: tuple[int, int] | None, depth: int) -> None:
        """What stands behind the place where a text could not be read on; bash may read it otherwise, and run it."""
        for _ in range(MOST):
            following = _SEPARATOR.search(scanned.text, scanned.error.start) if scanned.error is not None else None
            if following is None:
                return
            offset += following.end()
            scanned = self._scan(scanned.text[following.end() :])
            self.all(scanned, offset, place, depth + 1)

    def behind(self, words: Sequence[Word], simple: Simple, scanned: Scan, depth: int, span: tuple[int, int]) -> None:
        """What a command would start."""
        if depth > DEPTH or len(self.found) > MOST:
            self.full = True
            return
        for rest in started(words):
            self.found.append(Command(" ".join(word.text for word in rest), *span, words=tuple(rest), nested=True))
            self.behind(rest, Simple(""), scanned, depth + 1, span)
        for line, word in lines(words):
            self.text(line, 0, (word.start, word.end), depth + 1)
        if words and base(words[0]) in SHELLS:
            for text in _fed(simple, scanned):
                self.text(text, 0, span, depth + 1)
        if words and (several := _LIST.fullmatch(words[0].text)):
            parts = tuple(Word(part, words[0].start, words[0].end, plain=False) for part in several[1].split(","))
            self.found.append(Command(words[0].text, *span, words=(*parts, *words[1:]), nested=True))


def _fed(simple: Simple, scanned: Scan) -> Iterator[str]:
    """What a shell is given to read."""
    for token in simple.redirections:
        if token.body is not None:
            yield scanned.text[slice(*token.body)]
        elif token.text == "<<<" and token.word is not None:
            yield token.word.value


def _moved(word: Word, offset: int, place: tuple[int, int] | None) -> Word:
    start, end = place or (word.start + offset, word.end + offset)
    return Word(word.text, start, end, plain=word.plain, inert=word.inert, glob=word.glob)
