"""Answers by template. They follow the shape of a result's data and text, never the name of the tool it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.models import ToolOffer, ToolReply

from pegboard_offline.route import UNSURE, Choice, Plan

MAX_LINES = 40
MAX_LINE = 300
ABOUT = "I am a router, not a language model: I match plain requests against what the tools can do."
BETTER = "An API key or a local model server gives you a real model."


def result(reply: ToolReply) -> str:
    """One result, told: what it comes to, then what it says."""
    told = _excerpt(reply.text.removeprefix("Error: "))
    if reply.outcome == "blocked":
        return f"Not done, nothing was changed: {told}"
    if reply.outcome == "interrupted":
        return f"Interrupted before it ended; what it did until then is not known. {told}".rstrip()
    if reply.outcome != "ok":
        return f"That failed: {told}"
    head = _summary(reply.data)
    body = _excerpt(reply.text)
    if not body:
        body = "" if head else "Done; there is nothing to show."
    return "\n".join(part for part in (head, body) if part)


def _summary(data: Any) -> str:
    """A line of facts from the data: counts of its lists, and the numbers that stand beside a list."""
    if not isinstance(data, dict):
        return f"{_count(len(data), 'item')}:" if isinstance(data, list) else ""
    facts = [_count(len(value), key) for key, value in data.items() if isinstance(value, list)]
    if "exit_code" in data:
        code = data["exit_code"]
        facts.insert(0, f"exit code {code}" if code is not None else f"ended by signal {data.get('signal')}")
    elif facts:
        facts += [f"{value} {key.replace('_', ' ')}" for key, value in data.items() if type(value) is int]
    return ", ".join(facts[:6]) + (":" if facts else "")


def _count(number: int, what: str) -> str:
    """`3 hits`, `1 hit`, `no hits`: the name of a list is its plural."""
    what = what.replace("_", " ")
    many = what if what.endswith("s") else f"{what}s"
    single = {"entries": "entry", "matches": "match"}.get(many, many.removesuffix("s"))
    return f"no {many}" if number == 0 else f"1 {single}" if number == 1 else f"{number} {many}"


def _excerpt(text: str) -> str:
    lines = text.strip("\n").splitlines()
    shown = [line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…" for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        shown.append(f"… {len(lines) - MAX_LINES} more lines")
    return "\n".join(shown).strip()


def final(plan: Plan, replies: Sequence[ToolReply]) -> str:
    """The answer to a whole request, or to as much of it as was done before something failed."""
    parts = [result(reply) for reply in replies]
    left = len(plan.choices) - len(replies)
    if left > 0:
        parts.append(f"I stopped there; not done: {'; '.join(dict.fromkeys(plan.steps[len(replies) :]))}.")
    elif any(word in remark.lower() for remark in plan.remarks for word in ("summar", "explain", "describe")):
        parts.append(f"I cannot put that into other words: {ABOUT.removeprefix('I am ').split(':')[0]}. {BETTER}")
    return "\n\n".join(parts)


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
        wanted = " and ".join(_described(offer, name) for name in choice.missing)
        lines.append(
            f"I would use {offer.name}{f' with {known}' if known else ''}, but I need {wanted}; I never make that up."
        )
        lines.append("Say it in quotes or between backticks.")
    else:
        instead = _instead(choice, offers)
        if choice.near or choice.reason != UNSURE or len(plan.choices) > 1:
            lines.append(choice.reason)
        lines += instead
    return "\n".join(lines)


def _described(offer: ToolOffer, name: str) -> str:
    part = (offer.parameters.get("properties") or {}).get(name)
    text = part.get("description") if isinstance(part, dict) else None
    return f"{name} ({text.rstrip('.')})" if text else name


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
