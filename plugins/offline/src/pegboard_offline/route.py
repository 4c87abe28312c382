"""Choosing: which tool on offer serves a request, with which arguments, and how sure that is.

A score weighs four things: whether what is asked fits what the tool's declarations make of it (`ACTS_OF`), whether its
parameters can be filled from the request, how much of the request its examples explain, and how alike the nearest example
is. A call that changes something needs more: every word of the request explained, nothing left over, no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import msgspec
from pegboard.models import ToolOffer

from pegboard_offline.doubts import doubt, hedged, plain
from pegboard_offline.entities import Entity, Reading, Tree, Word, read
from pegboard_offline.fill import Filled, fill
from pegboard_offline.lexicon import ACTS_OF, COMMON, PARTS, TOPICS, is_act, is_world_act, vocabulary
from pegboard_offline.profile import Profile, profile
from pegboard_offline.steps import Step, pronoun, split

ENOUGH = 3.1
"""The score from which a choice is acted on. Chosen on the shared requests and the chit-chat of the tests."""
BEST = 5.5
OWN = 0.35
"""How much of a special tool's own a request must name."""
MAX_CHARS = 2_000
"""A longer request is not read, fenced blocks aside: no plain request is, and reading stays quick."""
MAX_STEPS = 8


@dataclass(frozen=True, slots=True)
class Choice:
    """What one step of a request comes to.

    tool: the tool chosen, also where something is `missing` (parameters that the request does not give); None when
    none fits. confidence: 0 to 1. reason: why it is not acted on; empty when it is. near: the tools that came closest."""

    tool: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    confidence: float = 0.0
    missing: tuple[str, ...] = ()
    reason: str = ""
    near: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether it is to be called."""
        return self.tool is not None and not self.missing and not self.reason


@dataclass(frozen=True, slots=True)
class Plan:
    """A request's choices in order, and which steps only speak of the result before them. Nothing runs unless all act."""

    choices: tuple[Choice, ...]
    steps: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether every step is understood."""
        return bool(self.choices) and all(choice.acts for choice in self.choices)


@dataclass(slots=True)
class _Scored:
    tool: Profile
    filled: Filled
    score: float
    loose: list[Word]
    left: list[Entity]


def choose(request: str, offers: Sequence[ToolOffer], root: str | None = None) -> Choice:
    """The choice for a request that is one step. Deterministic: the same text, offers and files give the same choice."""
    return Router(root).choose(request, offers)


class Router:
    """Chooses tools. `root`: the workspace, looked at only to tell whether a path exists."""

    def __init__(self, root: str | None = None) -> None:
        self._tree = Tree(root)
        self._profiles: dict[bytes, Profile] = {}

    def plan(self, request: str, offers: Sequence[ToolOffer]) -> Plan:
        """The whole request, step by step."""
        text, blocks = _set_aside(_clean(request))
        if len(text) > MAX_CHARS:
            return Plan((Choice(reason="That is longer than I can read with any certainty."),), (text[:80],))
        steps = split(text, self._tree)
        if len(steps) > MAX_STEPS:
            return Plan((Choice(reason="That is more steps than I can take in at once."),), (request[:80],))
        choices: list[Choice] = []
        texts: list[str] = []
        remarks: list[str] = []
        before: Reading | None = None
        for step in steps:
            if step.refers:
                remarks.append(step.text)
                continue
            made = self._step(step, offers, before)
            before = read(step.text, self._tree)
            choices += [replace(choice, arguments=_put_back(choice.arguments, blocks)) for choice in made]
            texts += [step.text] * len(made)
        return Plan(tuple(choices), tuple(texts), tuple(remarks))

    def choose(self, request: str, offers: Sequence[ToolOffer]) -> Choice:
        """The first choice that a request comes to."""
        return next(iter(self.plan(request, offers).choices), Choice(reason="There is nothing to do in that."))

    def _step(self, step: Step, offers: Sequence[ToolOffer], before: Reading | None) -> list[Choice]:
        """One step's choices: several only where one tool must be called for each of several files."""
        text = plain(step.text)
        reading = _resolved(read(text, self._tree), before, self._tree)
        ranked = self._ranked(reading, offers)
        near = tuple(one.tool.offer.name for one in ranked[:2] if one.score > 1.0)
        if not ranked or ranked[0].score < ENOUGH:
            return [Choice(reason=doubt(reading, False) or "I am not sure what you want done.", near=near)]
        best = ranked[0]
        choice = Choice(
            tool=best.tool.offer.name,
            arguments=dict(best.filled.arguments),
            confidence=round(min(1.0, best.score / BEST), 3),
            missing=tuple(best.filled.missing),
            near=near,
        )
        choice = replace(choice, reason=self._objection(best, ranked, reading, step.text))
        more = _further(best)
        if choice.acts and more:
            slot = next(slot for slot in best.tool.slots if slot.required)
            return [choice, *(replace(choice, arguments={**choice.arguments, slot.name: e.text}) for e in more)]
        return [choice]

    def _objection(self, best: _Scored, ranked: list[_Scored], reading: Reading, request: str) -> str:
        """Why the best choice is not acted on after all, or nothing."""
        writes = best.tool.offer.effect != "read_only"
        reason = doubt(reading, writes)
        if reason or best.filled.missing:
            return reason or ""
        if best.filled.unsafe:
            return best.filled.unsafe
        served = _further(best)
        over = [e for e in best.left if e not in served and (writes or e.kind not in ("ident", "number", "ext"))]
        if over:
            return f"I do not know what to do with {over[0].text!r}."
        if not writes:
            return ""
        unsure = hedged(request) if any(is_world_act(concept) for concept in reading.concepts) else None
        if unsure:
            return unsure
        if best.loose:
            return f"I am not sure what {best.loose[0].text!r} means here."
        if len(ranked) > 1 and ranked[1].score > best.score - 0.15 and not ranked[1].filled.missing:
            return "Two tools would fit that equally well."
        return ""

    def _ranked(self, reading: Reading, offers: Sequence[ToolOffer]) -> list[_Scored]:
        tools = [self._profile(offer) for offer in offers]
        lists = any(tool.nature == "list" and not tool.special for tool in tools)
        about = {*reading.concepts, *(f"w:{word.lemma}" for word in reading.words if not word.known)}
        about |= {"commit"} if reading.of("rev") else set()
        scored = [self._score(tool, reading, lists) for tool in tools if not tool.special or about & tool.own.keys()]
        for one in scored:
            if one.tool.special and _is_a_command(scored, one.tool):
                one.score -= 2
        return sorted(scored, key=lambda one: -one.score)

    def _profile(self, offer: ToolOffer) -> Profile:
        key = msgspec.json.encode(offer)
        if key not in self._profiles:
            self._profiles[key] = profile(offer)
        return self._profiles[key]

    def _score(self, tool: Profile, reading: Reading, lists: bool) -> _Scored:
        filled = fill(tool, reading, self._tree, lists)
        words = [word for word in reading.words if not filled.covers(word.start, word.end)]
        explained, own, loose = _explained(tool, words, filled)
        if tool.nature in ("write", "replace") and filled.used and filled.missing:
            explained = 1.0  # the words left describe the text that is missing
        left = [e for e in reading.entities if e not in filled.used and not filled.covers(e.start, e.end)]
        asked = _acts(words, reading)
        act = _act_fit(tool, asked, filled, own)
        score = 1.5 * act + 1.5 * _filled_well(tool, filled, left) + 1.5 * explained + _alike(tool, words) + min(1.0, own)
        if tool.special:
            score -= sum(1.2 if word.known else 2.5 for word in loose)
        if tool.special and own < OWN or _forbidden(tool, asked, words, filled):
            score -= 5
        return _Scored(tool, filled, score, loose, left)


def _is_a_command(scored: list[_Scored], special: Profile) -> bool:
    """Whether a whole command line is given whose program is nothing the tool's examples speak of: then it is meant as such."""
    for one in scored:
        if one.tool.nature == "run" and not one.filled.missing and one.filled.sure == 1.0:
            words = str(next(one.filled.arguments[slot.name] for slot in one.tool.slots if slot.required)).split()
            return len(words) > 1 and not any(concept in special.own for concept in vocabulary().get(words[0], ()) if concept in TOPICS)
    return False


def _further(best: _Scored) -> list[Entity]:
    """What is left over and would be served by calling the same tool again: further files to read, pages to fetch."""
    kinds = {"read": "file", "fetch": "url", "list": "folder"}
    kind = kinds.get(best.tool.nature)
    if best.tool.special or not best.tool.slots or not any(slot.required and not slot.many for slot in best.tool.slots):
        return []
    return [entity for entity in best.left if entity.kind == kind]


def _clean(text: str) -> str:
    """Control characters have no meaning here (one marks entities, one what was set aside)."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\ue000]", " ", text.replace("\r\n", "\n"))


def _set_aside(text: str) -> tuple[str, list[str]]:
    """The text with the body of each fenced block replaced by a mark: it is carried, never read."""
    blocks: list[str] = []

    def keep(match: re.Match[str]) -> str:
        blocks.append(match["body"])
        return f"```\n\ue000{len(blocks) - 1}\ue000\n```"

    return re.sub(r"```[^\n`]*\n(?P<body>.*?)\n?```", keep, text, flags=re.S), blocks


def _put_back(arguments: dict[str, Any], blocks: list[str]) -> dict[str, Any]:
    marks = {f"\ue000{at}\ue000": block for at, block in enumerate(blocks)}
    return {name: marks.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}


def _resolved(reading: Reading, before: Reading | None, tree: Tree) -> Reading:
    """A step that says "it" after a step with one file means that file, where nothing is changed by it."""
    if before is None or reading.entities or not pronoun(reading.bare):
        return reading
    files = before.of("file")
    match = re.search(r"\b(?:it|that file|the file|this file)\b", reading.text, re.I)
    if len(files) != 1 or match is None or any(is_world_act(concept) for concept in reading.concepts):
        return reading
    return read(reading.text[: match.start()] + files[0].text + reading.text[match.end() :], tree)


def _acts(words: list[Word], reading: Reading) -> list[str]:
    """The acts a request names, in order."""
    return [concept for word in words for concept in word.concepts if is_act(concept)]


def _act_fit(tool: Profile, asked: list[str], filled: Filled, own: float) -> float:
    """How well what is asked fits the tool: 0 to 1."""
    fits = ACTS_OF.get(tool.nature, {})
    best = max((fits.get(act, 0.0) * (1.0 if at == 0 else 0.8) for at, act in enumerate(asked)), default=0.0)
    if tool.nature in ("run", "replace") and not filled.missing:
        best = max(best, 0.9)  # a whole command line, or "this -> that", says by itself what is to be done
    if tool.special:
        shared = 1.0 if not asked or asked[0] in tool.acts else 0.5
        if tool.offer.effect != "read_only":
            shared = 1.0 if asked else 0.6
        best = max(best, shared if own > 0 else 0.0)
    return best


def _filled_well(tool: Profile, filled: Filled, left: list[Entity]) -> float:
    """How well the request's named things and the tool's parameters meet: at most 1."""
    needed = any(slot.required for slot in tool.slots)
    if filled.missing:
        base = 0.5 if filled.used else -0.6
    elif needed:
        base = filled.sure
        if any(slot.many and slot.required and len(filled.arguments[slot.name]) == 1 for slot in tool.slots):
            base -= 0.3
    else:
        base = 0.6 + (0.1 if filled.arguments else 0.0)
    weights = {"quoted": 0.9, "url": 0.9, "rev": 0.9, "ident": 0.2, "number": 0.15, "ext": 0.4, "glob": 0.5}
    return base - sum(weights.get(entity.kind, 0.5) for entity in left[:4])


def _explained(tool: Profile, words: list[Word], filled: Filled) -> tuple[float, float, list[Word]]:
    """How much of what the request is about the tool explains (0 to 1), how much of it is the tool's own, and what is left.

    A revision that filled a parameter speaks of commits, as the word would."""
    total = known = own = 0.0
    loose: list[Word] = []
    usual = {*ACTS_OF.get(tool.nature, {}), *COMMON}
    for word, following in zip_longest(words, words[1:]):
        weight = 0.5 if following is not None and _modifies(word, following) else 1.0
        about = [concept for concept in word.concepts if concept in TOPICS] or ([] if word.known else [f"w:{word.lemma}"])
        if tool.special and word.lemma in PARTS and word.lemma not in tool.words:
            total += 1
            loose.append(word)
        shares = [_share(tool, feature) for feature in about]
        total += weight * len(about)
        known += weight * sum(shares)
        own += weight * sum(shares)
        if about and not any(shares):
            loose.append(word)
        own += 0.4 * tool.special * sum(is_act(c) and c not in usual and c in tool.own for c in word.concepts)
    if any(entity.kind == "rev" for entity in filled.used):
        own += _share(tool, "commit")
    return (known / total if total else 1.0), own, loose


def _modifies(word: Word, following: Word) -> bool:
    """Whether a topic only qualifies the next: in "staged diff" it is the diff that is asked for."""
    return following.start - word.end == 1 and all(any(concept in TOPICS for concept in one.concepts) for one in (word, following))


def _share(tool: Profile, feature: str) -> float:
    """How much a thing is what the tool's examples speak of."""
    if not tool.special or not tool.own[feature]:
        return 0.0
    if feature == "git":
        return 0.2  # every tool of its kind speaks of it
    return min(1.0, 0.35 + 2 * tool.own[feature] / len(tool.examples))


def _alike(tool: Profile, words: list[Word]) -> float:
    """How alike the nearest example is: 0 to 1."""
    said = {concept for word in words for concept in word.concepts} | {f"w:{word.lemma}" for word in words if not word.known}
    best = 0.0
    for example in tool.examples:
        union = sum(map(_weight, said | example.features))
        if union:
            best = max(best, sum(map(_weight, said & example.features)) / union)
    return best


def _weight(feature: str) -> float:
    return 1.0 if is_act(feature) else 1.5


def _forbidden(tool: Profile, asked: list[str], words: list[Word], filled: Filled) -> bool:
    """Whether what is asked can never be this tool's: changing the world with one that reads, or the other way round."""
    world = [act for act in asked if is_world_act(act) and not (tool.special and act in tool.acts)]
    if tool.offer.effect == "read_only":
        return bool(world)
    if tool.special:
        return bool(asked) and asked[0] not in ("run", "check") and not (is_world_act(asked[0]) and asked[0] in tool.acts)
    first = next((act for act in asked if is_world_act(act)), None)
    if tool.nature in ("run", "replace") and not filled.missing:
        return first not in (None, *ACTS_OF[tool.nature]) and tool.nature == "replace"
    return first is None or first not in ACTS_OF.get(tool.nature, {})
