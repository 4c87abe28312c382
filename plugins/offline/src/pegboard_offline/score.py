"""How well each tool on offer serves a request.

A score weighs four things: whether what is asked fits what the tool's declarations make of it (`ACTS_OF`), whether its
parameters can be filled from the request, how much of the request its examples explain, and how alike the nearest example
is. Weights and limits were set on the shared requests and on lists of the author's own, not learnt.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest

from pegboard_offline.bags import bag
from pegboard_offline.commands import shell_line
from pegboard_offline.entities import Entity, Reading, Tree
from pegboard_offline.fill import fill
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import ACTS_OF, COMMON, PARTS, STOP, TOPICS, is_act, is_world_act, vocabulary
from pegboard_offline.profile import Profile
from pegboard_offline.words import Word

BEST = 5.5
"""About the highest score, short of a request that is an example."""
OF_THEIR_OWN = frozenset({"diff", "state", "history", "commit", "blame", "branch", "web"})
"""Topics that no plain reader of files serves: the diff of a file is not its text, and the web is not in files."""
OWN = 0.35
"""How much of a special tool's own a request must name."""
_YES_NO = bag("do does did is are was were has have")
_ASKS = _YES_NO | bag("what which who when")


@dataclass(slots=True)
class Scored:
    """A tool, filled and scored. rest: the words that went into no argument. loose: those of them that nothing explains.
    left: what the request names that went into no argument."""

    tool: Profile
    filled: Filled
    score: float
    rest: list[Word]
    loose: list[Word]
    left: list[Entity]


def ranked(tools: Iterable[Profile], reading: Reading, tree: Tree) -> list[Scored]:
    """The tools that may serve a request, best first; among equals, as they were offered."""
    tools = list(tools)
    lists = any(tool.nature == "list" and not tool.special for tool in tools)
    about = {*reading.concepts, *(f"w:{word.lemma}" for word in reading.words if not word.known)}
    about |= {"commit"} if reading.of("rev") else set()
    found = [
        one
        for tool in tools
        if (one := _scored(tool, reading, tree, lists)).filled.exact or not tool.special or about & tool.own.keys()
    ]
    for one in found:
        if one.tool.special and not one.filled.exact and _is_a_command(found, one.tool):
            one.score -= 2
    return sorted(found, key=lambda one: -one.score)


def _scored(tool: Profile, reading: Reading, tree: Tree, lists: bool) -> Scored:
    filled = fill(tool, reading, tree, lists)
    if filled.exact:
        return Scored(tool, filled, BEST + 1, [], [], [])
    words = [word for word in reading.words if not filled.covers(word.start, word.end)]
    explained, own, loose = _explained(tool, words, filled)
    if tool.nature in ("write", "replace") and filled.used and filled.missing:
        explained = 1.0  # the words left describe the text that is missing
    left = [e for e in reading.entities if e not in filled.used and not filled.covers(e.start, e.end)]
    asked = _acts(words)
    act = _act_fit(tool, asked, filled, own)
    score = 1.5 * act + 1.5 * _filled_well(tool, filled, left) + 1.5 * explained + _alike(tool, words) + min(1.0, own)
    if not tool.special:
        score -= any(concept in OF_THEIR_OWN for word in loose for concept in word.concepts)
    else:
        score -= sum(1.2 if word.known else 2.5 for word in loose)
    unfit = _forbidden(tool, asked, words, filled) or _no_such_deed(tool, asked, reading, filled, left)
    unfit = unfit or _only_shown(tool, asked, reading, words, filled) or (tool.nature != "run" and shell_line(reading))
    if tool.special and tool.offer.effect != "read_only" and left:
        score -= 1.0  # it will not be acted on; another tool may know what to do with all of it
    if (tool.special and (own < OWN or _of_other_parts(tool, words))) or unfit:
        score -= 5
    return Scored(tool, filled, score, words, loose, left)


def _is_a_command(scored: list[Scored], special: Profile) -> bool:
    """Whether a whole command line is given whose program the tool's examples do not speak of: then it is meant as such."""
    for one in scored:
        if one.tool.nature == "run" and not one.filled.missing and one.filled.sure == 1.0:
            words = str(next(one.filled.arguments[slot.name] for slot in one.tool.slots if slot.required)).split()
            return len(words) > 1 and not any(
                concept in special.own for concept in vocabulary().get(words[0], ()) if concept in TOPICS
            )
    return False


def _acts(words: list[Word]) -> list[str]:
    """The acts a request names, in order."""
    return [concept for word in words for concept in word.concepts if is_act(concept)]


def _act_fit(tool: Profile, asked: list[str], filled: Filled, own: float) -> float:
    """How well what is asked fits the tool: 0 to 1."""
    fits = ACTS_OF.get(tool.nature, {})
    best = max((fits.get(act, 0.0) * (1.0 if at == 0 else 0.8) for at, act in enumerate(asked)), default=0.0)
    if _says_it_all(tool, filled):
        best = max(best, 0.9)  # a whole command line, or "this -> that", says by itself what is to be done
    if tool.special:
        shared = 1.0 if not asked or asked[0] in tool.acts else 0.5
        if tool.offer.effect != "read_only":
            shared = 1.0 if asked else 0.6
        best = max(best, shared if own > 0 else 0.0)
    return best


def _says_it_all(tool: Profile, filled: Filled) -> bool:
    """Whether a whole command line is given, or what is to be replaced with what."""
    if tool.nature == "replace":
        return all(slot.name in filled.arguments for slot in tool.required if slot.takes == "text")
    return tool.nature == "run" and not filled.missing


def _filled_well(tool: Profile, filled: Filled, left: list[Entity]) -> float:
    """How well the request's named things and the tool's parameters meet: at most 1."""
    needed = any(slot.required for slot in tool.slots)
    if filled.missing:
        given = filled.used or any(slot.name in filled.arguments for slot in tool.required)
        base = 0.5 if given else -0.6
    elif needed:
        base = filled.sure
        if any(slot.many and slot.required and len(filled.arguments[slot.name]) == 1 for slot in tool.slots):
            base -= 0.3
    else:
        switched = any(slot.name in filled.arguments for slot in tool.slots_for("flag"))
        base = 0.6 + (0.1 if filled.arguments else 0.0) + (0.4 if switched else 0.0)
    weights = {"quoted": 0.9, "url": 0.9, "rev": 0.9, "ident": 0.2, "number": 0.15, "ext": 0.4, "glob": 0.5}
    if tool.nature in ("find", "list"):
        weights["ident"] = 1.5  # what is in the files is sought, not their names
    return base - sum(weights.get(entity.kind, 0.5) for entity in left[:4])


def _explained(tool: Profile, words: list[Word], filled: Filled) -> tuple[float, float, list[Word]]:
    """How much of what the request is about the tool explains (0 to 1), how much of it is the tool's own, and what is left.

    A revision that filled a parameter speaks of commits, as the word would."""
    total = known = own = 0.0
    loose: list[Word] = []
    usual = {*ACTS_OF.get(tool.nature, {}), *COMMON}
    for word, following in zip_longest(words, words[1:]):
        weight = 0.5 if following is not None and _modifies(word, following) else 1.0
        about = [concept for concept in word.concepts if concept in TOPICS] or (
            [] if word.known else [f"w:{word.lemma}"]
        )
        if tool.special and word.lemma in PARTS and word.lemma not in tool.words:
            total += 1
            loose.append(word)
        shares = [_share(tool, feature) for feature in about if feature != "git" or tool.special]
        about = (
            about if tool.special else [feature for feature in about if feature != "git"]
        )  # "in the repo" is a place
        total += weight * len(about)
        known += weight * sum(shares)
        own += weight * sum(shares)
        if about and not any(shares):
            loose.append(word)
        own += 0.4 * tool.special * sum(is_act(c) and c not in usual and c in tool.own for c in word.concepts)
    if any(entity.kind == "rev" for entity in filled.used):
        own += _share(tool, "commit")
    return (known / total if total else 1.0), own, loose


def _answers(tool: Profile) -> bool:
    """Whether an example of a tool is a question. A tool that changes something and has none answers none, nor checks."""
    return any(example.words and example.words[0].text.lower() in _ASKS for example in tool.examples)


def _of_other_parts(tool: Profile, words: list[Word]) -> bool:
    """Whether a request is about one part of files and the tool's examples about another: lines are not words."""
    served, asked = (
        {part.removesuffix("s") for part in found if part in PARTS} for found in (tool.words, _lemmas(words))
    )
    return bool(served and asked) and served.isdisjoint(asked)


def _lemmas(words: list[Word]) -> set[str]:
    return {word.lemma for word in words}


def _modifies(word: Word, following: Word) -> bool:
    """Whether a topic only qualifies the next: in "staged diff" it is the diff that is asked for."""
    return following.start - word.end == 1 and all(
        any(concept in TOPICS for concept in one.concepts) for one in (word, following)
    )


def _share(tool: Profile, feature: str) -> float:
    """How much a thing is what the tool's examples speak of."""
    if not tool.special or not tool.own[feature]:
        return 0.0
    if feature == "git":
        return 0.2  # every tool of its kind speaks of it
    return min(1.0, 0.35 + 2 * tool.own[feature] / len(tool.examples))


def _alike(tool: Profile, words: list[Word]) -> float:
    """How alike the nearest example is: 0 to 1."""
    said = {concept for word in words for concept in word.concepts} | {
        f"w:{word.lemma}" for word in words if not word.known
    }
    best = 0.0
    for example in tool.examples:
        union = sum(map(_weight, said | example.features))
        if union:
            best = max(best, sum(map(_weight, said & example.features)) / union)
    return best


def _weight(feature: str) -> float:
    return 1.0 if is_act(feature) else 1.5


def _no_such_deed(tool: Profile, asked: list[str], reading: Reading, filled: Filled, left: list[Entity]) -> bool:
    """Whether a file as such is to go or to get another name, where the tool only changes what is in it; or a folder is
    to be made, where it only writes files."""
    if tool.special or not filled.missing:
        return False
    if tool.nature == "replace":
        return bool(filled.used) and (asked[:1] == ["erase"] or any(entity.kind == "file" for entity in left))
    return tool.nature == "write" and not filled.used and any(word.lemma in _FOLDER for word in reading.words)


_FOLDER = bag("folder directory dir subfolder")


def _only_shown(tool: Profile, asked: list[str], reading: Reading, words: list[Word], filled: Filled) -> bool:
    """Whether a literal is to be shown and nothing says that it is to be searched for: "read `make test`"."""
    plain = all(word.concepts or word.text.lower() in STOP for word in words)
    return (
        tool.nature == "search"
        and asked == ["see"]
        and plain
        and len(filled.arguments) == 1
        and bool(reading.of("quoted", "code"))
    )


def _forbidden(tool: Profile, asked: list[str], words: list[Word], filled: Filled) -> bool:
    """Whether what is asked can never be this tool's: changing the world with one that reads, or the other way round."""
    world = [act for act in asked if is_world_act(act) and not (tool.special and act in tool.acts)]
    if tool.offer.effect == "read_only":
        return bool(world)
    if tool.special:
        if (
            not asked
        ):  # "test src" and "do the tests pass?" are served; "which tests are there?" and "the tests too" are not
            opens = words[0] if words else None
            if opens is not None and opens.text.lower() in _YES_NO:
                return not _answers(tool)
            return opens is None or not any(concept in tool.own for concept in opens.concepts)
        return asked[0] not in ("run", *tool.acts) and not (asked[0] == "check" and _answers(tool))
    first = next((act for act in asked if is_world_act(act)), None)
    if _says_it_all(tool, filled):
        return first not in (None, *ACTS_OF[tool.nature]) and tool.nature == "replace"
    return first is None or first not in ACTS_OF.get(tool.nature, {})
