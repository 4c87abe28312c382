"""Which installed plugins are on, and what they register: the law of roles (design, Hooks) in one place.

Installing may narrow what an agent does; only naming in the user's own file may widen it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

import msgspec

from pegboard import hooks, plugins
from pegboard.config.authority import DEFAULT_PERMISSION
from pegboard.config.checking import unknown_inside
from pegboard.config.layers import by_no_file
from pegboard.config.load import Loaded
from pegboard.entries import Entry
from pegboard.errors import ConfigError, PluginError
from pegboard.kit.settings import SearchSettings
from pegboard.plugins.claims import address, contested, is_stranger
from pegboard.plugins.loaded import Failure, told, whose
from pegboard.policy.idle import Fault, keys_of, misspelt_keys, passing_nothing, tokens_of
from pegboard.registry import Registry, SetInfo, matches
from pegboard.tooling import BadTool, Tool

ALWAYS_ON = "core"
"""The set that `toolSets` cannot switch off."""
PROGRAM = "program"
"""The set of tools that the program which builds a board brings along: it is on, whatever is selected."""


def is_on(entry: Entry, loaded: Loaded, without_guard: Collection[Entry] = ()) -> bool:
    """Whether an installed plugin is loaded: the law of roles (design, Hooks)."""
    return entry.group in hooks.GROUPS and standing(entry, loaded, without_guard)[0] == "on"


def may_be_off(entry: Entry) -> bool:
    """Whether a person may switch a plugin off by its name, for a run or in a session: what `plugins.disable` reaches."""
    spared = ("pegboard.guards", "pegboard.approvers", "pegboard.rewriters", "pegboard.providers", "pegboard.commands")
    return entry.group not in spared and not _is_core(entry)


def standing(
    entry: Entry, loaded: Loaded, without_guard: Collection[Entry] = ()
) -> tuple[Literal["on", "off", "disabled"], str | None]:
    """Whether an installed plugin is meant to be on, and why not. Providers, launchers and commands, one of which is
    chosen, are on in that they can be. `without_guard`: those that `switched_off` found."""
    config = loaded.config
    match entry.group:
        case "pegboard.guards":
            off = entry in without_guard
            return ("off", "--without-guard names it") if off else ("on", None)
        case "pegboard.approvers" | "pegboard.rewriters":
            role = entry.group.removeprefix("pegboard.")
            named = entry.name in getattr(config.plugins, role) and loaded.origin(f"plugins.{role}").layer == "user"
            return ("on", None) if named else ("off", f"plugins.{role} of your own file does not name it")
        case _ if entry.name in config.plugins.disable and not _is_core(entry):
            return "disabled", "plugins.disable names it"
        case "pegboard.toolsets" if not config.tools.switches.get(entry.name, True):
            return "off", f"tools.{entry.name} = false"
        case "pegboard.toolsets":
            selected = config.toolSets is None or entry.name in config.toolSets or _always_on(entry)
            return ("on", None) if selected else ("off", "toolSets does not name it")
        case _:
            return "on", None


def file_standing(name: str, loaded: Loaded) -> tuple[Literal["on", "off", "disabled"], str | None]:
    """The same for a project's plugin file of this name. `toolSets` chooses among what is installed; these are on where the
    project is trusted."""
    if loaded.project is None or loaded.project.state != "trusted":
        return "off", "the project is not trusted; `pegboard trust` shows what it would switch on"
    if name in loaded.config.plugins.disable:
        return "disabled", "plugins.disable names it"
    if not loaded.config.tools.switches.get(name, True):
        return "off", f"tools.{name} = false"
    return "on", None


def _always_on(entry: Entry) -> bool:
    return entry.name == ALWAYS_ON or (entry.name == PROGRAM and entry.module is not None)


def _is_core(entry: Entry) -> bool:
    return entry.group == "pegboard.toolsets" and entry.name == ALWAYS_ON and not is_stranger(entry)


def switched_off(words: Iterable[str], entries: Sequence[Entry]) -> list[Entry]:
    """The guards that words of `--without-guard` name: NAME where one distribution alone has it, or DISTRIBUTION:NAME.

    A stranger's guard named like ours makes the plain name mean neither: it must not cost a person ours."""
    named = frozenset(words)
    guards = [entry for entry in entries if entry.group == "pegboard.guards"]
    return [e for e in guards if named & {address(e, guards), f"{e.distribution}:{e.name}"}]


def insist_on_guards(plugged: plugins.Loaded, entries: Sequence[Entry]) -> None:
    """A guard that does not load may protect something: nothing starts without it.

    Raises:
        ConfigError: its settings are wrong.
        PluginError: anything else.
    """
    for failure in plugged.failures:
        if failure.entry.group == "pegboard.guards" and failure.what == "settings":
            raise ConfigError(f"{failure.error}; nothing was started without the guard {failure.entry.name!r}")
        if failure.entry.group == "pegboard.guards":
            raise PluginError(
                failure.entry.name,
                f"the guard {failure.entry.name!r} did not load ({failure.error}); nothing was started, since it may "
                f"protect something. Mend or uninstall {failure.entry.distribution}, "
                f"or start with --without-guard {address(failure.entry, entries)}. `pegboard doctor --retry` tries it "
                "again.",
            )


def insist_on_rg(search: SearchSettings) -> None:
    """`search.engine = "rg"` means no slower walker: a missing or old rg is told of before anything starts.

    Raises:
        ConfigError: there is no rg of version 14 or newer.
    """
    if search.engine == "rg":
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        from pegboard.kit import process
        from pegboard.kit.walk.engine import find_rg

        with ThreadPoolExecutor(1) as pool:  # a loop may run here already
            pool.submit(asyncio.run, find_rg(search, process.run)).result()


def register(plugged: plugins.Loaded, entries: Sequence[Entry], loaded: Loaded, notes: list[str]) -> Registry:
    """The tools of the loaded sets, and which sets there are. What is left out is said in `notes`."""
    registry = Registry()
    on = {plugin.entry.name for plugin in plugged.plugins}
    for entry in entries:
        if entry.group == "pegboard.toolsets":
            registry.sets[entry.name] = SetInfo(
                name=entry.name, distribution=entry.distribution, version=entry.version, loaded=entry.name in on
            )
    for plugin, functions in plugged.contributed("pegboard_tools"):
        for function in functions:
            try:
                tool = Tool.of(function, owner=plugin.entry.name, set=plugin.entry.name)
                if not _switched_on(tool, loaded):
                    continue
            except BadTool as error:
                notes.append(f"plugin {plugin.entry.name!r}: {error}; that tool is left out")
                continue
            except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a function may be anything
                notes.append(f"{whose(plugin.entry)}: {told(error)} where a tool was expected; that tool is left out")
                continue
            left_out = registry.add(tool)
            if left_out:
                notes.append(left_out)
    return registry


def _switched_on(tool: Tool, loaded: Loaded) -> bool:
    """`[tools] NAME = false`: off, not merely denied (decisions 11, 13, 18)."""
    return all(on or not matches(token, tool) for token, on in loaded.config.tools.switches.items())


def unknown_sets(loaded: Loaded, entries: Sequence[Entry]) -> list[str]:
    """A note for each name in `toolSets` that no installed set has (decision 15)."""
    known = [entry.name for entry in entries if entry.group == "pegboard.toolsets"]
    return [f"toolSets: {_unknown(name, known)}" for name in loaded.config.toolSets or () if name not in known]


def insist_on_sets(names: Iterable[str], entries: Sequence[Entry]) -> list[str]:
    """The sets that a program chose, which all have to be there.

    Raises:
        ConfigError: one is not.
    """
    chosen, known = list(names), [entry.name for entry in entries if entry.group == "pegboard.toolsets"]
    for name in chosen:
        if name not in known:
            raise ConfigError(f"{_unknown(name, known)}; nothing was started")
    return chosen


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"no set {name!r} is installed; {hint}it would come with a package such as pegboard-tools-{name}"


def unknown_in_tables(loaded: Loaded, plugged: plugins.Loaded) -> list[str]:
    """Notes about keys of plugins' tables that their `Settings` do not know. Plugins of one name share a table."""
    kinds: dict[str, list[type[msgspec.Struct]]] = {}
    for plugin in plugged.plugins:
        if isinstance(plugin.settings, msgspec.Struct):
            kinds.setdefault(plugin.entry.name, []).append(type(plugin.settings))
    return [
        f"{where(loaded, key)}: unknown setting {key!r} is ignored{near}"
        for name, structs in kinds.items()
        for key, near in unknown_inside(loaded.config.tables.get(name, {}), name, structs)
    ]


def where(loaded: Loaded, key: str) -> str:
    """The file and line of a plugin's table, or of a key in it, for errors."""
    for stated, origin in loaded.origins.items():
        if f"{stated}.".startswith(f"{key}.") and origin.source:
            return f"{origin.source.file}:{origin.source.line}"
    return f"[{key}]"


def at_its_key(error: str, name: str, loaded: Loaded) -> str:
    """What is wrong with a plugin's settings, at the line of the key that it is about, not of the table's first."""
    start = f"{where(loaded, name)}: "
    key = re.match(r"Object contains unknown field `([^`]+)`$|([\w-]+)", error.removeprefix(start))
    if not error.startswith(start) or key is None:
        return error
    place = where(loaded, f"{name}.{key[1] or key[2]}")
    return error if place.startswith("[") else f"{place}: {error.removeprefix(start)}"


def permission_keys(registry: Registry) -> frozenset[str]:
    """Every permission key that something has: as shipped, and those of the tools there are."""
    declared = {tool.declaration.permission for tool in registry.tools if tool.declaration.permission}
    return frozenset({*DEFAULT_PERMISSION, *declared, "unknown"})


def insist_on_rules(loaded: Loaded, registry: Registry) -> list[str]:
    """A rule that plainly says something else than was meant protects nothing, or allows nothing: nothing starts with it.
    What a project brings stops nothing; it is told of in the notes that are returned.

    Raises:
        ConfigError: names file and line, and what to write instead.
    """
    notes = []
    for fault in (*misspelt_keys(loaded, permission_keys(registry)), *passing_nothing(loaded)):
        if fault.layer != "project":
            raise _stopped(fault)
        source = fault.source
        place = f"{source.file}:{source.line}: " if source else ""
        notes.append(f"{place}{'.'.join(fault.key)}: {fault.why}")
    return notes


def _stopped(fault: Fault) -> ConfigError:
    source = fault.source
    return ConfigError(
        f"{'.'.join(fault.key)}{by_no_file(fault.layer, fault.key)}: {fault.why}; nothing was started",
        file=source.file if source else None,
        line=source.line if source else None,
    )


def _place(loaded: Loaded, key: str, word: str) -> str:
    """A key with the file and line of a word in the list at it, or of the rule that it is."""
    for name in (f"{key}: {word}", re.sub(r"\[(\d+)\]$", r": \1", key), key):
        origin = loaded.origins.get(name)
        if origin is not None and origin.source is not None:
            return f"{origin.source.file}:{origin.source.line}: {key}"
    return key


def idle_rules(loaded: Loaded, registry: Registry, entries: Sequence[Entry], without_guard: Iterable[str]) -> list[str]:
    """Notes about words of the configuration that mean nothing here: a misspelt deny protects nothing."""
    notes: list[str] = []
    names = [tool.name for tool in registry.tools]
    sets = [*registry.sets]

    def tell(what: str, word: str, known: Sequence[str], action: str = "") -> None:
        lower = {one.casefold(): one for one in known}
        near = difflib.get_close_matches(word.casefold(), lower, 1, 0.5)
        idle = {"deny": ", so it denies nothing", "ask": ", so it asks about nothing"}.get(action, "")
        hint = f"; did you mean {lower[near[0]]}?" if near else ""
        notes.append(f"{what}: {word!r} names nothing that is there{idle}{hint}")

    tools = loaded.config.tools
    listed = (("tools.allow", "", tools.allow), ("tools.deny", "deny", tools.deny), ("tools", "", tools.switches))
    for key, action, tokens in (*listed, *tokens_of(loaded.config)):
        for token in tokens:
            known_set = token.split(":", 1)[0].removesuffix(":*") in sets
            off = token in tools.switches and not tools.switches.get(token, True)
            if not known_set and not off and not any(matches(token, tool) for tool in registry.tools):
                tell(_place(loaded, key, token), token, [*names, *sets], action)
    keys = permission_keys(registry)
    for place, action, key in keys_of(loaded.config):
        if key not in keys:
            tell(_place(loaded, place, key), key, sorted(keys), action)
    guards = [entry for entry in entries if entry.group == "pegboard.guards"]
    for word in without_guard:
        claims = [f"{entry.distribution}:{entry.name}" for entry in guards if entry.name == word]
        if switched_off([word], entries):
            continue
        if claims:
            notes.append(f"--without-guard: {word!r} may mean {' or '.join(claims)}, so none is switched off; name one")
        else:
            tell("--without-guard", word, [entry.name for entry in guards])
    if ALWAYS_ON in loaded.config.plugins.disable and any(_is_core(entry) for entry in entries):
        notes.append(
            f"plugins.disable: the set {ALWAYS_ON!r} stays on, as it always is; tools.deny takes tools from it"
        )
    return notes


def name_notes(entries: Sequence[Entry]) -> list[str]:
    """Notes about providers and commands whose names cannot be used; what has hooks is a failure instead."""
    notes = []
    for entry in entries:
        why = None if entry.group in hooks.GROUPS else contested(entry, entries)
        if why is not None:
            notes.append(Failure(entry=entry, what="duplicate", error=why).text)
    return notes
