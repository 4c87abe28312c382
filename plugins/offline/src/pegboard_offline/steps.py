"""A request cut into its steps: "read a.txt and then search for TODO in src" is two."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegboard_offline.doubts import plain
from pegboard_offline.entities import Reading, Tree, read
from pegboard_offline.lexicon import ACTS, PROGRAMS, vocabulary

_VERBS = frozenset(
    verb
    for verb in " ".join(ACTS.values()).split()
    if verb not in ("content", "contents", "guts", "innards", "insides", "body", "text", "head", "tail", "more", "less", "type", "total", "hits")
)
_STRONG = re.compile(
    r"\s*(?:;\s*(?:and\s+)?(?:then\s+)?|[,.;]?\s*\b(?:and\s+then|then|after\s+that|afterwards|followed\s+by|and\s+afterwards|and\s+after\s+that|next|finally|lastly)\b[\s,:]*)",
    re.I,
)
_WEAK = re.compile(r"\s*(?:,\s*(?:and\s+)?|\band\s+|\bplus\s+|&\s+|[.!?]\s+(?:and\s+)?|\n+\s*(?:[-*]|\d+[.)])?\s*)(?:also\s+)?", re.I)
_BULLET = re.compile(r"^\s*(?:[-*]|\d+[.)])\s+")
_PAIRED = re.compile(r"^(?:find|search|read|copy|cut|look|go|try|come)$", re.I)
_REFERS = re.compile(r"\b(?:it|them|those|these|that|this|response|result|results|output|answer|page|matches|hits|one|ones|everything|findings)\b", re.I)
_RESULT = re.compile(r"\b(?:response|results?|output|answer|page|matches|hits|findings)\b", re.I)


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do. `refers`: it only speaks of what the step before gave ("and show me the response")."""

    text: str
    refers: bool = False


def split(text: str, tree: Tree) -> list[Step]:
    """The steps of a request, in order. Text inside quotes is never cut; nor is text behind "that says"."""
    reading = read(text, tree)
    cuts = _cuts(reading)
    parts = []
    start = 0
    for left, right in [*cuts, (len(text), len(text))]:
        part = plain(_BULLET.sub("", text[start:left]).strip(" ,;"))
        if part:
            parts.append(part)
        start = right
    steps: list[Step] = []
    for part in parts:
        if len(part.split()) == 1 and _PAIRED.match(part) and part is not parts[-1]:
            continue
        steps.append(Step(part, bool(steps) and _only_refers(part, tree)))
    return steps or [Step(text)]


def _cuts(reading: Reading) -> list[tuple[int, int]]:
    masked = reading.bare
    for entity in reading.entities:
        masked = masked[: entity.start] + "\x01" * (entity.end - entity.start) + masked[entity.end :]
    cuts: list[tuple[int, int]] = []
    content = re.search(r"\b(?:that|which)\s+(?:says?|reads?)\b|\b(?:saying|with\s+(?:the\s+)?(?:text|contents?))\b", masked, re.I)
    literal_from = content.end() if content and not re.match(r"\s*:?\s*\x01", masked[content.end() :]) else len(masked)
    position = 0
    while position < len(masked):
        strong = _STRONG.search(masked, position)
        weak = _WEAK.search(masked, position)
        match = min((m for m in (strong, weak) if m), key=lambda m: (m.start(), m is weak), default=None)
        if match is None:
            break
        rest = masked[match.end() :]
        done = masked[cuts[-1][1] if cuts else 0 : match.start()].strip(" ,.;")
        firm = match is strong
        if done and _verb_first(rest, reading, match.end(), firm) and (match.start() < literal_from or firm):
            cuts.append((match.start(), match.end()))
        position = max(match.end(), position + 1)
    return cuts


def _verb_first(rest: str, reading: Reading, at: int, firm: bool) -> bool:
    """Whether what follows begins like something to do."""
    original = plain(reading.text[at:])
    words = re.findall(r"[\w'-]+", original[:80].lower())
    if not words:
        return False
    first, second = words[0], words[1] if len(words) > 1 else ""
    if any(entity.start == at for entity in reading.entities):
        return False
    if first in _VERBS and first in vocabulary() or first in PROGRAMS and firm:
        return second not in ("of", "in", "is", "are", "and") or first in ("look", "check")
    if f"{first} {second}" in ("look for", "get rid", "give me", "tell me", "let me", "kick off", "make sure", "get me", "bring up", "pull up"):
        return True
    if first in ("gimme", "tell", "how", "what", "who", "where", "which", "is"):
        return firm or first in ("gimme", "how", "what", "who", "where")
    return firm and first not in ("the", "a", "an", "some", "it", "in", "for")


_TELLS = frozenset(
    "show display print read see view tell give return output report list summarize summarise explain describe count check".split()  # noqa: SIM905
)


def _only_refers(part: str, tree: Tree) -> bool:
    """Whether a step asks to be told of the step before, and nothing else."""
    low = part.lower()
    words = re.findall(r"[\w']+", low)
    if read(part, tree).entities or not words:
        return False
    if re.fullmatch(r"(?:tell me |say |let me know |count )?(?:how many(?: (?:there are|are there|files|of them|matches|hits|lines|there were|it found|we have))?|what (?:it|they) says?|what you (?:find|found|see|get|got)|the (?:result|count|number|total))\W*", low):
        return True
    if words[0] in _TELLS or low.startswith(("how many", "let me know")):
        return len(words) <= 8 and (bool(_RESULT.search(low)) or bool(re.search(r"\b(?:it|them|those|these|back)\b", low)))
    return False


def pronoun(text: str) -> bool:
    """Whether a step stands on a word that only points back."""
    return bool(_REFERS.search(text))
