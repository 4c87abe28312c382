"""Which names a plugin may have, and what follows from one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from dataclasses import dataclass

from pegboard.config.schema import RESERVED, Config
from pegboard.entries import Survey, normal, own_distributions
from pegboard.providers import LOCAL

from pegboard_cli.group import COMMANDS

KINDS = {
    "toolset": "tools for a model and for people",
    "guard": "sees each call, and refuses it or has a person asked",
    "approver": "answers in a person's place, once they name it",
    "renderer": "draws what a tool returns",
    "provider": "speaks to a model",
    "launcher": "starts the programs of tools in its own way",
    "command": "a sub-command of pegboard",
}
"""What may be made, in words."""
LONGEST = 32

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


class BadName(Exception):
    """Why a plugin cannot have this name, and what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """A plugin's name, and the same as Python spells it."""

    name: str
    identifier: str

    @property
    def distribution(self) -> str:
        """What it is installed as."""
        return f"pegboard-{self.name}"

    @property
    def module(self) -> str:
        """What it is imported as. Keywords and modules of Python's own are no trouble behind the prefix."""
        return f"pegboard_{self.identifier}"


def names_of(name: str) -> Names:
    """What follows from a name that is one."""
    return Names(name=name, identifier=name.replace("-", "_"))


def checked(name: str, kind: str, installed: Survey) -> Names:
    """A name for a new plugin. `installed`: what is there, for the names that are Pegboard's own.

    Raises:
        BadName: it is none, or somebody's.
    """
    if not _NAME.fullmatch(name):
        hint = _spelled_right(name)
        raise BadName(
            f"{name!r} is no name for a plugin: small letters, digits, and single hyphens between them, a letter first{hint}"
        )
    if len(name) > LONGEST:
        raise BadName(f"a name of {len(name)} letters is too long; {LONGEST} are enough")
    if name in RESERVED or name in Config.__struct_fields__:
        raise BadName(
            f"{name!r} is a setting of Pegboard's own, so the plugin could have no table of settings; choose another"
        )
    if name in _taken(installed):
        raise BadName(f"{name!r} is the name of a part of Pegboard, which would go before yours; choose another")
    if kind == "provider" and name == LOCAL:
        raise BadName(f"`{LOCAL}/MODEL` is a model of a server found on this machine; choose another name")
    if kind == "command" and name in COMMANDS:
        raise BadName(f"`pegboard {name}` is a command of Pegboard's own, which no plugin replaces; choose another")
    return names_of(name)


def no_kind(word: str) -> str:
    """What is said of a word that is no kind, or of none."""
    if not word:
        return f"say which kind: {', '.join(f'{kind} ({does})' for kind, does in KINDS.items())}"
    near = difflib.get_close_matches(word.lower(), KINDS, 1, 0.5)
    hint = f"; did you mean {near[0]}?" if near else ""
    if word.lower() == "slash":
        hint = ". A slash command is a function and an entry point of pegboard.slash, in any of these"
    return f"{word!r} is no kind of plugin ({', '.join(KINDS)}){hint}"


def _spelled_right(name: str) -> str:
    """A name like it that would do, as the end of a sentence."""
    better = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    better = better.removeprefix("pegboard-")
    return f"; how about {better}?" if _NAME.fullmatch(better) and len(better) <= LONGEST else ""


def _taken(installed: Survey) -> Collection[str]:
    """Names of our own plugins, and what is left of our distributions' names, also of those that are not installed."""
    ours = {normal(one) for one in installed.ours | own_distributions(installed.entries)}
    short = {one.removeprefix("pegboard-") for one in ours}
    return short | {one.removeprefix("tools-") for one in short} | {e.name for e in installed.entries if e.own}
