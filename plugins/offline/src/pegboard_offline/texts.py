"""Literal texts in a request: what to replace with what, and what a new file shall hold. Nothing is made up.

A text is taken from quotes, from backticks, or from where only one reading is possible; else it counts as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegboard_offline.entities import Entity, Reading

MASK = "\x01"
_NOUN = r"(?:word|words|text|string|line|phrase|typo|term|value|name|variable|function|method|class|misspelling|spelling|token|part|import)"
_EACH = r"(?:(?:all|every|each|any|both|the)\s+)*(?:(?:occurrences?|instances?|mentions?|uses?|cases?)\s+of\s+)?"
_QUALIFY = rf"{_EACH}(?:(?:the|this|that|a)\s+)?(?:(?:single|whole|broken|wrong|old)\s+)?(?:{_NOUN}\s+)?(?:of\s+)?"
_TAIL = r"(?:\s+(?:please|pls|plz|thanks|thank you|for me|now|everywhere|throughout))*\s*[.!?]*\s*$"
_ARROW = r"(?:->|=>|→|-->|==>|⇒)"
_OLD, _NEW = r"(?P<old>\S.*?)", r"(?P<new>\S.*?)"

_REPLACES = tuple(
    re.compile(pattern, re.I | re.S)
    for pattern in (
        rf"\b(?:replace|substitute|swap(?:\s+out)?|exchange|switch(?:\s+out)?|trade)\s+{_QUALIFY}{_OLD}\s+(?:with|by|for|to)\s+{_NEW}{_TAIL}",
        rf"\b(?:change|turn|rename|convert|correct|fix|edit|modify|update|alter|rewrite|switch|amend|make|tweak)\s+{_QUALIFY}(?:from\s+)?{_OLD}"
        rf"(?:\s*{_ARROW}\s*|\s+(?:to|into|with)\s+(?:read\s+|say\s+|be\s+)?){_NEW}{_TAIL}",
        rf"(?:^|[,:]\s*|\b{_NOUN}\s+|\bfrom\s+){_OLD}\s*{_ARROW}\s*{_NEW}{_TAIL}",
        rf"\binstead\s+of\s+{_QUALIFY}{_OLD},?\s+(?:write|put|use|say|have)\s+{_NEW}{_TAIL}",
        rf"^\W*(?:{_QUALIFY}){_OLD}\s+(?:should|ought\s+to|needs?\s+to|must|has\s+to)\s+(?:be|read|become|say)\s+{_NEW}{_TAIL}",
    )
)
_ERASES = re.compile(
    r"\b(?:remove|delete|wipe|strip|drop|erase|take\s+out|get\s+rid\s+of|zap|cut|scrub|nuke|kill|purge)\s+(?P<each>"
    rf"{_EACH})(?P<noun>(?:the\s+|this\s+)?{_NOUN}\s+)?(?P<old>\S.*?)(?:\s+(?:from|out\s+of|off))?{_TAIL}",
    re.I | re.S,
)
_VALUE = re.compile(r"(?:true|false|none|null|nil|on|off|yes|no|enabled|disabled|-?\d[\d._]*|v?\d+(?:\.\d+)+)", re.I)
_DETERMINER = re.compile(r"(?:the|a|an|this|that|these|those|my|our|its?|all|every|each|some|any|everything|them|one|something)\b", re.I)
_POINTING = re.compile(r"(?:it|its|them|this|that|these|those|everything|something|all|one|whatever|stuff)", re.I)
_ALL = re.compile(r"\b(?:all|every|each|everywhere|throughout|occurrences|instances)\b", re.I)


@dataclass(frozen=True, slots=True)
class Swap:
    """Text to replace. `everywhere`: each occurrence was asked for."""

    old: str
    new: str
    everywhere: bool
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Content:
    """Text for a file, and where in the request it stands."""

    text: str
    span: tuple[int, int]


def mask(reading: Reading, without: Entity | None) -> str:
    """The text with quoted parts masked, and one path with the words that tie it to the sentence blanked out."""
    text = reading.text
    if without is not None:
        head = re.search(
            r"(?:[,;]?\s*\b(?:in|inside|within|of|from|at|on|to|into|throughout|across|out of|off|for)\s+)?(?:(?:the|my|our)\s+)?(?:file\s+)?$",
            text[: without.start],
            re.I,
        )
        start = head.start() if head and head[0].strip() else without.start
        end = without.end + len(re.match(r"\s*[,:]?", text[without.end :])[0])  # type: ignore[index]
        text = text[:start] + " " * (end - start) + text[end:]
    for entity in reading.of("quoted", "code"):
        if entity is not without:
            text = text[: entity.start] + MASK * (entity.end - entity.start) + text[entity.end :]
    return text


def literal(reading: Reading, start: int, end: int) -> tuple[str, bool]:
    """The text that a span of the request stands for, and whether it was marked as a literal."""
    while start < end and reading.text[start].isspace():
        start += 1
    while start < end and reading.text[end - 1].isspace():
        end -= 1
    for entity in reading.of("quoted", "code"):
        if entity.start == start and entity.end == end:
            return entity.text, True
    return reading.text[start:end], False


def swap(reading: Reading, path: Entity | None) -> Swap | None:
    """What to replace with what in a file, or None when that is not said beyond doubt."""
    masked = mask(reading, path)
    if re.search(rf"{MASK}\s*(?:and|or|,)\s*{MASK}", masked):
        return None
    everywhere = bool(_ALL.search(re.sub(MASK, "", masked)))
    for pattern in _REPLACES:
        match = pattern.search(masked)
        if match:
            old, old_marked = literal(reading, *match.span("old"))
            new, new_marked = literal(reading, *match.span("new"))
            if _sure(old, old_marked) and _sure(new, new_marked) and not _a_setting(old, old_marked, new, new_marked):
                return Swap(old, new, everywhere, (match.start(), match.end()))
            return None
    match = _ERASES.search(masked)
    if match:
        old, marked = literal(reading, *match.span("old"))
        named = marked or bool(match["noun"]) or bool(re.fullmatch(r"\w*_\w+|[a-z]+[A-Z]\w+|[A-Z]{3,}", old))
        if named and _sure(old, marked) and not (match["noun"] and re.search(r"\bline\b", match["noun"]) and not marked):
            return Swap(old, "", everywhere, (match.start(), match.end()))
    return None


def _sure(text: str, marked: bool) -> bool:
    """Whether a span can only be meant literally: quoted, one word, or code."""
    if marked:
        return True
    if not text or MASK in text or len(text) > 200 or _POINTING.fullmatch(text):
        return False
    if len(text.split()) > 1 and _DETERMINER.match(text):
        return False
    return len(text.split()) == 1 or bool(re.search(r"[=(){}<>;_]|::", text))


def _a_setting(old: str, old_marked: bool, new: str, new_marked: bool) -> bool:
    """`DEBUG to False` names a setting and its value: the text to replace is not said."""
    return not old_marked and not new_marked and bool(_VALUE.fullmatch(new)) and re.fullmatch(r"[A-Za-z][\w.-]*", old) is not None


_SAYS = re.compile(
    r"(?:\b(?:that|which|and\s+(?:have\s+it|make\s+it|it\s+should)|to|it\s+should|should)\s+)?"
    r"\b(?P<cue>says?|saying|reads?|reading|contains?|containing|holds?|holding|with\s+(?:just\s+|only\s+)?(?:the\s+|this\s+|these\s+)?"
    r"(?:text|contents?|words?|lines?|body|message|string)|(?:the\s+)?contents?(?:\s+is|\s+being|\s*:)|consisting\s+of)\b\s*:?\s+"
    r"(?:just\s+|only\s+|exactly\s+)*(?:(?:the|this|these|a)\s+(?:text|words?|lines?|string|message|phrase)\s*:?\s+)?(?P<x>\S.*?)\s*$",
    re.I | re.S,
)
_WITH = re.compile(rf"\bwith\s+(?:just\s+|only\s+)?(?P<x>{MASK}+){_TAIL}|:\s*(?P<y>{MASK}+)\s*$", re.I)
_PUT = re.compile(
    r"\b(?:write|put|save|store|jot(?:\s+down)?|add|append|tack|stick|place|output)\s+(?:just\s+|only\s+)?"
    r"(?:(?:the|a|this)\s+)?(?P<noun>(?:new\s+)?(?:line|text|words?|string|sentence|note|message)\s+(?:that\s+says\s+|saying\s+)?)?"
    r"(?P<x>\S.*?)(?:\s+(?:down|on|onto))?(?:\s*(?:,|and)?\s*(?:to|at)\s+the\s+(?:very\s+)?(?:end|bottom)(?:\s+of)?)?"
    r"(?:\s+(?:in|into|to|as|on|onto|inside)(?:\s+(?:a|the)(?:\s+new)?\s+file)?(?:\s+(?:called|named))?)?"
    + _TAIL,
    re.I | re.S,
)  # fmt: skip
_EMPTY = re.compile(r"\b(?:an?|new|the)?\s*(?:empty|blank)\s+(?:new\s+)?(?:\w+\s+)?(?:file|document|script|module|\Z)|\b(?:empty|blank)\s*$|^\W*touch\b|\bwith nothing in it\b", re.I)
_DESCRIBED = re.compile(
    r"(?:a|an|the|some|one|two|three|my|our|your|all|every|each|several|its?|this|that|what|whatever|everything|nothing|something)\b", re.I
)


def content(reading: Reading, path: Entity | None) -> Content | None:
    """The text a file shall hold, or None when it is described rather than given."""
    fences = [entity for entity in reading.of("code") if reading.text.startswith("```", entity.start)]
    if len(fences) == 1:
        return Content(fences[0].text, (fences[0].start, fences[0].end))
    masked = mask(reading, path)
    match = _SAYS.search(masked)
    if match and not (path is not None and match.start() < path.start and _reads_before(match)):
        return _said(reading, match)
    match = _WITH.search(masked)
    if match:
        group = "x" if match["x"] else "y"
        return Content(literal(reading, *match.span(group))[0], match.span(group))
    if _EMPTY.search(masked.rstrip(" .!?")):
        return Content("", (0, 0))
    match = _PUT.search(masked)
    if match and match["x"].strip(MASK + " ") == "":
        return Content(literal(reading, *match.span("x"))[0], match.span("x"))
    if match and path is not None and path.start >= match.end("x"):
        text, marked = literal(reading, *match.span("x"))
        if not marked and not _DESCRIBED.match(text) and MASK not in text and _plain(text):
            return Content(text, match.span("x"))
    return None


def _reads_before(match: re.Match[str]) -> bool:
    return match["cue"].lower() in ("read", "reads", "hold") and match.start() == 0


def _said(reading: Reading, match: re.Match[str]) -> Content | None:
    """What stands behind "that says": as it is, unless it describes."""
    start, end = match.span("x")
    text, marked = literal(reading, start, end)
    if marked:
        return Content(text, (start, end))
    tail = re.match(rf"(?P<q>{MASK}+){_TAIL}", match["x"], re.I)
    if tail:
        return Content(literal(reading, start, start + tail.end("q"))[0], (start, end))
    if MASK in match["x"]:
        return None
    says = match["cue"].lower().startswith(("say", "read", "with the text", "with text", "with the word", "with the line"))
    if not says and _DESCRIBED.match(text):
        return None
    if re.match(r"(?:the\s+)?(?:contents?|output|result|text)\s+of\b|whatever\b|what\s", text, re.I):
        return None
    text = re.sub(r"(?:,?\s+(?:please|thanks|thank you))+[.!]*$", "", text, flags=re.I)
    return Content(text[:-1] if text.endswith(".") and text.count(".") == 1 else text, (start, end))


def _plain(text: str) -> bool:
    """Whether unquoted words before "to FILE" read as the text itself, not as its description."""
    return 0 < len(text.split()) <= 8 and not re.search(
        r"\b(?:functions?|class(?:es)?|tests?|script|code|program|module|file|files|documentation|docs|summary|report|readme|method|"
        r"that|which|about|for|new|it|them|contents?|output|results?|lines?|more|into)\b",
        text,
        re.I,
    )
