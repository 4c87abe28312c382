"""What a request searches for, which file names it means, and which command it gives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegboard_offline.bags import bag
from pegboard_offline.entities import Entity, Reading
from pegboard_offline.lexicon import STOP

MASK = "\x01"
_SYMBOLS = bag(
    """word words string text term phrase symbol function class variable method constant identifier name keyword token
    pattern regex decorator module import"""
)
_LEAD = _SYMBOLS | bag(
    """all any every each the a an some me us occurrences occurrence mentions usages uses references of to for"""
)
_TAIL = bag(
    """in inside under below beneath across within throughout anywhere everywhere through over from on at among please pls
    used defined called imported declared mentioned set referenced invoked located live lives being come comes get gets
    is are and for now of raised these those this that right any anymore"""
)
_PLACED = bag(
    """used defined called imported declared set mentioned referenced invoked raised live lives come comes is are being"""
)

_NAMES = bag("function class variable method constant identifier symbol word string text phrase keyword decorator")
_INSIDE = bag("in inside under below beneath within")

_SEARCH_FOR = re.compile(
    r"\b(?:search(?:ing)?|scan|look(?:ing)?|hunt|seek|comb|sift|rg|grep|check|dig)\b[^?.;]{0,80}?\bfor\b", re.I
)
_USES_OF = re.compile(
    r"\b(?:occurrences?|mentions?|usages?|uses|references?|callers?|calls|imports?|definitions?|instances?|declarations?|implementations?)"
    r"\s+(?:of|to|for)\b",
    re.I,
)
_SEARCH = re.compile(r"\b(?:grep|rg|search)\b", re.I)
_FIND = re.compile(r"\bfind\b", re.I)
_SYMBOL = re.compile(rf"\b(?:the|a|any)\s+(?:{'|'.join(sorted(_SYMBOLS))})\b", re.I)
_MENTIONS = re.compile(
    r"\b(?:mention|contain|use|import|reference|call|invoke|raise|include|touche|define|declare|implement)(?:s|ing|d)?\b",
    re.I,
)
_WHERE = re.compile(r"\bwhere(?:'s|\s+(?:is|are|do\s+we|does|do|did\s+we))?\b", re.I)
_ANY_NAME = re.compile(r"\b(?:is\s+there|are\s+there|any\s+sign\s+of|find|show|list|count|how\s+many|see)\b", re.I)
_FRAMES = (_SEARCH_FOR, _USES_OF, _SEARCH, _FIND, _SYMBOL, _MENTIONS, _WHERE, _ANY_NAME)
_TOKEN = re.compile(rf"{MASK}+|[\w.+#@$%'-]*[\w+#@$%]|\S")
_META = re.compile(r"[\\^$.|?*+()\[\]{}]")


@dataclass(frozen=True, slots=True)
class Found:
    """A value taken from the request: what it is, where it stands, how sure (1 is certain)."""

    value: str
    span: tuple[int, int]
    sure: float = 1.0


def masked(reading: Reading) -> str:
    """The text with every entity masked, at the same positions."""
    text = reading.text
    for entity in reading.entities:
        text = text[: entity.start] + MASK * (entity.end - entity.start) + text[entity.end :]
    return text


def escaped(text: str) -> str:
    """A literal as a regular expression: only what would mean something else is escaped."""
    return _META.sub(lambda match: "\\" + match[0], text)


def pattern(reading: Reading) -> Found | None:
    """The text that is searched for, as a regular expression."""
    verbatim = re.search(r"\b(?:regex|regexp|regular expression|pattern)\b", reading.bare, re.I) is not None
    marked = reading.of("quoted", "code")
    if marked:
        return _either(marked[0], reading, verbatim) if marked[0].text else None
    text = masked(reading)
    for frame in _FRAMES:
        match = frame.search(text)
        found = _behind(text, match.end(), frame, reading, verbatim) if match else None
        if found is not None:
            return found
    names = reading.of("ident")
    return _either(names[0], reading, verbatim, 0.9) if names else None


def _behind(text: str, at: int, frame: re.Pattern[str], reading: Reading, verbatim: bool) -> Found | None:
    """What stands behind such words: something named, or bare words up to where the sentence goes on."""
    tokens = iter(_TOKEN.finditer(text, at))
    words: list[re.Match[str]] = []
    ended = ""
    skipped: set[str] = set()
    for token in tokens:
        low = token[0].lower()
        if not words and low in _LEAD:
            skipped.add(low)
            continue
        if low in _TAIL or not (low[0].isalnum() or low[0] in "_@#$%+-." + MASK):
            ended = low
            break
        if low.startswith(MASK) and words:
            return None
        words.append(token)
        if low.startswith(MASK):
            break
    if not words or len(words) > 4:
        return None
    start, end = words[0].start(), words[-1].end()
    if words[0][0].startswith(MASK):
        entity = next((e for e in reading.entities if e.start == start and e.end == end), None)
        return _either(entity, reading, verbatim) if entity is not None and _can_be_sought(entity, frame) else None
    if (
        frame is _FIND
        and len(words) == 1
        and (skipped & _NAMES or (ended in _INSIDE and _like_code(words[0][0], reading)))
    ):
        return Found(escaped(words[0][0]), (start, end), 0.9)
    if frame in (_ANY_NAME, _FIND) or (frame is _WHERE and ended not in _PLACED):
        return None
    if frame in (_MENTIONS, _WHERE) and skipped & {"the", "a", "an"} and not skipped & _SYMBOLS:
        return None  # "who calls the shots": a noun of the sentence, not a name
    word = reading.text[start:end].rstrip(".")
    if not _searchable(word, strict=frame in (_SEARCH, _FIND)):
        return None
    return Found(escaped(word), (start, end), 0.8 if len(words) == 1 else 0.6)


def _like_code(word: str, reading: Reading) -> bool:
    """Whether a bare word is written as names in code are, and a sentence's words are not: `Cart`, `SQL`."""
    return word[:1].isupper() and not reading.text.isupper()


def _can_be_sought(entity: Entity, frame: re.Pattern[str]) -> bool:
    if entity.kind == "ident":
        return True
    if frame in (_ANY_NAME, _FIND, _WHERE) or entity.kind in ("ext", "glob", "folder"):
        return False
    return entity.kind != "file" or frame is not _SEARCH


def _either(first: Entity, reading: Reading, verbatim: bool, sure: float = 1.0) -> Found:
    """What is searched for: one thing, or any of several in a row ("TODO and FIXME")."""
    sought = [first]
    for entity in reading.entities:
        between = reading.text[sought[-1].end : entity.start]
        if (
            entity.kind == first.kind
            and entity.start > sought[-1].start
            and re.fullmatch(r"\s*(?:,|(?:,\s*)?(?:and|or))\s*", between, re.I)
        ):
            sought.append(entity)
    value = "|".join(entity.text if verbatim else escaped(entity.text) for entity in sought)
    return Found(value, (first.start, sought[-1].end), sure)


def _searchable(words: str, strict: bool) -> bool:
    """Whether bare words can be a text to look for: not a pronoun, and after a bare "find" not words at all."""
    low = words.lower().split()
    if not low or low[0] in (
        "it",
        "them",
        "this",
        "that",
        "me",
        "something",
        "anything",
        "out",
        "up",
        "files",
        "file",
        "all",
        "you",
    ):
        return False
    if len(low) > 1 and (strict or "to" in low):
        return False
    return not all(word in STOP for word in low)


_NAMED = re.compile(rf"\b(?:named|called|by the name(?: of)?|with the name|titled)\s+(?P<x>{MASK}+|[\w.-]+)", re.I)
_STARTS = re.compile(rf"\b(?:start(?:s|ing)?|begin(?:s|ning)?|prefixed)\s+(?:in|with)\s+(?P<x>{MASK}+|[\w.-]+)", re.I)
_ENDS = re.compile(rf"\b(?:end(?:s|ing)?|suffixed)\s+(?:in|with|on)\s+(?P<x>{MASK}+|[\w.-]+)", re.I)
_HOLDS = re.compile(
    rf"\b(?:with|having|contain(?:s|ing)?|includ(?:es|ing))\s+(?P<x>{MASK}+|[\w.-]+)\s+in\s+(?:the|their|its)\s+(?:file\s*)?names?"
    rf"|\bnames?\s+(?:contain|include|ha(?:ve|s))(?:s|ing)?\s+(?P<y>{MASK}+|[\w.-]+)",
    re.I,
)
_TESTS = re.compile(r"\btest(?:s|ing)?\s+(?:files?|modules?|scripts?)\b|\bunit\s+tests?\s+files?\b", re.I)
_ANY = re.compile(
    r"\b(?:files|everything|scripts|documents|modules|(?:every|each|any|a)\s+(?:file|script|document|module))\b", re.I
)


def file_names(reading: Reading) -> Found | None:
    """The file-name pattern that a request describes; below a folder when it names one."""
    name = _name_pattern(reading)
    if name is None:
        return None
    if "/" in name.value:
        return name
    return Found(under(below(reading), name.value), name.span, name.sure)


def under(folders: list[Entity], name: str) -> str:
    """The pattern for files of a name at any depth below folders; below the workspace root when there are none."""
    paths = [entity.text.rstrip("/").removeprefix("./") for entity in folders]
    folder = paths[0] if len(paths) == 1 else "{" + ",".join(paths) + "}" if paths else ""
    return f"**/{name}" if folder in ("", ".") else f"{folder}/**/{name}"


def below(reading: Reading) -> list[Entity]:
    """The folder that file names are sought below; or several in a row, "src and lib"."""
    folders = reading.of("folder")
    row = folders[:1]
    for entity in folders[1:]:
        if re.fullmatch(
            r"\s*(?:,|(?:,\s*)?(?:and|or))\s*(?:the\s+|in\s+)?", reading.text[row[-1].end : entity.start], re.I
        ):
            row.append(entity)
    return row


def _name_pattern(reading: Reading) -> Found | None:
    globs = reading.of("glob")
    if globs:
        return Found(globs[0].text, (globs[0].start, globs[0].end))
    text = masked(reading)
    extensions = list(dict.fromkeys(entity.text for entity in reading.of("ext")))
    suffix = (
        f".{extensions[0]}" if len(extensions) == 1 else "." + "{" + ",".join(extensions) + "}" if extensions else ""
    )
    parts = {}
    for key, frame in (("named", _NAMED), ("start", _STARTS), ("end", _ENDS), ("hold", _HOLDS)):
        match = frame.search(text)
        if match:
            group = "x" if match["x"] else "y"
            parts[key] = (_value(reading, *match.span(group)), match.span(group))
    if "named" in parts:
        value, span = parts["named"]
        return Found(
            value if "." in value or value[:1].isupper() else f"{value}*" if not suffix else f"{value}{suffix}", span
        )
    start = parts["start"][0] if "start" in parts else ""
    end = parts["end"][0] if "end" in parts else ""
    end = end if not end or end.startswith(".") or end.lower() not in extensions else f".{end}"
    if "end" in parts and not suffix:
        suffix = end
    if "hold" in parts:
        return Found(f"{start}*{parts['hold'][0]}*{suffix}", parts["hold"][1])
    if start or "end" in parts:
        return Found(f"{start}*{suffix}", parts["start" if start else "end"][1])
    if _TESTS.search(text):
        return Found(f"*test*{suffix}", _TESTS.search(text).span(), 0.8)  # type: ignore[union-attr]
    if suffix:
        first = reading.of("ext")[0]
        return Found(f"*{suffix}", (first.start, first.end))
    files = reading.of("file")
    if len(files) == 1 and not re.search(
        r"\b(?:in|of|from|inside|within)\s+(?:the\s+)?(?:file\s+)?$", text[: files[0].start], re.I
    ):
        return Found(files[0].text, (files[0].start, files[0].end), 0.8)
    match = _ANY.search(text)
    return Found("*", match.span(), 0.5) if match and not files else None


def _value(reading: Reading, start: int, end: int) -> str:
    entity = next((e for e in reading.entities if e.start == start and e.end == end), None)
    if entity is None:
        return reading.text[start:end].rstrip(".")
    return f".{entity.text}" if entity.kind == "ext" else entity.text
