"""Arguments of a call as words of a command line: `k=v`, `k:=JSON`, `k=@file`, `--args JSON`.

`v` stays text; the tool's schema makes of it what it wants. A key that is repeated makes a list.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from pegboard.terminal import plain

MOST_BYTES = 64 * 1024 * 1024
_WORD = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)(?P<sign>:=|=@|=)(?P<value>.*)", re.DOTALL)


class BadWord(Exception):
    """The command line does not say what was meant; the text says what was expected. Nothing was run."""


def read_arguments(words: Sequence[str], whole: str | None = None) -> dict[str, Any]:
    """The arguments that the words of a command line give. `whole` is the value of `--args`; single words win over it.

    Raises:
        BadWord: a word is no `k=v`, JSON is broken, a file cannot be read.
    """
    arguments = _object(whole) if whole is not None else {}
    named: dict[str, list[Any]] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None:
            raise BadWord(f"{plain(word)!r} is no argument: write name=value, name:=JSON or name=@file")
        named.setdefault(found["key"], []).append(_value(found["key"], found["sign"], found["value"]))
    return {**arguments, **{key: values[0] if len(values) == 1 else values for key, values in named.items()}}


def as_lists(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with a single text where the tool's schema wants a list of texts made a list of one."""
    properties: Mapping[str, Any] = parameters.get("properties", {})
    return {
        key: [value]
        if isinstance(value, str) and value[:1] != "[" and properties.get(key, {}).get("type") == "array"
        else value
        for key, value in arguments.items()
    }


def as_unicode(arguments: Mapping[str, Any], paths: frozenset[str], others: frozenset[str]) -> dict[str, Any]:
    r"""The same, where words of the command line that are not UTF-8 are names of files, shown as `caf\xe9`.

    `paths`: parameters that name files; `others`: the tool's other ones, in which such bytes would be changed silently.

    Raises:
        BadWord: one of the others is not UTF-8.
    """
    found: dict[str, Any] = {}
    for key, value in arguments.items():
        if isinstance(value, str) and plain(value) != value:
            if key in others and key not in paths:
                raise BadWord(f"{key} is not UTF-8 text; nothing was run. Give it as {key}=@file in UTF-8")
            value = plain(value)
        found[key] = value
    return found


def _value(key: str, sign: str, text: str) -> Any:
    if sign == ":=":
        try:
            return msgspec.json.decode(text.encode())
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise BadWord(f"{key}:= wants JSON ({error}); for text, write {key}=...") from None
    return _file(key, text) if sign == "=@" else text


def _file(key: str, name: str) -> str:
    """The text of a file (`-`: of stdin), line ends as they are."""
    try:
        if name == "-":
            return read_stdin()
        with open(name, "rb") as file:
            return _text(file.read(MOST_BYTES + 1), plain(name))
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise BadWord(f"{key}=@{plain(name)}: {reason}") from None


def read_stdin() -> str:
    """All of stdin as text.

    Raises:
        BadWord: it is closed, not UTF-8, or too large.
    """
    if sys.stdin is None:
        raise BadWord("stdin is closed")
    return _text(sys.stdin.buffer.read(MOST_BYTES + 1), "stdin")


def _text(data: bytes, name: str) -> str:
    if len(data) > MOST_BYTES:
        raise BadWord(f"{name} has more than {MOST_BYTES // 1024**2} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadWord(f"{name} is not UTF-8 text (byte {error.start})") from None


def _object(text: str) -> dict[str, Any]:
    """The object that `--args` gives (`-`: stdin)."""
    if text == "-":
        text = read_stdin()
    try:
        value = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise BadWord(f"--args is not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadWord("--args must be one JSON object")
    return value
