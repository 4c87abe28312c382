"""Whether words that are not marked as a command can only be one: a program first, then what only a program is given."""

from __future__ import annotations

import re

from pegboard_offline.bags import bag
from pegboard_offline.entities import Reading
from pegboard_offline.lexicon import known
from pegboard_offline.names import ENGLISH_PROGRAMS, FOLDERS, INTERPRETERS, PROGRAMS, SUBCOMMANDS

MASK = "\x01"
_PROSE = bag(
    """with on and for the please in to so if again now from using a an my our it them then when after before until
    that this i you we is are was were all every against over but or because about like as no not nope nah lol lmao jk
    haha ok okay yes yeah kidding joke joking wait oops maybe perhaps just only either neither never
    gives give shows says say prints takes took runs ran works worked work fails failed fail failing broke breaks broken
    crashes crashed hangs hung errors error slow fast twice once daily forever please thanks today tomorrow tonight
    later soon sometime has have had does did do will would could should can cannot here there everywhere somewhere
    what why how who where which sense believe love sure"""
)
_TARGETS = SUBCOMMANDS | bag(
    """deploy release format demo docs coverage bench benchmark package dist record help setup bootstrap reset compile
    create new switch merge rebase remote tag rm mv images logs types imports sizes pins distclean pop apply plan
    destroy doc stop migrate runserver shell version list info report html all_tests aux bash sh global
    blame reflog describe bisect revert main master"""
)
"""Words that stand behind a program as what it is to do."""

_WITHOUT_NAMES = bag(
    """ls pwd whoami pytest uptime nproc uname date df du free ps sleep tree top env mypy ruff flake8 black pyright tox nox
    hostname tsc eslint prettier jest mocha wc head tail"""
)
"""Programs that are seldom given a bare word other than a path."""

_TEXTS = bag("echo printf")
_PATTERNS = bag("grep rg awk sed")
_WRAPPERS = bag("sudo nohup time env xargs npx")
_OPERATOR = re.compile(r"\s*(?:\|\|?|&&|;)\s*")
_ARGUMENT = re.compile(
    rf"-{{1,2}}[\w][\w=:./,@+%~{MASK}-]*|--?|[-+]?\d[\w.,:%-]*|[\w./\\=:$~@+*%^,{{}}\[\]#&<>{MASK}-]+"
)
_BARE = re.compile(r"[A-Za-z][\w-]*")
_ODD_WORD = re.compile(r"[a-z]{3,}(?:ly|ed|ing)")


def plausible(line: str, reading: Reading, start: int) -> bool:
    """Whether a line of a request, standing at `start`, can only be a command."""
    hidden = _hidden(line, reading, start)
    pieces = _OPERATOR.split(hidden)
    return all(_one(piece.split(), reading=reading) for piece in pieces)


def _hidden(line: str, reading: Reading, start: int) -> str:
    """The line with its quoted parts masked. A line that was put behind an interpreter is as long as it was, and more."""
    found = reading.text.find(line, start)
    if found < 0:
        return re.sub(r"\"[^\"\n]*\"|'[^'\n]*'", lambda match: MASK * len(match[0]), line)
    for entity in reading.of("quoted", "code"):
        if found <= entity.start and entity.end <= found + len(line):
            at, end = entity.start - found, entity.end - found
            line = line[:at] + MASK * (end - at) + line[end:]
    return line


def _one(words: list[str], reading: Reading) -> bool:
    """One command of a line."""
    while words and (re.fullmatch(r"[A-Za-z_]\w*=\S*", words[0]) or (words[0] in _WRAPPERS and len(words) > 1)):
        words = words[1:]
    if not words:
        return False
    program = words[0].rsplit("/", 1)[-1]
    if not (program in PROGRAMS | ENGLISH_PROGRAMS or "/" in words[0] or words[0] in INTERPRETERS.values()):
        return False
    if program in _TEXTS:
        if words[1:2] == ["with"] and any(word.startswith(MASK) for word in words[2:]):
            return False  # "execute printf with 'a'": those are its arguments, not the text
        into = next((at for at, word in enumerate(words) if word.startswith(">")), len(words))
        return len(words) <= into + 2 and not any(re.search(r"[()?]", word) for word in words[1:])
    named = 0
    paths = {entity.text for entity in reading.of("file", "folder", "glob", "rev", "url")}
    for at, word in enumerate(words[1:], 1):
        kind = _kind(word, program, paths, last=at == len(words) - 1)
        if kind == "odd" or (kind == "name" and named and word.isalpha()):
            return False
        named += kind == "name"
    return True


def _kind(word: str, program: str, paths: set[str], last: bool) -> str:
    """What a word behind a program is: "argument", "name" (a bare word that may be one), or "odd"."""
    low = word.lower()
    if low in _PROSE or low == "/s":
        return "odd"
    if word in paths or word in FOLDERS or word in PROGRAMS - ENGLISH_PROGRAMS or word.startswith(MASK):
        return "argument"
    if _BARE.fullmatch(word):
        if low in _TARGETS and program not in ("touch", "mkdir"):
            return "argument"
        if program in _PATTERNS:
            return "name"
        usual = program in _WITHOUT_NAMES or _ODD_WORD.fullmatch(low) or known(low)
        return "odd" if usual else "name"
    if word == "-" or re.search(r"[A-Za-z](?:\.+|[,;:!?…])$", word) or (word in (".", "..", "…") and not last):
        return "argument" if word in (".", "..") else "odd"
    return "argument" if _ARGUMENT.fullmatch(word) else "odd"
