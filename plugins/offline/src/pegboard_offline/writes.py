"""The parameters of tools that write: a file and its content, or a file and what to replace with what."""

from __future__ import annotations

import re
from typing import TypeAlias

from pegboard_offline import aligned, texts
from pegboard_offline.entities import Entity, Reading, Tree
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import lemma
from pegboard_offline.profile import Profile, Slot

Span: TypeAlias = tuple[int, int]


def fill_edit(tool: Profile, reading: Reading, tree: Tree, filled: Filled) -> None:
    """A file and its texts: content, or old and new. Both texts or neither."""
    path_slot = next(slot for slot in tool.slots if slot.required and slot.takes == "edit")
    text_slots = [slot for slot in tool.slots if slot.required and slot.takes == "text"]
    path = _edited(reading, tool.nature == "replace")
    if path is None:
        filled.missing.append(path_slot.name)
    else:
        filled.take(path_slot, [path])
    found = _texts(tool, text_slots, reading, path)
    for slot in text_slots:
        if slot.name not in found:
            filled.missing.append(slot.name)
        else:
            filled.put(slot, *found[slot.name])
    if tool.nature == "write" and found:
        _guard_write(tool, reading, tree, path, filled)
    if by_number(reading, adds=tool.nature == "write"):
        filled.unsafe = BY_ITS_NUMBER
    filled.exact = not filled.missing and _as_an_example(tool, reading, path, filled)
    flags = [slot for slot in tool.slots_for("flag") if not slot.required and not slot.default]
    if tool.nature == "replace" and found and len(flags) == 1 and texts.everywhere(reading):
        filled.put(flags[0], True, (0, 0))  # the one switch of such a tool: each occurrence, not one


_LINE_NUMBER = re.compile(
    r"\blines?\s*(?:number\s+|no\.?\s*|#\s*)?\d|"
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|(?P<last>last)|\d+(?:st|nd|rd|th))\s+line\b",
    re.I,
)
BY_ITS_NUMBER = "I cannot take a line by its number; say what it says now: replace 'old text' with 'new text' in FILE."


def by_number(reading: Reading, adds: bool = False) -> bool:
    """Whether a request speaks of a line by its number, which is no text of a file. `adds`: "the last line" may be added."""
    text = texts.mask(reading, None)
    return any(not (adds and match["last"]) for match in _LINE_NUMBER.finditer(text))


def _as_an_example(tool: Profile, reading: Reading, path: Entity | None, filled: Filled) -> bool:
    """Whether the request is one of the tool's examples, each slot holding what it was filled with and nothing else."""
    for example in tool.examples:
        spans = aligned.slots(example.text, reading)
        if spans is None or path is None:
            continue
        held = {name: texts.literal(reading, *span)[0] for name, span in spans.items()}
        named = reading.text[path.start : path.end]
        if all(text in (filled.arguments.get(name), named) for name, text in held.items()):
            return True
    return False


def _texts(tool: Profile, slots: list[Slot], reading: Reading, path: Entity | None) -> dict[str, tuple[str, Span]]:
    """The texts for a tool's text parameters, with where they stand: all of them or none."""
    if tool.nature == "write":
        given = texts.content(reading, path)
        if given is not None:
            return {slots[0].name: (_whole_line(reading, *given.span, given.text), given.span)}
    else:
        change = texts.swap(reading, path)
        if change is not None:
            old, new = _old_and_new(tool, slots)
            return {old.name: (change.old, change.span), new.name: (change.new, change.span)}
    for example in tool.examples:
        spans = aligned.slots(example.text, reading)
        if spans is None or not all(slot.name in spans for slot in slots):
            continue
        values = {slot.name: texts.literal(reading, *spans[slot.name]) for slot in slots}
        if all(marked for _, marked in values.values()):
            if tool.nature == "write":
                values = {name: (_whole_line(reading, *spans[name], text), True) for name, (text, _) in values.items()}
            return {name: (text, spans[name]) for name, (text, _) in values.items()}
    return {}


def _whole_line(reading: Reading, start: int, end: int, text: str) -> str:
    """A text for a file; where the request calls it a line, with the end that a line has."""
    before = re.search(
        r"\blines?(?:\s+(?:that\s+|which\s+)?(?:says?|saying|reads?|reading|with|containing|of))?\s*:?\s*$",
        texts.mask(reading, None)[:start] or "",
        re.I,
    )
    said = before or re.match(r"\s*as\s+(?:an?|the|its|another)\s+(?:\w+\s+)?line\b", reading.text[end:], re.I)
    said = said or re.search(r"\blines?\b[\s:]*$", reading.text[start : reading.text.find(text, start)], re.I)
    return f"{text}\n" if said and text and not text.endswith("\n") else text


def _edited(reading: Reading, last: bool) -> Entity | None:
    """The file that is written: the one the request ties to its verb when it names several."""
    files = reading.of("file")
    if len(files) <= 1:
        return files[0] if files else None
    tied = [
        e
        for e in files
        if re.search(
            r"\b(?:in|inside|within|to|into|file|called|named|create|write|make)\s+(?:the\s+)?$",
            reading.text[: e.start],
            re.I,
        )
    ]
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
    adds = re.search(r"\b(?:append|(?:to|at) the (?:very )?(?:end|bottom)|tack)\b", reading.bare, re.I) is not None
    adds = adds or (
        path is not None
        and re.search(
            r"\badd(?:s|ing)?\b.*\b(?:to|in|into)\s+(?:the\s+)?(?:file\s+)?$", reading.text[: path.start], re.I | re.S
        )
        is not None
    )
    if re.search(r"\b(?:top|start|beginning)\s+of\b", reading.bare, re.I):
        filled.unsafe = "I can add at the end of a file, not at its start"
    elif adds:
        chosen = next(
            (
                (slot, value)
                for slot in tool.slots_for("choice")
                for value in slot.fixed
                if lemma(value.lower()) == "append"
            ),
            None,
        )
        if chosen is None:
            filled.unsafe = "this would replace the file, not add to it"
        else:
            filled.put(chosen[0], chosen[1], (0, 0))
    elif (
        path is not None
        and tree.kind(path.text)
        and not re.search(r"\b(?:overwrit|replac|rewrit)\w*", reading.bare, re.I)
    ):
        filled.unsafe = f'{path.text} is there already; say "overwrite {path.text} with ..." to replace it'
