"""What counts of what a project brings: read once, compared with what a person trusts, and taken as far as that goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pegboard.config.checking import complaint, converted, mistakes, unknown
from pegboard.config.layers import Said, at
from pegboard.config.load import Counts
from pegboard.config.places import PROJECT_FILE, PROJECT_PLUGINS
from pegboard.config.project import Brought, brought
from pegboard.config.tightening import Counted, Names, freed, listing, named, tightened, without
from pegboard.config.trust import Project, State, standing

_MOST_TOLD = 8
ASK = "`pegboard trust` shows what it would switch on"


def counted(
    root: str,
    user_file: Path,
    state: Path | None,
    below: Mapping[str, Any],
    entries: frozenset[str],
    sets: frozenset[str],
) -> Counts:
    """What counts of the project in this root. `below`: what the layers below say; the rest is as for `load`."""
    found = brought(root, user_file)
    trusted = standing(found, state)
    names = plugin_names(found, entries) if trusted == "trusted" else frozenset()
    known = Names(all=entries | names, sets=sets | names)
    layers = split(found, below, known, trusted=trusted == "trusted")
    notes = [f"{name} came with the project and is ignored: {why}" for name, why in _unfit(found)]
    return Counts(
        said=layers.said,
        notes=[*notes, *_mistaken(found.said), *_told(found, trusted, layers.ignored, known)],
        ignored=[*(named(found.said, layers.ignored) if found.said else ()), *_unloaded(found, trusted)],
        names=names,
        project=Project(brought=found, state=trusted),
    )


class Split(NamedTuple):
    """A project's settings as layers, and the keys that do not count. `free`: what counts as it stands."""

    said: list[Said]
    ignored: list[tuple[str, ...]]
    free: Counted


def split(found: Brought, below: Mapping[str, Any], names: Names, *, trusted: bool) -> Split:
    """What counts of a project's settings: where it is trusted, some as it stands; the rest where it is stricter."""
    said, config = found.said, converted(below)
    nothing = Counted(values={}, ignored=[])
    if said is None:
        return Split([], [], nothing)
    if not trusted:
        strict = tightened(said, below, config, names.all)
        return Split([_layer(said, strict, only_stricter=True)], strict.ignored, nothing)
    free = freed(said, below, names)
    rest = [key for key in free.ignored if key not in free.kept]
    strict = tightened(msgspec.structs.replace(said, values=without(said.values, rest)), below, config, names.all)
    ignored = sorted({*strict.ignored, *(key for key in free.ignored if key in free.kept)})
    return Split(
        [_layer(said, free, only_stricter=False), _layer(said, strict, only_stricter=True)],
        sorted(ignored, key=lambda key: said.line(key) or 0),
        free,
    )


def plugin_names(found: Brought, entries: frozenset[str]) -> frozenset[str]:
    """The names of a project's plugin files that no installed plugin has."""
    return frozenset(plugin.name for plugin in found.plugins) - entries


def _layer(said: Said, counted: Counted, *, only_stricter: bool) -> Said:
    return msgspec.structs.replace(said, values=counted.values, kept=counted.kept, only_stricter=only_stricter)


def _unfit(found: Brought) -> list[tuple[str, str]]:
    both = [(PROJECT_FILE, found.unfit), (PROJECT_PLUGINS, found.plugins_unfit)]
    return [(name, why) for name, why in both if why is not None]


def _unloaded(found: Brought, state: State) -> list[str]:
    return [] if state == "trusted" else [plugin.path for plugin in found.plugins]


def _mistaken(said: Said | None) -> Iterator[str]:
    """A note for each of the first rules that can never match: in a person's file it would stop the start."""
    if said is None:
        return
    wrong = [(key, said.items(key, at(said.values, key))[number], why) for key, number, why in mistakes(said.values)]
    listed: tuple[str, ...] = ("permission", "rules")
    rules = at(said.values, listed)
    for number, rule in enumerate(rules if isinstance(rules, list) else ()):
        found = complaint({"permission": {"rules": [rule]}}) if isinstance(rule, dict) else None
        if found is not None:
            wrong.append((listed, said.entry(listed, number), found[1]))
    for key, source, why in wrong[:_MOST_TOLD]:
        line = f":{source.line}" if source is not None and source.line else ""
        yield f"{PROJECT_FILE}{line}: {'.'.join(key)}: {why}; that is ignored"


def _told(found: Brought, state: State, ignored: list[tuple[str, ...]], names: Names) -> list[str]:
    """What the header says of a project that could be read."""
    if state == "trusted":
        if found.said is None:
            return []
        never = [f"{PROJECT_FILE} is trusted, and these never count: {listing(found.said, ignored)}"] if ignored else []
        return [*unknown(found.said, names.all), *never]
    parts = [listing(found.said, ignored)] if found.said and ignored else []
    files = [plugin.path for plugin in found.plugins]
    if files:
        parts.append(f"{len(files)} plugin file{'s' if len(files) > 1 else ''} in {PROJECT_PLUGINS}")
    if state == "changed":
        ignoring = f" Ignored: {', '.join(parts)};" if parts else ""
        return [
            f"what came with the project changed since you trusted it, so it may only make rules stricter.{ignoring} "
            "`pegboard trust` shows what"
        ]
    what = PROJECT_FILE if found.said else PROJECT_PLUGINS
    return [
        f"{what} came with the project, so it may only make rules stricter. Ignored: {', '.join(parts)}; {ASK}"
    ] * bool(parts)
