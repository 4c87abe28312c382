"""What the shell's own commands do that no pattern may pass: change what later words mean, or run what they are given."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pegboard.policy.shell.given import lines
from pegboard.policy.shell.line import Word
from pegboard.policy.shell.runners import RUNNERS, SHELLS, base, describes, started

_CHANGES = frozenset(
    [
        "alias",
        "unalias",
        "shopt",
        "enable",
        "hash",
        "trap",
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "unset",
        "read",
        "mapfile",
        "readarray",
        "getopts",
        "let",
        "bind",
        "complete",
        "compgen",
        "compopt",
        "fc",
        "history",
    ]
)
_RUNS = frozenset(["eval", "exec", "source", ".", "builtin"])
_INDEXED = frozenset(["test", "[", "printf", "wait"])
_SET = re.compile(r"[-+][euxvfC]+|[-+]o|errexit|nounset|xtrace|pipefail|noclobber")


def builtin_risk(words: Sequence[Word]) -> tuple[str, str] | None:
    """The rule and the reason, for commands of the shell itself and programs that start another."""
    if not words or not words[0].plain:
        return ("R14", "names its program by more than plain letters") if words else None
    name = words[0].text
    given = [word.text for word in words[1:]]
    if name in _CHANGES:
        return "R8", "changes what the shell does with what follows"
    if name in _RUNS and given:
        return "R8", "runs what it is given"
    if name == "set" and not all(word.plain and _SET.fullmatch(word.text) for word in words[1:]):
        return "R8", "changes what the shell does with what follows"
    if name in _INDEXED and any(word.glob and word.text[0] in "-*?[" for word in words[1:]):
        return "R9", "holds a glob that may become an option"
    if name in ("test", "[") and any(text in ("-v", "-R") for text in given):
        return "R8", "looks at a variable, whose index may run a command"
    if name == "printf" and given and given[0].startswith("-v"):
        return "R8", "sets a variable, whose index may run a command"
    if name == "wait" and any(text.startswith("-") and "p" in text for text in given):
        return "R8", "sets a variable, whose index may run a command"
    if name == "jobs" and any(not word.inert or (word.text.startswith("-") and "x" in word.text) for word in words[1:]):
        return "R8", "runs what it is given"
    if describes(words):
        return None
    program = base(words[0])
    if program in RUNNERS and next(iter(started(words)), None) is not None:
        return "R8", "runs another program, named on the line"
    if program in SHELLS | RUNNERS.keys() and next(iter(lines(words)), None) is not None:
        return "R8", "runs a command line that it is given"
    return None
