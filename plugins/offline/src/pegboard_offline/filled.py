"""Arguments in the making: what is filled, from which part of the request, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pegboard_offline.entities import Entity, Kind, Reading
from pegboard_offline.profile import Slot
from pegboard_offline.schema import fits


@dataclass(slots=True)
class Filled:
    """Arguments for one tool. `missing`: required parameters the request does not give. `spans`: the parts of the
    request they came from. `sure`: 0 to 1. `unsafe`: why it must not be called although nothing is missing.
    `exact`: the request is one of the tool's examples, filled."""

    arguments: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    used: list[Entity] = field(default_factory=list)
    sure: float = 1.0
    unsafe: str = ""
    exact: bool = False

    def put(self, slot: Slot, value: Any, span: tuple[int, int], sure: float = 1.0) -> None:
        """Fill one parameter, if the value may stand there at all."""
        value = [value] if slot.many and not isinstance(value, list) else value
        if not fits(value, slot.schema):
            if slot.required and slot.name not in self.missing:
                self.missing.append(slot.name)
            return
        self.arguments[slot.name] = value
        self.spans.append(span)
        self.sure = min(self.sure, sure)

    def covers(self, start: int, end: int) -> bool:
        """Whether a part of the request went into an argument."""
        return any(a <= start and end <= b for a, b in self.spans)

    def unused(self, reading: Reading, *kinds: Kind) -> list[Entity]:
        """What the request names of these kinds that went into no argument yet."""
        return [e for e in reading.of(*kinds) if e not in self.used and not self.covers(e.start, e.end)]

    def take(self, slot: Slot, entities: list[Entity]) -> bool:
        """Fill one parameter with the first of what is named, or with all of it where it takes a list."""
        if not entities:
            return False
        taken = entities if slot.many else entities[:1]
        value = [entity.text for entity in taken] if slot.many else taken[0].text
        self.put(slot, value, (taken[0].start, taken[0].end))
        self.spans += [(entity.start, entity.end) for entity in taken]
        self.used += taken
        return True
