"""What a line means that was typed at a question for permission. Nothing here reads or writes."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from pegboard.terminal import plain

Scope = Literal["session", "project", "user"]

ENDING = '[N]o (or: "n because ...") '
"""How every question for permission ends."""
SCOPES: dict[Scope, tuple[str, str]] = {
    "session": ("s", "this [s]ession"),
    "project": ("p", "this [p]roject"),
    "user": ("e", "[e]very project"),
}
"""How long "always" may stand: the key, and how it is offered."""
RUN = "the re[s]t of this run"
"""How `session` is offered where the process ends with the turn: what it keeps ends with it."""
_LONG: dict[str, Scope] = {"session": "session", "project": "project", "every": "user", "every project": "user"}
_NO = re.compile(r"(?:no|n)\b[\s,:;.-]*(?:because\b)?\s*(?P<reason>.*)", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"(\d{1,4})(?:\s*(?:-|\.\.)\s*(\d{1,4}))?")


class Reply(NamedTuple):
    """What was typed. `always`: the yes stands for what the question said it would keep. `edit`: not yet, the arguments
    are to be edited first."""

    granted: bool
    reason: str | None = None
    always: bool = False
    edit: bool = False


def read_reply(line: str) -> Reply | None:
    """What was typed; None when it is no answer. An empty line means no."""
    text = line.strip()
    match text.casefold():
        case "y" | "yes":
            return Reply(True)
        case "a" | "always":
            return Reply(True, always=True)
        case "e" | "edit":
            return Reply(False, edit=True)
        case "":
            return Reply(False)
    no = _NO.fullmatch(text)
    return Reply(False, plain(no["reason"].strip()) or None) if no else None


def read_scope(line: str, offered: list[Scope]) -> Scope | Literal["change", "back"] | None:
    """How long "always" stands. `change`: the pattern first; `back`: to the question, which an empty line means too."""
    word = " ".join(line.casefold().split())
    if word in ("", "n", "no", "b", "back"):
        return "back"
    if word in ("c", "change"):
        return "change"
    return next((scope for scope in offered if word == SCOPES[scope][0] or _LONG.get(word) == scope), None)


def read_choice(line: str, count: int) -> frozenset[int] | Literal["one by one"] | None:
    """Which of several calls are allowed, by their numbers from 1: `yes` (all), `2`, `1 3`, `1-3, 5`, `no` or nothing.

    None when it is no answer; a number that none of them has is none."""
    text = line.strip().casefold()
    match text:
        case "y" | "yes" | "all":
            return frozenset(range(1, count + 1))
        case "o" | "one by one":
            return "one by one"
        case "" | "n" | "no" | "none":
            return frozenset()
    chosen: set[int] = set()
    rest = text
    while rest:
        part = _PART.match(rest)
        if part is None:
            return None
        first, last = int(part[1]), int(part[2] or part[1])
        if not 1 <= first <= last <= count:
            return None
        chosen.update(range(first, last + 1))
        after = rest[part.end() :]
        rest = after.lstrip(" ,")
        if rest == after and rest:
            return None  # `1-2-3`, `1x`
    return frozenset(chosen)
