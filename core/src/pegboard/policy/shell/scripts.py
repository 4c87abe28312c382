"""Scripts of sed and awk that stand on a command line: whether they only change what is printed.

Not parsers of those languages: they accept a part of each that can be read for certain, and no more.
"""

from __future__ import annotations

import re

_DELIMITERS = "/|#,:@!%"


def _part(mark: str) -> str:
    """Text between delimiters: no bare delimiter, no line end; brackets hold neither, nor backslashes."""
    bar = re.escape(mark)
    return rf"(?:[^{bar}\\\[\n]|\\[^\n]|\[\^?[^\]\\\n{bar}]+\])*"


_BLANK = r"[ \t]*"
_ADDRESS = rf"(?:[0-9]+(?:~[0-9]+)?|\$|/{_part('/')}/[IM]*)"
_RANGE = rf"(?:{_ADDRESS}(?:{_BLANK},{_BLANK}(?:{_ADDRESS}|[+~][0-9]+))?{_BLANK}!?{_BLANK})?"
_SUBSTITUTION = "|".join(
    rf"s{re.escape(mark)}{_part(mark)}{re.escape(mark)}{_part(mark)}{re.escape(mark)}[gpiIm0-9]*"
    for mark in _DELIMITERS
)
_SED = re.compile(rf"{_RANGE}(?:[pdPDgGhHxnNl=]|[qQ]{_BLANK}[0-9]*|{_SUBSTITUTION}){_BLANK}(?:[;\n][\s;]*|\Z)")

_AWK_LETTERS = re.compile(r"[\w\s$.,;:(){}+*/%=!<>&\"'~^?\[\]#\\|-]*", re.ASCII)
_AWK_NAMES = r"(?:system|getline|ENVIRON|PROCINFO|ARGV|ARGC|FUNCTAB|SYMTAB|close|extension|load)(?![A-Za-z_0-9])"
# A name may follow a number at once (`1system(x)`), and a number may hold letters (`0xfsystem(x)`).
_AWK_WORDS = re.compile(rf"(?<![A-Za-z_0-9])(?:[0-9][0-9A-Za-z_.+-]*?)?{_AWK_NAMES}")
_AWK_PATTERN = re.compile(r"\s*!?\s*/[^/\\\[\]\n]*/")
_AWK_REDIRECTS = re.compile(r"(?<![A-Za-z_])printf?(?![A-Za-z_0-9]).*>|(?<!\|)\|(?!\|)|\|\|\||>>", re.DOTALL)


def sed_only_prints(script: str) -> bool:
    """Whether a sed script only prints, deletes and substitutes: none of its commands runs, reads or writes a file."""
    at = len(script) - len(script.lstrip(" \t\n;"))
    while at < len(script):
        command = _SED.match(script, at)
        if command is None:
            return False
        at = command.end()
    return bool(script)


def awk_only_prints(program: str) -> bool:
    """Whether an awk program starts nothing, opens no other file and looks at no environment."""
    if not _AWK_LETTERS.fullmatch(program) or _AWK_WORDS.search(program):
        return False
    pattern = _AWK_PATTERN.match(program)  # only there is a slash sure to begin one
    return not _AWK_REDIRECTS.search(program[pattern.end() :] if pattern else program)
