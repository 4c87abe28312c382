"""A tool's parameters filled from what a request names. What fills a parameter follows from its declaration alone."""

from __future__ import annotations

import re

from pegboard_offline import aligned, targets, texts
from pegboard_offline.commands import command, whole
from pegboard_offline.entities import Entity, Kind, Reading, Tree
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import is_act, lemma
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
    if tool.nature == "search" and not tool.special and not filled.missing:
        fill_place(tool, reading, filled)
    return filled


def _by_example(tool: Profile, reading: Reading, tree: Tree) -> Filled | None:
    """The arguments of a request that is one of the tool's own examples, each slot holding what it takes."""
    if tool.nature in ("write", "replace"):
        return None
    for example in tool.examples:
        spans = aligned.slots(example.text, reading)
        if spans is None:
            continue
        filled = Filled(exact=True)
        for slot in tool.slots:
            if slot.name in spans and not _fill_span(slot, *spans[slot.name], reading, tree, filled):
                break
        else:
            if all(slot.name in filled.arguments for slot in tool.required):
                return filled
    return None


def _fill_span(slot: Slot, start: int, end: int, reading: Reading, tree: Tree, filled: Filled) -> bool:
    """Fill a parameter with one part of the request, if that can only be what it takes."""
    inside = [e for e in reading.entities if start <= e.start and e.end <= end]
    text, marked = texts.literal(reading, start, end)
    match slot.takes:
        case "read" | "edit" | "list" | "net" | "revision":
            between = re.sub(r"\s|,|\band\b", "", reading.bare[start:end])
            kinds = ("file", "folder", "glob") if slot.takes in ("read", "edit", "list") else _ENTITY_FOR[slot.takes]
            if (
                between
                or not inside
                or any(e.kind not in kinds[:2] for e in inside)
                or (len(inside) > 1 and not slot.many)
                or (slot.takes == "read" and slot.required and any(tree.kind(e.text) == "folder" for e in inside))
            ):
                return False
            return filled.take(slot, inside) and slot.name in filled.arguments
        case "run":
            value: str | int | None = whole(reading, start, end)
        case "number":
            value = int(text[:9]) if re.fullmatch(r"\d+", text) else None
        case "choice":
            value = text if text in slot.fixed else None
        case "regex":
            value = targets.escaped(inside[0].text if inside else text) if marked or len(inside) == 1 else None
        case "glob":
            found = targets.file_names(reading) if [e.kind for e in inside] in (["glob"], ["file"]) else None
            value = text if marked else found.value if found else None
        case "text":
            value = text if marked or [e.kind for e in inside] == ["rev"] else None
        case _:
            value = None
    if value is None:
        return False
    filled.put(slot, value, (start, end))
    filled.used += inside
    return slot.name in filled.arguments


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
            _fill_choice(tool, slot, reading, filled)
        case _:
            return


def _fill_include(slot: Slot, reading: Reading, filled: Filled) -> None:
    found = filled.unused(reading, "glob", "ext")
    if found:
        names = [entity.text if entity.kind == "glob" else f"*.{entity.text}" for entity in found]
        pattern = names[0] if len(names) == 1 else "{" + ",".join(names) + "}"
        filled.put(slot, pattern, (found[0].start, found[0].end))
        filled.used += found


def _fill_choice(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> None:
    """An enumeration takes a value that the request says outright (as a word of the same concept)."""
    asked = {
        word[1].lower()
        for word in re.finditer(r"\b(?:which|what|only(?: the)?|just(?: the)?)\s+(\w+)", reading.bare, re.I)
    }
    words = [word for word in reading.words if not filled.covers(word.start, word.end)]
    said = {word.lemma for word in words if is_act(word.lemma) or word.lemma in asked}
    said |= {concept for word in words for concept in word.concepts}
    for value in slot.fixed:
        if value != slot.default and lemma(value.lower()) in said:
            filled.put(slot, value, (0, 0))
            return


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
        _fill_choice(tool, slot, reading, filled)
        return slot.name in filled.arguments
    revisions = filled.unused(reading, "rev")
    if revisions and _vcs(tool):
        return filled.take(slot, revisions)
    if _vcs(tool):
        return False
    for example in tool.examples:
        span = _aligned(example.text, slot.name, reading)
        if span:
            value, _ = texts.literal(reading, *span)
            if value:
                filled.put(slot, value, span, 0.9)
                return True
    return filled.take(slot, filled.unused(reading, "quoted", "code"))


def _vcs(tool: Profile) -> bool:
    return any(tool.own[topic] for topic in ("commit", "git", "branch", "blame"))


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
