"""A command's words as its program reads them: options, their values, and operands (getopt's rules)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pegboard.policy.shell.line import Word

_NUMBER = re.compile(r"-[0-9]+")
_SIGNED = re.compile(r"-[0-9][0-9A-Za-z,.]*")


class Parsed(msgspec.Struct, frozen=True):
    """`given`: each option with its value, in order. `operands`: the rest. `after`: how many operands stand after `--`."""

    given: list[tuple[str, str | None]]
    operands: list[Word]
    after: int = 0

    def has(self, names: Sequence[str]) -> bool:
        """Whether one of these options was given."""
        return any(name in names for name, _ in self.given)

    def values(self, names: Sequence[str]) -> list[str]:
        """What was given with these options."""
        return [value for name, value in self.given if name in names and value is not None]


class _Unknown(Exception):
    """An option that is not in the list, or whose value cannot be told."""


def parse(
    words: Sequence[Word], kinds: Mapping[str, str], *, numbers: bool = False, style: str = "getopt"
) -> Parsed | None:
    """The words after the program. None as soon as one is an option that `kinds` does not name, spelled in full.

    Options may stand after operands (programs that take them for operands there are judged more strictly). A value in
    a word of its own that looks like an option is not taken for a value: should a table be wrong about the option,
    nothing hides in it. style: "words": options are whole words, never bundled; "apart": a value
    is never joined to one."""
    given: list[tuple[str, str | None]] = []
    operands: list[Word] = []
    rest = iter(words)
    try:
        for word in rest:
            text = word.text
            if text == "--":
                after = list(rest)
                return Parsed(given, operands + after, len(after))
            if not text.startswith("-") or text == "-":
                operands.append(word)
            elif not (numbers and _NUMBER.fullmatch(text)):
                _sure(word)
                given += _option(text, kinds, rest, style)
    except _Unknown:
        return None
    return Parsed(given, operands)


def _option(text: str, kinds: Mapping[str, str], rest: object, style: str) -> list[tuple[str, str | None]]:
    name, joined, value = text.partition("=")
    if style == "words" and (text not in kinds or joined):
        raise _Unknown
    if text.startswith("--") or (len(name) > 2 and name in kinds):
        kind = kinds.get(name)
        if kind is None or (kind == "flag" and joined):
            raise _Unknown
        if joined:
            return [(name, value)]
        if kind == "pair":
            return [(name, _next(rest)), (name, _next(rest))]
        return [(name, _next(rest) if kind in ("text", "path") else None)]
    found: list[tuple[str, str | None]] = []
    for at, letter in enumerate(text[1:], 2):
        short = f"-{letter}"
        match kinds.get(short):
            case None:
                raise _Unknown
            case "flag":
                found.append((short, None))
            case "maybe":
                return [*found, (short, text[at:] or None)]
            case _ if style == "apart" and text[at:]:
                raise _Unknown
            case _:
                return [*found, (short, text[at:] or _next(rest))]
    return found


def _next(rest: object) -> str:
    """The next word, as a value."""
    word: Word | None = next(rest, None)  # type: ignore[call-overload]
    if word is None or not word.inert or word.glob or (word.text.startswith("-") and not _SIGNED.fullmatch(word.text)):
        raise _Unknown
    return word.text


def _sure(word: Word) -> None:
    """A glob in an option may make another of it, unless it stands in a joined value."""
    if word.glob:
        if not re.match(r"--[a-z-]+=[^*?\[]*[*?\[]", word.text):
            raise _Unknown
    elif not word.inert:
        raise _Unknown


def split_at_dashes(words: Sequence[Word], flags: Mapping[str, str]) -> tuple[Sequence[Word], Sequence[Word]]:
    """The words before and after the `--` that ends options for certain: one that cannot be the value of an option.

    `flags`: options that are known to take no word of their own."""
    for at, word in enumerate(words):
        if word.text == "--":
            before = words[at - 1].text if at else ""
            if not before.startswith("-") or before == "-" or flags.get(before) in ("flag", "maybe"):
                return words[:at], words[at + 1 :]
    return words, ()
