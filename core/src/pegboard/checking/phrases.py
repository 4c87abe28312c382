"""tool.aliases and tool.examples: a plugin's tools held against each other and against those that Pegboard brings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pegboard.board import EMBEDDED
from pegboard.checking.declared import Offered
from pegboard.checking.report import Findings, Said, fine, skipped
from pegboard.checking.samples import TOUCHED
from pegboard.entries import scan
from pegboard.models import CallPart, ChatMessage, Provider, ProviderSettings, Request, ToolOffer
from pegboard.plugins.loaded import LoadProblem, told
from pegboard.plugins.loading import import_guarded, load_one
from pegboard.tooling import BadTool, Tool

_BY_FORMAT = {"glob": "*.md", "regex": "'needle'", "uri": TOUCHED["net"]}


@dataclass(kw_only=True, slots=True)
class Others:
    """The tools of Pegboard's own installed sets, the target's left out; and the router, or why there is none."""

    tools: list[Tool] = field(default_factory=list)
    router: Provider | None = None
    why: str = ""


def others(distribution: str, root: str) -> Others:
    """What is installed of Pegboard's own, beside the target."""
    found = Others(why=f"the provider {EMBEDDED!r} is not installed")
    for entry in scan():
        if not entry.own or entry.distribution == distribution:
            continue
        if entry.group == "pegboard.toolsets":
            found.tools += _tools(entry)
    for entry in scan():
        if entry.own and entry.group == "pegboard.providers" and entry.name == EMBEDDED:
            try:
                made = import_guarded(entry)
                found.router = made(ProviderSettings(name=EMBEDDED, root=root))
            except LoadProblem as problem:
                found.why = str(problem)
    return found


def _tools(entry: Any) -> Iterator[Tool]:
    try:
        plugin = load_one(entry, {}, None)
    except LoadProblem:
        return
    for function in plugin.contributions.get("pegboard_tools", ()):
        try:
            yield Tool.of(function, owner=entry.name, set=entry.name)
        except BadTool:
            continue


def check_phrases(offered: Sequence[Offered], around: Others, findings: Findings) -> None:
    """Each tool's names, and its examples."""
    offers = [
        ToolOffer.of(tool) for tool in (*(one.tool for one in offered), *around.tools) if tool.declaration.advertised
    ]
    for one in offered:
        findings.make("tool.aliases", one.subject, _aliases, one, offered, around)
        findings.make("tool.examples", one.subject, _examples, one.tool, offers, around)


def _names(tool: Tool) -> list[str]:
    return [alias if isinstance(alias, str) else alias[0] for alias in tool.declaration.aliases]


def _aliases(one: Offered, offered: Sequence[Offered], around: Others) -> Said:
    tool = one.tool
    names = _names(tool)
    twice = [name for name in names if names.count(name) > 1 or name == tool.name]
    if twice:
        return Said("fail", f"the alias {twice[0]!r} says nothing new", "Take it out.")
    for other in (*(more.tool for more in offered if more.subject != one.subject), *around.tools):
        if other.name == tool.name:
            return Said(
                "fail", f"the set {other.set!r} has a tool of the name {tool.name!r}", "Give it a name of its own."
            )
        for name in names:
            if name == other.name:
                text = f"its alias {name!r} is the name of a tool of the set {other.set!r}, so it never works"
                return Said("fail", text, "Take it out.")
            if name in _names(other):
                text = f"its alias {name!r} is also claimed by {other.qualified}, so it works for neither"
                return Said("fail", text, "Take it out.")
        if tool.name in _names(other):
            text = f"its name is an alias of {other.qualified}, which would not work any more"
            return Said("warn", text, "Give it another name, if models that know that alias would mean something else.")
    return fine(f"its name and {len(names)} aliases are its own" if names else "its name is its own")


def _examples(tool: Tool, offers: Sequence[ToolOffer], around: Others) -> Said:
    examples = tool.declaration.examples
    if not examples:
        fix = 'Give one: examples=["count the words in {path}"]. It documents the tool, and lets the router serve it.'
        return skipped("it has no examples, so the router cannot serve it", fix)
    if around.router is None:
        return skipped(f"the router is not there: {around.why}")
    offer = ToolOffer.of(tool)
    for example in examples:
        request = filled(offer, example)
        try:
            chosen = asyncio.run(_choice(around.router, request, offers))
        except Exception as error:  # noqa: BLE001 - isolates plugins: the router is one, and reads what another says
            return Said("fail", f"the router cannot read {request!r}: {told(error)}", "Say it in plainer words.")
        if chosen != tool.name:
            came = f"it chooses {chosen}" if chosen else "it asks back"
            return Said(
                "fail",
                f"the example {example!r} does not lead the router to it: asked for {request!r}, {came}",
                "Say it with words that its name and docstring have, a verb first; leave out what another tool does better.",
            )
    return fine(f"the router serves its {len(examples)} examples")


async def _choice(router: Provider, request: str, offers: Sequence[ToolOffer]) -> str | None:
    """The tool that the router calls, or asks about where only an argument is missing."""
    message = ChatMessage(role="user", text=request)
    async for part in router.reply(Request(model="", system="", messages=[message], tools=list(offers))):
        if isinstance(part, CallPart):
            return part.call.name
    return None


def filled(offer: ToolOffer, example: str) -> str:
    """An example as a person would say it: each slot is filled by what its parameter declares, never by its name."""
    texts = iter(["'alpha'", "'beta'", "'gamma'", "'delta'"])

    def value(match: re.Match[str]) -> str:
        parameter = offer.parameters["properties"].get(match[1], {})
        if match[1] in offer.touches:
            kind = offer.touches[match[1]]
            return "make lint" if kind == "run" else TOUCHED.get(kind, "alpha")
        if parameter.get("format") in _BY_FORMAT:
            return _BY_FORMAT[parameter["format"]]
        if "enum" in parameter:
            return str(parameter["enum"][-1])
        if parameter.get("type") == "boolean":
            return match[1].replace("_", " ")
        if parameter.get("type") == "array" and parameter.get("items", {}).get("type") == "object":
            return "'alpha' with 'beta' and 'gamma' with 'delta'"
        return "3" if parameter.get("type") in ("integer", "number") else next(texts, "'omega'")

    return re.sub(r"\{(\w+)\}", value, example)
