"""A listing of a folder: its entries as data, and as an indented tree for a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from pegboard.kit.caps import Caps
from pegboard.kit.names import printable
from pegboard.kit.walk.query import fitting

Kind: TypeAlias = Literal["file", "folder", "link", "special"]
_UNITS = "BKMGT"


class Entry(msgspec.Struct, kw_only=True, eq=False):
    """One entry. path: from the root, in the shown form; size: bytes of a file. target: where a link leads inside.

    inside: how many entries a folder was found to have; None where it was not looked into. trouble: why it could not
    be, or what a special file is. above: the folder it is shown in.
    """

    path: str
    name: str
    kind: Kind
    size: int | None = None
    target: str | None = None
    trouble: str = ""
    inside: int | None = None
    above: Entry | None = None


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of an entry. size: bytes of a file."""

    path: str
    kind: Kind
    size: int | None


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a listing, in the order of the tree. more: there is more than this.

    left_out: protected entries, which it says nothing of.
    """

    paths: list[str]
    entries: list[Listed]
    more: bool
    left_out: int


class Listing(msgspec.Struct, kw_only=True):
    """The entries of a folder, level by level, and what else was found.

    total: how many there are in all; uncounted: or more. passed: hidden or ignored ones that were passed over.
    never: the folder lies in what is never listed.
    """

    at: str
    entries: list[Entry] = []
    total: int = 0
    uncounted: bool = False
    passed: int = 0
    left_out: int = 0
    never: bool = False

    @property
    def more(self) -> bool:
        return self.uncounted or len(self.entries) < self.total

    def fit(self, caps: Caps) -> None:
        """Keep as many of the entries as fit into `caps`."""
        lines = ["  " * _level(entry) + self._line(entry, cut=True) for entry in self.entries]
        del self.entries[max(fitting([self.at, *lines], caps) - 1, 0) :]

    def data(self) -> Folder:
        """For programs."""
        ordered = [entry for entry, _ in self._tree()]
        entries = [Listed(path=entry.path, kind=entry.kind, size=entry.size) for entry in ordered]
        return Folder(paths=[e.path for e in entries], entries=entries, more=self.more, left_out=self.left_out)

    def text(self) -> str:
        """The tree, folders with a slash, files with their size."""
        if not self.entries and not self.more:
            return "\n".join(self._empty())
        missing = self._missing()
        top = printable(self.at if self.at == "." else f"{self.at}/")
        lines = [top, *("  " * level + self._line(entry, entry in missing) for entry, level in self._tree())]
        lines += self._notes()
        if self.more:
            lines.append("(for the rest list a folder of it, or with a smaller depth)")
            over = "more than " if self.uncounted else ""
            lines.append(f"... (showing first {len(self.entries)} of {over}{self.total} entries)")
        return "\n".join(lines)

    def _empty(self) -> list[str]:
        if self.never:
            return ["(.git and node_modules are never listed)"]
        if self.passed:
            number = f"{self.passed} hidden or ignored {'entry' if self.passed == 1 else 'entries'}"
            return [f"(nothing to show: {number})", *self._notes()]
        return self._notes() or ["(empty directory)"]

    def _notes(self) -> list[str]:
        if not self.left_out:
            return []
        return [f"({self.left_out} protected {'entry was' if self.left_out == 1 else 'entries were'} left out)"]

    def _missing(self) -> set[Entry]:
        """The folders of which not all entries are shown."""
        shown: dict[Entry, int] = {}
        for entry in self.entries:
            if entry.above is not None:
                shown[entry.above] = shown.get(entry.above, 0) + 1
        return {entry for entry in self.entries if (entry.inside or 0) > shown.get(entry, 0)}

    def _tree(self) -> Iterator[tuple[Entry, int]]:
        """The entries with their level, each folder's below it."""
        below: dict[Entry | None, list[Entry]] = {}
        for entry in self.entries:
            below.setdefault(entry.above, []).append(entry)
        stack = [(entry, 1) for entry in reversed(below.get(None, []))]
        while stack:
            entry, level = stack.pop()
            yield entry, level
            stack += [(inner, level + 1) for inner in reversed(below.get(entry, []))]

    def _line(self, entry: Entry, cut: bool) -> str:
        name = printable(entry.name)
        match entry.kind:
            case "folder":
                name += "/"
            case "link":
                name += f" -> {'(not inside the workspace)' if entry.target is None else printable(entry.target)}"
        if entry.size is not None:
            name += f"  {amount(entry.size)}"
        if entry.trouble:
            name += f"  ({entry.trouble})"
        return name + ("  ..." if cut and entry.kind == "folder" else "")


def _level(entry: Entry) -> int:
    level, above = 1, entry.above
    while above is not None:
        level, above = level + 1, above.above
    return level


def amount(size: int) -> str:
    """A size in bytes in a few letters: `2B`, `1.5K`, `20M`."""
    value, unit = float(size), 0
    while round(value, 1) >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    plain = unit == 0 or value >= 10 or round(value, 1) == round(value)
    return f"{value:.0f}{_UNITS[unit]}" if plain else f"{value:.1f}{_UNITS[unit]}"
