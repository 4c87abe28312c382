"""Load each plugin alone: import its module, read its `Settings`, convert its table, register, call each hook once.

What comes back is kept with its owner. One that fails is told of, and harms nobody else.
"""

from __future__ import annotations

import copy
import difflib
import importlib
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import msgspec
import pluggy

from pegboard import hooks
from pegboard.config.checking import misfit
from pegboard.config.schema import RESERVED
from pegboard.entries import Entry
from pegboard.plugins.claims import contested
from pegboard.plugins.claims import is_stranger as is_stranger
from pegboard.plugins.loaded import Failure, Loaded, LoadProblem, Plugin, log_failure, told, whose

MOST = 1000
"""Contributions that one hook may return."""

_NAME = re.compile(r"[a-z][a-z0-9-]*")


def given(name: str, group: str, module: Any, *, own: bool = False) -> Entry:
    """An entry for a module that a program brings along (`Board.build(extra=[...])`), without installing it."""
    value = getattr(module, "__name__", name)
    return Entry(name=name, group=group, value=value, distribution=name, version="0", own=own, module=module)


def load_all(
    entries: Sequence[Entry],
    tables: Mapping[str, Mapping[str, Any]],
    where: Mapping[str, str],
    state: Path | None = None,
) -> Loaded:
    """Load each entry alone. `tables`: plugins' settings by name; `where`: the file and line of each table.

    `state`: the state folder, for what is known of strangers; new ones are looked at in a child process first
    (decision 63). Without it they are imported as they are."""
    loaded, manager = Loaded(), new_manager()
    sound = [entry for entry in entries if _is_sound(entry, entries, loaded)]
    strangers = [entry for entry in sound if is_stranger(entry)]
    if not strangers:
        for entry in sound:
            _load_into(loaded, entry, tables, where, manager)
        return loaded
    from pegboard.plugins.contained import Containment
    from pegboard.plugins.vetting import Vetting

    vetting = Vetting(state) if state else None
    refused = vetting.refused(strangers, tables, where, loaded.notes) if vetting else {}
    with Containment() as containment, vetting.under_way() if vetting else ExitStack():
        for entry in sound:
            if entry in refused:
                loaded.failures.append(refused[entry])
            elif is_stranger(entry):
                with vetting.noted(entry) if vetting else ExitStack(), containment.around(entry, loaded.notes):
                    _load_into(loaded, entry, tables, where, manager)
            else:
                _load_into(loaded, entry, tables, where, manager)
    return loaded


def _load_into(
    loaded: Loaded,
    entry: Entry,
    tables: Mapping[str, Mapping[str, Any]],
    where: Mapping[str, str],
    manager: pluggy.PluginManager,
) -> None:
    try:
        loaded.plugins.append(load_one(entry, tables.get(entry.name, {}), where.get(entry.name), manager))
    except LoadProblem as problem:
        loaded.failures.append(Failure(entry=entry, what=problem.what, error=str(problem)))


def load_one(
    entry: Entry,
    table: Mapping[str, Any],
    where: str | None,
    manager: pluggy.PluginManager | None = None,
    *,
    importing: Callable[[Entry], Any] | None = None,
    allowed: frozenset[str] | None = None,
) -> Plugin:
    """Import a plugin, convert its settings and call its hooks. `manager`: one of `new_manager`, which may serve many.
    `importing`: how it is had, where it is not installed; `allowed`: the hooks it may have, where its group does not say.

    Raises:
        LoadProblem: whatever went wrong.
    """
    began = time.perf_counter()
    try:
        module: Any = entry.module or (importing or import_guarded)(entry)
        _check_api(module)
        settings = _settings(module, table, where)
        allowed = hooks.GROUPS[entry.group] if allowed is None else allowed
        contributions = _register(entry, module, settings, manager or new_manager(), allowed)
    except LoadProblem as problem:
        log_failure(f"{whose(entry)} did not load", problem.__cause__ or problem)
        raise
    except (Exception, SystemExit) as error:  # isolates plugins: looking at a stranger's module
        log_failure(f"{whose(entry)} did not load", error)
        raise LoadProblem("import", told(error, entry.value)) from error
    ms = (time.perf_counter() - began) * 1000
    return Plugin(entry=entry, settings=settings, contributions=contributions, import_ms=round(ms, 2))


def _is_sound(entry: Entry, entries: Iterable[Entry], loaded: Loaded) -> bool:
    """Whether an entry may be imported at all, by its letters alone; why not is a failure."""
    try:
        check_entry(entry, entries)
    except LoadProblem as problem:
        loaded.failures.append(Failure(entry=entry, what=problem.what, error=str(problem)))
        return False
    return True


def check_entry(entry: Entry, entries: Iterable[Entry]) -> None:
    """Whether an entry may be imported, by its letters alone, among those that are on.

    Raises:
        LoadProblem: why not.
    """
    if entry.name in RESERVED:
        raise LoadProblem("hook", f"{entry.name!r} is the name of one of core's own tables")
    if not _NAME.fullmatch(entry.name):
        raise LoadProblem("hook", f"an entry's name is [a-z][a-z0-9-]*, not {entry.name!r}")
    if entry.group not in hooks.GROUPS:
        raise LoadProblem("hook", f"there is no group {entry.group!r}; groups are {', '.join(hooks.GROUPS)}")
    if ":" in entry.value:
        raise LoadProblem("hook", f"an entry in {entry.group} names a module, not {entry.value!r}")
    if (why := contested(entry, entries)) is not None:
        raise LoadProblem("duplicate", why)
    for other in entries:
        if other is entry:
            return
        if other.value == entry.value:
            raise LoadProblem("hook", f"its module {entry.value} already stands in {other.group} as {other.name!r}")


def _check_api(module: Any) -> None:
    api = getattr(module, "pegboard_api", hooks.API)
    if api != hooks.API:
        raise LoadProblem("version", f"it was written for version {api!r} of Pegboard's hooks; this is {hooks.API}")


def import_guarded(entry: Entry) -> Any:
    """Import what an entry names (`module` or `module:object`), unless a program has given it.

    Raises:
        LoadProblem: whatever the import raised, `SystemExit` included.
    """
    if entry.module is not None:
        return entry.module
    module_name, _, attribute = entry.value.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # isolates plugins: a stranger's import may raise anything
        raise LoadProblem("import", told(error, module_name)) from error
    return found


def _settings(module: ModuleType, table: Mapping[str, Any], where: str | None) -> Any:
    kind = getattr(module, "Settings", None)
    if kind is None:
        return None
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        raise LoadProblem("settings", "its Settings is not a msgspec.Struct")
    try:
        return msgspec.convert(copy.deepcopy(dict(table)), kind)
    except msgspec.ValidationError as error:
        raise LoadProblem("settings", f"{where + ': ' if where else ''}{misfit(table, kind, error)}") from None


def _register(
    entry: Entry, module: ModuleType, settings: Any, manager: pluggy.PluginManager, allowed: frozenset[str]
) -> dict[str, Any]:
    """Check a module's hooks and call each once."""
    try:
        manager.register(module, entry.name)
        manager.check_pending()
        return _contributions(entry, module, settings, manager, allowed)
    except (pluggy.PluginValidationError, ValueError) as error:
        raise LoadProblem("hook", " ".join(str(error).split()) + _nearest(manager, module)) from None
    finally:  # each plugin is alone in there
        if manager.is_registered(module):
            manager.unregister(module)


def new_manager() -> pluggy.PluginManager:
    """A manager that knows our hooks, and nobody who implements them."""
    manager = pluggy.PluginManager("pegboard")
    manager.add_hookspecs(hooks)
    return manager


def _contributions(
    entry: Entry, module: ModuleType, settings: Any, manager: pluggy.PluginManager, allowed: frozenset[str]
) -> dict[str, Any]:
    contributions: dict[str, Any] = {}
    for caller in manager.get_hookcallers(module) or []:
        if caller.name not in allowed:
            raise LoadProblem(
                "hook", f"{caller.name} is no hook of {entry.group} (it may have {', '.join(sorted(allowed))})"
            )
        for impl in caller.get_hookimpls():
            if impl.hookwrapper or impl.wrapper or impl.tryfirst or impl.trylast:
                raise LoadProblem("hook", f"{caller.name} is a wrapper or asks for an order; hooks here only register")
            contributions[caller.name] = _call(caller.name, impl, settings)
    if not contributions:
        raise LoadProblem("hook", f"{entry.value} implements no hook of {entry.group}; mark one with @hookimpl")
    return contributions


def _nearest(manager: pluggy.PluginManager, module: ModuleType) -> str:
    """The hooks that misspelt ones were meant to be, as the end of a sentence."""
    known = [name for row in hooks.GROUPS.values() for name in row]
    said = ""
    for name in dir(module):
        if name not in known and manager.parse_hookimpl_opts(module, name) is not None:
            for near in difflib.get_close_matches(name, known, 1, 0.5):
                said += f"; did {name} mean {near}?"
    return said


def _call(name: str, impl: pluggy.HookImpl, settings: Any) -> Any:
    try:
        returned: Any = impl.function(settings) if "settings" in impl.argnames else impl.function()
        contributed = dict(returned) if name == "pegboard_renderers" else list(islice(returned, MOST + 1))
    except (Exception, SystemExit) as error:  # isolates plugins: a stranger's hook may raise anything
        raise LoadProblem("hook", f"{name} raised {told(error, impl.function.__module__)}") from error
    if len(contributed) > MOST:
        raise LoadProblem("hook", f"{name} returned more than {MOST} things")
    for one in contributed.values() if isinstance(contributed, dict) else contributed:
        if not (isinstance(one, hooks.Fragment) if name == "pegboard_prompt" else callable(one)):
            wanted = "a Fragment" if name == "pegboard_prompt" else "a function"
            raise LoadProblem("hook", f"{name} returned {type(one).__name__} where {wanted} was expected")
    for kind in contributed if isinstance(contributed, dict) else ():
        if not isinstance(kind, type):
            raise LoadProblem("hook", f"{name} returned a renderer for {kind!r}; renderers are by type")
    return contributed


class Toolbox(NamedTuple):
    """A set's tools that can be registered, by name; their aliases; why others are left out."""

    names: list[str]
    aliases: list[str]
    left_out: list[str]


def tools_of(plugin: Plugin) -> Toolbox:
    """What a loaded set has to register."""
    from pegboard.tooling import BadTool, Tool

    found = Toolbox([], [], [])
    for function in plugin.contributions.get("pegboard_tools", ()):
        try:
            tool = Tool.of(function)
        except BadTool as error:
            found.left_out.append(str(error))
            continue
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: a function may be anything
            found.left_out.append(f"{told(error)} where a tool was expected")
            continue
        found.names.append(tool.name)
        found.aliases.extend(alias if isinstance(alias, str) else alias[0] for alias in tool.declaration.aliases)
    return found
