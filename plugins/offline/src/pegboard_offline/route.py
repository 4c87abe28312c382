"""Choosing: which tool on offer serves a request, with which arguments, and how sure that is.

The best score decides (`score.ranked`), if it is high enough. A call that changes something needs more: every word of the
request explained, nothing left over, no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
from pegboard.models import ToolOffer

from pegboard_offline.bags import bag
from pegboard_offline.commands import unclear
from pegboard_offline.doubts import doubt, hedged, plain, uncounted, wants_help
from pegboard_offline.entities import Entity, Reading, Tree, read
from pegboard_offline.lexicon import POINTING, STOP, SWEEPING, is_world_act
from pegboard_offline.orders import no_order, taken_back
from pegboard_offline.profile import Profile, profile
from pegboard_offline.score import BEST, Scored, ranked
from pegboard_offline.steps import MAX_STEPS, Step, pronoun, split
from pegboard_offline.writes import BY_ITS_NUMBER, by_number

UNSURE = "I am not sure what you want done."
ENOUGH = 3.1
"""The score from which a choice is acted on. Chosen on the shared requests and the chit-chat of the tests."""
MAX_CHARS = 1_000
"""A longer request is not read, fenced blocks aside: no plain request is, and reading stays quick."""


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
        edits = {offer.name: "edit" in offer.touches.values() for offer in offers}
        for step in steps:
            wrote = bool(choices) and edits.get(choices[-1].tool or "", False)
            if (
                step.refers
                and not taken_back(step.text)
                and not (
                    wrote and before is not None and _resolved(read(step.text, self._tree), before, self._tree).entities
                )
            ):
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
        if wants_help(step.text):
            return [Choice(reason=UNSURE)]
        text = plain(step.text)
        reading = _resolved(read(text, self._tree), before, self._tree)
        candidates = ranked((self._profile(offer) for offer in offers), reading, self._tree)
        near = tuple(one.tool.offer.name for one in candidates[:2] if one.score > 1.0)
        if not candidates or candidates[0].score < ENOUGH:
            return [Choice(reason=doubt(reading, writes=False) or _nothing_fits(reading, offers), near=near)]
        best = candidates[0]
        choice = Choice(
            tool=best.tool.offer.name,
            arguments=dict(best.filled.arguments),
            confidence=round(min(1.0, best.score / BEST), 3),
            missing=tuple(best.filled.missing),
            near=near,
        )
        choice = replace(choice, reason=_objection(best, candidates, reading, step.said or step.text))
        name = _repeated(best)
        if choice.acts and name is not None:
            more = _further(best)
            return [choice, *(replace(choice, arguments={**choice.arguments, name: e.text}) for e in more)]
        return [choice]

    def _profile(self, offer: ToolOffer) -> Profile:
        key = msgspec.json.encode(offer)
        if key not in self._profiles:
            self._profiles[key] = profile(offer)
        return self._profiles[key]


_FILE_ACTS = frozenset({"make", "change", "erase", "append"})


def _nothing_fits(reading: Reading, offers: Sequence[ToolOffer]) -> str:
    """What is said where no tool fits."""
    if by_number(reading) and not _FILE_ACTS.isdisjoint(reading.concepts) and _any(offers, "edit"):
        return BY_ITS_NUMBER
    program = unclear(reading)
    if (program or ("run" in reading.concepts and reading.of("code", "quoted"))) and not _any(offers, "run"):
        return "No tool on offer runs commands; nothing was run."
    if not _FILE_ACTS.isdisjoint(reading.concepts) and not _any(offers, "edit"):
        return "No tool on offer edits files; nothing was changed."
    if program:
        return f"I cannot tell what of that is the command; put it between backticks: run `{program} ...`."
    if any(is_world_act(concept) and concept != "run" for concept in reading.concepts):
        return "I know no way to do that with the tools on offer; nothing was changed."
    named = next(iter(reading.entities), None)
    return f"I am not sure what you want done with {named.text[:80]!r}." if named else UNSURE


def _any(offers: Sequence[ToolOffer], what: str) -> bool:
    """Whether a tool on offer does this, by what its parameters touch or by its category."""
    return any(what in (*offer.touches.values(), offer.category) for offer in offers)


def _objection(best: Scored, candidates: list[Scored], reading: Reading, request: str) -> str:
    """Why the best choice is not acted on after all, or nothing."""
    writes = best.tool.offer.effect != "read_only"
    reason = (
        None
        if best.filled.exact
        else doubt(reading, writes) or uncounted(best.tool, bool(best.filled.missing), reading)
    )
    if writes and not reason and not best.filled.missing:
        reason = no_order(best.tool, best.filled, best.rest, reading, request)
    if best.filled.unsafe and not reason:
        return best.filled.unsafe
    if reason or best.filled.missing:
        return reason or ""
    served = _further(best)
    over = [e for e in best.left if e not in served and (writes or e.kind not in ("ident", "number", "ext"))]
    if over:
        return f"I do not know what to do with {over[0].text!r}."
    if not writes:
        return ""
    swept = next((word.text for word in best.rest if word.text.lower() in SWEEPING), None)
    changes = any(is_world_act(concept) and concept != "run" for concept in reading.concepts)
    last = best.rest[-1].text if best.rest else ""
    if changes and not swept and not best.filled.arguments and last.lower() in POINTING:
        swept = last  # "push this"
    if changes and swept and best.tool.nature != "run":
        return f"I do not know what {swept!r} covers."
    if changes and best.tool.special and (odd := _beside_the_point(best)):
        return f"I am not sure what {odd!r} means here."
    unsure = hedged(request) if changes or "run" in reading.concepts else None
    if unsure or best.filled.exact:
        return unsure or ""
    if best.tool.special and len(reading.words) < 2 and not reading.entities:
        return "That is one word; I would not run anything on it."
    if best.loose and not (best.tool.nature == "write" and "```" in request):  # the text is given, described or not
        return f"I am not sure what {best.loose[0].text!r} means here."
    if len(candidates) > 1 and candidates[1].score > best.score - 0.15 and not candidates[1].filled.missing:
        return "Two tools would fit that equally well."
    return ""


_OF_FILES = bag("file files folder directory document script module named called path please")


def _beside_the_point(best: Scored) -> str:
    """A word that a change cannot be made past: "delete a.txt and friends"."""
    for word in best.rest:
        low = word.text.lower()
        if not word.concepts and low not in STOP and low not in _OF_FILES and word.lemma not in best.tool.words:
            return word.text
    return ""


def _further(best: Scored) -> list[Entity]:
    """What is left over and would be served by calling the same tool again: further files to read, folders to search."""
    kinds = {"read": ("file",), "fetch": ("url",), "list": ("folder",), "search": ("folder", "file")}
    served = kinds.get(best.tool.nature, ()) if _repeated(best) else ()
    return [entity for entity in best.left if entity.kind in served]


def _repeated(best: Scored) -> str | None:
    """The parameter that each further thing would fill in a call of its own."""
    tool = best.tool
    slots = tool.slots_for("read", "list") if tool.nature == "search" else tool.required
    slot = next((slot for slot in slots if not slot.many), None)
    return slot.name if slot and not tool.special and slot.name in best.filled.arguments else None


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
