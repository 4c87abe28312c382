"""Literal texts in a request: what to replace with what, and what a new file shall hold. Nothing is made up.

A text is taken from quotes, from backticks, or from where only one reading is possible; else it counts as missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from pegboard_offline.bags import bag
from pegboard_offline.entities import Entity, Reading
from pegboard_offline.lexicon import known

MASK = "\x01"
_LITERAL_NOUNS = bag(
    """word words text string line phrase typo term variable function method class misspelling spelling token import
    occurrence occurrences instance instances mention mentions uses use case cases identifier symbol"""
)
_TEXTS = bag(
    """word words text string phrase typo term misspelling token occurrence occurrences instance instances mention
    mentions"""
)
_QUALIFIERS = _LITERAL_NOUNS | bag(
    """all every each any both the this that a an of from single whole broken wrong old misspelled"""
)
_SETTINGS = bag(
    """title name version port host timeout heading color colour background font size theme language license author
    email description default level limit url header value date year number mode type status"""
)
_END = re.compile(
    r"(?:[\s,]+(?:please|pls|plz|thanks|thank you|for me|now|everywhere|throughout|in|inside|within|from|of|on|at|to))*"
    r"[\s.!?]*$",
    re.I,
)
_ARROW = r"(?:-{1,2}>|={1,2}>|→|⇒)"
_REPLACE = re.compile(
    r"\b(?:replace|substitute|swap(?:\s+out)?|exchange|switch(?:\s+out)?|trade)\s+(?P<old>\S.*?)\s+(?:with|by|for|to)\s+(?P<new>\S.*)$",
    re.I | re.S,
)
_CHANGE = re.compile(
    rf"\b(?:change|turn|rename|convert|correct|fix|edit|modify|update|alter|rewrite|amend|make|tweak|switch)\s+(?P<old>\S.*?)"
    rf"(?:\s*{_ARROW}\s*|\s+(?:to|into|with)\s+(?:read\s+|say\s+|be\s+)?)(?P<new>\S.*)$",
    re.I | re.S,
)
_ARROWED = re.compile(
    rf"(?:^\s*|[,:]\s*|\b(?:typo|word|spelling|from)\s+)(?P<old>\S.*?)\s*{_ARROW}\s*(?P<new>\S.*)$", re.I | re.S
)
_INSTEAD = re.compile(r"\binstead\s+of\s+(?P<old>\S.*?),?\s+(?:write|put|use|say|have)\s+(?P<new>\S.*)$", re.I | re.S)
_SHOULD = re.compile(
    r"^\s*(?P<old>[^\W_].*?|\x01+)\s+(?:should|ought\s+to|needs?\s+to|must|has\s+to)\s+(?:be|read|become|say)\s+(?P<new>\S.*)$",
    re.I | re.S,
)
_SAY_INSTEAD = re.compile(
    r"\b(?:say|read|be|use|have|write|put)\s+(?P<new>\S.*?),?\s+(?:instead\s+of|rather\s+than)\s+(?P<old>\S.*)$",
    re.I | re.S,
)
_REPLACES = (_SAY_INSTEAD, _REPLACE, _CHANGE, _ARROWED, _INSTEAD, _SHOULD)
_ERASES = re.compile(
    r"\b(?:remove|delete|wipe|strip|drop|erase|take(?:\s+out)?|get\s+rid\s+of|zap|cut|scrub|nuke|kill|purge)\s+(?P<old>\S.*?)(?:\s+(?:from|out\s+of|off))?$",
    re.I | re.S,
)
_VALUE = re.compile(r"(?:true|false|none|null|nil|on|off|yes|no|enabled|disabled|-?\d[\d._]*|v?\d+(?:\.\d+)+)", re.I)
_DETERMINER = re.compile(
    r"(?:the|a|an|this|that|these|those|my|our|its?|all|every|each|some|any|everything|them|one|something)\b", re.I
)
_POINTING = re.compile(r"(?:it|its|them|this|that|these|those|everything|something|all|one|whatever|stuff)", re.I)
_ALL = re.compile(r"\b(?:all|every|each|everywhere|throughout|occurrences|instances)\b", re.I)


@dataclass(frozen=True, slots=True)
class Swap:
    """Text to replace, and where in the request that is said."""

    old: str
    new: str
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
            r"(?:[,;]?\s*\b(?:in|inside|within|of|from|at|on|to|into|throughout|across|out of|off|for)\s+)?"
            r"(?:(?:the|my|our)\s+)?(?:file\s+)?$",
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
    masked = _END.sub("", masked)
    for pattern in _REPLACES:
        match = pattern.search(masked)
        if match:
            again = pattern.search(masked, match.start() + 1)  # "modify a.txt: change this to that" has two verbs
            return _swapped(reading, masked, pattern, match) or (
                _swapped(reading, masked, pattern, again) if again else None
            )
    match = _ERASES.search(masked)
    if match:
        old = _named(reading, *match.span("old"))
        if old.sure and (old.marked or old.noun in _TEXTS):
            return Swap(old.text, "", match.span())
    return None


def everywhere(reading: Reading) -> bool:
    """Whether each occurrence is asked for."""
    return bool(_ALL.search(reading.bare))


def _swapped(reading: Reading, masked: str, pattern: re.Pattern[str], match: re.Match[str]) -> Swap | None:
    """What one such sentence says, where it says it beyond doubt."""
    old = _named(reading, *match.span("old"))
    new = _named(reading, *match.span("new"), whole=True)
    if re.search(_ARROW, masked[match.end("old") : match.start("new")]) and not old.sure and len(old.text.split()) == 2:
        lead, _, last = old.text.partition(" ")
        if lead.lower() in _SETTINGS or known(lead.lower()):  # "port 8080 -> 9090"
            old = _Named(last, False, "value", _sure(last, False))
    if pattern is _REPLACE and re.match(
        r"substitute\b.*\sfor\s+$", masked[match.start() : match.start("new")], re.I | re.S
    ):
        old, new = new, old  # "substitute the new for the old"
    sure = old.sure and new.sure and not _a_setting(old, new)
    return Swap(old.text, new.text, match.span()) if sure else None


@dataclass(frozen=True, slots=True)
class _Named:
    """A span read as a literal. `noun`: what it was called ("the word ..."). `sure`: it can only be meant literally."""

    text: str
    marked: bool
    noun: str
    sure: bool


def _named(reading: Reading, start: int, end: int, whole: bool = False) -> _Named:
    """A span without what leads to the text in it: "every occurrence of the word"."""
    noun, determined = "", False
    while not whole:
        lead = re.match(r"\s*([A-Za-z]+)\s+(?=\S)", reading.text[start:end])
        if lead is None or lead[1].lower() not in _QUALIFIERS:
            break
        noun = lead[1].lower() if lead[1].lower() in _LITERAL_NOUNS else noun
        determined = determined or lead[1].lower() in ("the", "this", "that", "a", "an")
        start += lead.end()
    text, marked = literal(reading, start, end)
    return _Named(text, marked, noun, _sure(text, marked) and (marked or bool(noun) or not determined))


def _sure(text: str, marked: bool) -> bool:
    """Whether a span can only be meant literally: quoted, one word, or code."""
    if marked:
        return True
    if not text or MASK in text or len(text) > 200 or _POINTING.fullmatch(text):
        return False
    if len(text.split()) > 1 and _DETERMINER.match(text):
        return False
    return len(text.split()) == 1 or bool(re.search(r"[=(){}<>;_]|::", text))


def _a_setting(old: _Named, new: _Named) -> bool:
    """`DEBUG to False` and `title to Hello` name a setting and its value: the text to replace is not said."""
    if old.marked or new.marked or old.noun or not re.fullmatch(r"[A-Za-z][\w.-]*", old.text):
        return False
    alike = SequenceMatcher(None, old.text.lower(), new.text.lower()).ratio() > 0.7  # a spelling: "colour" to "color"
    return bool(_VALUE.fullmatch(new.text)) or (old.text.lower() in _SETTINGS and not alike)


_SAYS = re.compile(
    r"(?:\b(?:that|which|and\s+(?:have\s+it|make\s+it|it\s+should)|to|it\s+should|should)\s+)?"
    r"\b(?P<cue>says?|saying|reads?|reading|contains?|containing|holds?|holding|with\s+(?:just\s+|only\s+)?(?:the\s+|this\s+|these\s+)?"
    r"(?:text|contents?|words?|lines?|body|message|string)|(?:the\s+)?contents?(?:\s+is|\s+being|\s*:)|consisting\s+of)\b\s*:?\s+"
    r"(?:just\s+|only\s+|exactly\s+)*(?:(?:the|this|these|a)\s+(?:text|words?|lines?|string|message|phrase)\s*:?\s+)?(?P<x>\S.*?)\s*$",
    re.I | re.S,
)
_WITH = re.compile(rf"\bwith\s+(?:just\s+|only\s+)?(?P<x>{MASK}+)$|:\s*(?P<y>{MASK}+)$", re.I)
_PUT = re.compile(
    r"\b(?P<verb>write|put|save|store|jot(?:\s+down)?|add|append|tack|stick|slap|chuck|stuff|place|output)\s+(?:just\s+|only\s+)?"
    r"(?P<det>(?:the|a|an|this|some)\s+)?(?P<noun>(?:new\s+)?(?:line|text|words?|string|sentence|note|message)\s+(?:that\s+says\s+|saying\s+)?)?"
    r"(?P<x>\S.*?)(?:\s+as\s+(?:an?|the|its)\s+(?:\w+\s+)?line)?(?:\s+(?:down|on|onto))?(?:\s*(?:,|and)?\s*(?:to|at)\s+the\s+(?:very\s+)?(?:end|bottom)(?:\s+of)?)?"
    r"(?:\s+(?:in|into|to|as|on|onto|inside)(?:\s+(?:a|the)(?:\s+new)?\s+file)?(?:\s+(?:called|named))?)?$",
    re.I | re.S,
)
_EMPTY = re.compile(
    r"\b(?:an?|new|the)?\s*(?:empty|blank)\s+(?:new\s+)?(?:\w+\s+)?(?:file|document|script|module|\Z)|"
    r"\b(?:empty|blank)\s*$|^\W*touch\b|\bwith nothing in it\b",
    re.I,
)
_DESCRIBED = re.compile(
    r"(?:a|an|the|some|one|two|three|my|our|your|all|every|each|several|its?|this|that|what|whatever|everything|nothing|something)\b",
    re.I,
)


def content(reading: Reading, path: Entity | None) -> Content | None:
    """The text a file shall hold, or None when it is described rather than given."""
    fences = [entity for entity in reading.of("code") if reading.text.startswith("```", entity.start)]
    if len(fences) == 1:
        return Content(fences[0].text, (fences[0].start, fences[0].end))
    behind = next((e for e in reading.of("quoted", "code") if path is not None and e.start > path.end), None)
    if path is not None and behind is not None and reading.text[path.end : behind.start].strip() == ":":
        return Content(behind.text, (behind.start, behind.end))
    masked = mask(reading, path)
    match = _SAYS.search(masked)
    if match and not (path is not None and match.start() < path.start and _reads_before(match)):
        return _said(reading, match)
    ended = _END.sub("", masked)
    match = _WITH.search(ended)
    if match:
        group = "x" if match["x"] else "y"
        return Content(literal(reading, *match.span(group))[0], match.span(group))
    if _EMPTY.search(ended):
        return Content("", (0, 0))
    match = _PUT.search(ended)
    if match and match["x"].strip(MASK + " ") == "":
        return Content(literal(reading, *match.span("x"))[0], match.span("x"))
    if match and path is not None and path.start >= match.end("x"):
        text, marked = literal(reading, *match.span("x"))
        told = bool(match["noun"]) or (not match["det"] and match["verb"].lower() in ("write", "put", "jot"))
        if not marked and told and not _DESCRIBED.match(text) and MASK not in match["x"] and _plain(text):
            return Content(text, match.span("x"))
    return None


def _reads_before(match: re.Match[str]) -> bool:
    return match["cue"].lower() in ("read", "reads", "hold") and match.start() == 0


def _said(reading: Reading, match: re.Match[str]) -> Content | None:
    """What stands behind "that says": as it is, unless it describes."""
    start, end = match.span("x")
    text, marked = literal(reading, start, end)
    if marked or (text[:1] in "{[<" and text[-1:] in "}]>"):
        return Content(text, (start, end))
    tail = _END.sub("", match["x"])
    if tail and not tail.strip(MASK):
        return Content(literal(reading, start, start + len(tail))[0], (start, end))
    if MASK in match["x"]:
        return None
    says = (
        match["cue"].lower().startswith(("say", "read", "with the text", "with text", "with the word", "with the line"))
    )
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
        r"that|which|about|for|new|it|them|contents?|output|results?|lines?|more|into|changes|edits|logs?|logging|settings|config|data|imports?|"
        r"notes|progress|everything|support|handling|comments?)\b",
        text,
        re.I,
    )
