"""Which lines of a file a request names: "lines 3 to 9", "line 4", "the last 5 lines"."""

from __future__ import annotations

import re

from pegboard_offline.entities import Reading
from pegboard_offline.filled import Filled
from pegboard_offline.profile import Profile, Slot

_RANGE = re.compile(
    r"\blines?\s*(?:numbers?\s+|no\.?\s*|#\s*)?(?P<first>\d{1,9})\s*(?:-|–|\.\.|to|till?|until|through|thru|up\s+to|and)\s*"
    r"(?:lines?\s+)?(?P<last>\d{1,9})\b",
    re.I,
)
_ONE = re.compile(
    r"(?<!from )(?<!from the )(?<!at )(?<!after )(?<!with )(?<!past )"
    r"\bline\s*(?:number\s+|no\.?\s*|#\s*)?(?P<first>\d{1,9})\b"
    r"(?!\s*(?:on|onwards?|and\s+(?:on|below|further|after|up)|\+|-))",
    re.I,
)
_FROM_END = re.compile(
    r"\b(?:last|final|bottom)\s+(?:(?:few|couple(?:\s+of)?|bunch\s+of|\d+|two|three|five|ten)\s+)?(?:lines?|rows?|part|bit|half)\b|"
    r"\b(?:the|very)\s+(?:end|bottom|tail)\s+of\b|\blines?\s+(?:at|from)\s+the\s+(?:end|bottom)\b|"
    r"\blast\s+\d+\s+(?=of\b)",
    re.I,
)
UP_FROM_THE_END = "I can show lines from the start of a file, or from a line on, but not counted from its end."


def fill_window(tool: Profile, reading: Reading, filled: Filled) -> None:
    """The first line and the number of lines, where a tool takes both; which is which is read off its examples."""
    first, count = _slot(tool, r"\blines?\s+$", ""), _slot(tool, "", r"\s+lines?\b")
    if count is not None and _FROM_END.search(reading.bare):
        filled.unsafe = UP_FROM_THE_END
    match = _RANGE.search(reading.text) or _ONE.search(reading.text)
    if first is None or count is None or match is None or _quoted(reading, match):
        return
    begin = int(match["first"])
    end = int(match.groupdict().get("last") or begin)
    if begin <= end:
        filled.put(first, begin, (match.start("first"), match.end()))
        filled.put(count, end - begin + 1, (match.start("first"), match.end()))
        filled.used += [e for e in reading.of("number") if match.start() <= e.start and e.end <= match.end()]


def _slot(tool: Profile, before: str, after: str) -> Slot | None:
    """The number that stands between such words in an example."""
    for slot in tool.slots_for("number"):
        for example in tool.examples:
            for name, start, end in example.slots:
                if (
                    name == slot.name
                    and re.search(before, example.text[:start], re.I)
                    and re.match(after, example.text[end:], re.I)
                ):
                    return slot
    return None


def _quoted(reading: Reading, match: re.Match[str]) -> bool:
    return any(e.start < match.end() and match.start() < e.end for e in reading.of("quoted", "code"))
