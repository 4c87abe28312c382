"""Redirections: which of them are nothing, and what the others do."""

from __future__ import annotations

import posixpath
import re

from pegboard.policy.shell.tokens import Token
from pegboard.policy.shell.words import Spelled

NOWHERE = "/dev/null"
_DESCRIPTOR = re.compile(r"[0-9]{1,9}|-")
_WRITES = {">": "writes", ">|": "writes", ">>": "adds to", "&>": "writes", "&>>": "adds to", ">&": "writes"}


def redirection(token: Token) -> str | None:
    """Why this redirection may not pass unasked. None: it goes to /dev/null or another descriptor, or reads a file."""
    word, operator = token.word, token.text
    assert word is not None
    if token.descriptor.startswith("{"):
        return "opens a descriptor that stays open"
    if operator == "<>":
        return f"opens {word.value} for reading and writing"
    if _network(word):
        return "opens a network connection"
    if operator == "<<<":
        return None
    if operator in (">&", "<&") and word.plain and _DESCRIPTOR.fullmatch(word.value):
        return None
    if operator == "<":
        return None if word.inert or _only_tilde(word) else "reads a file that is not known here"
    if operator == "<&":
        return "reads from what is not known here"
    if word.inert and word.value == NOWHERE and not (operator == ">&" and token.descriptor):
        return None
    return f"{_WRITES[operator]} {'the file ' + word.value if word.inert else 'a file that is not known here'}"


def _network(word: Spelled) -> bool:
    """Whether bash makes a connection of this name."""
    place = posixpath.normpath(word.value).casefold()
    return place.startswith(("/dev/tcp", "//dev/tcp", "/dev/udp", "//dev/udp"))


def _only_tilde(word: Spelled) -> bool:
    return word.tilde and not (word.dynamic or word.glob or word.braces)
