"""Read the layers, check each by itself, merge, and remember origins.

Later wins: defaults < user file < project `.pegboard/config.toml` < environment < flags. A project's file comes with a
clone: before `pegboard trust` exists it may tighten and not widen (`pegboard.config.tightening`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from pegboard.calls import Layer, Source
from pegboard.config import layers
from pegboard.config.checking import OWN, converted, insist, misspelt, unknown
from pegboard.config.layers import JOINED, Said, at, leaves, put
from pegboard.config.places import PROJECT_FILE
from pegboard.config.schema import Config, PermissionSettings


class Origin(msgspec.Struct, frozen=True):
    """Where a setting comes from."""

    layer: Layer
    source: Source | None = None


class Stated(msgspec.Struct, frozen=True):
    """One value as one layer states it, before layers are merged: policy needs what a later layer hides (decision 14)."""

    layer: Layer
    key: tuple[str, ...]
    value: Any
    source: Source | None = None


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration, the origin of every key that is not a default, and what a person should be told.

    stated: every value that counts, of every layer, in the order of the layers. untouched: the tables of plugins that the
    project added to, as they are without it, for a plugin that will not have what the project adds. ignored: all that does
    not count of the project's file, with lines; the note names the first few."""

    config: Config
    origins: dict[str, Origin]
    notes: list[str]
    stated: list[Stated] = []
    untouched: dict[str, dict[str, Any]] = {}
    ignored: list[str] = []

    def origin(self, key: str) -> Origin:
        """Where this dotted key's value comes from."""
        return self.origins.get(key, Origin("default"))


def load(
    *,
    user_file: Path,
    root: str,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    entries: frozenset[str] = frozenset(),
) -> Loaded:
    """Read and merge all layers. `entries` are the names of installed plugins, whose tables are known.

    Raises:
        ConfigError: a file cannot be parsed or a value has the wrong type; names file, line, and what was expected. Never
            for a project's file: what is wrong with that is a note.
    """
    said = [layers.of_file(user_file), layers.of_environment(environ, entries), layers.of_flags(flags)]
    stated = [one for one in said if one is not None and one.values]
    for one in stated:
        insist(one)
    notes = [note for one in stated for note in unknown(one, entries)] + misspelt(environ, entries)
    before = [one for one in stated if one.layer == "user"]
    after = [one for one in stated if one.layer != "user"]
    project, told, ignored = _project(root, user_file, _Merge(before), entries)
    merged = _Merge([*before, *project, *after])
    added = [name for one in project for name in one.values if name not in OWN]
    without = _Merge([*before, *after]).values if added else {}
    return Loaded(
        config=converted(merged.values),
        origins=merged.origins,
        notes=notes + told,
        stated=merged.stated,
        untouched={name: without.get(name, {}) for name in added},
        ignored=ignored,
    )


def _project(
    root: str, user_file: Path, below: _Merge, entries: frozenset[str]
) -> tuple[list[Said], list[str], list[str]]:
    """What counts of the project's file, as a layer, what to tell, and the keys that do not count."""
    if not os.path.lexists(os.path.join(root, PROJECT_FILE)):
        return [], [], []
    from pegboard.config.project import Unfit, of_project
    from pegboard.config.tightening import named, note, tightened

    try:
        said = of_project(root, user_file)
    except Unfit as why:
        return [], [f"{PROJECT_FILE} came with the project and is ignored: {why}"], []
    if said is None:
        return [], [], []
    result = tightened(said, below.values, converted(below.values), entries)
    told = note(PROJECT_FILE, said, result.ignored)
    return [msgspec.structs.replace(said, values=result.values)], [told] if told else [], named(said, result.ignored)


class _Merge:
    """Layers, one over the other."""

    def __init__(self, said: Iterable[Said]) -> None:
        self.values: dict[str, Any] = {}
        self.origins: dict[str, Origin] = {}
        self.stated: list[Stated] = []
        for one in said:
            for key, value in leaves(one.values):
                self._add(one, key, value)

    def _add(self, said: Said, key: tuple[str, ...], value: Any) -> None:
        origin = Origin(said.layer, said.source(key))
        self.stated.append(Stated(said.layer, key, value, origin.source))
        now = at(self.values, key)
        if now == "deny" and key[0] == "tool_permission" and key[-1] not in PermissionSettings.__struct_fields__:
            return  # a deny stands, whatever a later layer says (decision 14)
        dotted = ".".join(key)
        self.origins[dotted] = origin
        if key[-1] in JOINED and isinstance(value, list):
            for item in value:
                self.origins[f"{dotted}: {item}"] = Origin(said.layer, said.source(key, str(item)))
            value = [*dict.fromkeys([*(now if isinstance(now, list) else ()), *value])]
        put(self.values, key, value)
