"""Parameters that choose: switches, and enumerations that take a value which the request says outright."""

from __future__ import annotations

import re

from pegboard_offline import unmarked
from pegboard_offline.bags import bag
from pegboard_offline.entities import Entity, Reading
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import is_act, lemma, vocabulary
from pegboard_offline.profile import Profile, Slot

_ASKS_FOR = re.compile(r"\b(?:which|what|only(?: the)?|just(?: the)?)\s+(\w+)", re.I)
_NAMES_A_VALUE = re.compile(
    r"^\W*(?P<a>\w+)\s+(?:(?:it|this)\s+)?to\b|\b(?P<b>\w+)\s+(?:request|call)\b|\b(?:method|verb)\s+(?P<c>\w+)", re.I
)
_ALIKE = (bag("stop cancel end kill abort terminate halt"), bag("output print prints printed"))
"""Words that are all one where an enumeration has one of them."""
TWO_VALUES = "That names two ways of doing it; say it with one."


def switch(slot: Slot, said: str) -> bool | None:
    """On, where an example has a switch and the request says its name there, or "everything" to one that is so named."""
    said = " ".join(said.lower().split())
    named = said == slot.name.replace("_", " ").lower()
    return True if named or (unmarked.everything(slot.name) and unmarked.everything(said)) else None


def value_said(slot: Slot, said: str) -> str | None:
    """The value of an enumeration that a word is, or is as good as."""
    values = {fixed.lower(): fixed for fixed in slot.fixed}
    low = said.lower()
    return values.get(low) or next((values[o] for kin in _ALIKE if low in kin for o in values if o in kin), None)


def fill_switch(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> None:
    """A switch that the tool's examples name is on where the request says its name, or an act that means the same."""
    if not any(name == slot.name for example in tool.examples for name, _, _ in example.slots):
        return
    acts = {concept for concept in vocabulary().get(slot.name, ()) if is_act(concept)}
    for word in reading.words:
        if word.text.lower() == slot.name or not acts.isdisjoint(word.concepts):
            filled.put(slot, True, (0, 0))


def fill_verb(tool: Profile, example: str, filled: Filled) -> None:
    """An enumeration that has a word of the example among its values: "post {body} to {url}"; or, where its values are words
    and no names in capitals, one that means the same as the example's verb does: "stop the job {id}"."""
    words = re.findall(r"[a-z]+", re.sub(r"\{\w+\}", " ", example).lower())
    for slot in tool.slots_for("choice"):
        if slot.name in filled.arguments:
            continue
        values = {fixed.lower(): fixed for fixed in slot.fixed if str(fixed) != str(slot.default)}
        value = values.get(words[0]) or next((values[word] for word in words[1:] if values.get(word) == word), None)
        alike = (low for word in words for kin in _ALIKE if word in kin for low in values if low in kin)
        value = value or next((values[low] for low in alike if values[low] == low), None)
        if value is not None:
            filled.put(slot, value, (0, 0))


def fill_choice(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> None:
    """An enumeration takes a value that the request says outright (as a word of the same concept)."""
    named = _named_values(slot, reading)
    if len(named) > 1:
        filled.unsafe = TWO_VALUES
    if named:
        if named[0] != slot.default:
            filled.put(slot, named[0], (0, 0))
        return
    first = reading.words[0].text.upper() if reading.words else ""
    if first in slot.fixed and first != slot.default:
        filled.unsafe = f"I am not sure that {first} is what you want; say it as: a {first} request to ..."
        return
    asked = {word[1].lower() for word in _ASKS_FOR.finditer(reading.bare)}
    words = [word for word in reading.words if not filled.covers(word.start, word.end)]
    said = {word.lemma for word in words if is_act(word.lemma) or word.lemma in asked}
    said |= {concept for word in words for concept in word.concepts}
    for value in slot.fixed:
        if value != slot.default and lemma(value.lower()) in said:
            filled.put(slot, value, (0, 0))
            return


def _named_values(slot: Slot, reading: Reading) -> list[str]:
    """Values that are names in capitals and said as such: "send a DELETE to", "post to", "a put request"."""
    names = {value.lower(): value for value in slot.fixed if value.isupper()}
    text = _unquoted(reading)
    shouted = re.findall(r"\b[A-Z]{2,}\b", text) if not reading.text.isupper() else []
    placed = [word for match in _NAMES_A_VALUE.finditer(text) for word in match.groups() if word]
    found = [names[word.lower()] for word in (*shouted, *placed) if word.lower() in names]
    return list(dict.fromkeys(found))


def _unquoted(reading: Reading) -> str:
    text = reading.text
    for entity in reading.of("quoted", "code", "url", "file", "folder"):
        text = _blank(text, entity)
    return text


def _blank(text: str, entity: Entity) -> str:
    return text[: entity.start] + " " * (entity.end - entity.start) + text[entity.end :]
