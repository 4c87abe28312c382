"""A tool's parameters filled from what a request names. What fills a parameter follows from its declaration alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from pegboard_offline import targets, texts
from pegboard_offline.entities import Entity, Kind, Reading, Tree
from pegboard_offline.lexicon import is_act, lemma
from pegboard_offline.profile import Profile, Slot, Takes

_ENTITY_FOR: dict[Takes, tuple[Kind, ...]] = {
    "read": ("file",),
    "edit": ("file",),
    "list": ("folder", "file"),
    "net": ("url",),
    "revision": ("rev",),
}


@dataclass(slots=True)
class Filled:
    """Arguments for one tool. `missing`: required parameters the request does not give. `spans`: the parts of the
    request they came from. `sure`: 0 to 1. `unsafe`: why it must not be called although nothing is missing."""

    arguments: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    used: list[Entity] = field(default_factory=list)
    sure: float = 1.0
    unsafe: str = ""

    def put(self, slot: Slot, value: Any, span: tuple[int, int], sure: float = 1.0) -> None:
        """Fill one parameter."""
        self.arguments[slot.name] = [value] if slot.many and not isinstance(value, list) else value
        self.spans.append(span)
        self.sure = min(self.sure, sure)

    def covers(self, start: int, end: int) -> bool:
        """Whether a part of the request went into an argument."""
        return any(a <= start and end <= b for a, b in self.spans)


def fill(tool: Profile, reading: Reading, tree: Tree, lists: bool = True) -> Filled:
    """Fill a tool's parameters, required ones first. `lists`: another tool on offer lists folders."""
    filled = Filled()
    if tool.nature in ("write", "replace") and not tool.special:
        _fill_edit(tool, reading, tree, filled)
    else:
        for slot in (slot for slot in tool.slots if slot.required):
            if not _fill_slot(tool, slot, reading, tree, filled) and not _fill_listing(slot, reading, lists, filled):
                filled.missing.append(slot.name)
    if tool.nature == "list" and not tool.special:
        _fill_folder(next(slot for slot in tool.slots if slot.takes == "list"), reading, filled)
    for slot in (slot for slot in tool.slots if not slot.required and slot.name not in filled.arguments):
        _fill_optional(tool, slot, reading, tree, filled)
    return filled


def _unused(reading: Reading, filled: Filled, *kinds: Kind) -> list[Entity]:
    return [e for e in reading.of(*kinds) if e not in filled.used and not filled.covers(e.start, e.end)]


def _take(slot: Slot, entities: list[Entity], filled: Filled) -> bool:
    if not entities:
        return False
    taken = entities if slot.many else entities[:1]
    value = [entity.text for entity in taken] if slot.many else taken[0].text
    filled.put(slot, value, (taken[0].start, taken[0].end))
    filled.spans += [(entity.start, entity.end) for entity in taken]
    filled.used += taken
    return True


def _fill_slot(tool: Profile, slot: Slot, reading: Reading, tree: Tree, filled: Filled) -> bool:
    match slot.takes:
        case "read":
            return _take(slot, _unused(reading, filled, "file"), filled) or _take(slot, _readable(reading, filled), filled)
        case "edit" | "net" | "revision":
            return _take(slot, _unused(reading, filled, *_ENTITY_FOR[slot.takes]), filled)
        case "list":
            return _take(slot, _folders(reading, filled), filled)
        case "glob":
            found = targets.file_names(reading)
            if found is not None:
                filled.used += reading.of("folder", "ext", "glob")
        case "regex":
            found = targets.pattern(reading)
        case "run":
            found = targets.command(reading)
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
    return [e for e in _unused(reading, filled, "folder") if "/" in e.text and not e.text.endswith("/")]


def _fill_listing(slot: Slot, reading: Reading, lists: bool, filled: Filled) -> bool:
    """Where no tool lists folders, one that matches file names does: everything right below the folder."""
    found = _folders(reading, filled)
    if lists or slot.takes != "glob" or len(found) != 1 or found[0].kind != "folder":
        return False
    below = found[0].text.rstrip("/").removeprefix("./")
    filled.put(slot, "*" if below in ("", ".") else f"{below}/*", (found[0].start, found[0].end), 0.8)
    filled.used.append(found[0])
    return True


def _fill_folder(slot: Slot, reading: Reading, filled: Filled) -> None:
    """The folder that a tool lists; the workspace root only where the request speaks of files or of "here"."""
    if slot.name in filled.arguments or _take(slot, _folders(reading, filled), filled):
        return
    if re.search(r"\b(?:files?|folders?|director(?:y|ies)|project|workspace|structure|layout|codebase|repo)\b|^\W*(?:ls|dir|tree)\W*$", reading.bare, re.I):
        filled.put(slot, slot.default if isinstance(slot.default, str) else ".", (0, 0))
        if slot.name in filled.missing:
            filled.missing.remove(slot.name)
    elif slot.name not in filled.missing:
        filled.missing.append(slot.name)


def _folders(reading: Reading, filled: Filled) -> list[Entity]:
    found = _unused(reading, filled, "folder", "file")
    found.sort(key=lambda entity: entity.kind != "folder")
    if found:
        return found
    here = re.search(r"\b(?:here|this (?:folder|directory|dir|project|repo)|(?:current|working|root|top.level) (?:folder|directory|dir)|cwd|project root)\b", reading.bare, re.I)
    return [Entity("folder", ".", *here.span())] if here else []


def _fill_optional(tool: Profile, slot: Slot, reading: Reading, tree: Tree, filled: Filled) -> None:
    match slot.takes:
        case "read" | "list" | "edit" if tool.nature not in ("find", "write", "replace", "run", "fetch"):
            _take(slot, _unused(reading, filled, *_ENTITY_FOR["list"]) if slot.takes != "edit" else [], filled)
        case "glob" if tool.nature == "search":
            _fill_include(slot, reading, filled)
        case "revision" if tool.special:
            _take(slot, _unused(reading, filled, "rev"), filled)
        case "text" if tool.special and _takes_revisions(tool, slot):
            _take(slot, _unused(reading, filled, "rev"), filled)
        case "number":
            _fill_number(tool, slot, reading, filled)
        case "choice":
            _fill_choice(tool, slot, reading, filled)
        case _:
            return


def _fill_include(slot: Slot, reading: Reading, filled: Filled) -> None:
    found = _unused(reading, filled, "glob", "ext")
    if found:
        names = [entity.text if entity.kind == "glob" else f"*.{entity.text}" for entity in found]
        pattern = names[0] if len(names) == 1 else "{" + ",".join(names) + "}"
        filled.put(slot, pattern, (found[0].start, found[0].end))
        filled.used += found


def _fill_choice(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> None:
    """An enumeration takes a value that the request says outright (as a word of the same concept)."""
    asked = {word[1].lower() for word in re.finditer(r"\b(?:which|what|only(?: the)?|just(?: the)?)\s+(\w+)", reading.bare, re.I)}
    said = {word.lemma for word in reading.words if is_act(word.lemma) or word.lemma in asked} | set(reading.concepts)
    for value in slot.fixed:
        if value != slot.default and lemma(value.lower()) in said:
            filled.put(slot, value, (0, 0))
            return


def _fill_number(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> bool:
    """A number goes where an example has one beside the same word: "the last {n} commits"."""
    for entity in _unused(reading, filled, "number"):
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
    return vcs * 2 >= max(1, len(tool.examples)) and any(name == slot.name for example in tool.examples for name, _, _ in example.slots)


def _fill_text(tool: Profile, slot: Slot, reading: Reading, filled: Filled) -> bool:
    if slot.takes == "choice":
        _fill_choice(tool, slot, reading, filled)
        return slot.name in filled.arguments
    revisions = _unused(reading, filled, "rev")
    if revisions and _vcs(tool):
        return _take(slot, revisions, filled)
    if _vcs(tool):
        return False
    for example in tool.examples:
        span = _aligned(example.text, slot.name, reading)
        if span:
            value, _ = texts.literal(reading, *span)
            if value:
                filled.put(slot, value, span, 0.9)
                return True
    return _take(slot, _unused(reading, filled, "quoted", "code"), filled)


def _vcs(tool: Profile) -> bool:
    return any(tool.own[topic] for topic in ("commit", "git", "branch", "blame"))


def _aligned(example: str, name: str, reading: Reading) -> tuple[int, int] | None:
    """Where a text stands in the request: behind the words that stand before its slot in an example."""
    before, _, after = example.partition("{" + name + "}")
    lead = [word for word in re.findall(r"[A-Za-z][\w'-]*", re.sub(r"\{\w+\}", " ", before))][-3:]
    if not lead or re.search(r"\{\w+\}\s*$", before):
        return None
    tail = re.match(r"\s*([A-Za-z][\w'-]*)", after)
    close = rf"(?=\s+{re.escape(tail[1])}\b)" if tail else r"(?=[\s?.!]*$)"
    opening = r"\s+".join(re.escape(word) for word in lead)
    match = re.search(rf"\b{opening}\s+(?P<x>\S.*?){close}", reading.text, re.I | re.S)
    return match.span("x") if match else None


def _fill_edit(tool: Profile, reading: Reading, tree: Tree, filled: Filled) -> None:
    """A file and its texts: content, or old and new. Both texts or neither."""
    path_slot = next(slot for slot in tool.slots if slot.required and slot.takes == "edit")
    text_slots = [slot for slot in tool.slots if slot.required and slot.takes == "text"]
    path = _edited(reading, tool.nature == "replace")
    if path is None:
        filled.missing.append(path_slot.name)
    else:
        _take(path_slot, [path], filled)
    if tool.nature == "write":
        given = texts.content(reading, path)
        if given is None:
            filled.missing.append(text_slots[0].name)
        else:
            filled.put(text_slots[0], given.text, given.span)
            _guard_write(tool, reading, tree, path, filled)
        return
    change = texts.swap(reading, path)
    if change is None:
        filled.missing += [slot.name for slot in text_slots]
        return
    old, new = _old_and_new(tool, text_slots)
    filled.put(old, change.old, change.span)
    filled.put(new, change.new, change.span)
    flags = [slot for slot in tool.slots_for("flag") if not slot.required and not slot.default]
    if change.everywhere and len(flags) == 1:  # the one switch of such a tool: each occurrence, not one
        filled.put(flags[0], True, change.span)


def _edited(reading: Reading, last: bool) -> Entity | None:
    """The file that is written: the one the request ties to its verb when it names several."""
    files = reading.of("file")
    if len(files) <= 1:
        return files[0] if files else None
    tied = [e for e in files if re.search(r"\b(?:in|inside|within|to|into|file|called|named|create|write|make)\s+(?:the\s+)?$", reading.text[: e.start], re.I)]
    if not tied:
        return None if not last else files[-1]
    return tied[-1] if last else tied[0]


def _old_and_new(tool: Profile, slots: list[Slot]) -> tuple[Slot, Slot]:
    """Which text parameter is replaced by which: as the examples have it, else in the order declared."""
    names = {slot.name for slot in slots}
    for example in tool.examples:
        order = [slot for slot in example.slots if slot[0] in names]
        if len(order) == 2 and re.search(r"->|=>|\b(?:with|to|by|into|be)\b", example.text[order[0][2] : order[1][1]]):
            first = order[0][0]
            return (slots[0], slots[1]) if slots[0].name == first else (slots[1], slots[0])
    return slots[0], slots[1]


def _guard_write(tool: Profile, reading: Reading, tree: Tree, path: Entity | None, filled: Filled) -> None:
    """Adding must not overwrite, and nothing existing is overwritten that was not said to be."""
    adds = re.search(r"\b(?:append|to the (?:very )?(?:end|bottom)|tack)\b", reading.bare, re.I) is not None
    adds = adds or (path is not None and re.search(r"\badd(?:s|ing)?\b.*\b(?:to|in|into)\s+(?:the\s+)?(?:file\s+)?$", reading.text[: path.start], re.I | re.S) is not None)
    if adds:
        chosen = next(((slot, value) for slot in tool.slots_for("choice") for value in slot.fixed if lemma(value.lower()) == "append"), None)
        if chosen is None:
            filled.unsafe = "this would replace the file, not add to it"
        else:
            filled.put(chosen[0], chosen[1], (0, 0))
    elif path is not None and tree.kind(path.text) and not re.search(r"\b(?:overwrit|replac|rewrit)\w*", reading.bare, re.I):
        filled.unsafe = f"{path.text} is there already; say \"overwrite {path.text} with ...\" to replace it"
