"""Read the layers, check each by itself, merge, and remember origins.

Later wins: defaults < user file < project `.pegboard/config.toml` < environment < flags. A project's file comes with a
clone: until a person trusts just what stands in it, it may tighten and not widen (`pegboard.config.tightening`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pegboard.calls import Layer, Source
from pegboard.config import layers
from pegboard.config.authority import PermissionSettings
from pegboard.config.checking import OWN, converted, insist, misspelt, unknown
from pegboard.config.layers import Said, at, joins, leaves, put
from pegboard.config.places import PROJECT_FILE, PROJECT_PLUGINS
from pegboard.config.schema import Config

if TYPE_CHECKING:
    from pegboard.config.trust import Project


class Origin(msgspec.Struct, frozen=True):
    """Where a setting comes from."""

    layer: Layer
    source: Source | None = None


class Stated(msgspec.Struct, frozen=True):
    """One value as one layer states it, before layers are merged: policy needs what a later layer hides (decision 14).

    items: where each item of a list stands. trusted: of a project, that a person trusts it."""

    layer: Layer
    key: tuple[str, ...]
    value: Any
    source: Source | None = None
    items: tuple[Source | None, ...] = ()
    trusted: bool = False

    @property
    def only_stricter(self) -> bool:
        """Whether it counts where it makes something stricter, and not else."""
        return self.layer == "project" and not self.trusted

    def item(self, number: int) -> Source | None:
        """Where an item of the list stands, else the list."""
        return self.items[number] if number < len(self.items) else self.source


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration, the origin of every key that is not a default, and what a person should be told.

    stated: every value that counts, of every layer, in the order of the layers. untouched: the tables of plugins that the
    project added to, as they are without it, for a plugin that will not have what the project adds. ignored: all that does
    not count of the project's file, with lines; the note names the first few. root: the workspace root. project: what the
    project brings; None where it brings nothing."""

    config: Config
    origins: dict[str, Origin]
    notes: list[str]
    stated: list[Stated] = []
    untouched: dict[str, dict[str, Any]] = {}
    ignored: list[str] = []
    root: str = ""
    project: Project | None = None

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
    sets: frozenset[str] = frozenset(),
    state: Path | None = None,
) -> Loaded:
    """Read and merge all layers. `entries` are the names of installed plugins, whose tables are known; `sets`: those of them
    whose tables a trusted project may set. `state`: the state folder, where it is kept which projects are trusted; None:
    none is.

    Raises:
        ConfigError: a file cannot be parsed or a value has the wrong type; names file, line, and what was expected. Never
            for a project's file: what is wrong with that is a note.
    """
    said = [layers.of_file(user_file), layers.of_environment(environ, entries), layers.of_flags(flags)]
    stated = [one for one in said if one is not None and one.values]
    for one in stated:
        insist(one)
    before = [one for one in stated if one.layer == "user"]
    after = [one for one in stated if one.layer != "user"]
    project = _project(root, user_file, state, _Merge(before), entries, sets)
    known = entries | project.names
    notes = [note for one in stated for note in unknown(one, known)] + misspelt(environ, entries)
    merged = _Merge([*before, *project.said, *after])
    added = [name for one in project.said for name in one.values if name not in OWN]
    without = _Merge([*before, *after]).values if added else {}
    return Loaded(
        config=converted(merged.values),
        origins=merged.origins,
        notes=[*notes, *project.notes],
        stated=merged.stated,
        untouched={name: without.get(name, {}) for name in added},
        ignored=[*project.ignored],
        root=root,
        project=project.project,
    )


class Counts(NamedTuple):
    """The layers that a project adds, what to tell, the keys that do not count, the names of plugins that it brings, and
    what it is; nothing of all that where it brings nothing."""

    said: Sequence[Said] = ()
    notes: Sequence[str] = ()
    ignored: Sequence[str] = ()
    names: frozenset[str] = frozenset()
    project: Project | None = None


def _project(
    root: str, user_file: Path, state: Path | None, below: _Merge, entries: frozenset[str], sets: frozenset[str]
) -> Counts:
    if not any(os.path.lexists(os.path.join(root, name)) for name in (PROJECT_FILE, PROJECT_PLUGINS)):
        return Counts()
    from pegboard.config.projects import counted

    return counted(root, user_file, state, below.values, entries, sets)


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
        items = said.items(key, value) if isinstance(value, list) else ()
        self.stated.append(Stated(said.layer, key, value, origin.source, items, not said.only_stricter))
        now = at(self.values, key)
        if now == "deny" and _is_permission(key):
            return  # a deny stands, whatever a later layer says (decision 14)
        dotted = ".".join(key)
        self.origins[dotted] = origin
        if isinstance(value, list) and joins(key):
            before = now if isinstance(now, list) else []
            more = [item for item in value if item not in before or isinstance(item, dict)]
            for number, item in enumerate(more, len(before)):
                name = f"{dotted}: {number if isinstance(item, dict) else item}"
                self.origins[name] = Origin(said.layer, items[value.index(item)])
            value = [*before, *more]
        put(self.values, key, value)


def _is_permission(key: tuple[str, ...]) -> bool:
    """Whether what one permission key gets stands here."""
    table, name = key[-2:] if len(key) > 1 else ("", key[0])
    return table == "tool_permission" and name not in PermissionSettings.__struct_fields__
