"""The slash commands that are installed (`pegboard.slash`): which there are, and each imported when it is needed.

Nothing of them is imported to know their names. A stranger's is imported as a command's of its own is: when it is typed, or
when somebody asks which commands there are; what it prints or changes then is put back, and said.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from pegboard.errors import PegboardError
from pegboard.plugins import LoadProblem, import_guarded
from pegboard.plugins.claims import contested, is_stranger
from pegboard.port import Offered
from pegboard.selection import standing
from pegboard.slash import Slash
from pegboard.wire import clean

if TYPE_CHECKING:
    from pegboard.config.load import Loaded
    from pegboard.entries import Entry

GROUP = "pegboard.slash"
"""Entry points of slash commands; the entry's name is what is typed."""
_NAME = re.compile(r"[a-z][a-z0-9-]*")


def is_name(name: str) -> bool:
    """Whether a slash command may be called so."""
    return _NAME.fullmatch(name) is not None


class Slashes:
    """The slash commands of a board. One whose name is no word, that is switched off, or whose name two strangers claim is
    none of them; where one of ours has the name, it is that."""

    def __init__(self, entries: Sequence[Entry], loaded: Loaded, off: Collection[str] = frozenset()) -> None:
        """off: plugins that a person switched off since, or for this run; it may change."""
        self._off_here = off
        there = [entry for entry in entries if entry.group == GROUP and is_name(entry.name)]
        self._claims = {entry.name: why for entry in there if (why := contested(entry, there)) is not None}
        self._off = {entry.name: why for entry in there if (why := standing(entry, loaded)[1]) is not None}
        self._entries = {
            entry.name: entry for entry in there if entry.name not in self._off and contested(entry, there) is None
        }
        self._loaded: dict[str, Slash] = {}
        self._notes: list[str] = []

    @property
    def names(self) -> list[str]:
        """Those there are; nothing is imported."""
        return sorted(name for name in self._entries if name not in self._off_here)

    def get(self, name: str) -> Slash:
        """One command, imported now.

        Raises:
            PegboardError: there is none of that name, or it does not load; nothing was done.
        """
        if name in self._off_here and name in self._entries:
            raise PegboardError(
                f"/{name} is switched off in this run; /plugins on {name} switches it on. Nothing was done."
            )
        if name not in self._loaded:
            entry = self._entries.get(name)
            if entry is None:
                raise PegboardError(self._none(name))
            self._loaded[name] = self._load(entry)
        return self._loaded[name]

    def all(self) -> list[Offered]:
        """Every command with what it says of itself; one that does not load says why. Imports them all."""
        return [self._offered(name) for name in self.names]

    def told(self) -> list[str]:
        """What imports did beside since this was last asked, a line each."""
        notes, self._notes = self._notes, []
        return notes

    def _load(self, entry: Entry) -> Slash:
        whose = f"/{entry.name} of {entry.distribution} {entry.version}"
        try:
            found = entry.module if entry.module is not None else self._imported(entry)
        except LoadProblem as problem:
            raise PegboardError(
                f"{whose} did not load: {problem}. Nothing was done. Update or uninstall {entry.distribution}."
            ) from None
        wrong = _misfit(found)
        if wrong is not None:
            raise PegboardError(f"{whose} {wrong}. Nothing was done. Update or uninstall {entry.distribution}.")
        assert isinstance(found, Slash)
        return found

    def _imported(self, entry: Entry) -> Any:
        if not is_stranger(entry):
            return import_guarded(entry)
        from pegboard.plugins.contained import Containment

        with Containment() as containment, containment.around(entry, self._notes):
            return import_guarded(entry)

    def _offered(self, name: str) -> Offered:
        owner = self._entries[name].distribution
        try:
            command = self.get(name)
        except PegboardError as error:
            return Offered(name=name, usage=f"/{name}", help=clean(str(error)), owner=owner)
        return Offered(name=name, usage=_line(command.usage), help=_line(command.help), owner=owner)

    def _none(self, name: str) -> str:
        """Why there is no such command, and what to do."""
        if name in self._off:
            return f"/{name} is switched off: {self._off[name]}. Nothing was done."
        if name in self._claims:
            return f"{self._claims[name]}. Nothing was done."
        near = difflib.get_close_matches(name, self.names, 1)
        hint = f"Did you mean /{near[0]}?" if near else "/help lists those there are."
        return f"there is no command /{name}; nothing was done. {hint}"


def _misfit(found: object) -> str | None:
    """Why what an entry names is no slash command."""
    if not isinstance(found, Slash):
        return f"is a {type(found).__name__}, not a Slash"
    if not isinstance(found.usage, str) or not isinstance(found.help, str):
        return "has a usage or a help that is no text"
    if not callable(found.run) or not (found.complete is None or callable(found.complete)):
        return "cannot be run: run and complete are functions"
    return None


def _line(text: str) -> str:
    return clean(" ".join(text.split()))
