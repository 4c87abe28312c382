"""On which line of a TOML file a key stands. tomllib keeps no positions, so the text is read once more, in one pass."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<text>\"\"\"(?:\\.|[^\\])*?\"\"\"+ | '''.*?'''+ | "(?:\\.|[^"\\\n])*" | '[^'\n]*')
      | (?P<mark>[\[\]{}=,.\n])
      | (?P<bare>[^\s\[\]{}=,."'\#]+)""",
    re.VERBOSE | re.DOTALL,
)


class Lines:
    """The lines of one file's keys. What is no valid TOML gives no line, or a wrong one, and never fails."""

    def __init__(self, text: str) -> None:
        self._keys: dict[tuple[str, ...], int] = {}
        self._items: dict[tuple[str, ...], int] = {}
        self._entries: dict[tuple[str, ...], list[int]] = {}
        self._tokens = _tokens(text)
        self._read()

    def of(self, key: tuple[str, ...]) -> int | None:
        """The line of a key, else of the nearest table around it; None when neither stands there."""
        for length in range(len(key), 0, -1):
            if key[:length] in self._keys:
                return self._keys[key[:length]]
        return None

    def item(self, key: tuple[str, ...], text: str) -> int | None:
        """The line of a text in the list at a key, else the line of the list."""
        return self._items.get((*key, text)) or self.of(key)

    def entry(self, key: tuple[str, ...], index: int) -> int | None:
        """The line of one table in the list of tables at a key, else the line of the list."""
        lines = self._entries.get(key, ())
        return lines[index] if index < len(lines) else self.of(key)

    def _read(self) -> None:
        """Statements one after the other: a table's header, or a key and its value."""
        table: tuple[str, ...] = ()
        parts: list[str] = []
        begun = 0
        for kind, word, line in self._tokens:
            begun = begun or line
            if word == "[" and not parts:
                table, listed = self._header()
                self._note(table, begun)
                if listed:
                    self._entries.setdefault(table, []).append(begun)
            elif word == "=":
                key = (*table, *parts)
                self._note(key, begun)
                self._value(key)
            elif kind != "mark":
                parts.append(_unquoted(word) if kind == "text" else word)
                continue
            elif word != "\n":
                continue
            parts, begun = [], 0

    def _note(self, key: tuple[str, ...], line: int) -> None:
        for length in range(1, len(key) + 1):
            self._keys.setdefault(key[:length], line)

    def _header(self) -> tuple[tuple[str, ...], bool]:
        """The table that a header names, and whether it is one of a list (`[[...]]`)."""
        parts: list[str] = []
        listed = False
        for kind, word, _ in self._tokens:
            if word == "\n":
                break
            if kind != "mark":
                parts.append(_unquoted(word) if kind == "text" else word)
            elif word == "[":
                listed = True
        return tuple(parts), listed

    def _value(self, key: tuple[str, ...]) -> None:
        """To the end of a value: of the line, outside brackets. Texts and tables in a list are noted."""
        depth = 0
        for kind, word, line in self._tokens:
            if kind == "mark":
                if word == "{" and depth == 1:
                    self._entries.setdefault(key, []).append(line)
                depth += word in "[{"
                depth -= word in "]}"
                if word == "\n" and depth <= 0:
                    return
            elif kind == "text" and depth == 1:
                self._items.setdefault((*key, _unquoted(word)), line)


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, token, its line) without blanks and comments."""
    line = 1
    for found in _TOKEN.finditer(text):
        kind, word = str(found.lastgroup), found[0]
        if kind != "comment":
            yield kind, word, line
        line += word.count("\n")


def _unquoted(word: str) -> str:
    try:
        return str(tomllib.loads(f"v = {word}")["v"])
    except tomllib.TOMLDecodeError:
        return word
