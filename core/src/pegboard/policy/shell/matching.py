"""Patterns: the words that a command begins with."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from pegboard.policy.shell.line import OUTSIDE, Command, Word

ANY = "*"
"""In a pattern, any one word."""


def pattern_words(pattern: str) -> list[str]:
    """The words of a pattern; a last `…` or `*` says what is meant anyway, that anything may follow."""
    words = pattern.split()
    if len(words) > 1 and words[-1] in ("…", "...", ANY):
        words.pop()
    return words


def matches(pattern: str, command: Command, *, exactly: bool) -> bool:
    """Whether a pattern speaks of a command.

    exactly, for what allows: its first words are these, plainly spelled, and nothing is against passing it. Otherwise, for
    what asks or denies: they are these whatever they are spelled like, by whatever path the program is named, and with
    options between them."""
    wanted = pattern_words(pattern)
    if not wanted:
        return False
    if exactly:
        return not command.nested and _begins(wanted, command.judged) and _passes(wanted, command)
    return any(_loosely(wanted, words) for words in (command.words, command.judged))


def _passes(wanted: Sequence[str], command: Command) -> bool:
    """Whether nothing is against it, or only that its words lead outside, which the pattern names word by word."""
    risk, judged = command.risk, command.judged
    if risk is None:
        return True
    return risk.rule == OUTSIDE and ANY not in wanted and judged[len(wanted) - 1].end >= risk.end


def _begins(wanted: Sequence[str], words: Sequence[Word]) -> bool:
    return len(words) >= len(wanted) and all(
        word.plain and one in (ANY, word.text) for one, word in zip(wanted, words, strict=False)
    )


def _loosely(wanted: Sequence[str], words: Sequence[Word]) -> bool:
    if not words or not _named(wanted[0], words[0]):
        return False
    return _among(wanted[1:], words[1:])


def _among(wanted: Sequence[str], words: Sequence[Word]) -> bool:
    """Whether these follow one another, with nothing but options, and a value for each, before and between them."""
    reached = {0}
    for one in wanted:
        following: set[int] = set()
        for start in reached:
            at = start
            while at < len(words):
                if _same(one, words[at]):
                    following.add(at + 1)
                if not _option(words[at]) and not (at > start and _option(words[at - 1])):
                    break
                at += 1
        reached = following
        if not reached:
            return False
    return True


def _named(wanted: str, word: Word) -> bool:
    """Whether a word names this program: by a path, in other letter case where files have none, or by a glob."""
    name = word.text if "/" in wanted else word.text.rpartition("/")[2]
    return wanted == ANY or name.casefold() == wanted.casefold() or (word.glob and fnmatch.fnmatchcase(wanted, name))


def _same(wanted: str, word: Word) -> bool:
    return wanted in (ANY, word.text) or (word.glob and fnmatch.fnmatchcase(wanted, word.text))


def _option(word: Word) -> bool:
    return word.text.startswith("-")
