"""What a board is made of, put together: configuration, plugins, tools, guards, and what a person should be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegboard import plugins
from pegboard.believing import lies
from pegboard.config.load import Loaded, load
from pegboard.config.places import find_root
from pegboard.entries import Entry, set_names, table_names
from pegboard.guards import Guards, GuardSeat
from pegboard.plugins.claims import address
from pegboard.plugins.loaded import PROJECT
from pegboard.policy.taken import taken
from pegboard.registry import Registry
from pegboard.selection import (
    ALWAYS_ON,
    at_its_key,
    file_standing,
    idle_rules,
    insist_on_guards,
    insist_on_rg,
    insist_on_rules,
    is_on,
    may_be_off,
    name_notes,
    register,
    switched_off,
    unknown_in_tables,
    unknown_sets,
    where,
)

UNGUARDED = "no guard is installed: nothing is protected"


@dataclass(frozen=True, kw_only=True, slots=True)
class Assembled:
    """The parts of a board. `notes`: what the header must say. `entries`: every installed plugin, on or off."""

    root: str
    loaded: Loaded
    registry: Registry
    guards: Guards
    entries: Sequence[Entry]
    plugged: plugins.Loaded
    user_file: Path
    notes: Sequence[str]

    @property
    def there(self) -> list[Entry]:
        """Every plugin that is installed, and those of the project that were loaded."""
        files = [plugin.entry for plugin in self.plugged.plugins if plugin.entry.distribution == PROJECT]
        return [*self.entries, *files]


def assemble(
    *,
    root: str | None,
    flags: Mapping[str, Any],
    user_file: Path,
    environ: Mapping[str, str],
    state: Path,
    entries: Sequence[Entry],
    without_guard: frozenset[str],
    remarks: Sequence[str] = (),
    guarded: bool = False,
    off: frozenset[str] = frozenset(),
) -> Assembled:
    """Read the configuration, load the plugins that are on, register their tools. `remarks`: what was seen of what is
    installed. `guarded`: Pegboard is installed whole, so a guard ought to be there. off: plugins that are not loaded this
    time, as `plugins.disable` would have it.

    Raises:
        ConfigError: a setting is wrong, or the root is not a folder.
        PluginError: an installed guard does not load, and it is not named in `without_guard`.
    """
    found, notes = find_root(root)
    names = table_names(entries)
    loaded = load(
        user_file=user_file,
        root=found,
        environ=environ,
        flags=flags,
        entries=names,
        sets=set_names(entries),
        state=state,
    )
    absent = switched_off(without_guard, entries)
    chosen = [
        entry for entry in entries if is_on(entry, loaded, absent) and not (entry.name in off and may_be_off(entry))
    ]
    plugged = _load(chosen, loaded, notes, state)
    of_project = _project_plugins(loaded, entries, plugged) if loaded.project else []
    insist_on_guards(plugged, entries)
    insist_on_rg(loaded.config.search)
    registry = register(plugged, [*entries, *of_project], loaded, notes)
    notes += insist_on_rules(loaded, registry)
    guards = _guards(plugged, loaded)
    return Assembled(
        root=found,
        loaded=loaded,
        registry=registry,
        guards=guards,
        entries=entries,
        plugged=plugged,
        user_file=user_file,
        notes=[
            *loaded.notes,
            *notes,
            *(
                f"without the guard {address(entry, entries)!r}, as asked: what it protects is not protected"
                for entry in absent
            ),
            *([UNGUARDED] if guarded and not absent and not guards.seats else []),
            *remarks,
            *name_notes(entries),
            *plugged.notes,
            *lies(plugged.plugins),
            *(failure.text for failure in plugged.failures),
            *unknown_sets(loaded, [*entries, *of_project]),
            *unknown_in_tables(loaded, plugged),
            *idle_rules(loaded, registry, entries, sorted(without_guard)),
            *taken(loaded, registry.tools, sorted(set_names(entries) - {ALWAYS_ON})),
        ],
    )


def _load(chosen: Sequence[Entry], loaded: Loaded, notes: list[str], state: Path) -> plugins.Loaded:
    """The plugins that are on. One that does not load with what a project adds to its table is loaded without that: a
    clone must not stop a start."""
    tables = loaded.config.tables
    lines = {name: where(loaded, name) for name in tables}
    plugged = plugins.load_all(chosen, tables, lines, state)
    spoilt = {failure.entry.name for failure in plugged.failures} & loaded.untouched.keys()
    if spoilt:
        own = {**tables, **{name: loaded.untouched[name] for name in spoilt}}
        plugged = plugins.load_all(chosen, own, lines, state)
        loads = sorted(spoilt - {failure.entry.name for failure in plugged.failures})
        notes += [
            f"what the project's settings say in [{name}] is ignored: it does not load with that" for name in loads
        ]
    plugged.failures = [replace(one, error=at_its_key(one.error, one.entry.name, loaded)) for one in plugged.failures]
    return plugged


def _project_plugins(loaded: Loaded, entries: Sequence[Entry], plugged: plugins.Loaded) -> list[Entry]:
    """Load the plugin files of a trusted project, after all that is installed, and add them to `plugged`."""
    assert loaded.project is not None
    files = loaded.project.brought.plugins if loaded.project.state == "trusted" else ()
    if not files:
        return []
    from pegboard.plugins.project_files import entry_of, load_files

    chosen = [file for file in files if file_standing(file.name, loaded)[0] == "on"]
    tables = loaded.config.tables
    found = load_files(chosen, entries, tables, {name: where(loaded, name) for name in tables})
    plugged.plugins += found.plugins
    plugged.failures += found.failures
    plugged.notes += found.notes
    return [entry_of(file) for file in files if file.name not in table_names(entries)]


def _guards(plugged: plugins.Loaded, loaded: Loaded) -> Guards:
    return Guards(
        GuardSeat(guard, owner=plugin.entry.name, own=plugin.entry.own, timeout=loaded.config.plugins.guard_timeout)
        for plugin, given in plugged.contributed("pegboard_guards")
        for guard in given
    )
