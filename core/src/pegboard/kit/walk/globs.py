"""Glob patterns, compiled to regular expressions that match in linear time.

`*` and `?` stay within a folder, `**` as a whole component spans folders, `[...]` is one character, `{a,b}` one of
several texts (nested too), and a backslash takes the next character as it is. Patterns may come from a stranger (an
ignore file in a clone, a model), so nothing here may backtrack without bound: what follows a star is matched where it
first fits, in an atomic group, which for globs is always right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pegboard.errors import ToolError

MAX_ALTERNATIVES = 512
"""How many patterns braces may stand for."""

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t-\\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
_STAR = "*"


def segment_regex(segment: str, *, hidden: bool, strict: bool = False) -> str | None:
    """A regular expression for one component. `hidden`: a wildcard in front also stands for a leading dot.

    `strict` takes what is malformed (an open bracket, a lone backslash at the end) as git does: it matches nothing, and
    the answer is None. Else it stands for itself.
    """
    pieces: list[str] = [""]
    for token in _tokens(segment, strict):
        if token is None:
            return None
        if token is _STAR:
            pieces.append("")
        else:
            pieces[-1] += token
    first, *rest = pieces
    visible = "" if hidden or segment[:1] not in ("*", "?", "[") else r"(?!\.)"
    if not rest:
        return visible + first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece)
    return f"{visible}{first}{middle}[^/]*{rest[-1]}"


def _tokens(segment: str, strict: bool) -> Iterator[str | None]:
    """Regular expressions of one character each, `_STAR`, or None for what is malformed."""
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            yield _STAR
        elif char == "?":
            yield "[^/]"
        elif char == "\\" and at < len(segment):
            yield re.escape(segment[at])
            at += 1
        elif char == "\\" and strict:
            yield None
        elif char == "[" and (end := class_end(segment, at)):
            yield _class_regex(segment[at : end - 1])
            at = end
        elif char == "[" and strict:
            yield None
        else:
            yield re.escape(char)


def class_end(text: str, at: int) -> int:
    """Where the bracket expression whose inside begins at `at` is over; 0 when it never is."""
    if text[at : at + 1] in ("!", "^"):
        at += 1
    first = at
    while at < len(text):
        if text[at] == "]" and at > first:
            return at + 1
        if text[at] == "\\":
            at += 2
        elif text.startswith("[:", at) and (end := text.find(":]", at + 2)) > 0:
            at = end + 2
        else:
            at += 1
    return 0


def _class_regex(inside: str) -> str:
    """A bracket expression's inside, as the regular expression of one character that is no slash."""
    negated = inside[:1] in ("!", "^")
    items, at = [], int(negated)
    while at < len(inside):
        name, end = (inside[at + 2 :].partition(":]")[0], inside.find(":]", at + 2)) if inside[at] == "[" else ("", -1)
        if inside.startswith("[:", at) and end > 0:
            items.append(_POSIX.get(name, ""))
            at = end + 2
            continue
        low, at = _class_char(inside, at)
        if inside[at : at + 1] == "-" and at + 1 < len(inside):
            high, at = _class_char(inside, at + 1)
            items.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else "")
        else:
            items.append(re.escape(low))
    chars = "".join(items)
    if negated:
        return f"[^/{chars}]"
    return f"(?!/)[{chars}]" if chars else r"(?!)"


def _class_char(inside: str, at: int) -> tuple[str, int]:
    if inside[at] == "\\" and at + 1 < len(inside):
        at += 1
    return inside[at], at + 1


def path_regex(segments: Sequence[str], *, hidden: bool, strict: bool = False) -> str | None:
    """A regular expression for a whole path of these components; None when one is malformed (see `segment_regex`)."""
    groups: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            if len(groups) == 1 or groups[-1]:
                groups.append([])
            continue
        part = segment_regex(segment, hidden=hidden, strict=strict)
        if part is None:
            return None
        groups[-1].append(part)
    folder = "[^/]+" if hidden else r"(?!\.)[^/]+"
    first, *rest = ("/".join(group) for group in groups)
    regex = f"{first}/" if first and rest else first
    for group in rest[:-1]:
        regex += f"(?>(?:{folder}/)*?{group}/)"
    if rest:
        regex += f"(?:{folder}/)*?{rest[-1]}" if rest[-1] else f"(?:{folder}/)*{folder}"
    return regex + r"\Z"


def expand(pattern: str) -> list[str]:
    """The patterns that braces stand for, in order. Braces that are not closed, or empty, stand for themselves."""
    done: list[str] = []
    waiting = [("", pattern)]
    while waiting:
        if len(waiting) + len(done) > MAX_ALTERNATIVES:
            text = f"The pattern's braces stand for more than {MAX_ALTERNATIVES} patterns. Search for fewer at a time."
            raise ToolError(text)
        head, tail = waiting.pop()
        found = _first_braces(tail)
        if found is None:
            done.append(head + tail)
            continue
        start, end, choices = found
        rests = [(head + tail[:start], choice + tail[end:]) for choice in choices]
        waiting.extend(reversed(rests))
    return done


def _first_braces(text: str) -> tuple[int, int, list[str]] | None:
    """The first pair that has something in it: its start, its end, its choices."""
    at = 0
    while (at := _next(text, at, "{")) < len(text):
        cuts, depth, here = [at], 1, at + 1
        while depth and (here := _next(text, here, "{},")) < len(text):
            depth += {"{": 1, "}": -1, ",": 0}[text[here]]
            if depth == 0 or (depth == 1 and text[here] == ","):
                cuts.append(here)
            here += 1
        if depth == 0 and here - at > 2:
            return at, here, [text[start + 1 : end] for start, end in pairwise(cuts)]
        at += 1
    return None


def _next(text: str, at: int, wanted: str) -> int:
    """The next of the wanted characters that is neither escaped nor in a bracket expression; the length when none."""
    while at < len(text) and text[at] not in wanted:
        if text[at] == "\\":
            at += 2
        elif text[at] == "[" and (end := class_end(text, at + 1)):
            at = end
        else:
            at += 1
    return min(at, len(text))


def literal(segment: str) -> str | None:
    """The one name that a component without wildcards stands for; None when it has some."""
    name, at = "", 0
    while at < len(segment):
        char = segment[at]
        if char in "*?" or (char == "[" and class_end(segment, at + 1)):
            return None
        if char == "\\" and at + 1 < len(segment):
            at += 1
        name += segment[at]
        at += 1
    return name


def quoted(name: str) -> str:
    """A component that stands for exactly this name."""
    return re.sub(r"([\\*?\[\]{},!])", r"\\\1", name)
