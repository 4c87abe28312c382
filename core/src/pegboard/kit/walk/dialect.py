r"""Patterns as rg understands them, checked, and written for Python's `re`.

rg's dialect is the one that counts. The Python engine translates what `re` spells differently (`\z`, POSIX classes,
`\p{...}`, `(?<name>...)`, `\x{...}`, `\<`, inline flags in the middle) and refuses by name what it lacks. Look-around
and back-references work in the Python engine only.

Both engines look at one line at a time. In the usual mode a CR, too, is no part of what a pattern sees (rg's --crlf),
so that `$` works in files with CRLF; a pattern that names CR switches that off.
"""

from __future__ import annotations

import re
import sys

from pegboard.kit.walk.charsets import NOT_POSIX, POSIX, property_ranges

MAX_CHARS = 10_000
"""The longest pattern."""

HINT = "Escape special characters, or set regex=false to search for the text as it is."
_NEWLINE = re.compile(r"\\n|\\x0[aA]|\\x\{0*[aA]\}|\\u000[aA]|\\u\{0*[aA]\}")
_RETURN = re.compile(r"\\r|\\x0[dD]|\\x\{0*[dD]\}|\\u000[dD]|\\u\{0*[dD]\}")
_TOKEN = re.compile(
    r"""\\[pP](?:\{(?P<property>[^}]*)\}|(?P<letter>[A-Za-z]))
      | \\[xuU]\{(?P<code>[0-9A-Fa-f]{1,8})\}
      | \\b\{(?P<boundary>start|end|start-half|end-half)\}
      | (?P<escape>\\.)
      | \(\?(?P<flags>[a-zA-Z]*(?:-[a-zA-Z]+)?)(?P<scoped>[:)])
      | \(\?<(?P<name>[A-Za-z_]\w*)>
      | (?P<open>\()
      | (?P<repeat>[*+?]|\{\d*,?\d*\})""",
    re.VERBOSE | re.DOTALL,
)
_LONE = "\\udc80-\\udcff"
"""How `re` sees bytes that are not UTF-8: nothing in rg's patterns matches those."""
_SIMPLE = {
    r"\D": rf"[^\d{_LONE}]",
    r"\S": rf"[^\s{_LONE}]",
    r"\W": rf"[^\w{_LONE}]",
    r"\<": r"\b(?=\w)",
    r"\>": r"\b(?<=\w)",
}
_BOUNDARY = {"start": r"\b(?=\w)", "end": r"\b(?<=\w)", "start-half": r"(?<!\w)", "end-half": r"(?!\w)"}


class BadPattern(ValueError):
    """The pattern cannot be searched for; the text says why."""


def check(pattern: str, *, regex: bool) -> None:
    """Refuse, for either engine, what would not be searched for as meant. Raises BadPattern."""
    if not pattern:
        raise BadPattern("The pattern is empty: it would match every line. Nothing was searched; give some text.")
    if len(pattern) > MAX_CHARS:
        raise BadPattern(f"The pattern is longer than {MAX_CHARS:,} characters. Nothing was searched; shorten it.")
    if "\0" in pattern or any("\ud800" <= char <= "\udfff" for char in pattern):
        raise BadPattern("The pattern holds a NUL or half a character, which no text has. Nothing was searched.")
    outside = _outside_classes(pattern) if regex else pattern
    if "\n" in pattern or (regex and _NEWLINE.search(outside)):
        text = "The pattern has a line break in it, but lines are searched one by one. Nothing was searched; "
        raise BadPattern(text + "search for one of the lines, and read the file around the hits.")


def plain_anchors(pattern: str) -> str:
    r"""The pattern with `^` and `$` for `\A` and `\z`: the same in one line, where rg is not sure of the latter."""
    out, at = "", 0
    while at < len(pattern):
        size = 2 if pattern[at] == "\\" else _class_end(pattern, at) - at if pattern[at] == "[" else 1
        piece = pattern[at : at + max(size, 1)]
        out += {r"\A": "^", r"\z": "$"}.get(piece, piece)
        at += max(size, 1)
    return out


def names_cr(pattern: str, *, regex: bool) -> bool:
    """Whether the pattern speaks of carriage returns."""
    return "\r" in pattern or (regex and bool(_RETURN.search(pattern.replace("\\\\", ""))))


def _outside_classes(pattern: str) -> str:
    """The pattern without bracket expressions and escaped backslashes. Raises BadPattern when it is not balanced."""
    out, at, depth = "", 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            if at + 1 == len(pattern):
                raise BadPattern(f"Invalid regex: it ends in a lone backslash. {HINT}")
            out += "" if pattern[at + 1] == "\\" else pattern[at : at + 2]
            at += 2
            continue
        if char == "[" and (end := _class_end(pattern, at)):
            at = end
            continue
        depth += (char == "(") - (char == ")")
        if depth < 0:
            raise BadPattern(f"Invalid regex: unopened group. {HINT}")
        out += char
        at += 1
    return out


def _class_end(pattern: str, at: int) -> int:
    """Where the bracket expression that begins here is over, nested ones counted as rg does; 0 when it never is."""
    depth, here = 0, at
    while here < len(pattern):
        char = pattern[here]
        if char == "\\":
            here += 2
            continue
        if char == "[":
            if depth and (end := pattern.find(":]", here)) > 0 and re.fullmatch(r"\[:\^?\w+", pattern[here:end]):
                here = end + 2
                continue
            depth += 1
            here += 1
            here += pattern.startswith("^", here)
            here += pattern.startswith("]", here)
            continue
        depth -= char == "]"
        here += 1
        if depth == 0:
            return here
    return 0


def to_python(pattern: str) -> str:
    """The pattern for `re`. Raises BadPattern, naming what this engine lacks."""
    return _Translation(pattern).result()


class _Translation:
    """One pass over a pattern. `closing`: for each open group, how many scoped flag groups end with it, and theirs."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.out: list[str] = []
        self.closing: list[list[str]] = [[]]
        self.repeated = False

    def result(self) -> str:
        at = 0
        while at < len(self.pattern):
            at = self._step(at)
        return "".join(self.out) + ")" * len(self.closing[0])

    def _step(self, at: int) -> int:
        char = self.pattern[at]
        if char == "[":
            end = _class_end(self.pattern, at)
            self._put(_class(self.pattern[at:end]) if end else char)
            return end or at + 1
        if self.pattern.startswith("(?#", at):
            raise BadPattern(f"Invalid regex: comments are not known. {HINT}")
        if found := _TOKEN.match(self.pattern, at):
            self._token(found)
            return found.end()
        if char == ".":
            self._put(rf"[^\n{_LONE}]")
        elif char == ")" and len(self.closing) > 1:
            self._put(")" * (len(self.closing.pop()) + 1))
        elif char == "|":
            flags = self.closing[-1]
            self._put(")" * len(flags) + "|" + "".join(f"(?{flag}:" for flag in flags))
        else:
            self._put(char)
        return at + 1

    def _put(self, text: str) -> None:
        self.out.append(text)
        self.repeated = False

    def _token(self, found: re.Match[str]) -> None:
        match found.lastgroup:
            case "property" | "letter":
                self._put(f"[{_property(found)}]")
            case "code":
                self._put(_code(found["code"]))
            case "boundary":
                self._put(_BOUNDARY[found["boundary"]])
            case "escape":
                if found[0] == r"\Z":
                    raise BadPattern(r"Invalid regex: \Z is not known; use \z or $.")
                self._put(_SIMPLE.get(found[0], found[0]))
            case "flags" | "scoped":
                self._flags(found["flags"], scoped=found["scoped"] == ":")
            case "name":
                self._open(f"(?P<{found['name']}>")
            case "open":
                self._open("(")
            case _:
                self._repeat(found[0])

    def _open(self, text: str) -> None:
        self._put(text)
        self.closing.append([])

    def _repeat(self, text: str) -> None:
        if self.out and self.out[-1] == "(" and text == "?":  # `(?=`, `(?!`, `(?<=`, `(?P...`
            self._put(text)
            return
        if self.repeated and text != "?":
            text = f"a repetition of a repetition ({text}) is not known to the Python engine"
            raise BadPattern(f"Invalid regex: {text}. {HINT}")
        self._put(text)
        self.repeated = True

    def _flags(self, flags: str, *, scoped: bool) -> None:
        for flag in flags.replace("-", ""):
            if flag not in "imsu":
                raise BadPattern(f"Invalid regex: the flag (?{flag}) is not known to the Python engine. {HINT}")
        on, _, off = flags.partition("-")
        if "u" in off:
            raise BadPattern(f"Invalid regex: the flag (?-u) is not known to the Python engine. {HINT}")
        known = on.replace("u", "") + (f"-{off}" if off else "")
        if scoped:
            self._open(f"(?{known}:")
        elif known:
            self._put(f"(?{known}:")
            self.closing[-1].append(known)


def _class(text: str) -> str:
    """A bracket expression for `re`."""
    inside, out, at = text[1:-1], "[", 0
    if inside.startswith("^"):
        out, at = f"[^{_LONE}", 1
    while at < len(inside):
        if inside[at] == "[":
            posix = re.compile(r"\[:(\^?)(\w+):\]").match(inside, at)
            if not posix or posix[2] not in (NOT_POSIX if posix[1] else POSIX):
                what = f"the class {posix[0]}" if posix else "a class inside a class"
                raise BadPattern(f"Invalid regex: {what} is not known to the Python engine. {HINT}")
            out += (NOT_POSIX if posix[1] else POSIX)[posix[2]]
            at = posix.end()
        elif inside[at : at + 2] in ("&&", "--", "~~"):
            text = f"the class operator {inside[at : at + 2]} is not known to the Python engine"
            raise BadPattern(f"Invalid regex: {text}. {HINT}")
        elif inside[at] == "\\" and (found := _TOKEN.match(inside, at)):
            if found.lastgroup in ("property", "letter"):
                out += _property(found)
            else:
                out += _code(found["code"]) if found["code"] else found[0]
            at = found.end()
        else:
            out += inside[at] if inside[at] not in "|&~]" else "\\" + inside[at]
            at += 1
    return out + "]"


def _code(digits: str) -> str:
    number = int(digits, 16)
    if number > sys.maxunicode or 0xD800 <= number <= 0xDFFF:
        raise BadPattern(f"Invalid regex: there is no character {digits}. {HINT}")
    return f"\\U{number:08x}"


def _property(found: re.Match[str]) -> str:
    r"""What stands inside brackets for `\p{...}` and `\P{...}`."""
    ranges = property_ranges(found["property"] or found["letter"], negated=found[0].startswith("\\P"))
    if not ranges:
        text = f"the property {found[0]} is not known to the Python engine"
        raise BadPattern(f"Invalid regex: {text}, which knows general categories such as \\p{{Lu}}.")
    return ranges
