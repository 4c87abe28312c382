"""A request that is one of a tool's own examples with its slots filled: then the slots' places say what is what."""

from __future__ import annotations

import re
from functools import lru_cache

from pegboard_offline.entities import Reading

_NAMED = frozenset({"called", "named"})
_SLOT = re.compile(r"\{(\w+)\}")


def slots(example: str, reading: Reading) -> dict[str, tuple[int, int]] | None:
    """Where each slot of an example stands in the request, when the whole request has its form."""
    if not _literals(example) <= set(re.findall(r"[\w']+", reading.text.lower())):
        return None
    match = _pattern(example).fullmatch(_blanked(reading))
    return {name: match.span(f"s{at}") for at, name in enumerate(_SLOT.findall(example))} if match else None


def _blanked(reading: Reading) -> str:
    """The text with quoted parts made of one letter each, so that their words match no word of an example."""
    text = reading.text
    for entity in reading.of("quoted", "code"):
        text = text[: entity.start] + "\x01" * (entity.end - entity.start) + text[entity.end :]
    return text


@lru_cache(maxsize=512)
def _literals(example: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w']+", _SLOT.sub(" ", example).lower())) - _NAMED


def _word(word: str) -> str:
    """A word of an example as a pattern: whether a thing is "called" so or "named" so is all one."""
    return f"(?:{'|'.join(sorted(_NAMED))})" if word.lower() in _NAMED else re.escape(word)


@lru_cache(maxsize=512)
def _pattern(example: str) -> re.Pattern[str]:
    parts = _SLOT.split(example.rstrip(" ?.!"))
    pieces = []
    for at, part in enumerate(parts):
        pieces.append(rf"(?P<s{at // 2}>\S.*?)" if at % 2 else r"\s+".join(map(_word, re.split(r"\s+", part))))
    return re.compile(r"\s*" + "".join(pieces) + r"[\s?.!]*", re.I | re.S)
