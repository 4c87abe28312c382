"""Patterns: the words that a command begins with."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence

from pegboard.policy.shell.line import OUTSIDE, Command, Word

ANY = "*"
"""In a pattern, any one word."""
_LETTERS = 3
_SHORTEST = 3


def pattern_words(pattern: str) -> list[str]:
    """The words of a pattern; a last `…` or `*` says what is meant anyway, that anything may follow."""
    words = pattern.split()
    if len(words) > 1 and words[-1] in ("…", "...", ANY):
        words.pop()
    return words


def matches(pattern: str, command: Command, *, exactly: bool) -> bool:
    """Whether a pattern speaks of a command.

    exactly, for what allows: its first words are these, plainly spelled, and nothing is against passing it. Otherwise, for
    what asks or denies: they are these whatever they are spelled like, by whatever path the program is named, with options
    between them, and its own options anywhere."""
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
    options = [one for one in wanted[1:] if one.startswith("-") and one.strip("-")]
    operands = [one for one in wanted[1:] if one not in options]
    return _among(operands, words[1:]) and all(_has(one, words[1:]) for one in options)


def _has(option: str, words: Sequence[Word]) -> bool:
    """Whether an option is among these words, wherever: a long one also shortened and with a value, one of up to three
    letters also letter by letter (`-rf` as `-r -f`, `-fr`, `-rfv`)."""
    if any(_same(option, word) for word in words):
        return True
    texts = [word.text for word in words if _option(word)]
    if option.startswith("--"):
        heads = [text.partition("=")[0] for text in texts]
        return any(head == option or (len(head) > _SHORTEST and option.startswith(head)) for head in heads)
    given = [text[1:] for text in texts if not text.startswith("--")]
    if len(option) > _LETTERS + 1:
        return any(sorted(text) == sorted(option[1:]) for text in given)
    return set(option[1:]) <= set("".join(given))


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
    """Whether a word names this program: by whatever path, in other letter case where files have none, or by a glob."""
    wanted, name = wanted.rpartition("/")[2] or wanted, word.text.rpartition("/")[2]
    return wanted == ANY or name.casefold() == wanted.casefold() or (word.glob and fnmatch.fnmatchcase(wanted, name))


def _same(wanted: str, word: Word) -> bool:
    return wanted in (ANY, word.text) or (word.glob and fnmatch.fnmatchcase(wanted, word.text))


def _option(word: Word) -> bool:
    return word.text.startswith("-")
