"""Requests that must not be acted on by a router, whatever words they hold; and the politeness around those it may serve."""

from __future__ import annotations

import re

from pegboard_offline.entities import Reading

_VERBING = r"(?=\w+ing\b)"
_POLITE = re.compile(
    r"""(?:
      (?:hey|hi|hello|yo|ok|okay|k|so|now|well|alright|um+|uh+|hm+|and|also|then|finally|lastly|please|pls|plz|kindly|just|quickly|simply|maybe|
        perhaps|buddy|dude|mate|man|bro|sorry|excuse\ me|good\ (?:morning|evening|afternoon)|i\ guess|yeah)(?:[\s,:!.]+|$)
    | (?:first(?:ly)?|second(?:ly)?|next|right|computer|assistant|agent|bot|friend|there|everyone|thanks|quick\ question|question|look|listen|yes|
        sure|quick)[,:!.]\s*
    | (?:can|could|would|will)\ (?:you|u|ya|y'all)\ (?:(?:please|kindly|maybe|just|possibly|perhaps|also|quickly)\ )*
    | (?:can|could|may|might)\ (?:i|we)\ (?:please\ )?(?=(?:see|look|view|read|get|have|check|peek)\b)
    | (?:would\ you\ mind|do\ you\ mind|mind)\ (?=\w+ing\b)
    | why\ (?:don't|not)\ (?:you|we)\ | why\ not\ | how\ about\ (?:you\ |we\ )?(?=\w+) | what\ about\ 
    | (?:i|we)(?:'d|\ would)?(?:\ really|\ just|\ also)?\ (?:like|love|want|need|wish|wanna|have|prefer|gotta|hope)(?:\ for)?(?:\ you|\ u)?\ to\ (?:please\ )?
    | (?:i|we)\ (?:wanna|gotta)\ | (?:i'm|we're|i\ am|we\ are)\ (?:trying|looking|hoping|going|gonna)\ to\ 
    | (?:let's|lets|let\ me|let\ us|lemme)\ | go\ ahead\ and\ | be\ (?:a\ dear|so\ kind|kind\ enough)(?:\ as)?\ (?:to|and)\ | help\ me\ (?:to\ )?(?!with\b)
    | it\ would\ be\ (?:great|nice|lovely|good|helpful)\ (?:if\ (?:you|we)\ (?:could|would)|to)\ 
    | i(?:'d|\ would)\ appreciate\ it\ if\ you\ (?:could|would)\ | your\ (?:job|task)\ is\ to\ 
    | (?:i|we)\ (?:wonder|was\ wondering|forgot|forget|can't\ (?:remember|find|tell|see)|cannot\ (?:remember|find|tell)|don't\ (?:know|remember|recall)|
        never\ know|have\ no\ idea|need\ to\ know)\ (?:if\ |whether\ |about\ )?
    | (?:i'm|im|i\ am)\ (?:wondering|curious|not\ sure|unsure|interested\ in)\ (?:if\ |whether\ |about\ )?
    | (?:i'd|i\ would)\ (?:like|love)\ to\ know\ (?:if\ |whether\ )?
    | (?:wondering|curious|no\ idea|no\ clue|not\ sure|any\ idea|any\ clue)\ (?:if\ |whether\ |about\ )?
    | (?:do\ you|d'you|do\ u)\ (?:happen\ to\ )?know\ (?:if\ |whether\ )? | do\ (?:you|we)\ see\ (?=any|a\ )
    | (?:tell|remind)\ (?:me|us)\ (?:if\ |whether\ |about\ )?(?=\w) | let\ (?:me|us)\ know\ (?:if\ |whether\ )?
    | (?:check|see|verify|find\ out|figure\ out|confirm)\ (?:if|whether|that)\ 
    )""",
    re.I | re.X,
)
_WANTS = re.compile(r"(?:i|we)(?:'d|\s+would)?\s+(?:need|want|like|love)\s+(?=(?:the|a|an|all|every|to\s+see)\b)", re.I)

_OVERRIDES = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|circumvent|skip|disable)\b[^.]{0,60}\b(?:instructions?|rules?|prompts?|guards?|polic(?:y|ies)|safety|"
    r"restrictions?|approvals?|permissions?|above|everything)\b|\bsystem\s+prompt\b|\bjailbreak\b|\byou\s+are\s+now\b|\bpretend\b|\bact\s+as\b|\bdeveloper\s+mode\b",
    re.I,
)
_NEGATED = re.compile(
    r"\b(?:do\s?n[o']?t|don't|do\s+not|dont|never|avoid|refrain|rather\s+not|shouldn't|should\s+not|mustn't|must\s+not|won't|can't|cannot|no\s+need|"
    r"cancel|abort|nevermind|never\s+mind|without\s+\w+ing|except(?:\s+for)?|but\s+not|and\s+not|not\s+the|other\s+than|apart\s+from|excluding|"
    r"hold\s+off|stop\s+\w+ing|leave\s+\S+\s+alone|rather\s+than|if\s+not|no\s+longer)\b",
    re.I,
)
_ASKS_ADVICE = re.compile(
    r"^\W*(?:what\s+(?:would|will|might|could|can|should)\b|what\s+if\b|how\s+(?:do|would|can|could|should|to|come|does\s+one|might)\s*(?:i|we|you|one|to)?\b|"
    r"should\b|is\s+it\s+(?:safe|ok|okay|possible|a\s+good|wise|worth|fine)|would\s+(?:it|you|that)\b|do\s+you\s+think|suppose|imagine|assume|"
    r"when\s+should|why\b|can\s+(?:i|we|it|one)\b|could\s+(?:i|we|it)\b|may\s+i|am\s+i|what\s+happens|is\s+there\s+a\s+(?:way|tool|command|chance)|"
    r"what's\s+the\s+(?:best|point|purpose|right\s+way)|what\s+is\s+the\s+(?:best|point|purpose|right\s+way|meaning))",
    re.I,
)
_CONDITIONAL = re.compile(
    r"\b(?:if|unless|until|whenever|as\s+soon\s+as|every\s+time|each\s+time|in\s+case|otherwise|depending|later|tomorrow|tonight|"
    r"before\s+(?:you|that|we|i|\w+ing)|after\s+(?:you|we|i|\w+ing)|every\s+(?:\d+\s+)?(?:hour|minute|day|week|second|night|morning)s?|"
    r"when\s+(?:it|the|that|you|i|done|finished|they)|once\s+(?:it|the|that|you|done|finished|they)|only\s+(?:on|for|the|those|when|where|lines?)|"
    r"either|or\s+else|or\s+maybe)\b",
    re.I,
)
_STATEMENT = re.compile(
    r"^\W*(?:(?:i|we|he|she|they|it|you|someone|somebody|everyone|nobody|people|yesterday)\b|(?:this|that|these|those|there)\s+(?:is|are|was|were|has|looks|seems)\b|"
    r"(?:the|my|our|your|a|an|all|some)\s+(?:[\w.'-]+\s+){1,4}?(?:is|are|was|were|has|have|had|fails?|failed|broke|breaks|seems?|looks|sucks?|rocks?|works?|worked|"
    r"doesn't|does|didn't|isn't|aren't|crash(?:es|ed)?|got|went|ran|takes?|took|keeps?|kept)\b)",
    re.I,
)
_PAST = re.compile(r"\b(?:yesterday|ago|earlier\s+today|used\s+to\s+\w+|last\s+(?:night|week|year|month)|remember\s+when|back\s+then)\b", re.I)
_ABOUT_YOU = re.compile(
    r"^\W*(?:(?:who|what|how|why|where|when|which)(?:'s|\s+(?:are|is|do|did|were|can|old\s+are|model\s+are))\s+(?:you|your|u)\b|"
    r"(?:do|are|have|did|were|does|is)\s+(?:you|your|u)\b)|\byou(?:'re|\s+are)\b|\b(?:your|yourself|yours)\b",
    re.I,
)
_DEFINES = re.compile(
    r"^\W*(?:(?:what|who)(?:'s|s|\s+is|\s+are|\s+was|\s+were)\s+(?!the\b|in\b|inside\b|my\b|our\b|this\b|new\b|not\b|there\b|up\s+with\b|on\b|under\b)|"
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
    text = text.strip()
    for _ in range(8):
        match = _POLITE.match(text)
        if match is None or match.end() == 0:
            break
        rest = text[match.end() :].lstrip(" ,:")
        if not rest:
            break
        text = rest
    return _WANTS.sub("show ", text, count=1)


def doubt(reading: Reading, writes: bool) -> str | None:
    """Why a request is not acted on, or None. `writes`: whether it would change something; then more is doubted."""
    bare = reading.bare
    if _OVERRIDES.search(bare):
        return "That asks to set rules aside; I only serve plain requests."
    if _NEGATED.search(bare):
        return "I read a \"not\" in that, and would rather not guess what remains to be done."
    if _CONDITIONAL.search(bare):
        return "That depends on a condition or an order of things that I cannot judge."
    if _ASKS_ADVICE.search(bare):
        return "That reads as a question about what would happen or how to do it, not as something to do."
    if _ABOUT_YOU.search(bare):
        return "That is about me, not about this workspace."
    if _STATEMENT.search(bare) and (writes or not bare.rstrip().endswith("?")) and not re.search(r"\b(?:should|needs? to|must)\s+(?:be|read|say|become)\b", bare):
        return "That reads as a statement; I am not sure what you want done."
    if writes and _PAST.search(bare):
        return "That speaks of the past; I am not sure that anything is to be done now."
    if not reading.entities and _DEFINES.search(bare) and "state" not in reading.concepts:
        return "That asks for an explanation, which takes a language model."
    return None
