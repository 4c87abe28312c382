"""What a request searches for, which file names it means, and which command it gives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pegboard_offline.entities import Entity, Reading
from pegboard_offline.lexicon import COMMANDS, ENGLISH_PROGRAMS, INTERPRETERS, MACHINE, PROGRAMS, STOP, SUBCOMMANDS

MASK = "\x01"
_SYMBOLS = frozenset(
    """word words string text term phrase symbol function class variable method constant identifier name keyword token pattern regex
    decorator module import""".split()  # noqa: SIM905
)
_LEAD = _SYMBOLS | frozenset("all any every each the a an some me us occurrences occurrence mentions usages uses references of to for".split())  # noqa: SIM905
_TAIL = frozenset(
    """in inside under across within throughout anywhere everywhere through over from on at among please pls used defined called imported
    declared mentioned set referenced invoked located live lives being come comes get gets is are and for now of raised""".split()  # noqa: SIM905
)
_PLACED = frozenset("used defined called imported declared set mentioned referenced invoked raised live lives come comes is are being".split())  # noqa: SIM905

_SEARCH_FOR = re.compile(r"\b(?:search(?:ing)?|scan|look(?:ing)?|hunt|seek|comb|sift|rg|grep|check|dig)\b[^?.;]{0,80}?\bfor\b", re.I)
_USES_OF = re.compile(
    r"\b(?:occurrences?|mentions?|usages?|uses|references?|callers?|calls|imports?|definitions?|instances?|declarations?|implementations?)"
    r"\s+(?:of|to|for)\b",
    re.I,
)
_SEARCH = re.compile(r"\b(?:grep|rg|search)\b", re.I)
_FIND = re.compile(r"\bfind\b", re.I)
_SYMBOL = re.compile(rf"\b(?:the|a|any)\s+(?:{'|'.join(sorted(_SYMBOLS))})\b", re.I)
_MENTIONS = re.compile(r"\b(?:mention|contain|use|import|reference|call|invoke|raise|include|touche|define|declare|implement)(?:s|ing|d)?\b", re.I)
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
        return _entity(marked[0], verbatim) if marked[0].text else None
    text = masked(reading)
    for frame in _FRAMES:
        match = frame.search(text)
        found = _behind(text, match.end(), frame, reading, verbatim) if match else None
        if found is not None:
            return found
    names = reading.of("ident")
    return _entity(names[0], verbatim, 0.9) if names else None


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
        return _entity(entity, verbatim) if entity is not None and _can_be_sought(entity, frame) else None
    if frame in (_ANY_NAME, _FIND) or frame is _WHERE and ended not in _PLACED:
        return None
    if frame in (_MENTIONS, _WHERE) and skipped & {"the", "a", "an"} and not skipped & _SYMBOLS:
        return None  # "who calls the shots": a noun of the sentence, not a name
    word = reading.text[start:end].rstrip(".")
    if not _searchable(word, strict=frame in (_SEARCH, _FIND)):
        return None
    return Found(escaped(word), (start, end), 0.8 if len(words) == 1 else 0.6)


def _can_be_sought(entity: Entity, frame: re.Pattern[str]) -> bool:
    if entity.kind == "ident":
        return True
    if frame in (_ANY_NAME, _FIND, _WHERE) or entity.kind in ("ext", "glob", "folder"):
        return False
    return entity.kind != "file" or frame is not _SEARCH


def _entity(entity: Entity, verbatim: bool, sure: float = 1.0) -> Found:
    return Found(entity.text if verbatim else escaped(entity.text), (entity.start, entity.end), sure)


def _searchable(words: str, strict: bool) -> bool:
    """Whether bare words can be a text to look for: not a pronoun, and after a bare "find" not words at all."""
    low = words.lower().split()
    if not low or low[0] in ("it", "them", "this", "that", "me", "something", "anything", "out", "up", "files", "file", "all", "you"):
        return False
    if strict and len(low) > 1:
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
_ANY = re.compile(r"\b(?:files?|everything|scripts?|documents?|modules?)\b", re.I)


def file_names(reading: Reading) -> Found | None:
    """The file-name pattern that a request describes; below a folder when it names one."""
    name = _name_pattern(reading)
    if name is None:
        return None
    if "/" in name.value:
        return name
    folders = reading.of("folder")
    below = folders[0].text.rstrip("/").removeprefix("./") if folders else ""
    prefix = "" if below in ("", ".") else f"{below}/"
    return Found(f"{prefix}**/{name.value}", name.span, name.sure)


def _name_pattern(reading: Reading) -> Found | None:
    globs = reading.of("glob")
    if globs:
        return Found(globs[0].text, (globs[0].start, globs[0].end))
    text = masked(reading)
    extensions = list(dict.fromkeys(entity.text for entity in reading.of("ext")))
    suffix = f".{extensions[0]}" if len(extensions) == 1 else "." + "{" + ",".join(extensions) + "}" if extensions else ""
    parts = {}
    for key, frame in (("named", _NAMED), ("start", _STARTS), ("end", _ENDS), ("hold", _HOLDS)):
        match = frame.search(text)
        if match:
            group = "x" if match["x"] else "y"
            parts[key] = (_value(reading, *match.span(group)), match.span(group))
    if "named" in parts:
        value, span = parts["named"]
        return Found(value if "." in value or value[:1].isupper() else f"{value}*" if not suffix else f"{value}{suffix}", span)
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
    if len(files) == 1 and not re.search(r"\b(?:in|of|from|inside|within)\s+(?:the\s+)?(?:file\s+)?$", text[: files[0].start], re.I):
        return Found(files[0].text, (files[0].start, files[0].end), 0.8)
    match = _ANY.search(text)
    return Found("*", match.span(), 0.5) if match and not files else None


def _value(reading: Reading, start: int, end: int) -> str:
    entity = next((e for e in reading.entities if e.start == start and e.end == end), None)
    if entity is None:
        return reading.text[start:end].rstrip(".")
    return f".{entity.text}" if entity.kind == "ext" else entity.text


_RUN = re.compile(
    r"\b(?:run|execute|exec|launch|start|fire\s+up|kick\s+off|fire\s+off|perform|invoke|trigger)\s+"
    r"(?:(?:me|us|a|an|the|this|that|following)[\s:]+)*(?:(?:shell\s+|terminal\s+|bash\s+)?(?:command|cmd|script|program|line)\b\s*)?:?\s*",
    re.I,
)
_POLITE = re.compile(r"(?:[\s,]+(?:please|pls|plz|thanks|thank you|for me|now|again|right away|real quick|quickly|in (?:the|a) (?:shell|terminal)))+\s*[.!?]*$", re.I)
_PROSE = frozenset(
    """with on and for the please in to so if again now from using a an my our it them then when after before until that this
    i you we is are all every against over but or because about like as""".split()  # noqa: SIM905
)


def command(reading: Reading) -> Found | None:
    """The command line that a request gives, verbatim; or one that answers a known question about the machine."""
    given = _given(reading)
    if given is not None:
        return given
    return None if reading.entities else _about_machine(reading)


def _about_machine(reading: Reading) -> Found | None:
    """The harmless command that answers a question about the machine, if the request asks nothing else."""
    said: set[str] = set()
    for word in reading.words:
        means = {*word.concepts, word.lemma, word.text.lower()}
        if not means & MACHINE and word.lemma not in STOP and word.text.lower() not in STOP:
            return None
        said |= means
    line = next((line for needed, line in COMMANDS if said.issuperset(needed)), None)
    return Found(line, (0, len(reading.text)), 0.9) if line else None


def _given(reading: Reading) -> Found | None:
    hidden = masked(reading)
    match = _RUN.search(hidden)
    marked = [entity for entity in reading.of("code", "quoted") if entity.text.strip()]
    if match and len(marked) == 1 and match.end() <= marked[0].start and not hidden[match.end() : marked[0].start].strip():
        return Found(marked[0].text.strip(), (match.start(), marked[0].end))
    if match and match.start() > 0 and _first(reading.text[: match.start()]) in PROGRAMS - ENGLISH_PROGRAMS:
        match = None
    start = match.end() if match else len(reading.text) - len(reading.text.lstrip())
    line = _POLITE.sub("", reading.text[start:].strip().rstrip("?!"))
    line = re.sub(r"(?<=\w)\.$", "", line.rstrip())
    first = _first(line)
    if match is None and not _bare_command(line, first, reading):
        return None
    path = next((entity for entity in reading.of("file") if entity.start == start), None)
    if match and path is not None and first not in PROGRAMS:
        line = _as_script(line, path)
    elif not (first in PROGRAMS or line.startswith("./") and match):
        return None
    if "\n" in line or _prose(line, reading, start):
        return None
    return Found(line, (match.start() if match else start, len(reading.text)), 1.0 if match else 0.8)


def _bare_command(line: str, first: str, reading: Reading) -> bool:
    """Whether a request is a command line and nothing else: a program, then what only a command would go on with."""
    if reading.of("ext") or re.search(r"[?]\s*$", reading.text):
        return False
    rest = line.split()[1:]
    flagged = any(word.startswith("-") for word in rest)
    if first in ENGLISH_PROGRAMS:
        return flagged
    return not rest or flagged or rest[0] in SUBCOMMANDS or "/" in rest[0] or "." in rest[0].strip(".")


def _first(line: str) -> str:
    words = line.split()
    while words and re.fullmatch(r"[A-Z_][A-Z0-9_]*=\S*", words[0]):
        words.pop(0)
    return words[0].rsplit("/", 1)[-1] if words else ""


def _as_script(line: str, path: Entity) -> str:
    """A script by itself is run by its language's interpreter."""
    interpreter = INTERPRETERS.get(path.text.rsplit(".", 1)[-1].lower())
    if interpreter is None or path.text.startswith(("./", "/")):
        return line
    return f"{interpreter} {line}"


def _prose(line: str, reading: Reading, start: int) -> bool:
    """Whether English goes on inside what would be the command (outside quotes): then where it ends is not sure."""
    if line.split()[0] == "echo":
        return False
    bare = reading.text[start : start + len(line)]
    for entity in reading.of("quoted", "code"):
        if start <= entity.start < start + len(line):
            bare = bare[: entity.start - start] + MASK * (entity.end - entity.start) + bare[entity.end - start :]
    words = bare.split()[1:] if not line.startswith(tuple(f"{i} " for i in INTERPRETERS.values())) else bare.split()
    return any(word.lower().rstrip(",.;") in _PROSE or word.endswith((",", ";")) and word != ";" for word in words)
