"""Answers by template. They follow the shape of a result's data and text, never the name of the tool it came from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pegboard.models import ToolOffer, ToolReply

from pegboard_offline.route import UNSURE, Choice, Plan

ABOUT = "I am a router, not a language model: I match plain requests against what the tools can do."
BETTER = "`pegboard models` says which language models can be reached, and what each needs."


def result(reply: ToolReply, step: str = "") -> str:
    """One result, told: how many there are where it is a list, then what it says. step: which of several it is."""
    told = _to_the_person(reply.text.removeprefix("Error: ")).strip()
    which = f" ({step})" if step else ""
    if reply.outcome == "blocked":
        if plainly := next((said for cue, said in _DECLINED if re.match(cue, told)), ""):
            return f"Not done{which}: {plainly}"
        known = "" if re.search(r"\bnothing was\b", told, re.I) else ", nothing was changed"
        return f"Not done{known}{which}: {told}"
    if reply.outcome == "interrupted":
        known = "" if re.search(r"\bunknown\b", told) else " before it ended; what it did until then is not known"
        return f"Interrupted{known}{which}: {told}".removesuffix(": ")
    if reply.outcome != "ok":
        return f"That failed{which}: {told}"
    body = reply.text.strip("\n").rstrip() or "\n".join(_facts(reply.data))
    if not body:
        return "Done; there is nothing to show."
    return "\n".join(part for part in (_summary(reply.data, reply.text), body, *_notes(reply)) if part)


def stopped(reply: ToolReply) -> bool:
    """Whether what comes after a step must not be done: it failed, or the program it ran says that it failed."""
    return reply.outcome != "ok" or (isinstance(reply.data, dict) and reply.data.get("exit_code", 0) != 0)


_DECLINED = (
    (r"(?:the person|you) declined\b", "you declined. Nothing was changed."),
    (r"the call was declined \(--no\)", "--no declines whatever needs consent. Nothing was changed."),
    (
        r"this call needs (?:a person's|your) consent\b",
        "it needs your consent and there is nobody to ask. Run it at a terminal, or with --yes.",
    ),
)
"""What a refusal by a person, or for want of one, comes to for that person."""

_REWORDED = (
    (r"\s*Ask the person for an alternative, or take another way(?: that does not need it)?\.", ""),
    (r"; do not work around this with another tool(?=\.)", ""),
    (r"\bask the person to (?=\w)", ""),
    (r"\bthe person declined\b", "you declined"),
    (r"\bin their own configuration\b", "in your own configuration"),
)
"""Refusals are worded for a language model, which would pass them on. Here the person reads them as they are."""


def _to_the_person(text: str) -> str:
    for pattern, instead in _REWORDED:
        text = re.sub(pattern, instead, text)
    return text


def _summary(data: Any, text: str) -> str:
    """How many there are of what the text lists a line each, and the other counts that are not zero; else nothing."""
    if isinstance(data, list):
        return f"{_count(len(data), 'item')}:" if data else ""
    if not isinstance(data, dict):
        return ""
    key = next((key for key, value in data.items() if isinstance(value, list)), None)
    if key is None or not data[key] or not _listed(data[key][0], text):
        return ""
    more = [f"{value} {other.replace('_', ' ')}" for other, value in data.items() if type(value) is int and value]
    return f"{', '.join([_count(len(data[key]), key), *more][:6])}:"


def _listed(item: Any, text: str) -> bool:
    """Whether a text begins with an item of a list, so that it is that list."""
    named = next((value for value in item.values() if isinstance(value, str)), None) if isinstance(item, dict) else item
    return isinstance(named, str) and named != "" and (not text.strip() or text.lstrip().startswith(named))


def _facts(data: Any) -> list[str]:
    """What data says by itself, a line each, where a tool says nothing in words."""
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        plain = {key: value for key, value in data.items() if type(value) in (int, str) and value != ""}
        return [line for value in lists for line in _facts(value)] or [
            f"{key.replace('_', ' ')}: {value}" for key, value in plain.items()
        ]
    if isinstance(data, list):
        return [str(item) if not isinstance(item, dict) else ", ".join(_facts(item)) for item in data]
    return []


def _notes(reply: ToolReply) -> list[str]:
    """Remarks of the data that the text leaves out: what stands in a list of texts beside the list that is told."""
    if not isinstance(reply.data, dict):
        return []
    lists = [value for value in reply.data.values() if isinstance(value, list)]
    return [note for value in lists[1:] for note in value if isinstance(note, str) and note not in reply.text]


def _count(number: int, what: str) -> str:
    """`3 hits`, `1 hit`: the name of a list is its plural."""
    what = what.replace("_", " ")
    many = what if what.endswith("s") else f"{what}s"
    single = {"entries": "entry", "matches": "match"}.get(many, many.removesuffix("s"))
    return f"1 {single}" if number == 1 else f"{number} {many}"


def final(plan: Plan, replies: Sequence[ToolReply]) -> str:
    """The answer to a whole request, or to as much of it as was done before something failed."""
    many = len(plan.choices)
    parts = [
        result(reply, f"step {number} of {many}, {plan.steps[number - 1]}" if many > 1 else "")
        for number, reply in enumerate(replies, 1)
    ]
    left = plan.choices[len(replies) :]
    if left:
        why = "" if replies and stopped(replies[-1]) else _in_the_way(left)
        parts.append(f"Nothing further was run; not done: {'; '.join(dict.fromkeys(plan.steps[len(replies) :]))}.{why}")
    elif any(word in remark.lower() for remark in plan.remarks for word in ("summar", "explain", "describe")):
        parts.append(f"I cannot put that into other words: {ABOUT.removeprefix('I am ').split(':')[0]}. {BETTER}")
    return "\n\n".join(parts)


def _in_the_way(left: Sequence[Choice]) -> str:
    """Why the steps that are left are not done, although the last one that was is no reason."""
    for choice in left:
        if not choice.acts:
            return f" {choice.reason or 'I need ' + ' and '.join(choice.missing)}".rstrip(".") + "."
    return ""


def ask(plan: Plan, offers: Sequence[ToolOffer]) -> str:
    """The question back: what was not understood, what is missing, what it could do instead."""
    choice = next(choice for choice in plan.choices if not choice.acts)
    step = plan.steps[plan.choices.index(choice)]
    offer = next((offer for offer in offers if offer.name == choice.tool), None)
    lines = []
    if len(plan.choices) > 1:
        lines.append(f"I did nothing yet, because I do not follow this step: {step}")
    if offer is not None and not choice.reason:
        known = ", ".join(f"{name} {value!r}" for name, value in choice.arguments.items())
        wanted = " and ".join(choice.missing)
        lines.append(
            f"I would use {offer.name}{f' with {known}' if known else ''}, but I need {wanted}; I never make that up."
        )
        named = any(name in offer.touches for name in choice.missing)
        lines.append("Say it again with that named." if named else "Say it in quotes or between backticks.")
        lines += _as_it_is_said(offer, choice)
    else:
        instead = _instead(choice, offers)
        if choice.near or choice.reason != UNSURE or len(plan.choices) > 1:
            lines.append(choice.reason)
        lines += instead
    return "\n".join(lines)


def _as_it_is_said(offer: ToolOffer, choice: Choice) -> list[str]:
    """An example of the tool that has what is missing, with what is known in it, marked as something to fill in."""
    slots = {example: re.findall(r"\{(\w+)\}", example) for example in offer.examples}
    fit = next((one for one, names in slots.items() if names and set(choice.missing) <= set(names)), None)
    if fit is None:
        return []
    named = {name: f"<{name}>" if name in offer.touches else f"'<{name}>'" for name in slots[fit]}
    named |= {name: value for name, value in choice.arguments.items() if isinstance(value, str) and name in named}
    said = re.sub(r"\{(\w+)\}", lambda match: named[match[1]], fit)
    return [f"For example: {said}"]


def _instead(choice: Choice, offers: Sequence[ToolOffer]) -> list[str]:
    near = [offer for name in choice.near for offer in offers if offer.name == name and offer.examples]
    if near:
        return ["Nearest to it, I could:", *(f"  {phrase(offer)}" for offer in near)]
    return greeting(offers)


def greeting(offers: Sequence[ToolOffer]) -> list[str]:
    """What it can do, with phrases from the tools on offer."""
    able = [offer for offer in offers if offer.examples][:3]
    if not able:
        return [ABOUT, "No tool on offer says how it is asked for.", BETTER]
    return [ABOUT, "You can say, for example:", *(f"  {phrase(offer)}" for offer in able), BETTER]


def phrase(offer: ToolOffer) -> str:
    """A tool's first example, its slots marked as something to fill in."""
    return offer.examples[0].replace("{", "<").replace("}", ">")
