"""The words of a phrase, with the concepts that they (or the expressions they begin) stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pegboard_offline.lexicon import ACTS, PHRASES, forms, is_world_act, known, lemma, vocabulary


@dataclass(frozen=True, slots=True)
class Word:
    """A word outside every entity: as written, its known form, and the concepts it (or the phrase it begins) stands for."""

    text: str
    lemma: str
    start: int
    end: int
    concepts: tuple[str, ...] = ()
    known: bool = True


def words_of(bare: str) -> Iterator[Word]:
    """The words outside entities, phrases read first. Each character belongs to one word at most."""
    low = bare.lower().replace("’", "'")
    if len(low) != len(bare):  # a letter whose lower case is longer: positions would slip
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in bare.replace("’", "'"))
    marked: list[tuple[int, int, tuple[str, ...]]] = []
    for pattern, concepts in _phrases():
        for match in pattern.finditer(low):
            if not any(start < match.end() and match.start() < end for start, end, _ in marked):
                marked.append((match.start(), match.end(), concepts))
    first = True
    asks = re.match(r"\W*(?:what|which|who|where|when|did|does|has|have|is|are|was|were)\b", low) is not None
    for match in re.finditer(r"[^\W_](?:[\w'-]*\w)?", low):
        start, end = match.span()
        phrase = next((m for m in marked if m[0] <= start < m[1]), None)
        if phrase:
            concepts = phrase[2] if start == phrase[0] else ()
            first = False
            yield Word(bare[start:end], lemma(match[0]), start, end, concepts)
            continue
        form = match[0] if match[0] in vocabulary() else lemma(match[0])
        concepts = _meant(match[0], form, first)
        if asks:
            concepts = tuple(concept for concept in concepts if concept not in _NO_ORDERS)
        first = False
        yield Word(bare[start:end], form, start, end, concepts, _is_known(match[0], form))


@cache
def _slips() -> dict[str, str]:
    """What a slip of the finger makes of the verbs that change nothing: two letters swapped, one doubled, one left out of a
    long word. What is a word itself stands for itself; what two verbs may come to stands for none."""
    made: dict[str, set[str]] = {}
    for act in ("see", "list", "find", "search"):
        for word in ACTS[act].split()[:8]:
            swaps = (word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in range(len(word) - 1))
            doubles = (word[:at] + word[at] + word[at:] for at in range(len(word)))
            short = (word[:at] + word[at + 1 :] for at in range(1, len(word)))
            slips = {*swaps, *doubles, *(s for s in short if len(s) > 3 or not set(s) & set("aeiou"))}
            for slip in slips:
                if len(word) > 3 and not _is_known(slip, lemma(slip)):
                    made.setdefault(slip, set()).add(word)
    return {slip: words.pop() for slip, words in made.items() if len(words) == 1}


def mended(text: str) -> str:
    """A request whose first word is a misspelt verb of reading ("serach for"), with that word as it was meant."""
    first = re.match(r"[a-z]+(?=\s)", text.lower())
    meant = _slips().get(first[0]) if first else None
    return f"{meant}{text[len(first[0]) :]}" if first and meant else text


_NO_ORDERS = frozenset({"make", "change", "erase", "move", "append"})
"""What is no order inside a question: "what did it change?"."""


def _meant(word: str, form: str, first: bool) -> tuple[str, ...]:
    """A word's concepts here. A verb that would change something counts only as an order: "created" is none, and what is
    also a noun ("commit") must come first."""
    concepts = vocabulary().get(form, ())
    if word != form and (word.endswith(("ed", "s")) or (word.endswith("ing") and not first)):
        return tuple(concept for concept in concepts if not is_world_act(concept))
    deeds = tuple(concept for concept in concepts if concept.startswith("do:"))
    if deeds and len(concepts) > len(deeds):
        return deeds if first else tuple(concept for concept in concepts if concept not in deeds)
    return concepts


def _is_known(word: str, form: str) -> bool:
    return known(form) or any(known(option) for option in forms(word)) or all(known(part) for part in word.split("-"))


@cache
def _phrases() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """The phrase table, compiled on first use."""
    return tuple((re.compile(rf"\b(?:{pattern})(?!\w)"), tuple(concepts.split())) for pattern, concepts in PHRASES)
