"""Arguments of a call on a command line: words (`pegboard.typed`), `--args JSON`, stdin, and what is no UTF-8."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from pegboard.terminal import plain
from pegboard.typed import MOST_BYTES, BadWord, read_text, read_words


def read_arguments(words: Sequence[str], whole: str | None = None) -> dict[str, Any]:
    """The arguments that the words of a command line give. `whole` is the value of `--args`; single words win over it.

    Raises:
        BadWord: a word is no `k=v`, JSON is broken, a file cannot be read.
    """
    return {**(_object(whole) if whole is not None else {}), **read_words(words, stdin=read_stdin)}


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


def read_stdin() -> str:
    """All of stdin as text.

    Raises:
        BadWord: it is closed, not UTF-8, or too large.
    """
    if sys.stdin is None:
        raise BadWord("stdin is closed")
    return read_text(sys.stdin.buffer.read(MOST_BYTES + 1), "stdin")


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
