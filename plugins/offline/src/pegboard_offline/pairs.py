"""Several replacements in one request, for a parameter that takes a list of pairs: "'a' with 'b' and 'c' with 'd'"."""

from __future__ import annotations

import re

from pegboard_offline.entities import Reading
from pegboard_offline.lexicon import STOP
from pegboard_offline.profile import Profile, Slot
from pegboard_offline.texts import MASK, literal

_TEXT = rf"{MASK}+|[^\s,;{MASK}]+"
_PAIR = re.compile(rf"\s*(?P<old>{_TEXT})\s+(?:with|by|to|into|-{{1,2}}>|={{1,2}}>)\s+(?P<new>{_TEXT})", re.I)
_NEXT = re.compile(r"\s*(?:,\s*and\s|[,;]|\band\s)\s*(?:(?:replace|change)\s)?", re.I)


def pairs(slot: Slot, reading: Reading, start: int, end: int) -> list[dict[str, str]] | None:
    """The pairs that a part of a request holds, two at least and nothing beside them: what is replaced, and by what. Their
    names are those of the two texts that an item must have, in the order declared."""
    names = _names(slot)
    if names is None:
        return None
    text = reading.text[:end]
    for entity in reading.of("quoted", "code"):
        text = text[: entity.start] + MASK * (entity.end - entity.start) + text[entity.end :]
    found: list[dict[str, str]] = []
    at = start
    while (match := _PAIR.match(text, at, end)) is not None:
        old, new = (literal(reading, *match.span(group)) for group in ("old", "new"))
        if not old[0] or any(not marked and given.lower() in STOP for given, marked in (old, new)):
            return None
        found.append({names[0]: old[0], names[1]: new[0]})
        if not text[match.end() : end].strip():
            return found if len(found) > 1 else None
        following = _NEXT.match(text, match.end(), end)
        if following is None:
            return None
        at = following.end()
    return None


def forms(tool: Profile) -> list[str]:
    """How a tool that takes a file and such a list is asked, beside its own examples."""
    needed = tool.required
    path = next((slot.name for slot in needed if slot.takes == "edit"), None)
    listed = next((slot.name for slot in needed if _names(slot) is not None), None)
    if path is None or listed is None or len(needed) != 2:
        return []
    return [
        form.format(verb, path=f"{{{path}}}", listed=f"{{{listed}}}")
        for verb in ("replace", "change")
        for form in ("in {path} {} {listed}", "in {path}, {} {listed}", "{} {listed} in {path}")
    ]


def _names(slot: Slot) -> tuple[str, str] | None:
    """The two texts that each item of a list must have."""
    items = slot.schema.get("items") if isinstance(slot.schema, dict) else None
    if not slot.many or not isinstance(items, dict):
        return None
    properties, required = items.get("properties") or {}, items.get("required") or ()
    texts = [name for name in properties if name in required and properties[name].get("type") == "string"]
    return (texts[0], texts[1]) if len(texts) == 2 == len(required) else None
