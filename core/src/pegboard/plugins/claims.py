"""Who has a name that several distributions claim: ours, and none of two strangers where a person names one.

Entries of one name differ by their distribution alone. A name in a settings file or on a command line meant one of them;
which one, the order of the alphabet cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable

from pegboard.entries import Entry

_FIRST_WINS = frozenset({"pegboard.toolsets", "pegboard.renderers", "pegboard.observers", "pegboard.prompts"})
"""Groups whose plugins nobody names to get them, and that protect nothing: the first of two strangers is on."""


def is_stranger(entry: Entry) -> bool:
    """Whether an entry is neither ours nor given by the program."""
    return not entry.own and entry.module is None


def contested(entry: Entry, entries: Iterable[Entry]) -> str | None:
    """Why an entry may not have its name, among those that are there; None: it has it."""
    same = [other for other in entries if (other.group, other.name) == (entry.group, entry.name)]
    settled = [other for other in same if not is_stranger(other)]
    rivals = settled or same
    named = entry.group not in _FIRST_WINS
    if not settled and named and len({other.distribution for other in same}) > 1:
        claim = " and ".join(sorted(_spelled(other) for other in same))
        kind = entry.group.removeprefix("pegboard.").removesuffix("s")
        return (
            f"{claim} both bring a {kind} {entry.name!r}; which is meant cannot be told, so neither is used until one of "
            "them is uninstalled"
        )
    if not rivals or rivals[0] is entry:
        return None
    return f"{_spelled(rivals[0])} has the name {entry.name!r} in {entry.group} already"


def address(entry: Entry, entries: Iterable[Entry]) -> str:
    """A guard as `--without-guard` takes it: NAME, where one distribution alone has it, else DISTRIBUTION:NAME."""
    claims = {other.distribution for other in entries if (other.group, other.name) == (entry.group, entry.name)}
    plain = len(claims | {entry.distribution}) == 1 and ":" not in entry.name
    return entry.name if plain else f"{entry.distribution}:{entry.name}"


def _spelled(entry: Entry) -> str:
    return f"{entry.distribution} {entry.version}"
