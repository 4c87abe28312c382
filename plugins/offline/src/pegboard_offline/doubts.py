"""Requests that must not be acted on by a router, whatever words they hold; and the politeness around those it may serve."""

from __future__ import annotations

import re

from pegboard_offline.entities import Reading
from pegboard_offline.profile import Profile
from pegboard_offline.words import mended

_YOU, _ME = "(?:you|u|ya|y'all)", "(?:i|we)"
_WHETHER = (
    rf"(?:(?:if|whether) {_YOU} (?:could|can|might|would) (?:(?:possibly|perhaps|please|maybe) )*(?:be able to )?|"
    "if |whether |about )?"
)
_POLITE = re.compile(
    "(?:"
    + "|".join(
        (
            r"(?:hey|hi|hello|yo|ok|okay|k|so|now|well|alright|um+|uh+|hm+|and|also|then|finally|lastly|"
            r"please|pls|plz|kindly|just|quickly|"
            r"simply|maybe|perhaps|buddy|dude|mate|man|bro|sorry|excuse me|good (?:morning|evening|"
            r"afternoon)|i guess|yeah)(?:[\s,:!.]+|$)",
            r"(?:first(?:ly)?|second(?:ly)?|next|right|computer|assistant|agent|bot|friend|there|everyone|"
            r"thanks|quick question|question|"
            r"look|listen|yes|sure|quick)[,:!.]\s*",
            rf"(?:can|could|would|will) {_YOU} (?:(?:please|kindly|maybe|just|possibly|perhaps|also|quickly) )*",
            rf"(?:can|could|may|might) {_ME} (?:please )?(?=(?:see|look|view|read|get|have|check|peek)\b)",
            r"(?:would you mind|do you mind|mind) (?=\w+ing\b)",
            r"why (?:don't|not) (?:you|we) |why not |how about (?:you |we )?(?=\w+)|what about ",
            rf"{_ME}(?:'d| would)?(?: really| just| also)? (?:like|love|want|need|wish|wanna|have|prefer|"
            rf"gotta|hope)(?: for)?(?: {_YOU})? to "
            r"(?:please )?",
            rf"{_ME} (?:wanna|gotta) |(?:i'm|we're|i am|we are) (?:trying|looking|hoping|going|gonna) to ",
            r"(?:let's|lets|let me|let us|lemme) |go ahead and |go and |go (?=(?:read|find|look|fetch|get|"
            r"check|open|show|list)\b)",
            r"do me a favou?r(?: and |[,:] )|be (?:a dear|so kind|kind enough)(?: as)? (?:to|and) |"
            r"help me (?:to )?(?!with\b)",
            r"it would be (?:great|nice|lovely|good|helpful) (?:if (?:you|we) (?:could|would)|to) ",
            r"i(?:'d| would) appreciate it if you (?:could|would) |your (?:job|task) is to ",
            rf"{_ME} (?:wonder|was wondering|forgot|forget|can't (?:remember|find|tell|see)|"
            rf"cannot (?:remember|find|tell)|"
            rf"don't (?:know|remember|recall)|never know|have no idea|need to know) {_WHETHER}",
            rf"(?:i'm|im|i am) (?:wondering|curious|not sure|unsure|interested in) {_WHETHER}",
            rf"(?:i'd|i would) (?:like|love) to know {_WHETHER}",
            rf"(?:wondering|curious|no idea|no clue|not sure|any idea|any clue) {_WHETHER}",
            rf"(?:do you|d'you|do u) (?:happen to )?know {_WHETHER}|do (?:you|we) see (?=any|a )",
            rf"(?:tell|remind) (?:me|us) {_WHETHER}(?=\w)|let (?:me|us) know {_WHETHER}",
            r"(?:check|see|verify|find out|figure out|confirm) (?:if|whether|that) ",
        )
    )
    + ")",
    re.I,
)
_CURSES = re.compile(
    r"\s(?:on\s+earth|the\s+(?:heck|hell|fuck|devil)|in\s+the\s+world|actually|basically|like,)\s", re.I
)
_TAILS = re.compile(
    r"(?:[\s,]+(?:please|pls|plz|thanks(?:\s+a\s+lot)?|thank\s+you|thx|ta|cheers|will\s+(?:ya|you)|"
    r"would\s+(?:ya|you)|can\s+you|could\s+you|ok(?:ay)?|"
    r"if\s+you\s+(?:please|can|could|don't\s+mind|would)|when\s+you\s+(?:can|have\s+(?:a\s+)?time)|"
    r"for\s+me|mate|buddy|bro|man|dude|real\s+quick|asap))+[\s.!?]*$",
    re.I,
)
_WANTS = re.compile(r"(?:i|we)(?:'d|\s+would)?\s+(?:need|want|like|love)\s+(?=(?:the|a|an|all|every|to\s+see)\b)", re.I)

_OVERRIDES = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|circumvent|skip|"
    r"disable)\b[^.]{0,60}\b(?:instructions?|rules?|prompts?|guards?|polic(?:y|ies)|safety|"
    r"restrictions?|approvals?|permissions?|above|everything)\b|\bsystem\s+prompt\b|\bjailbreak\b|"
    r"\byou\s+are\s+now\b|\bpretend\b|\bact\s+as\b|\bdeveloper\s+mode\b",
    re.I,
)
_NEGATED = re.compile(
    r"\b(?:do\s?n[o']?t|don't|do\s+not|dont|never|avoid|refrain|rather\s+not|shouldn't|should\s+not|"
    r"mustn't|must\s+not|won't|can't|cannot|no\s+need|"
    r"cancel|abort|nevermind|never\s+mind|without\s+\w+ing|except(?:\s+for)?|but\s+not|and\s+not|"
    r"not\s+the|other\s+than|apart\s+from|excluding|"
    r"(?:change|touch|modify|edit|write|delete|do|alter|move)\s+nothing|nothing\s+(?:should|must|may|can|is|needs?)|(?:please|let\s+us)\s+not|hold\s+off|stop\s+\w+ing|leave\s+\S+\s+alone|rather\s+than|if\s+not|no\s+longer)\b",
    re.I,
)
_ASKS_ADVICE = re.compile(
    r"^\W*(?:what\s+(?:would|will|might|could|can|should)\b|what\s+if\b|how\s+(?:do|would|can|could|"
    r"should|to|come|does\s+one|might)\s*(?:i|we|you|one|to)?\b|"
    r"should\b|is\s+it\s+(?:safe|ok|okay|possible|a\s+good|wise|worth|fine)|would\s+(?:it|you|"
    r"that)\b|do\s+you\s+think|suppose|imagine|assume|"
    r"when\s+should|why\b|can\s+(?:i|we|it|one)\b|could\s+(?:i|we|it)\b|may\s+i|am\s+i|"
    r"what\s+happens|is\s+there\s+a\s+(?:way|tool|command|chance)|"
    r"what's\s+the\s+(?:best|point|purpose|right\s+way)|what\s+is\s+the\s+(?:best|point|purpose|right\s+way|meaning))",
    re.I,
)
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|until|whenever|as\s+soon\s+as|every\s+time|each\s+time|in\s+case|otherwise|"
    r"depending|later|tomorrow|tonight|"
    r"before\s+(?:you|that|we|i|\w+ing)|after\s+(?:you|we|i|\w+ing)|every\s+(?:\d+\s+)?(?:hour|"
    r"minute|day|week|second|night|morning)s?|"
    r"when\s+(?:it|the|that|you|i|done|finished|they)|once\s+(?:it|the|that|you|done|finished|they)|"
    r"only\s+(?:on|for|the|those|when|where|lines?)|"
    r"either|or\s+else|or\s+maybe)\b",
    re.I,
)
_STATEMENT = re.compile(
    r"^\W*(?:(?:i|we|he|she|they|it|you|someone|somebody|everyone|nobody|people|yesterday)\b|(?:this|"
    r"that|these|those|there)\s+(?:is|are|was|were|has|looks|seems)\b|"
    r"(?:the|my|our|your|a|an|all|some)\s+(?:[\w.'-]+\s+){1,4}?(?:is|are|was|were|has|have|had|"
    r"fails?|failed|broke|breaks|seems?|looks|sucks?|rocks?|works?|worked|"
    r"doesn't|does|didn't|isn't|aren't|crash(?:es|ed)?|got|went|ran|takes?|took|keeps?|kept)\b)",
    re.I,
)
_PAST = re.compile(
    r"\b(?:yesterday|ago|earlier\s+today|used\s+to\s+\w+|last\s+(?:night|week|year|month)|"
    r"remember\s+when|back\s+then)\b",
    re.I,
)
_ABOUT_YOU = re.compile(
    r"^\W*(?:(?:who|what|how|why|where|when|which)(?:'s|\s+(?:are|is|do|did|were|can|old\s+are|"
    r"model\s+are))\s+(?:you|your|u)\b|"
    r"(?:do|are|have|did|were|does|is)\s+(?:you|your|u)\b)|\byou(?:'re|\s+are)\b|\b(?:your|yourself|yours)\b",
    re.I,
)
_DEFINES = re.compile(
    r"^\W*(?:(?:what|who)(?:'s|s|\s+is|\s+are|\s+was|\s+were)\s+(?!the\b|in\b|inside\b|my\b|our\b|"
    r"this\b|new\b|not\b|been\b|there\b|up\s+with\b|on\b|under\b)|"
    r"define\b|explain\b|describe\b|meaning\s+of\b|teach\b|"
    r"(?:a|an|some|another)\s+(?:joke|story|poem|song|fact|riddle)\b|what\s+does\s+(?:\w+\s+){1,3}mean\b)",
    re.I,
)


_HEDGED = re.compile(r"\b(?:maybe|perhaps|possibly|i\s+guess|not\s+sure|might|probably|or\s+so|i\s+think)\b", re.I)
_ASKED = re.compile(r"\b(?:can|could|would|will)\s+(?:you|u|we|ya)\b|\bplease\b|\bpls\b|\bplz\b|\bmind\b", re.I)


def hedged(request: str) -> str | None:
    """Why an order that changes something is not one after all, from the request as it was put."""
    if _HEDGED.search(request):
        return "You do not sound sure about that."
    if request.rstrip().endswith("?") and not _ASKED.search(request):
        return "That is a question; I would not change anything on it."
    return None


def plain(text: str) -> str:
    """The request without the politeness and hedging around it."""
    text = re.sub(r"^(what|where|who|how|that|there)s\b", r"\1's", text.strip(), flags=re.I)
    text = _TAILS.sub("", _CURSES.sub(" ", text.strip()))
    for _ in range(8):
        match = _POLITE.match(text)
        if match is None or match.end() == 0:
            break
        rest = text[match.end() :].lstrip(" ,:")
        if not rest:
            break
        text = rest
    text = mended(re.sub(r"^(?:wat|wut|wot|waht|whta)(?='?s?\s)", "what", text, flags=re.I))
    return _WANTS.sub("make " if re.search(r"\b(?:new|blank|empty)\b", text, re.I) else "show ", text, count=1)


_HELP = re.compile(
    r"\W*(?:(?:please\s+)?help(?:\s+me)?|what\s+(?:can|could)\s+(?:you|u|i|we)\s+(?:do|say|ask)(?:\s+(?:for\s+me|here|you))?|"
    r"what\s+are\s+you\s+able\s+to\s+do|how\s+(?:do|can)\s+i\s+use\s+(?:you|this|it)|what\s+do\s+you\s+do)\W*",
    re.I,
)


def wants_help(text: str) -> bool:
    """Whether a request only asks what could be asked for."""
    return _HELP.fullmatch(text) is not None


def doubt(reading: Reading, writes: bool) -> str | None:
    """Why a request is not acted on, or None. `writes`: whether it would change something; then more is doubted."""
    bare = reading.bare
    if _OVERRIDES.search(bare):
        return "That asks to set rules aside; I only serve plain requests."
    if _NEGATED.search(bare) or re.search(r"^\W*not?\b|[,;]\s*not\b", bare, re.I):
        return 'I read a "not" in that, and would rather not guess what remains to be done.'
    if _CONDITIONAL.search(bare):
        return "That depends on a condition or an order of things that I cannot judge."
    if _ASKS_ADVICE.search(bare) and not bare[:1].isspace():  # "'a' should be 'b'" begins with what was blanked out
        return "That reads as a question about what would happen or how to do it, not as something to do."
    if _ABOUT_YOU.search(bare):
        return "That is about me, not about this workspace."
    if (
        _STATEMENT.search(bare)
        and (writes or not bare.rstrip().endswith("?"))
        and not re.search(r"\b(?:should|needs? to|must)\s+(?:be|read|say|become)\b", bare)
    ):
        return "That reads as a statement; I am not sure what you want done."
    if writes and _PAST.search(bare):
        return "That speaks of the past; I am not sure that anything is to be done now."
    if not reading.entities and _DEFINES.search(bare) and "state" not in reading.concepts:
        return "That asks for an explanation, which takes a language model."
    return None


_COUNTED = re.compile(
    r"\b(?:how\s+many|number\s+of|count(?:\s+up)?)\s+(?:of\s+)?(?:(?:the|all|my|our)\s+)*(?P<what>\S+)", re.I
)
_FILES = re.compile(r"(?:files?|scripts?|modules?|documents?|notebooks?|sources?|folders?|director(?:y|ies))\b", re.I)


def uncounted(tool: Profile, missing: bool, reading: Reading) -> str | None:
    """Why a list of files is no answer to "how many", nor a search for nothing: lines, tests and functions are no files."""
    match = _COUNTED.search(reading.text)
    if (
        match is None
        or tool.special
        or tool.nature not in (("find", "list", "search") if missing else ("find", "list"))
    ):
        return None
    at = match.start("what")
    named = any(e.kind in ("ext", "glob") and e.start <= at < e.end for e in reading.entities)
    soon = re.match(r"(?:\S+\s+){0,2}?" + _FILES.pattern, reading.text[at:], re.I)
    return (
        None
        if named or soon
        else f"I can list files and search them, but I cannot count {match['what'].rstrip('?.!,')!r}."
    )
