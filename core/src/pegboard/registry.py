"""The registry: names, aliases, sets. What exists, not what is allowed (that is policy's)."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.tooling import Tool


@dataclass(frozen=True, kw_only=True, slots=True)
class SetInfo:
    """An installed tool set. `loaded`: it is selected, and its module loaded."""

    name: str
    distribution: str
    version: str
    loaded: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A tool as a name found it, with what the name presets."""

    tool: Tool
    preset: Mapping[str, Any]


class Registry:
    """Tools in a stable order: by set in load order, then as registered. Later loads append."""

    def __init__(self) -> None:
        self.tools: list[Tool] = []
        self._all: list[Tool] = []
        self._off: set[str] = set()
        self.sets: dict[str, SetInfo] = {}
        self._by_name: dict[str, Named] = {}
        self._aliases: dict[str, list[Named]] = {}

    def add(self, tool: Tool) -> str | None:
        """Register a tool. Returns why it was left out, if it was: the name is taken (decision 58)."""
        taken = self._by_name.get(tool.name)
        if taken is not None:
            return f"tool {tool.name!r} of {tool.owner!r} is left out: {taken.tool.owner!r} has that name"
        self._all.append(tool)
        self._put(tool)
        return None

    def _put(self, tool: Tool) -> None:
        self.tools.append(tool)
        self._by_name[tool.name] = Named(tool=tool, preset={})
        for alias in tool.declaration.aliases:
            name, preset = (alias, {}) if isinstance(alias, str) else alias
            self._aliases.setdefault(name, []).append(Named(tool=tool, preset=preset))

    def switch(self, owner: str, *, on: bool) -> None:
        """Take away all that a plugin registered, or put it back where it was. Its calls that run go on."""
        (self._off.discard if on else self._off.add)(owner)
        self.tools.clear()
        self._by_name.clear()
        self._aliases.clear()
        for tool in self._all:
            if tool.owner not in self._off:
                self._put(tool)

    def find(self, name: str) -> Named | None:
        """The tool a name means: a registered name first, then a qualified name, then an alias claimed by one tool only."""
        named = self._by_name.get(name)
        if named is not None:
            return named
        group, colon, rest = name.replace("/", ":").partition(":")
        if colon:
            named = self._by_name.get(rest)
            return named if named is not None and group in (named.tool.set, named.tool.owner) else None
        claims = self._aliases.get(name, ())
        return claims[0] if len(claims) == 1 else None

    def get(self, name: str) -> Tool | None:
        """The tool a name means, if any."""
        named = self.find(name)
        return named.tool if named else None

    def claimants(self, alias: str) -> list[str]:
        """The tools that claim an alias; more than one means that it works for nobody."""
        return [named.tool.name for named in self._aliases.get(alias, ())]

    def expand(self, tokens: Iterable[str]) -> list[Tool]:
        """Tools named by names, qualified names, sets, `set:*` and globs; in order, without repeats."""
        chosen: dict[str, Tool] = {}
        for token in tokens:
            for tool in self.tools:
                if matches(token, tool):
                    chosen.setdefault(tool.name, tool)
        return list(chosen.values())

    def nearest(self, name: str) -> str | None:
        """The registered name most like this one, if any is like it."""
        near = difflib.get_close_matches(name, [*self._by_name, *self._aliases], 1, 0.6)
        if not near:
            return None
        named = self.find(near[0])
        return named.tool.name if named else None


def matches(token: str, tool: Tool) -> bool:
    """Whether a token of `tools.allow/deny` names a tool: its name, qualified name, set, an alias, or a glob of these."""
    token = token.replace("/", ":")
    names = (tool.name, tool.qualified)
    if token in names or (tool.set is not None and token in (tool.set, f"{tool.set}:*")):
        return True
    if any(token == (alias if isinstance(alias, str) else alias[0]) for alias in tool.declaration.aliases):
        return True
    return any(letter in token for letter in "*?[") and any(fnmatch.fnmatchcase(name, token) for name in names)
