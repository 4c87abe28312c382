"""Whether a request that would change something is an order, beyond doubt. What is no plain order is asked back on.

Doubts are read off what is there (`doubts`); this asks the other way round: every word outside the arguments must be one
that orders are made of. Negations, questions about an act, reports and retractions all hold a word that is not.
"""

from __future__ import annotations

import re

from pegboard_offline.bags import bag
from pegboard_offline.entities import Reading, Tree, read
from pegboard_offline.filled import Filled
from pegboard_offline.lexicon import STOP, is_world_act
from pegboard_offline.profile import Profile
from pegboard_offline.words import Word

_POLITE = bag(
    """hey hi hello yo ok okay k so now well alright um umm uh uhh hm hmm and also then finally lastly please pls plz
    kindly just quickly simply quick buddy dude mate man bro sorry excuse good morning evening afternoon yeah first
    firstly second secondly next right computer assistant agent bot friend there everyone thanks thank thx ta cheers
    question look listen yes sure can could would will you u ya y'all possibly mind do i we i'd we'd like love want
    need wanna to let's lets let us lemme me go ahead a favour favor be dear kind enough as help it great nice lovely
    good helpful if appreciate your task job is lot have time when for real asap maybe perhaps guess don't""",
)
"""What may stand around an order, and is taken off before it is read."""

_ORDERS = bag(
    """in into to at on onto of from out off for with within inside and by as the a an this these all every each both my our
    file files folder directory document script module new empty blank called named that which says saying say reads
    contains containing contain content contents text word words line lines string phrase typo misspelling spelling
    end bottom very whole single occurrence occurrences instance instances mention mentions use uses everywhere
    throughout it its should ought must needs need become be have has just only exactly also then now instead
    please pls plz thanks thank following command cmd shell terminal bash console program me us message note sentence
    body code below variable function method class name symbol identifier term token import case cases so make""",
)
"""What an order may hold beside its arguments and its verbs, for a tool that is not about something of its own."""

_NOT = re.compile(
    r"(?<![\w-])(?:not|no|nor|neither|never|none|nobody|nothing|nowhere|without|don'?t|do\s?nt|cannot|\w+n['’]t|dont|wont|cant|"
    r"avoid\w*|refrain\w*|abstain\w*|instead\s+of\s+\w+ing|rather\s+than\s+\w+ing|leave\b.*\b(?:alone|be|untouched|unchanged)|"
    r"keep\b.*\bas\b.*\b(?:is|are)|untouched|unchanged|skip|cancel|abort|forbid\w*|prevent\w*)(?![\w-])",
    re.I | re.S,
)
_FAILED = re.compile(r"(?<![\w-])(?:fail\w*|refus\w*|stop\w*|broken?|crash\w*)(?![\w-])", re.I)
_TAKEN_BACK = re.compile(
    r"\b(?:never\s?mind|nvm|just\s+(?:kidding|joking)|kidding|joking|jk|j/k|lol|lmao|rofl|haha\w*|nah|nope|naw|psych|oops|whoops|"
    r"scratch\s+(?:that|it)|strike\s+that|forget\s+(?:it|that|about)|on\s+second\s+thoughts?|changed\s+my\s+mind|"
    r"(?:oh\s+)?wait|hold\s+on|hang\s+on|or\s+not|actually|undo\s+(?:it|that)|only\s+joking|as\s+a\s+joke|hypothetical\w*)\b|"
    r";-?\)|(?<=\s)/s\s*$|[.,;:!?…(-]\s*(?:no|not|don'?t)\b[\s.!)]*$",
    re.I,
)
_HABIT = re.compile(r"^\W*(?:i|we)\s+(?:really\s+|just\s+)?(?:like|love|have|had|hope|wish)\s+to\b", re.I)
_WONDERS = re.compile(r"\W*(?:who|when|where|what|which)\b.*\b(?:would|did|should)\b", re.I | re.S)

NEGATED = 'I read a "not" in that, and would rather not guess what remains to be done.'
TAKEN_BACK = "That sounds taken back, or not meant; nothing was done."
PLAINLY = "Say it as a plain order, with a command between backticks."
NO_ORDER = f"I am not sure that you want this done. {PLAINLY}"


def taken_back(text: str) -> bool:
    """Whether something outside quotes takes back what was said, or says no to it."""
    bare = read(text, Tree(None)).bare
    return bool(_TAKEN_BACK.search(bare) or _NOT.search(bare))


def no_order(tool: Profile, filled: Filled, rest: list[Word], reading: Reading, said: str) -> str:
    """Why a request that would change something is no plain order, or nothing. said: the request as it was put."""
    before, after = _around(reading, said)
    doubtful = f"{before} {after}" if filled.exact else said  # in "wait for the job" the "wait" takes nothing back
    if _TAKEN_BACK.search(_literals_out(doubtful)):
        return TAKEN_BACK
    inner = _without(reading.bare, filled.spans)
    if _FAILED.search(inner) and not tool.special:
        return NO_ORDER
    if (_NOT.search(inner) and not filled.exact) or _NOT.search(_literals_out(after)) or _NOT.search(_refusing(before)):
        return NEGATED
    if _WONDERS.match(reading.text) and not filled.exact:
        return NO_ORDER
    if _HABIT.search(said) or re.search(r"\bwhy\b|\bhow\b", before, re.I):
        return NO_ORDER
    odd = [word for word in _words(before) + _words(after) if word not in _POLITE and word not in _ORDERS]
    if odd and not (tool.special and not before.strip()):
        return NO_ORDER
    given = tool.nature == "write" and "```" in reading.text  # the text is given, described or not
    if tool.special or filled.exact or given or _asks_the_machine(tool, filled, reading):
        return ""
    strange = next((word for word in rest if not _belongs(word, tool)), None)
    return f"I am not sure what {strange.text!r} means here. {PLAINLY}" if strange else ""


def _belongs(word: Word, tool: Profile) -> bool:
    low = word.text.lower()
    if low in _ORDERS or any(is_world_act(concept) for concept in word.concepts):
        return True
    return low not in STOP and low in tool.words


def _asks_the_machine(tool: Profile, filled: Filled, reading: Reading) -> bool:
    """Whether the command is one of the harmless ones that the router thinks of by itself."""
    return tool.nature == "run" and any(
        str(filled.arguments.get(slot.name)) not in reading.text for slot in tool.required if slot.takes == "run"
    )


def _around(reading: Reading, said: str) -> tuple[str, str]:
    """What was taken off before and behind the request; where it was put in other words, what stands before its verb."""
    at = said.find(reading.text)
    if at >= 0:
        return said[:at], said[at + len(reading.text) :]
    whole = read(said, Tree(None))
    act = next((word for word in whole.words if any(is_world_act(concept) for concept in word.concepts)), None)
    return (said[: act.start], "") if act else ("", "")


def _refusing(before: str) -> str:
    """What stands before the request, without the "don't" of "if you don't mind" and of "why don't you"."""
    return re.sub(r"\b(?:if|why)\s+(?:you\s+)?don'?t\b", " ", _literals_out(before), flags=re.I)


def _literals_out(text: str) -> str:
    return read(text, Tree(None)).bare


def _without(bare: str, spans: list[tuple[int, int]]) -> str:
    for start, end in spans:
        bare = bare[:start] + " " * (end - start) + bare[end:]
    return bare


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_](?:[\w'’]*\w)?", _literals_out(text).lower().replace("’", "'"))
