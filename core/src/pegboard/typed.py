"""Arguments of a call as a person types them: `k=v`, `k:=JSON`, `k=@FILE`, or one JSON object.

`v` stays text; the tool's schema makes of it what it wants. A key that is repeated makes a list.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pegboard.terminal import plain

MOST_BYTES = 64 * 1024 * 1024
"""Of a file that stands for an argument."""
_WORD = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)(?P<sign>:=|=@|=)(?P<value>.*)", re.DOTALL)
_STDIN = ("-", "/dev/stdin")


class BadWord(Exception):
    """What was typed does not say what was meant; the text, without a full stop, says what was expected. Nothing was run."""


def read_call(rest: str, *, usage: str, root: str = "") -> tuple[str, dict[str, Any]]:
    """The tool that a line in a session names, and its arguments; `rest` is what stands after the command, `usage` how that
    is written. It may read files, from the root: an app calls it in a thread.

    Raises:
        BadWord: none is named, or the arguments are neither words nor a JSON object, or a file cannot be read.
    """
    name, _, given = rest.strip().partition(" ")
    given = given.strip()
    if not name:
        raise BadWord(f"write {usage}; /tools lists the tools")
    try:
        if given.startswith("{"):
            return name, msgspec.json.decode(given.encode(), type=dict[str, Any])
        words = shlex.split(given)
    except ValueError as error:  # msgspec's is one, too
        raise BadWord(f"the arguments of {name} cannot be read: {error}") from None
    return name, read_words(words, root=root)


def read_words(words: Sequence[str], *, root: str = "", stdin: Callable[[], str] | None = None) -> dict[str, Any]:
    """The arguments that words give. root: where names of files begin; else in the current folder. stdin: reads what
    `k=@-` stands for; None: it is not there to be read.

    Raises:
        BadWord: a word is no `k=v`, JSON is broken, a file cannot be read.
    """
    named: dict[str, list[Any]] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None:
            raise BadWord(f"{plain(word)!r} is no argument: write name=value, name:=JSON or name=@file")
        key, sign, value = found["key"], found["sign"], found["value"]
        read = _json(key, value) if sign == ":=" else _file(key, value, root, stdin) if sign == "=@" else value
        named.setdefault(key, []).append(read)
    return {key: values[0] if len(values) == 1 else values for key, values in named.items()}


def read_text(data: bytes, name: str) -> str:
    """Bytes of a file as the text they are, line ends as they are.

    Raises:
        BadWord: they are too many (more than `MOST_BYTES`), or no UTF-8.
    """
    if len(data) > MOST_BYTES:
        raise BadWord(f"{name} has more than {MOST_BYTES // 1024**2} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadWord(f"{name} is not UTF-8 text (byte {error.start})") from None


def _json(key: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise BadWord(f"{key}:= wants JSON ({error}); for text, write {key}=...") from None


def _file(key: str, name: str, root: str, stdin: Callable[[], str] | None) -> str:
    if name in _STDIN and stdin is None:
        raise BadWord("stdin holds your prompts; name a file, or write the text")
    if name == "-" and stdin is not None:
        return stdin()
    try:
        with Path(root, name).open("rb") as file:
            return read_text(file.read(MOST_BYTES + 1), plain(name))
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise BadWord(f"{key}=@{plain(name)}: {reason}") from None
