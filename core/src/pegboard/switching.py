"""Switching a plugin off, or on again, while its board is in use: `/plugins off NAME`.

It reaches what `plugins.disable` reaches: tools, renderers, observers, fragments of the prompt, slash commands. A guard
stays: what it protects would not be. Nothing is unloaded, so what a plugin's threads do goes on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegboard.entries import Entry
from pegboard.errors import ConfigError, PegboardError
from pegboard.plugins.loaded import switch_off
from pegboard.selection import may_be_off, standing

if TYPE_CHECKING:
    from pegboard.board import Board

_KEY = ("plugins", "disable")


class Switches:
    """Of one board. `off`: plugins that are off in this run, though the settings have them on; whoever was given it sees it
    change."""

    def __init__(self, board: Board, off: Iterable[str] = ()) -> None:
        """off: those that were not loaded this time."""
        self._board = board
        self.off = {name for name in off if any(may_be_off(entry) for entry in self._entries(name))}
        self._unloaded = frozenset(self.off)

    def names(self, *, on: bool) -> list[str]:
        """The plugins that could be switched so."""
        if on:
            return sorted(self.off)
        there = (entry for entry in self._board.assembled.there if may_be_off(entry))
        return sorted({entry.name for entry in there if self._is_on(entry)} - self.off)

    def switch(self, name: str, *, on: bool, keep: bool = False) -> list[str]:
        """Switch a plugin for the rest of this run; returns what was done, a line each. keep: in the user's file, too.

        Raises:
            PegboardError: there is no such plugin, or it cannot be switched; nothing was changed.
            ConfigError: the file cannot be written; in this run it is switched.
        """
        entries = self._entries(name)
        if not entries:
            raise PegboardError(f"no installed plugin is named {name!r}; nothing was changed. /plugins lists them.")
        reached = [entry for entry in entries if may_be_off(entry)]
        if not reached:
            raise PegboardError(f"{_why_not(entries[0])} Nothing was changed.")
        told = [self._on(name, reached, keep=keep) if on else self._off(name, reached)]
        told += [f"as a {_kind(entry)} it stays as it is" for entry in entries if entry not in reached]
        return [*told, self._keep(name, on=on)] if keep else told

    def _off(self, name: str, entries: list[Entry]) -> str:
        if name in self.off or not any(map(self._is_on, entries)):
            return f"{name} is off already"
        self.off.add(name)
        self._board.switched(name, on=False)
        return f"{name} is off for the rest of this run; a call of it that runs goes on"

    def _on(self, name: str, entries: list[Entry], *, keep: bool) -> str:
        if name not in self.off and any(map(self._is_on, entries)):
            return f"{name} is on already"
        if name in self.off and (name not in self._unloaded or all(e.group == "pegboard.slash" for e in entries)):
            self.off.discard(name)
            self._board.switched(name, on=True)
            return f"{name} is on"
        if name in self.off or keep:
            return f"{name} was not loaded in this run; the next start loads it"
        why = standing(entries[0], self._board.loaded)[1]
        raise PegboardError(
            f"{name} was not loaded ({why}), so it cannot be on before the next start. Nothing was changed. "
            f"/plugins on {name} keep takes it out of plugins.disable."
        )

    def _keep(self, name: str, *, on: bool) -> str:
        from pegboard.config.places import below_home
        from pegboard.config.write import set_key

        file = self._board.assembled.user_file
        try:
            text = file.read_text("utf-8") if file.is_file() else ""
            listed = tomllib.loads(text).get("plugins", {}).get("disable", [])
        except (OSError, ValueError) as error:
            raise ConfigError(f"{file} cannot be read ({error}), and was not changed: it holds for this run") from None
        wanted = [one for one in listed if one != name] + ([] if on else [name])
        shown = below_home(file, self._board.environ)
        if wanted == listed:
            return f"plugins.disable of {shown} says so already"
        set_key(file, _KEY, wanted)
        return f"plugins.disable of {shown} is now [{', '.join(wanted)}]"

    def _entries(self, name: str) -> list[Entry]:
        return [entry for entry in self._board.assembled.there if entry.name == name]

    def _is_on(self, entry: Entry) -> bool:
        return standing(entry, self._board.loaded)[0] == "on"


def _kind(entry: Entry) -> str:
    return entry.group.removeprefix("pegboard.").removesuffix("s")


def _why_not(entry: Entry) -> str:
    match entry.group:
        case "pegboard.guards":
            return (
                f"{entry.name} is a guard, which is not switched off in a session: what it protects would not be. "
                f"To go on without it, start with --without-guard {entry.name}."
            )
        case "pegboard.toolsets":
            return f"the set {entry.name} is always on; tools.deny takes tools from it."
        case "pegboard.approvers" | "pegboard.rewriters":
            return f"{entry.name} is a {_kind(entry)}: {switch_off(entry)}, and start again."
        case _:
            return f"{entry.name} is a {_kind(entry)}, of which one is chosen: choose another."
