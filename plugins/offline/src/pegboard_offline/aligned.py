"""A request that is one of a tool's own examples with its slots filled: then the slots' places say what is what."""

from __future__ import annotations

import re
from functools import lru_cache

from pegboard_offline.entities import Reading

_NAMED = frozenset({"called", "named"})
_ARTICLES = frozenset({"the", "a", "an"})
_TO_WHOM = frozenset({"show", "give", "tell", "get", "read", "list", "run", "find"})
"""Verbs behind which "me" or "only" may stand and changes nothing: "show me", "run only"."""
_SHOWN = frozenset({"diff", "history", "log", "details", "differences"})
"""Nouns that examples begin with, as what is to be shown: "diff of" is "show me the diff of"."""
_SLOT = re.compile(r"\{(\w+)\}")


def slots(example: str, reading: Reading) -> dict[str, tuple[int, int]] | None:
    """Where each slot of an example stands in the request, when the whole request has its form."""
    if not _literals(example) <= set(re.findall(r"[\w']+", reading.text.lower().replace("'s ", " is "))):
        return None
    match = _pattern(example).fullmatch(_blanked(reading))
    if match is None:
        return None
    spans: dict[str, tuple[int, int]] = {}
    for at, name in enumerate(
        _SLOT.findall(example)
    ):  # a slot that stands twice is a range: from the first to the last
        spans[name] = (spans[name][0] if name in spans else match.start(f"s{at}"), match.end(f"s{at}"))
    return spans


def _blanked(reading: Reading) -> str:
    """The text with quoted parts made of one letter each, so that their words match no word of an example."""
    text = reading.text
    for entity in reading.of("quoted", "code"):
        text = text[: entity.start] + "\x01" * (entity.end - entity.start) + text[entity.end :]
    return text


@lru_cache(maxsize=512)
def _literals(example: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w']+", _SLOT.sub(" ", example).lower())) - _NAMED - _ARTICLES


def _word(word: str) -> str:
    """A word of an example as a pattern: whether a thing is "called" so or "named" so is all one."""
    return f"(?:{'|'.join(sorted(_NAMED))})" if word.lower() in _NAMED else re.escape(word)


def _words(part: str) -> str:
    """What stands between slots as a pattern: articles may be left out, and "what's" is "what is"."""
    pattern = r"\s+".join(map(_word, re.split(r"\s+", part)))
    pattern = re.sub(r"(?<![^\s+])(?:an?|the)\\s\+", r"(?:(?:an?|the)\\s+)?", pattern)
    return re.sub(r"^what\\s\+is\b", r"what(?:'s|\\s+is)", pattern)


@lru_cache(maxsize=512)
def _pattern(example: str) -> re.Pattern[str]:
    parts = _SLOT.split(example.rstrip(" ?.!"))
    pieces = []
    for at, part in enumerate(parts):
        pieces.append(rf"(?P<s{at // 2}>\S.*?)" if at % 2 else _words(part))
    form = "".join(pieces)
    first = re.match(r"[a-z]+(?=\\s\+)", form)
    if first and first[0] in _TO_WHOM:
        form = rf"{first[0]}(?:\s+(?:me|us|only|just))?{form[first.end() :]}"
    if first and first[0] in _SHOWN:
        form = rf"(?:(?:show|display|print|see)\s+(?:me\s+)?(?:the\s+)?)?{form}"
    if form.startswith(("what", "which")):
        form = rf"(?:show\s+me\s+)?{form}"
    return re.compile(r"\s*" + form + r"[\s?.!]*", re.I | re.S)
