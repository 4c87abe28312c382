"""Which command line a request gives. It is taken verbatim, or from a small table of harmless ones; none is made up."""

from __future__ import annotations

import re

from pegboard_offline.entities import Entity, Reading
from pegboard_offline.lexicon import STOP
from pegboard_offline.lines import plausible
from pegboard_offline.names import ALONE, COMMANDS, ENGLISH_PROGRAMS, INTERPRETERS, MACHINE, PROGRAMS, SUBCOMMANDS
from pegboard_offline.targets import Found, masked

_RUN = re.compile(
    r"\b(?:run|execute|exec|launch|start|fire\s+up|kick\s+off|fire\s+off|perform|invoke|trigger)(?:\s*:)?\s+"
    r"(?:(?:me|us|a|an|the|this|that|following)[\s:]+)*(?:(?:shell\s+|terminal\s+|"
    r"bash\s+)?(?:command|cmd|script|program|line)\b\s*)?:?\s*",
    re.I,
)
_POLITE = re.compile(
    r"(?:[\s,]+(?:please|pls|plz|thanks|thank you|for me|now|again|right away|real quick|quickly|"
    r"in (?:the|a) (?:shell|terminal)))+"
    r"\s*[.!?]*$",
    re.I,
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
    if (
        match
        and len(marked) == 1
        and match.end() <= marked[0].start
        and not hidden[match.end() : marked[0].start].strip()
    ):
        return Found(marked[0].text.strip(), (match.start(), marked[0].end))
    if match and match.start() > 0 and _first(reading.text[: match.start()]) in PROGRAMS - ENGLISH_PROGRAMS | {"go"}:
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
    elif not (
        first in PROGRAMS
        or (match and first in ENGLISH_PROGRAMS and re.search(r"\s-", line))
        or shell_line(reading)
        or (line.startswith("./") and match)
    ):
        return None
    if "\n" in line or not plausible(line, reading, start):
        return None
    return Found(line, (match.start() if match else start, len(reading.text)), 1.0 if match else 0.8)


def _bare_command(line: str, first: str, reading: Reading) -> bool:
    """Whether a request is a command line and nothing else: a program, then what only a command would go on with."""
    if reading.of("ext") or re.search(r"[?]\s*$", reading.text):
        return False
    rest = line.split()[1:]
    if shell_line(reading):
        return True
    flagged = any(word.startswith("-") for word in rest)
    if not rest:
        return first in ALONE
    if first in ENGLISH_PROGRAMS and not (first == "go" and re.search(r"\.go\b|\./", line)):
        return flagged
    return flagged or rest[0] in SUBCOMMANDS or "/" in rest[0] or "." in rest[0].strip(".")


def shell_line(reading: Reading) -> bool:
    """Whether a request is a line that only a shell can read: a program first, then a pipe, a redirection or an option."""
    operator = re.search(r"\s(?:(?:\|\|?|&&|\d?>>?|<)\s|--?[A-Za-z])", masked(reading))
    return operator is not None and _first(reading.text) in PROGRAMS | ENGLISH_PROGRAMS


def whole(reading: Reading, start: int, end: int) -> str | None:
    """A span as a command line: quoted, or a program and what only a command would go on with."""
    marked = next((e for e in reading.of("code", "quoted") if (e.start, e.end) == (start, end)), None)
    line = marked.text.strip() if marked else reading.text[start:end]
    if marked or (line and _first(line) in PROGRAMS and plausible(line, reading, start)):
        return line or None
    return None


def _first(line: str) -> str:
    words = line.split()
    while words and re.fullmatch(r"[A-Z_][A-Z0-9_]*=\S*", words[0]):
        words.pop(0)
    return words[0].rsplit("/", 1)[-1].rstrip(";") if words else ""


def _as_script(line: str, path: Entity) -> str:
    """A script by itself is run by its language's interpreter."""
    interpreter = INTERPRETERS.get(path.text.rsplit(".", 1)[-1].lower())
    if interpreter is None or path.text.startswith(("./", "/")):
        return line
    return f"{interpreter} {line}"


def unclear(reading: Reading) -> str:
    """The program of a command that a request seems to give, where it is not sure where it ends; else nothing."""
    match = _RUN.search(masked(reading))
    line = reading.text[match.end() :] if match else reading.text
    if not line.strip() or reading.of("code", "quoted"):
        return ""
    first = _first(line).rstrip(";,.!?")
    return first if first in (PROGRAMS if match else PROGRAMS - ENGLISH_PROGRAMS) else ""
