"""What the words of a command stand for, as far as a line says it: quotes, braces, variables set on it, `$(echo x)`.

A word becomes the words that its program gets. In them a character that the shell no longer looks at (a quoted `*`) is
kept apart from one that it does; `plain` puts it back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

MAYBE = "\ue101"
"""Stands for a value that is not known, and is nothing where its variable is not set."""
SOME = "\ue102"
"""Stands for a value that is not known, and not empty."""
_SPLIT = "\ue103"
_SHIFT = 0xE000
MOST = 64
"""Words that one may become. What is more is left out."""

_QUOTED = {ord(char): chr(_SHIFT + ord(char)) for char in "*?[]{},~ \t\n"}
_BARE = {_SHIFT + ord(char): char for char in "*?[]{},~ \t\n"}
_SET = {_SHIFT + ord(char): char for char in "*?[] \t\n"}
_FURTHEST = 2000
"""Characters that values may add to a word; what is longer is not known."""
_MOST_PUT_IN = 150_000
"""Characters that all words of a line may become."""
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}|\{([A-Za-z0-9])\.\.([A-Za-z0-9])\}")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!-]")
_SET_ELSEWHERE = re.compile(
    r"[0-9@*#?$!_-]|(?:BASH|LINES|COLUMNS|RANDOM|SECONDS|UID|EUID|OSTYPE|HOSTNAME|USER|SHELL)\w*"
)
_BRACED = re.compile(r"([A-Za-z_]\w*|[0-9@*])(?:(:?[-=+?])(.*)|[%#/,^:].*)?", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b", "E": "\x1b"}
_CODE = re.compile(r"x([0-9A-Fa-f]{1,2})|[uU]([0-9A-Fa-f]{1,8})|([0-7]{1,3})")


def plain(text: str) -> str:
    """A word with every character as the program gets it."""
    return text.translate(_BARE)


def literal(text: str) -> str:
    """A text in which nothing expands, as a word."""
    return text.translate(_QUOTED)


def known(text: str) -> bool:
    """Whether nothing in a word is left open."""
    return MAYBE not in text and SOME not in text


class TooMuch(Exception):
    """A line holds more than is looked at."""


class Values:
    """Expands words. variables: what was set on the line, over which `environ` says what is set outside of it, and is not
    known all the same; output: what a command prints, or None."""

    def __init__(self, home: str, environ: Mapping[str, str], output: Callable[[str], str | None]) -> None:
        self.home, self.environ, self.output = home, environ, output
        self.variables: dict[str, str] = {}
        self._left = _MOST_PUT_IN

    def words(self, raw: str) -> list[str]:
        """The words that one becomes, as it is spelled. Raises TooMuch."""
        found: list[str] = []
        for braced in braces(self._text(raw)):
            found += [part for part in braced.split(_SPLIT) if part] if _SPLIT in braced else [braced]
        return found[:MOST]

    def value(self, raw: str) -> str:
        """What `x=raw` sets: how it was quoted is forgotten, but for what expands only in a word itself."""
        return self._text(raw).translate(_SET)

    def _text(self, raw: str) -> str:
        if not re.search(r"[$`'\"\\]", raw):
            return raw
        found, length = [], 0
        for part in self._parts(raw, quoted=False):
            found.append(part)
            length += len(part)
            self._left -= len(part)
            if self._left < 0:
                raise TooMuch
            if length > len(raw) + _FURTHEST:
                return "".join(found)[:_FURTHEST] + SOME
        return "".join(found)

    def _parts(self, raw: str, *, quoted: bool) -> Iterator[str]:
        at = 0
        while at < len(raw):
            char, opener = raw[at], raw[at : at + 2]
            if char == "\\" and at + 1 < len(raw):
                kept = quoted and raw[at + 1] not in '$`"\\\n'
                yield ("\\" if kept else "") + ("" if raw[at + 1] == "\n" else literal(raw[at + 1]))
                at += 2
            elif char == "'" and not quoted:
                end = _end(raw, at + 1, "'")
                yield literal(raw[at + 1 : end])
                at = end + 1
            elif opener == "$'" and not quoted:
                end = _end(raw, at + 2, "'")
                yield literal(_unescaped(raw[at + 2 : end]))
                at = end + 1
            elif (char == '"' or opener == '$"') and not quoted:
                at += len(opener) if char == "$" else 1
                end = _end(raw, at, '"')
                yield from self._parts(raw[at:end], quoted=True)
                at = end + 1
            elif char == "`":
                end = _end(raw, at + 1, "`")
                yield self._printed(raw[at + 1 : end], quoted)
                at = end + 1
            elif char == "$":
                at, value = self._expansion(raw, at)
                yield _quoted(value) if quoted else re.sub(r"[ \t\n]+", _SPLIT, value)
            elif char == "<" and opener == "<(":
                end = _end(raw, at + 2, ")")
                yield SOME
                at = end + 1
            else:
                yield literal(char) if quoted else char
                at += 1

    def _expansion(self, raw: str, at: int) -> tuple[int, str]:
        if raw.startswith("$((", at):
            return _end(raw, at + 2, ")") + 1, SOME
        if raw.startswith("$(", at):
            end = _end(raw, at + 2, ")")
            return end + 1, self._printed(raw[at + 2 : end], quoted=True)
        if raw.startswith("${", at):
            end = _end(raw, at + 2, "}")
            return end + 1, self._braced(raw[at + 2 : end])
        name = _NAME.match(raw, at + 1)
        return (name.end(), self._named(name[0])) if name else (at + 1, "$")

    def _braced(self, body: str) -> str:
        found = _BRACED.fullmatch(body)
        if found is None:
            return SOME
        name, operator, other = found[1], found[2], found[3]
        value = self._named(name)
        if operator is None:
            return value
        if operator.endswith("?"):
            return SOME if value == MAYBE else value
        if operator.endswith("+"):
            return self._text(other) if value != MAYBE else MAYBE
        return self._text(other) if value == MAYBE else value

    def _named(self, name: str) -> str:
        if name in self.variables:
            return self.variables[name]
        match name:
            case "HOME":
                return self.home
            case "PWD":
                return "."
            case "IFS":
                return " "
        return SOME if _SET_ELSEWHERE.fullmatch(name) or self.environ.get(name) else MAYBE

    def _printed(self, command: str, quoted: bool) -> str:
        text = self.output(command)
        return SOME if text is None else text if quoted else re.sub(r"[ \t\n]+", _SPLIT, text)


def braces(text: str) -> list[str]:
    """The words that lists in braces make of one."""
    done: list[str] = []
    waiting = [text]
    while waiting and len(done) + len(waiting) <= MOST:
        one = waiting.pop(0)
        found = _BRACES.search(one)
        if found is None:
            done.append(one)
            continue
        parts = found[1].split(",") if found[1] is not None else _series(found[2], found[3])
        waiting += [one[: found.start()] + part + one[found.end() :] for part in parts[:MOST]]
    return (done + waiting)[:MOST]


def _series(first: str, last: str) -> list[str]:
    low, high = sorted((ord(first), ord(last)))
    return [chr(code) for code in range(low, high + 1)]


def _quoted(value: str) -> str:
    """A value between double quotes: its globs mean nothing, nor do its blanks. Lists in braces are ours, and stay."""
    return "".join(char if char in "{}," else literal(char) for char in value)


def _end(raw: str, at: int, closer: str) -> int:
    """Where what is open here closes; the end of the text, where it does not."""
    depth, opener = 0, {")": "(", "}": "{"}.get(closer)
    while at < len(raw):
        char = raw[at]
        if char == "\\" and closer != "'":
            at += 1
        elif char == closer:
            if not depth:
                return at
            depth -= 1
        elif char == opener:
            depth += 1
        elif opener and char in "'\"":
            at = _end(raw, at + 1, char)
        elif closer == '"' and raw.startswith(("$(", "${"), at):
            at = _end(raw, at + 2, ")" if raw[at + 1] == "(" else "}")
        at += 1
    return len(raw)


def _unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = _CODE.fullmatch(found[1])
        if code is None:
            return _ESCAPES.get(found[1], found[1])
        number = int(code[1] or code[2], 16) if code[1] or code[2] else int(code[3], 8)
        return chr(number) if number < 0x110000 else "?"

    return re.sub(r"\\(x[0-9A-Fa-f]{1,2}|[uU][0-9A-Fa-f]{1,8}|[0-7]{1,3}|.)", one, text, flags=re.DOTALL)
