"""What a tool's declarations say of it: what each parameter takes, what the tool is for, and what its examples talk about.

Everything here comes from the offer: touch kinds, formats, types, required parameters, effect, examples. Names and
descriptions are not looked at, so that a tool of any name is served.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from pegboard.models import ToolOffer

from pegboard_offline.lexicon import ACTS_OF, COMMON, TOPICS, is_act, is_world_act, vocabulary
from pegboard_offline.words import Word, words_of

Takes: TypeAlias = Literal[
    "read", "list", "edit", "run", "net", "glob", "regex", "revision", "text", "number", "flag", "choice", "other"
]
Nature: TypeAlias = Literal["read", "list", "find", "search", "run", "fetch", "write", "replace", "other"]
_TOUCHED: dict[str, Takes] = {"read": "read", "list": "list", "edit": "edit", "run": "run", "net": "net"}
_FORMATS: dict[str, Takes] = {"regex": "regex", "glob": "glob", "revision": "revision", "uri": "net"}
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Slot:
    """One parameter. `takes`: what fills it. `many`: a list of such. `fixed`: the values an enumeration allows.
    `schema`: its part of the tool's JSON Schema."""

    name: str
    takes: Takes
    required: bool
    many: bool = False
    fixed: tuple[str, ...] = ()
    default: Any = None
    schema: Any = None


@dataclass(frozen=True, slots=True)
class Example:
    """One example phrase: its concepts and rare words, its words, and its slots with their positions in the text."""

    text: str
    features: frozenset[str]
    words: tuple[Word, ...]
    slots: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """A tool as the router knows it.

    special: its examples are about something of their own (a topic, an act of no other nature), so that a request must be
    about it too. own: how many of the examples speak of each such thing.
    acts, words: what the examples name."""

    offer: ToolOffer
    slots: tuple[Slot, ...]
    nature: Nature
    examples: tuple[Example, ...]
    special: bool
    own: Counter[str]
    acts: frozenset[str]
    words: frozenset[str]

    @property
    def of_commits(self) -> bool:
        """Whether its examples speak of commits and branches."""
        return any(self.own[topic] for topic in ("commit", "git", "branch", "blame"))

    def slots_for(self, *takes: Takes) -> list[Slot]:
        """The parameters that take one of these."""
        return [slot for slot in self.slots if slot.takes in takes]

    @property
    def required(self) -> list[Slot]:
        """The parameters that must be filled."""
        return [slot for slot in self.slots if slot.required]


def profile(offer: ToolOffer) -> Profile:
    """Read an offer's declarations."""
    slots = _slots(offer)
    nature = _nature(offer, slots)
    switches = frozenset(slot.name for slot in slots if slot.takes == "flag")
    examples = tuple(_example(text, switches) for text in offer.examples)
    switched = {
        act for name in switches for act in vocabulary().get(name, ()) if is_act(act)
    }  # not about checking as such
    usual = COMMON | set(ACTS_OF.get(nature, {}))
    own: Counter[str] = Counter()
    about = 0
    for example in examples:
        rare = example.features - usual - switched
        own.update(rare)
        about += bool(rare)
    special = nature == "other" or (len(examples) > 0 and about / len(examples) >= 0.6)
    acts = frozenset(concept for example in examples for concept in example.features)
    words = frozenset(word.lemma for example in examples for word in example.words)
    return Profile(offer, slots, nature, examples, special, own, acts, words)


def _slots(offer: ToolOffer) -> tuple[Slot, ...]:
    properties: dict[str, Any] = offer.parameters.get("properties") or {}
    required = set(offer.parameters.get("required") or ())
    return tuple(_slot(name, part, offer.touches.get(name), name in required) for name, part in properties.items())


def _slot(name: str, part: Any, touch: str | None, required: bool) -> Slot:
    part = part if isinstance(part, dict) else {}
    options = [option for option in part.get("anyOf") or part.get("oneOf") or [part] if isinstance(option, dict)]
    plain = next((option for option in options if option.get("type") == "string"), None)
    listed = next((option for option in options if option.get("type") == "array"), None)
    many = plain is None and listed is not None
    inner = plain or part
    if many and listed is not None:
        items = listed.get("items")
        items = items if isinstance(items, dict) else {}
        choices = [option for option in items.get("anyOf") or [items] if isinstance(option, dict)]
        inner = next((option for option in choices if option.get("type") == "string"), {"type": "object"})
    fixed = tuple(str(value) for value in inner.get("enum") or part.get("enum") or ())
    return Slot(name, _takes(inner, part, touch, fixed), required, many, fixed, part.get("default"), part)


def _takes(inner: dict[str, Any], part: dict[str, Any], touch: str | None, fixed: tuple[str, ...]) -> Takes:
    kind = inner.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if fixed:
        return "choice"
    if kind in ("integer", "number"):
        return "number"
    if kind == "boolean":
        return "flag"
    if kind != "string":
        return "other"
    form = inner.get("format") or part.get("format")
    if form in _FORMATS:
        return _FORMATS[form]
    return _TOUCHED.get(touch or "", "text")


def _nature(offer: ToolOffer, slots: tuple[Slot, ...]) -> Nature:
    """What the required parameters make of a tool; `list` is also what may list the workspace root by default."""
    needed = [slot for slot in slots if slot.required]
    takes = Counter(slot.takes for slot in needed)
    match takes:
        case {"run": 1} if len(needed) == 1:
            return "run"
        case {"net": 1} if len(needed) == 1:
            return "fetch"
        case {"edit": 1, "text": 2} if len(needed) == 3:
            return "replace"
        case {"edit": 1, "text": 1} if len(needed) == 2:
            return "write"
        case {"regex": 1} if len(needed) == 1:
            return "search"
        case {"glob": 1} if len(needed) == 1:
            return "find"
        case {"read": 1} if len(needed) == 1:
            return "read"
        case {"list": 1} if len(needed) == 1:
            return "list"
    lists = [slot for slot in slots if slot.takes == "list"]
    if not needed and lists and lists[0].default is not None and offer.effect == "read_only":
        return "list"
    return "other"


@lru_cache(maxsize=1024)
def _example(text: str, switches: frozenset[str]) -> Example:
    """Kept: reading the examples is most of a profile, and each session's router makes its own."""
    slots = tuple((match[1], match.start(), match.end()) for match in _SLOT.finditer(text))
    blank = _SLOT.sub(lambda match: f" {match[1]} " if match[1] in switches else " " * len(match[0]), text)
    words = tuple(words_of(blank))
    return Example(text, _features(words), words, slots)


def _features(words: tuple[Word, ...]) -> frozenset[str]:
    """The concepts of a phrase, and its words that belong to none (as `w:word`). An act that changes something counts only
    where the phrase begins with it: in "view the patch" nothing is patched."""
    found: set[str] = set()
    for at, word in enumerate(words):
        found.update(concept for concept in word.concepts if at == 0 or concept in TOPICS or not is_world_act(concept))
        if not word.known:
            found.add(f"w:{word.lemma}")
    return frozenset(found)
