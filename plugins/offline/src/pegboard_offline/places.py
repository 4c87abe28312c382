"""Where: the folder that is listed, and the file or folder that is searched."""

from __future__ import annotations

import re

from pegboard_offline.entities import Entity, Reading
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import PARTS, TOPICS, known, lemma
from pegboard_offline.names import LANGUAGES
from pegboard_offline.profile import Profile, Slot
from pegboard_offline.targets import below, under


def fill_listing(slot: Slot, reading: Reading, lists: bool, filled: Filled) -> bool:
    """Where no tool lists folders, one that matches file names does: every file below the folder, if nothing but the
    folder is spoken of."""
    found = below(reading) or folders(reading, filled)
    if lists or slot.takes != "glob" or any(entity.kind != "folder" for entity in found) or not found:
        return False
    if _more_than_a_place(reading, found):
        return False
    filled.put(slot, under(found, "*"), (found[0].start, found[0].end), 0.8)
    filled.used += found
    return True


def _more_than_a_place(reading: Reading, places: list[Entity]) -> bool:
    """Whether a request names a thing beside the folder ("bugs in src"), or says to search it."""
    things = [word for word in reading.words if word.lemma in PARTS or not word.known]
    topics = [c for c in reading.concepts if (c in TOPICS and c != "git") or c == "search"]
    return bool(things or topics) or any(entity not in places for entity in reading.entities)


_LAST_PLACE = re.compile(
    r"\b(?:in|under|below|beneath|inside|within)\s+(?:folder\s+|directory\s+)?(?P<x>[a-z][\w-]*)[\s?.!]*$"
)


def fill_place(tool: Profile, reading: Reading, filled: Filled) -> None:
    """A word at the end that can only be the name of the place to search, though no such place is known: "x in y"."""
    slot = next((slot for slot in tool.slots_for("read", "list") if not slot.required), None)
    match = _LAST_PLACE.search(reading.bare)
    if slot is None or slot.name in filled.arguments or match is None or filled.covers(*match.span("x")):
        return
    if not known(lemma(match["x"])) and match["x"] not in LANGUAGES:
        filled.put(slot, match["x"], match.span("x"), 0.9)


def fill_folder(slot: Slot, reading: Reading, filled: Filled) -> None:
    """The folder that a tool lists; the workspace root only where the request speaks of files or of "here"."""
    if slot.name in filled.arguments or filled.take(slot, folders(reading, filled)):
        return
    if re.search(
        r"\b(?:files|(?<!the )(?<!this )(?<!that )file|folders?|director(?:y|ies)|project|workspace|structure|layout|"
        r"codebase|repo)\b|"
        r"^\W*(?:ls|dir|tree)\W*$",
        reading.bare,
        re.I,
    ):
        filled.put(slot, slot.default if isinstance(slot.default, str) else ".", (0, 0))
        if slot.name in filled.missing:
            filled.missing.remove(slot.name)
    elif slot.name not in filled.missing:
        filled.missing.append(slot.name)


def folders(reading: Reading, filled: Filled) -> list[Entity]:
    found = filled.unused(reading, "folder", "file")
    found.sort(key=lambda entity: entity.kind != "folder")
    if found:
        return found
    here = re.search(
        r"\b(?:here|this (?:folder|directory|dir|project|repo)|(?:current|working|root|"
        r"top.level) (?:folder|directory|dir)|cwd|"
        r"project root)\b",
        reading.bare,
        re.I,
    )
    return [Entity("folder", ".", *here.span())] if here else []
