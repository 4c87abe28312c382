r"""Patterns over paths, as people write them in ignore files, and the folding that finds a name behind its spellings.

A pattern without a slash names a file or folder at any depth; one with a slash starts at the workspace root, unless it
begins with `**/`. `*` and `?` stay within one name, `**` spans folders, `[abc]` is a class, `\` takes the next
character as it is. There is no negation.

A project that came with a clone may bring patterns, so matching must not blow up: all but the last `*` of a name (and
all but the last `**` of a path) match as little as they can and never try again, which loses no match.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

END = r"(?=/|\Z)"
LOOSE_END = rf"[ .~]*(?::[^/]*)?{END}"
"""What may follow a name and leave it the same: Windows drops dots and spaces and cuts streams off (`.git::$DATA`); `~`
ends an editor's backup."""

_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Characters that HFS+ and case-insensitive ext4 leave out when they compare names (git: core.protectHFS)."""

_PIECE = re.compile(r"(\*+)|\\(.)|\?|(\[[!^]?\]?[^]]*\])|(.)", re.DOTALL)


class Glob(msgspec.Struct, frozen=True):
    """A pattern ready to match: `regex` is searched for in a path that begins with a slash.

    `floating`: it may begin at any depth. `absolute`: it was written with a leading slash.
    """

    regex: str
    floating: bool
    absolute: bool


def fold(path: str) -> str:
    """`path` in the form in which protected names are looked for: without letter case and what cannot be seen."""
    if path.isascii():
        return path.lower()
    plain = unicodedata.normalize("NFD", _IGNORABLE.sub("", path)).casefold()
    return unicodedata.normalize("NFC", plain)


def whole(pattern: str) -> Glob:
    """The pattern as a grant: a whole path, letter by letter. `x/` and `x/**` are `x` and everything in it."""
    return _translate(pattern, END, grant=True)


def covering(pattern: str) -> Glob:
    """The pattern as a ban, for folded paths: what it names and everything below, under every spelling."""
    return _translate(fold(pattern), LOOSE_END, grant=False)


def _translate(pattern: str, end: str, *, grant: bool) -> Glob:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    floating = "/" not in pattern.rstrip("/") or parts[:1] == ["**"]
    folder = pattern.endswith("/") or parts[-1:] == ["**"]
    if parts and set(parts) <= {"**"}:
        parts = ["*"]
    while parts[:1] == ["**"]:
        parts.pop(0)
    while parts[-1:] == ["**"]:
        parts.pop()
    if not parts:  # "/" and "." name no file
        return Glob("(?!)", False, False)
    runs: list[str] = [""]
    for part in parts:
        if part != "**":
            runs[-1] += "/" + _name(part) + end
        elif runs[-1]:
            runs.append("")
    first, *later = runs
    to_the_end = grant and not folder
    last = [later.pop()] if later and to_the_end else []  # the one that may have to try again: it is bound to the end
    regex = first + "".join(rf"(?>(?:/[^/]+)*?{run})" for run in later) + "".join(rf"(?:/[^/]+)*?{run}" for run in last)
    return Glob(("" if floating else r"\A") + regex + (r"\Z" if to_the_end else ""), floating, pattern.startswith("/"))


def _name(part: str) -> str:
    """The regular expression of one name."""
    runs: list[str] = [""]
    for star, escaped, charset, plain in (piece.groups() for piece in _PIECE.finditer(part)):
        if star:
            runs.append("")
        elif charset:
            runs[-1] += _charset(charset[1:-1])
        else:
            letter = escaped or plain
            runs[-1] += re.escape(letter) if letter else "[^/]"
    first, *later = runs
    if not later:
        return first
    return first + "".join(rf"(?>[^/]*?{run})" for run in later[:-1]) + "[^/]*" + later[-1]


def _charset(body: str) -> str:
    negated = body[:1] in ("!", "^")
    letters, members = body[1:] if negated else body, ""
    while letters:
        first, last = letters[0], letters[2:3] if letters[1:2] == "-" else ""
        letters = letters[3:] if last else letters[1:]
        if not last:
            members += re.escape(first)
        elif first <= last:
            members += f"{re.escape(first)}-{re.escape(last)}"
    if not members:
        return "[^/]" if negated else "(?!)"
    return rf"(?!/)[{'^' if negated else ''}{members}]"
