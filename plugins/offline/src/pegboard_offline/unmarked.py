"""A text that a request gives without quotes, where an example's words around it leave no doubt of what it is.

A name (one word behind "a branch called") may stand so for any tool. A text of several words may where nothing is changed by
it ("search the web for ..."), or behind a word that announces a text ("with the message ...") and with nothing in it
that speaks of the order itself.
"""

from __future__ import annotations

import re

from pegboard_offline.bags import bag
from pegboard_offline.entities import Entity, Reading, Tree
from pegboard_offline.lexicon import STOP, SWEEPING, is_act, known, lemma, vocabulary
from pegboard_offline.orders import taken_back
from pegboard_offline.profile import Profile, Slot

_NAME = re.compile(r"\w[\w.@/+-]*")
_NAMES = bag("called named titled name message program executable binary")
"""Words behind which a word of everyday use is a name all the same: a branch called "test"."""
_ARGUMENTS = bag("argument arguments")
_BRANCHES = bag("main master develop dev trunk release")
_ANNOUNCES = bag("message text as saying comment title")
_EVERYTHING = re.compile(r"everything|all|(?:all|all of|all the|all my|all of my) (?:changes|edits|files|of it)", re.I)
AN_ADDRESS = "That is an address, and I know nothing of that kind to be done to one."
OF_A_FILE = "That is the name of a file, and I need the text itself: put it in quotes, or between lines of ```."
_MOST_WORDS = 20
_REMARK = re.compile(r"\b(?:fails|failed|broken|broke|crashes|crashed|nothing)\W*$", re.I)
_FURTHER = re.compile(r"(?:\b(?:and|then|but|or)\b|[,;&.!?])\W*(?:then\s+|also\s+|please\s+)*(?P<word>[\w'-]+)?", re.I)


def text(tool: Profile, slot: Slot, example: str, reading: Reading, start: int, end: int) -> str | list[str] | None:
    """What stands at a slot of an example, where it can only be meant literally; several words of it for a list."""
    if slot.many and (listed := quoted(reading, start, end)):
        return listed
    given = reading.text[start:end].strip()
    before, _, after = example.partition("{" + slot.name + "}")
    lead = _words(before)
    said = lead + _words(after)
    cue = lead[-1] if lead else ""
    changes = tool.offer.effect != "read_only"
    if not given or (not changes and tool.of_commits):  # a revision is told by its form, not by where it stands
        return None
    words = given.split()
    if slot.many:
        words = [word for word in re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s+", given) if word]
        if cue == "with" and not after.strip():
            return None  # "run pytest with coverage"
        return words if len(said) > 1 and all(_is_name(word, cue) for word in words) else None
    if len(words) == 1 and len(said) > 1:
        return given if _is_name(given, cue) else None
    if len(words) > _MOST_WORDS or all(word.lower() in STOP for word in words):
        return None
    if not changes:
        return given
    return given if cue in _ANNOUNCES and not after and len(said) > 1 and not _goes_on(given) else None


def names_only(tool: Profile, slot: Slot, example: str, inside: list[Entity], given: str) -> str:
    """Why an unmarked file name or address is not the text that a tool which changes something takes, or nothing: what a
    file holds is not said by its name."""
    if tool.offer.effect == "read_only" or tool.of_commits:
        return ""
    if (
        slot.many
        and any(e.kind == "url" for e in inside)
        and tool.nature == "other"
        and not tool.slots_for("net", "run")
    ):
        return AN_ADDRESS
    if [e.text for e in inside] != [given.strip()]:
        return ""
    cue = (_words(example.partition("{" + slot.name + "}")[0]) or [""])[-1]
    return OF_A_FILE if inside[0].kind == "file" and not slot.many and cue not in _NAMES | _ARGUMENTS else ""


def twice(slot: Slot, example: str) -> bool:
    """Whether an example names two of what a parameter takes: "diff between {ref} and {ref}"."""
    return example.count("{" + slot.name + "}") > 1


def ranged(slot: Slot, example: str, reading: Reading, span: tuple[int, int], tree: Tree) -> str | None:
    """Two commits or branches as a range, a..b, where neither can be a file."""
    between = example.split("{" + slot.name + "}")[1]
    first, found, last = reading.text[slice(*span)].partition(between)
    files = [e.text for e in reading.of("file", "url", "glob")]
    ends = [
        end
        for end in (first.strip(" '\"`"), last.strip(" '\"`"))
        if re.fullmatch(r"\w[\w./~^@{}-]*", end) and end not in files
    ]
    if not found or len(ends) != 2 or any(tree.kind(end) or ".." in end for end in ends):
        return None
    plain_words = [e for e in ends if e.isalpha() and e.islower() and e not in _BRANCHES and known(lemma(e))]
    return None if plain_words or len(set(ends)) == 1 else "..".join(ends)


def quoted(reading: Reading, start: int, end: int) -> list[str]:
    """The texts of a part of a request that holds nothing but texts in quotes: "'a', 'b' and 'c'"."""
    inside = [e for e in reading.of("quoted", "code") if start <= e.start and e.end <= end]
    return [e.text for e in inside] if not re.sub(r"\s|,|\band\b", "", reading.bare[start:end]) else []


def path(tool: Profile, slot: Slot, example: str, given: str) -> bool:
    """Whether one word can only be the name of a file, of which the workspace knows nothing: "git add f"."""
    said = _words(example)
    return slot.required and tool.offer.effect != "read_only" and len(said) > 1 and _is_name(given, "")


def everything(given: str) -> bool:
    """Whether a part of a request says "everything", where an example has a switch: "commit {all} as ..."."""
    return _EVERYTHING.fullmatch(given.strip()) is not None


def _words(part: str) -> list[str]:
    """The words of an example's part, without its slots."""
    return re.findall(r"[a-z][\w'-]*", re.sub(r"\{\w+\}", " ", part).lower())


def _is_name(word: str, cue: str) -> bool:
    low = word.lower()
    if cue in _ARGUMENTS:
        return re.fullmatch(r"[\w.@/+=:-]+", word) is not None
    if not _NAME.fullmatch(word) or low in STOP or low in SWEEPING:
        return False
    return cue in _NAMES or not (known(low) or known(lemma(low)))


def _goes_on(given: str) -> bool:
    """Whether words that may be a text may as well say what else is to be done, or that it is not to be."""
    if taken_back(given) or _REMARK.search(given) or re.search(r"[\"`“]|(?<!\w)'", given):
        return True
    further = [match["word"].lower() for match in _FURTHER.finditer(given) if match["word"]]
    return any(is_act(concept) for word in further for concept in vocabulary().get(lemma(word), ()))
