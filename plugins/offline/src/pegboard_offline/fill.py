"""A tool's parameters filled from what a request names. What fills a parameter follows from its declaration alone."""

from __future__ import annotations

import re

from pegboard_offline import aligned, targets, texts, unmarked
from pegboard_offline.chosen import fill_choice, fill_switch, fill_verb, switch, value_said
from pegboard_offline.commands import command, whole
from pegboard_offline.entities import Entity, Kind, Reading, Tree
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import STOP, SWEEPING, lemma
from pegboard_offline.pairs import forms, pairs
from pegboard_offline.places import fill_folder, fill_listing, fill_place, folders
from pegboard_offline.profile import Profile, Slot, Takes
from pegboard_offline.windows import fill_window
from pegboard_offline.writes import fill_edit

_ENTITY_FOR: dict[Takes, tuple[Kind, ...]] = {
    "read": ("file",),
    "edit": ("file",),
    "list": ("folder", "file"),
    "net": ("url",),
    "revision": ("rev",),
}


def fill(tool: Profile, reading: Reading, tree: Tree, lists: bool = True) -> Filled:
    """Fill a tool's parameters, required ones first. `lists`: another tool on offer lists folders."""
    if (filled := _by_example(tool, reading, tree)) is not None:
        return filled
    filled = Filled()
    if tool.nature in ("write", "replace") and not tool.special:
        fill_edit(tool, reading, tree, filled)
    else:
        for slot in (slot for slot in tool.slots if slot.required):
            if not _fill_slot(tool, slot, reading, tree, filled) and not fill_listing(slot, reading, lists, filled):
                filled.missing.append(slot.name)
    if tool.nature == "list" and not tool.special:
        fill_folder(next(slot for slot in tool.slots if slot.takes == "list"), reading, filled)
    if tool.nature == "read" and not tool.special:
        fill_window(tool, reading, filled)
    for slot in (slot for slot in tool.slots if not slot.required and slot.name not in filled.arguments):
        _fill_optional(tool, slot, reading, tree, filled)
    if not (filled.arguments or filled.missing) and tool.examples and all(one.slots for one in tool.examples):
        filled.missing.append(tool.examples[0].slots[0][0])  # it may go without any argument, but nobody asks for that
    if tool.nature == "search" and not tool.special and not filled.missing:
        fill_place(tool, reading, filled)
    return filled


def _by_example(tool: Profile, reading: Reading, tree: Tree) -> Filled | None:
    """The arguments of a request that is one of the tool's own examples, each slot holding what it takes."""
    if tool.nature in ("write", "replace"):
        return None
    for example in (*(example.text for example in tool.examples), *forms(tool)):
        spans = aligned.slots(example, reading)
        if spans is None:
            continue
        filled = Filled(exact=True)
        for slot in tool.slots:
            if slot.name in spans and not _fill_span(tool, slot, example, spans[slot.name], reading, tree, filled):
                if filled.unsafe:
                    return filled
                break
        else:
            fill_verb(tool, example, filled)
            if all(slot.name in filled.arguments for slot in tool.required):
                return filled
    return None


def _fill_span(
    tool: Profile, slot: Slot, example: str, span: tuple[int, int], reading: Reading, tree: Tree, filled: Filled
) -> bool:
    """Fill a parameter with one part of the request, if that can only be what it takes."""
    start, end = span
    inside = [e for e in reading.entities if start <= e.start and e.end <= end]
    text, marked = texts.literal(reading, start, end)
    value: str | int | list[str] | list[dict[str, str]] | None = None
    match slot.takes:
        case "read" if slot.many and tool.offer.effect != "read_only" and unmarked.everything(text):
            value = ["."]
        case "read" | "edit" | "list" | "net" | "revision":
            paths = slot.takes in ("read", "edit", "list")
            if paths and not inside and (tree.kind(text) or unmarked.path(tool, slot, example, text)):
                inside = [Entity("file", text, *_stripped(reading.text, span))]
            return _fill_named(tool, slot, inside, reading, span, tree, filled)
        case "run":
            value = whole(reading, start, end)
        case "number":
            value = int(text[:9]) if re.fullmatch(r"\d+", text) else None
        case "choice":
            value = value_said(slot, text)
        case "flag":
            value = switch(slot, text)
        case "regex":
            value = targets.escaped(inside[0].text if inside else text) if marked or len(inside) == 1 else None
        case "glob":
            found = targets.file_names(reading) if [e.kind for e in inside] in (["glob"], ["file"]) else None
            value = text if marked else found.value if found else None
        case "text" if marked:
            value = text
        case "text" if tool.of_commits and unmarked.twice(slot, example):
            value = unmarked.ranged(slot, example, reading, (start, end), tree)
        case "text" if tool.of_commits and [(e.kind, e.text) for e in inside] == [("rev", text)]:
            value = text
        case "text":
            if refused := unmarked.names_only(tool, slot, example, inside, text):
                filled.unsafe = refused if slot.required else ""
                return False
            value = unmarked.text(tool, slot, example, reading, start, end)
        case _:
            value = pairs(slot, reading, start, end)
    if value is None:
        return False
    filled.put(slot, value, span)
    filled.used += inside
    return slot.name in filled.arguments


def _stripped(text: str, span: tuple[int, int]) -> tuple[int, int]:
    given = text[slice(*span)]
    return span[0] + len(given) - len(given.lstrip()), span[1] - len(given) + len(given.rstrip())


def _fill_named(
    tool: Profile,
    slot: Slot,
    inside: list[Entity],
    reading: Reading,
    span: tuple[int, int],
    tree: Tree,
    filled: Filled,
) -> bool:
    """Fill a parameter with the files, folders, addresses or revisions that a part of the request names, and only them."""
    between = reading.bare
    for entity in inside:
        between = between[: entity.start] + " " * (entity.end - entity.start) + between[entity.end :]
    if re.sub(r"\s|,|\band\b", "", between[slice(*span)]) or not inside:
        return False
    kinds = ("file", "folder") if slot.takes in ("read", "edit", "list") else _ENTITY_FOR[slot.takes]
    if any(e.kind not in kinds for e in inside) or (len(inside) > 1 and not slot.many):
        return False
    reads = slot.takes == "read" and slot.required and tool.offer.effect == "read_only"
    if reads and any(tree.kind(e.text) == "folder" for e in inside):
        return False
    return filled.take(slot, inside) and slot.name in filled.arguments


def _fill_slot(tool: Profile, slot: Slot, reading: Reading, tree: Tree, filled: Filled) -> bool:
    match slot.takes:
        case "read":
            return filled.take(slot, filled.unused(reading, "file")) or filled.take(slot, _readable(reading, filled))
        case "edit" | "net" | "revision":
            return filled.take(slot, filled.unused(reading, *_ENTITY_FOR[slot.takes]))
        case "list":
            return filled.take(slot, folders(reading, filled))
        case "glob":
            found = targets.file_names(reading)
            if found is not None:
                filled.used += [*targets.below(reading), *reading.of("ext", "glob")]
        case "regex":
            found = targets.pattern(reading)
        case "run":
            found = command(reading)
        case "text" | "choice":
            return _fill_text(tool, slot, reading, filled)
        case "number":
            return _fill_number(tool, slot, reading, filled)
        case _:
            return False
    if found is None:
        return False
    filled.put(slot, found.value, found.span, found.sure)
    return True


def _readable(reading: Reading, filled: Filled) -> list[Entity]:
    """Paths without an extension, where the verb is one that only files take."""
    if not re.match(r"\W*(?:read|cat|print|dump|head|tail)\b", reading.text, re.I):
        return []
    return [e for e in filled.unused(reading, "folder") if "/" in e.text and not e.text.endswith("/")]


def _fill_optional(tool: Profile, slot: Slot, reading: Reading, tree: Tree, filled: Filled) -> None:
    match slot.takes:
        case "read" | "list" | "edit" if tool.nature not in ("find", "write", "replace", "run", "fetch"):
            filled.take(slot, filled.unused(reading, *_ENTITY_FOR["list"]) if slot.takes != "edit" else [])
        case "glob" if tool.nature == "search":
            _fill_include(slot, reading, filled)
        case "revision" if tool.special:
            filled.take(slot, filled.unused(reading, "rev"))
        case "text" if tool.special and _takes_revisions(tool, slot):
            filled.take(slot, filled.unused(reading, "rev"))
        case "number":
            _fill_number(tool, slot, reading, filled)
        case "choice":
            fill_choice(tool, slot, reading, filled)
        case "flag" if tool.special:
            fill_switch(tool, slot, reading, filled)
        case _:
            return


def _fill_include(slot: Slot, reading: Reading, filled: Filled) -> None:
    found = filled.unused(reading, "glob", "ext")
    if found:
        names = [entity.text if entity.kind == "glob" else f"*.{entity.text}" for entity in found]
        pattern = names[0] if len(names) == 1 else "{" + ",".join(names) + "}"
        filled.put(slot, pattern, (found[0].start, found[0].end))
        filled.used += found


def _fill_number(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> bool:
    """A number goes where an example has one beside the same word: "the last {n} commits"."""
    for entity in filled.unused(reading, "number"):
        beside = _beside(reading.text, entity.start, entity.end)
        for example in tool.examples:
            for name, start, end in example.slots:
                if name == slot.name and _beside(example.text, start, end) & beside:
                    filled.put(slot, int(entity.text[:9]), (entity.start, entity.end))
                    filled.used.append(entity)
                    return True
    return False


def _beside(text: str, start: int, end: int) -> set[str]:
    before = re.search(r"([A-Za-z]+)\s+$", text[:start])
    after = re.match(r"\s+([A-Za-z]+)", text[end:])
    return {("<" if match is before else ">") + lemma(match[1].lower()) for match in (before, after) if match}


def _takes_revisions(tool: Profile, slot: Slot) -> bool:
    """Whether a plain text parameter stands, in examples, where a revision would; or the tool is about commits."""
    vcs = sum(tool.own[topic] for topic in ("commit", "branch", "git", "diff", "history", "blame"))
    return vcs * 2 >= max(1, len(tool.examples)) and any(
        name == slot.name for example in tool.examples for name, _, _ in example.slots
    )


def _fill_text(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> bool:
    if slot.takes == "choice":
        fill_choice(tool, slot, reading, filled)
        return slot.name in filled.arguments
    revisions = filled.unused(reading, "rev")
    if revisions and tool.of_commits:
        return filled.take(slot, revisions)
    if tool.of_commits:
        return False
    for example in tool.examples:
        span = _aligned(example.text, slot.name, reading)
        if span:
            value, marked = texts.literal(reading, *span)
            inside = [e for e in reading.entities if span[0] <= e.start and e.end <= span[1]]
            if not marked and unmarked.names_only(tool, slot, example.text, inside, value):
                return False
            named = _listed(slot, reading, span)
            if named and filled.take(slot, named):
                return True
            if value and (marked or tool.offer.effect == "read_only" or _named_alone(reading, *span)):
                filled.put(slot, value, span, 0.9)
                return True
    return filled.take(slot, filled.unused(reading, "quoted", "code"))


def _listed(slot: Slot, reading: Reading, span: tuple[int, int]) -> list[Entity]:
    """What a part of a request names, where that is several things and nothing else, for a list."""
    inside = [e for e in reading.entities if span[0] <= e.start and e.end <= span[1]]
    alone = slot.many and len(inside) > 1 and not re.sub(r"\s|,|\band\b", "", reading.bare[slice(*span)])
    return inside if alone else []


def _named_alone(reading: Reading, start: int, end: int) -> bool:
    """Whether a span holds one word, or nothing but what the request names: no "the branch x"."""
    words = reading.text[start:end].lower().split()
    named = not re.sub(r"\s|,|\band\b", "", reading.bare[start:end])
    return named or (len(words) == 1 and words[0] not in STOP | SWEEPING)


def _aligned(example: str, name: str, reading: Reading) -> tuple[int, int] | None:
    """Where a text stands in the request: behind the words that stand before its slot in an example."""
    before, _, after = example.partition("{" + name + "}")
    lead = re.findall(r"[A-Za-z][\w'-]*", re.sub(r"\{\w+\}", " ", before))[-3:]
    if not lead or re.search(r"\{\w+\}\s*$", before):
        return None
    tail = re.match(r"\s*([A-Za-z][\w'-]*)", after)
    close = rf"(?=\s+{re.escape(tail[1])}\b)" if tail else r"(?=[\s?.!]*$)"
    opening = r"\s+".join(re.escape(word) for word in lead)
    match = re.search(rf"\b{opening}\s+(?P<x>\S.*?){close}", reading.text, re.I | re.S)
    return match.span("x") if match else None
