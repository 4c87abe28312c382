"""How many words name a command, counted from its program: the length of the pattern that "always" offers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pegboard.policy.shell import table_data as data
from pegboard.policy.shell.runners import RUNNERS, SHELLS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pegboard.config.schema import PermissionSettings
    from pegboard.policy.shell.line import Word

MOST = 4
"""Words of the longest name in the tables."""


def base(program: str) -> str:
    """The program behind a path: `.venv/bin/python` is `python`, and `python3.11` is `python3`."""
    name = program.rpartition("/")[2]
    return re.sub(r"^(python[23]?|pip[23]?|pypy[23]?)[0-9.]*$", r"\1", name) if name[:1] == "p" else name


def subcommands(words: Sequence[Word], between: Mapping[str, Sequence[str]]) -> tuple[list[int], bool]:
    """Where the words stand that may name the command (the program is 0), up to an option that is not known to be one
    without a value there; and whether there is none before the longest name is told."""
    found, key, index = [0], base(words[0].text), 1
    while index < len(words) and len(found) < MOST:
        text = words[index].text
        if text == "--":
            break
        if text.startswith("-") and text != "-":
            allowed = between.get(key, ())
            if f"{text}=" in allowed:
                index += 1
            elif text not in allowed:
                return found, False
        else:
            found.append(index)
            key = f"{key} {text}"
        index += 1
    return found, True


def skip(words: Sequence[Word], start: int, allowed: Sequence[str]) -> int | None:
    """The place of the first word from `start` on that is none of the `allowed` options; None: another option is there."""
    while start < len(words) and words[start].text.startswith("-"):
        text = words[start].text
        if text == "--":
            return start + 1
        if f"{text}=" in allowed:
            start += 1
        elif text not in allowed and not (text.startswith("--") and f"{text.partition('=')[0]}=" in allowed):
            return None
        start += 1
    return start


def inner(words: Sequence[Word]) -> int | None | bool:
    """Where the command begins that this one only runs: `uv run pytest`, `python -m pytest`.

    False: it is no such command. None: it is one, but what it runs cannot be told."""
    table = data.names()
    program = base(words[0].text)
    if program in ("python", "python3"):
        return _module(words, table.between[program])
    if len(words) > 1 and f"{program} {words[1].text}" in table.runners:
        at = skip(words, 2, table.runners[f"{program} {words[1].text}"])
        return at if at is not None and at < len(words) else None
    return False


def _module(words: Sequence[Word], allowed: Sequence[str]) -> int | None | bool:
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text == "-m":
            return at + 1 if at + 1 < len(words) else None
        if text not in allowed and f"{text}=" not in allowed:
            return None if any(word.text.startswith("-") and "m" in word.text for word in words[at:]) else False
        at += 1 + (f"{text}=" in allowed)
    return False


def count(words: Sequence[Word], settings: PermissionSettings | None) -> int | None:
    """How many of the words name the command; None: it runs anything, or cannot be told."""
    table = data.names()
    program = base(words[0].text)
    if program in table.anything or program in RUNNERS or program in SHELLS:
        return None
    begins = inner(words)
    if begins is None:
        return None
    if begins is not False:
        rest = count(words[begins:], settings)
        return None if rest is None else begins + rest
    places, _ = subcommands(words, table.between)
    spelled = [program, *(words[at].text for at in places[1:])]
    named = [" ".join(spelled[:length]) for length in range(len(spelled), 0, -1)]
    if any(name in table.anything for name in named):
        return None
    for name in named:
        if name in table.scripts:
            length = name.count(" ") + 1
            return places[length] + 1 if length < len(places) and spelled[length] != "-" else None
    own = settings.bash_words if settings is not None else {}
    wanted = next((own[name] for name in named if name in own), None)
    if wanted is None:
        wanted = next((table.words[name] for name in named if name in table.words), 1)
    if wanted == 1:
        return 1
    return places[wanted - 1] + 1 if wanted <= len(places) else None
