"""Commands inside others: in substitutions, behind `sudo` and `xargs`, in what `bash -c` gets. Rules that deny see them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from pegboard.policy.shell.bounds import DEPTH
from pegboard.policy.shell.budget import Budget
from pegboard.policy.shell.feeding import UNKNOWN, Fed, completed, fed, parallel, printed, runs_input
from pegboard.policy.shell.given import lines
from pegboard.policy.shell.line import Command, Word
from pegboard.policy.shell.runners import SHELLS, base, started
from pegboard.policy.shell.simple import Scan, Simple, scan
from pegboard.policy.shell.words import word_of

Span = tuple[int, int]

_SEPARATOR = re.compile(r"[;&|\n(){}`'\"]")
_LIST = re.compile(r"\{([^{}]*,[^{}]*)\}")


def nested(scanned: Scan, commands: Sequence[Simple], budget: Budget) -> list[Command]:
    """What stands inside a line's words and commands. Where `budget` is spent, that is not all."""
    finder = _Finder(budget)
    finder.inside(scanned, 0, None, 0)
    finder.beyond(scanned, 0, None, 0)
    for simple in commands:
        if budget.spent:
            break
        finder.behind(tuple(map(word_of, simple.words)), simple, scanned, 0, (simple.start, simple.end))
    return finder.found


class _Finder:
    """Collects commands; `place` is where they stand in the line, when their own text is not a part of it."""

    def __init__(self, budget: Budget) -> None:
        self.found: list[Command] = []
        self.budget = budget

    def text(self, text: str, offset: int, place: Span | None, depth: int) -> None:
        """The commands in a text that stands at `offset`, or somewhere in `place`."""
        if depth > DEPTH:
            self.budget.spent = True
        if self.budget.spent:
            return
        scanned = self._scan(text)
        self.all(scanned, offset, place, depth)
        self.beyond(scanned, offset, place, depth)

    def _scan(self, text: str) -> Scan:
        return scan(text, self.budget) if self.budget.read(len(text) + 1) else Scan("")

    def all(self, scanned: Scan, offset: int, place: Span | None, depth: int) -> None:
        """The commands of a text, and what is inside and behind them."""
        self.inside(scanned, offset, place, depth)
        for simple in scanned.commands:
            words = tuple(_moved(word_of(word), offset, place) for word in simple.words)
            span = place or (simple.start + offset, simple.end + offset)
            if not self._keep(words, span, scanned.text[simple.start : simple.end]):
                return
            self.behind(words, simple, scanned, depth, span)

    def _keep(self, words: Sequence[Word], span: Span, text: str | None = None) -> bool:
        """Note a command, if there is room."""
        if self.budget.spent or not self.budget.read(len(words)) or not self.budget.command():
            return False
        text = " ".join(word.text for word in words) if text is None else text
        self.found.append(Command(text, *span, words=tuple(words), nested=True))
        return True

    def inside(self, scanned: Scan, offset: int, place: Span | None, depth: int) -> None:
        """The substitutions of a text."""
        for inner in scanned.inners:
            if self.budget.spent:
                return
            span = place or ((inner.start + offset, inner.end + offset) if inner.text is not None else None)
            text = inner.text if inner.text is not None else scanned.text[inner.start : inner.end]
            self.text(text, offset + inner.start, span, depth + 1)

    def beyond(self, scanned: Scan, offset: int, place: Span | None, depth: int) -> None:
        """What stands behind the place where a text could not be read on; bash may read it otherwise, and run it."""
        while not self.budget.spent:
            following = _SEPARATOR.search(scanned.text, scanned.error.start) if scanned.error is not None else None
            if following is None:
                return
            offset += following.end()
            scanned = self._scan(scanned.text[following.end() :])
            self.all(scanned, offset, place, depth + 1)

    def behind(self, words: Sequence[Word], simple: Simple, scanned: Scan, depth: int, span: Span) -> None:
        """What a command would start."""
        if depth > DEPTH:
            self.budget.spent = True
        if self.budget.spent or not words or not self.budget.read(len(words)):
            return
        for rest in started(words):
            if not self._keep(rest, span):
                return
            self.behind(rest, simple, scanned, depth + 1, span)
        for line, word in lines(words):
            self.text(line, 0, (word.start, word.end), depth + 1)
            if self.budget.spent:
                return
        self._fed(words, simple, scanned, depth, span)
        if _unforeseen(words, simple):
            self._keep([Word(UNKNOWN, *span, plain=False, inert=False)], span)
        if several := _LIST.fullmatch(words[0].text):
            parts = tuple(Word(part, words[0].start, words[0].end, plain=False) for part in several[1].split(","))
            self._keep((*parts, *words[1:]), span, words[0].text)

    def _fed(self, words: Sequence[Word], simple: Simple, scanned: Scan, depth: int, span: Span) -> None:
        """What a command runs of what it reads."""
        name = base(words[0])
        if name in SHELLS or name in ("source", "."):
            for word in words[1:]:
                if word.text.startswith("<("):
                    self._run(printed(word.text), depth, span)
        if runs_input(words, simple):
            self._run(fed(simple, scanned), depth, span)
        elif name in ("xargs", "gxargs"):
            self._put_behind(words, fed(simple, scanned), depth, span)
        elif name == "parallel":
            for line in parallel(words, fed(simple, scanned)):
                self.text(line, 0, span, depth + 1)

    def _run(self, into: Fed, depth: int, span: Span) -> None:
        """Texts that are run as command lines."""
        for text in into.texts:
            self.text(text, 0, span, depth + 1)
        if not into.sure:
            self._keep([Word(UNKNOWN, *span, plain=False, inert=False)], span)

    def _put_behind(self, words: Sequence[Word], into: Fed, depth: int, span: Span) -> None:
        """Commands that are completed by what comes in."""
        for rest in started(words):
            for made in completed(words, rest, into):
                if not self._keep(made, span):
                    return
                self.behind(made, Simple(""), Scan(""), depth + 1, span)


def _unforeseen(words: Sequence[Word], simple: Simple) -> bool:
    """Whether names get another meaning by settings or by the environment, so that nobody knows what is run."""
    name = base(words[0])
    if name == "hash":
        return any(word.text.startswith("-") and "p" in word.text for word in words[1:])
    if name == "git" and any(one.startswith("GIT_CONFIG") for one, _ in simple.assigned):
        return True
    return any(word.text.startswith(("GIT_CONFIG", "--config-env")) for word in words[1:]) or (
        name == "git" and any(word.text == "for-each-repo" for word in words)
    )


def _moved(word: Word, offset: int, place: Span | None) -> Word:
    start, end = place or (word.start + offset, word.end + offset)
    return msgspec.structs.replace(word, start=start, end=end)
