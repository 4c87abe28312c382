"""A request cut into its steps: "read a.txt and then search for TODO in src" is two."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegboard_offline.bags import bag
from pegboard_offline.doubts import plain
from pegboard_offline.entities import Reading, Tree, read
from pegboard_offline.lexicon import ACTS, is_act, vocabulary
from pegboard_offline.names import ENGLISH_PROGRAMS, PROGRAMS

_VERBS = frozenset(
    verb
    for verb in " ".join(ACTS.values()).split()
    if verb
    not in (
        "content",
        "contents",
        "guts",
        "innards",
        "insides",
        "body",
        "text",
        "head",
        "tail",
        "more",
        "less",
        "type",
        "total",
        "hits",
    )
)
_STRONG = re.compile(
    r"\s*(?:;\s*(?:and\s+)?(?:then\s+)?|[,.;]?\s*\b(?:and\s+then|then|after\s+that|afterwards|"
    r"followed\s+by|and\s+afterwards|and\s+after\s+that|next|finally|lastly)\b[\s,:]*)",
    re.I,
)
_WEAK = re.compile(
    r"\s*(?:,\s*(?:and\s+)?|\band\s+|\bplus\s+|&\s+|[.!?]\s+(?:and\s+)?|\n+\s*(?:[-*]|\d+[.)])?\s*)(?:also\s+)?", re.I
)
_BULLET = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+", re.M)
_GO_AHEAD = re.compile(r"^\W*(?:(?:please|ok(?:ay)?|so|yes|now)\W+)*go\s+(?:right\s+)?ahead\s+and\s+", re.I)
_PAIRED = re.compile(r"^(?:find|search|read|copy|cut|look|go|try|come)$", re.I)
_REFERS = re.compile(
    r"\b(?:it|them|those|these|that|this|response|result|results|output|answer|page|matches|hits|one|"
    r"ones|everything|findings)\b",
    re.I,
)
_RESULT = re.compile(r"\b(?:response|results?|output|answer|page|matches|hits|findings)\b", re.I)


MAX_STEPS = 8
"""More are not taken in at once."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do. `refers`: it only speaks of what the step before gave ("and show me the response").
    `said`: as it was put, politeness and doubts included."""

    text: str
    refers: bool = False
    said: str = ""


def split(text: str, tree: Tree) -> list[Step]:
    """The steps of a request, in order. Text inside quotes is never cut; nor is text behind "that says"."""
    text = _GO_AHEAD.sub("", _BULLET.sub("", text))
    reading = read(text, tree)
    cuts = _cuts(reading, tree)
    parts = []
    start = 0
    for left, right in [*cuts, (len(text), len(text))]:
        part = text[start:left].strip(" ,;\n")
        if part:
            parts.append(part)
        start = right
    steps: list[Step] = []
    for part in parts:
        if len(part.split()) == 1 and _PAIRED.match(part) and part is not parts[-1]:
            continue
        if steps and _only_refers(part, tree):
            steps.append(Step(part, refers=True))
            continue
        verb = re.match(r"\w+", steps[-1].text) if steps and re.match(r"(?:the|an?)\s", part, re.I) else None
        steps.append(Step(f"{verb[0]} {part}" if verb and verb[0].lower() in _TELLS else plain(part), said=part))
    return steps or [Step(text)]


def _says_something(part: str, tree: Tree) -> bool:
    """Whether what stands before a cut is a step by itself, not just "in a.txt"."""
    if re.match(r"(?:what|which|who|where|how|is|are|does|do (?:i|we|the|any))\b", plain(part), re.I):
        return True
    return (
        any(is_act(concept) for concept in read(part.replace("\x01", "x"), Tree(None)).concepts)
        or part.split()[0] in PROGRAMS
    )


def _cuts(reading: Reading, tree: Tree) -> list[tuple[int, int]]:
    masked = reading.bare
    for entity in reading.entities:
        masked = masked[: entity.start] + "\x01" * (entity.end - entity.start) + masked[entity.end :]
    cuts: list[tuple[int, int]] = []
    content = re.search(
        r"\b(?:that|which)\s+(?:says?|reads?)\b|\b(?:saying|with\s+(?:the\s+)?(?:text|contents?))\b", masked, re.I
    )
    literal_from = content.end() if content and not re.match(r"\s*:?\s*\x01", masked[content.end() :]) else len(masked)
    position = 0
    while position < len(masked) and len(cuts) <= MAX_STEPS:
        strong = _STRONG.search(masked, position)
        weak = _WEAK.search(masked, position)
        match = min((m for m in (strong, weak) if m), key=lambda m: (m.start(), m is weak), default=None)
        if match is None:
            break
        rest = masked[match.end() :]
        done = masked[cuts[-1][1] if cuts else 0 : match.start()].strip(" ,.;")
        firm = match is strong
        if (
            done
            and not _same_line(match[0], done, rest)
            and _says_something(done, tree)
            and _verb_first(rest, reading, match.end(), firm)
            and (match.start() < literal_from or firm)
        ):
            cuts.append((match.start(), match.end()))
        position = max(match.end(), position + 1)
    return cuts


def _same_line(between: str, done: str, rest: str) -> bool:
    """Whether a semicolon stands inside a command line: a program before it, and one behind it."""
    following = re.match(r"\s*(\S+)", rest)
    if between.strip() != ";" or following is None:
        return False
    after = following[1].rstrip(";")
    programs = PROGRAMS - ENGLISH_PROGRAMS | {"echo", "sleep", "touch"}
    return after in programs and any(word.rstrip(";") in PROGRAMS for word in plain(done).split()[:2])


def _verb_first(rest: str, reading: Reading, at: int, firm: bool) -> bool:
    """Whether what follows begins like something to do."""
    original = plain(reading.text[at : at + 160])
    words = re.findall(r"[\w'-]+", original[:80].lower())
    if not words:
        return False
    first, second = words[0], words[1] if len(words) > 1 else ""
    if any(entity.start == at for entity in reading.entities):
        return False
    if (first in _VERBS and first in vocabulary()) or (first in PROGRAMS and firm):
        return second not in ("of", "in", "is", "are", "and") or first in ("look", "check")
    if f"{first} {second}" in (
        "look for",
        "get rid",
        "give me",
        "tell me",
        "let me",
        "kick off",
        "make sure",
        "get me",
        "bring up",
        "pull up",
    ):
        return True
    if first in ("gimme", "tell", "how", "what", "who", "where", "which", "is"):
        return firm or first in ("gimme", "how", "what", "who", "where")
    return firm and first not in ("some", "it", "in", "for")


_TELLS = bag(
    """show display print read see view tell give return output report list summarize summarise explain describe count
    check"""
)


def _only_refers(part: str, tree: Tree) -> bool:
    """Whether a step asks to be told of the step before, and nothing else."""
    low = part.lower()
    words = re.findall(r"[\w']+", low)
    if read(part, tree).entities or not words:
        return False
    if len(words) <= 8 and re.match(
        r"(?:tell me|let me know|say|report|see|check)\s+(?:how many|how much|which|what|whether|if|the)\b", low
    ):
        return True
    if re.fullmatch(
        r"(?:tell me |say |let me know |count )?(?:"
        r"how many(?: (?:there are|are there|files|of them|matches|hits|lines|there were|it found|"
        r"we have))?|what comes back|"
        r"what (?:you|it|they) (?:find|finds|found|see|sees|get|gets|got|says?|prints?|returns?)|"
        r"the (?:result|count|number|total))\W*",
        low,
    ):
        return True
    if words[0] in _TELLS and re.search(r"\bwhat (?:comes back|(?:it|you|they) \w+)$", low.rstrip(" .!?")):
        return True
    if words[0] in _TELLS or low.startswith(("how many", "let me know")):
        return len(words) <= 8 and (
            bool(_RESULT.search(low)) or bool(re.search(r"\b(?:it|them|those|these|back)\b", low))
        )
    return False


def pronoun(text: str) -> bool:
    """Whether a step stands on a word that only points back."""
    return bool(_REFERS.search(text))
