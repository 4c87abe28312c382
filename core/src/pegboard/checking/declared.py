"""What a tool says of itself: its docstring, its parameters, its touches, its size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.checking.loading import Hanging
from pegboard.checking.report import Findings, Said, fine, skipped, tokens_of
from pegboard.plugins.loaded import told
from pegboard.tooling import BadTool, Tool

DECLARED = ("tool.docstring", "tool.parameters", "tool.effect", "tool.size")
_BAD = (
    ("tool.docstring", ("no docstring",)),
    ("tool.examples", ("example",)),
    ("tool.aliases", ("alias ", "a name is")),
    ("tool.parameters", ("parameter", "annotation", "JSON", "field ", "param_aliases")),
    ("tool.effect", ("effect", "permission", "touch", "kinds", "replay", "overlap", "batch", "inline", "preview")),
)
"""What a declaration that cannot be is called, by words of what is said of it."""
_EVIDENT = frozenset({"message", "name", "text", "title"})
_PAIRS = {
    one: (other,)
    for pair in ("old new", "start end", "first last", "min max", "from to", "source target", "before after")
    for one, other in (pair.split(), pair.split()[::-1])
}
_FILL = frozenset({"todo", "fixme", "docstring", "description", "tbd"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Offered:
    """A tool of the target. `subject`: `set:tool`."""

    tool: Tool
    hanging: Hanging
    subject: str


def tools_of(found: Sequence[Hanging], findings: Findings) -> list[Offered]:
    """Every tool of the target that can be one; what cannot is a finding."""
    offered = []
    for one in found:
        for function in one.plugin.contributions.get("pegboard_tools", ()) if one.plugin else ():
            name = getattr(function, "__name__", type(function).__name__)
            try:
                tool = Tool.of(function, owner=one.entry.name, set=one.entry.name)
            except BadTool as error:
                _bad(f"{one.subject}:{name}", str(error), findings)
                continue
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a function may be anything
                _bad(f"{one.subject}:{name}", told(error), findings)
                continue
            offered.append(Offered(tool=tool, hanging=one, subject=f"{one.subject}:{tool.name}"))
    return offered


def check_declared(offered: Sequence[Offered], budget: int, findings: Findings) -> None:
    """What each tool says of itself."""
    for one in offered:
        findings.make("tool.docstring", one.subject, docstring, one.tool)
        findings.make("tool.parameters", one.subject, parameters, one.tool)
        findings.make("tool.effect", one.subject, effect, one.tool)
        findings.make("tool.size", one.subject, size, one.tool, budget)


def _bad(subject: str, text: str, findings: Findings) -> None:
    id = next((id for id, words in _BAD if any(word in text for word in words)), "hook.signature")
    findings.add(
        id,
        subject,
        Said("fail", f"{text}; Pegboard leaves this tool out", "Change what it says; the tool is there then."),
    )
    for other in (*DECLARED, "tool.aliases", "tool.examples", "tool.bad_arguments", "tool.timeout", "tool.read_only"):
        if other != id:
            findings.add(other, subject, skipped("the tool cannot be registered"))


def docstring(tool: Tool) -> Said:
    """A model chooses by the docstring."""
    words = re.findall(r"\w+", tool.description)
    bare = {word.lower() for word in words} <= {*tool.name.lower().split("_"), *_FILL, "the", "a", "tool"}
    if bare:
        return Said(
            "fail",
            f"its docstring says no more than its name: {tool.description!r}",
            "Say in a sentence what it does and what it gives back: a model chooses by that.",
        )
    return fine(f"its docstring has {len(words)} words")


def parameters(tool: Tool) -> Said:
    """Each parameter that is not evident is described, in its annotation or by name in the docstring."""
    properties: dict[str, dict[str, Any]] = tool.parameters["properties"]
    said = tool.description.lower()
    touched = {name for name, _ in tool.touched}
    bare = [
        name
        for name, part in properties.items()
        if not (_described(part) or name in touched or _evident(name, part, properties) or _named(name, said))
    ]
    if not properties:
        return fine("it has no parameters")
    if not tool.declaration.advertised:
        return fine("models are not told of this tool")
    if bare:
        first = bare[0]
        return Said(
            "fail",
            f"not described: {', '.join(bare)}",
            f'Describe what a model cannot guess: {first}: Annotated[..., "what it is, and in which unit or form"].',
        )
    return fine(f"{len(properties)} parameters, each described or evident")


def _described(part: dict[str, Any]) -> bool:
    inner = [part.get("items"), *part.get("anyOf", ())]
    return bool(part.get("description")) or any(isinstance(one, dict) and one.get("description") for one in inner)


def _evident(name: str, part: dict[str, Any], properties: dict[str, dict[str, Any]]) -> bool:
    """What its type or its name says: yes or no, one of some words, the other of a pair that is described."""
    if part.get("type") == "boolean" or "enum" in part or "const" in part or name in _EVIDENT:
        return True
    first, _, rest = name.partition("_")
    return any(_described(properties.get(f"{other}_{rest}", {})) for other in _PAIRS.get(first, ()))


def _named(name: str, text: str) -> bool:
    """Whether a text speaks of a parameter: by its name, or by each of its words."""
    words = [word for word in name.lower().split("_") if word]
    return name.lower() in text or all(re.search(rf"\b{re.escape(word.rstrip('s'))}", text) for word in words)


def effect(tool: Tool) -> Said:
    """A tool says what its calls touch."""
    declared = tool.declaration
    delegates = tool.effect == "delegating"  # which is asked about by its own key, and touches through others' calls
    if not tool.touched and declared.touches is None and not declared.pure and not delegates:
        return Said(
            "fail",
            "it declares no touch and is not pure: nobody can say what a call does, so every call asks the person",
            "Mark what it touches (Reads, Writes, Lists, Runs, Fetches, or touches=); if that is nothing, say pure=True.",
        )
    kinds: list[str] = sorted(tool.certain) or ["nothing" if declared.pure else "what its arguments say"]
    return fine(f"{tool.effect}; it touches: {', '.join(kinds)}")


def size(tool: Tool, budget: int) -> Said:
    """Its schema is paid for on each request."""
    cost = tool.wire_size()
    text = (
        f"its schema takes {cost:,} bytes, about {tokens_of(cost):,} tokens, on every request; the budget is {budget:,}"
    )
    if cost > budget:
        return Said(
            "warn", text, "Shorten docstring and descriptions, or split the tool; budget in [tool.pegboard.check]."
        )
    return fine(text)
