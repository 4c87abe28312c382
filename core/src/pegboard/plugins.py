"""Find plugins through entry points and load each alone: one that fails is told of, and harms nobody else.

Finding them is `pegboard.entries`. Loading an entry: import its module, read its `Settings`, convert its table,
register, call each hook once with the arguments it declares. What comes back is kept with its owner.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import msgspec
import pluggy

from pegboard import hooks
from pegboard.config.schema import RESERVED
from pegboard.entries import Entry as Entry
from pegboard.entries import scan as scan

_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A plugin that did not load: what went wrong, and how to switch it off."""

    entry: Entry
    what: str
    error: str

    @property
    def text(self) -> str:
        """One line for a person."""
        return (
            f"plugin {self.entry.name!r} ({self.entry.distribution} {self.entry.version}) did not load: {self.error}; "
            f'update or uninstall it, or put "{self.entry.name}" in plugins.disable'
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Plugin:
    """A loaded plugin and what each of its hooks returned."""

    entry: Entry
    settings: Any
    contributions: Mapping[str, Any]


@dataclass(kw_only=True, slots=True)
class Loaded:
    """Everything that was loaded, in order, and everything that was not."""

    plugins: list[Plugin] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def contributed(self, hook: str) -> list[tuple[Plugin, Any]]:
        """(plugin, what its hook returned), for the plugins that have this hook."""
        return [(plugin, plugin.contributions[hook]) for plugin in self.plugins if hook in plugin.contributions]


def given(name: str, group: str, module: Any, *, own: bool = False) -> Entry:
    """An entry for a module that a program brings along (`Board.build(extra=[...])`), without installing it."""
    value = getattr(module, "__name__", name)
    return Entry(name=name, group=group, value=value, distribution=name, version="0", own=own, module=module)


def load_all(entries: Iterable[Entry], tables: Mapping[str, Mapping[str, Any]], where: Mapping[str, str]) -> Loaded:
    """Load each entry alone. `tables`: plugins' settings by name; `where`: the file and line of each table."""
    loaded = Loaded()
    modules: dict[str, Entry] = {}
    for entry in entries:
        try:
            module = _import(entry, modules)
            settings = _settings(module, tables.get(entry.name, {}), where.get(entry.name))
            contributions = _register(entry, module, settings)
        except LoadProblem as problem:
            loaded.failures.append(Failure(entry=entry, what=problem.what, error=str(problem)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: looking at a stranger's module
            text = f"{type(error).__name__}: {error}"
            loaded.failures.append(Failure(entry=entry, what="import", error=text))
        else:
            loaded.plugins.append(Plugin(entry=entry, settings=settings, contributions=contributions))
    return loaded


class LoadProblem(Exception):
    """Why one plugin did not load. `what`: import, hook, version or settings."""

    def __init__(self, what: str, text: str) -> None:
        super().__init__(text)
        self.what = what


def _import(entry: Entry, modules: dict[str, Entry]) -> ModuleType:
    if entry.name in RESERVED:
        raise LoadProblem("hook", f"{entry.name!r} is the name of one of core's own tables")
    if not _NAME.fullmatch(entry.name):
        raise LoadProblem("hook", f"an entry's name is [a-z][a-z0-9-]*, not {entry.name!r}")
    if entry.group not in hooks.GROUPS:
        raise LoadProblem("hook", f"there is no group {entry.group!r}; groups are {', '.join(hooks.GROUPS)}")
    if ":" in entry.value:
        raise LoadProblem("hook", f"an entry in {entry.group} names a module, not {entry.value!r}")
    other = modules.setdefault(entry.value, entry)
    if other is not entry:
        raise LoadProblem("hook", f"its module {entry.value} already stands in {other.group} as {other.name!r}")
    module: Any = entry.module or import_guarded(entry)
    api = getattr(module, "pegboard_api", hooks.API)
    if api != hooks.API:
        raise LoadProblem("version", f"it was written for version {api!r} of Pegboard's hooks; this is {hooks.API}")
    return module  # type: ignore[no-any-return]


def import_guarded(entry: Entry) -> Any:
    """Import what an entry names (`module` or `module:object`).

    Raises:
        LoadProblem: whatever the import raised, `SystemExit` included.
    """
    module_name, _, attribute = entry.value.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split(".") if attribute else ():
            found = getattr(found, part)
    except (Exception, SystemExit) as error:  # isolates plugins: a stranger's import may raise anything
        raise LoadProblem("import", f"{type(error).__name__}: {error}") from error
    return found


def _settings(module: ModuleType, table: Mapping[str, Any], where: str | None) -> Any:
    kind = getattr(module, "Settings", None)
    if kind is None:
        return None
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        raise LoadProblem("settings", "its Settings is not a msgspec.Struct")
    try:
        return msgspec.convert(dict(table), kind)
    except msgspec.ValidationError as error:
        raise LoadProblem("settings", f"{where + ': ' if where else ''}{error}") from None


def _register(entry: Entry, module: ModuleType, settings: Any) -> dict[str, Any]:
    """Check a module's hooks and call each once."""
    manager = pluggy.PluginManager("pegboard")
    manager.add_hookspecs(hooks)
    allowed = hooks.GROUPS[entry.group]
    try:
        manager.register(module, entry.name)
        manager.check_pending()
    except (pluggy.PluginValidationError, ValueError) as error:
        raise LoadProblem("hook", str(error).replace("\n", " ")) from None
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


def _call(name: str, impl: pluggy.HookImpl, settings: Any) -> Any:
    try:
        returned: Any = impl.function(settings) if "settings" in impl.argnames else impl.function()
        contributed = dict(returned) if name == "pegboard_renderers" else list(returned)
    except (Exception, SystemExit) as error:  # isolates plugins: a stranger's hook may raise anything
        raise LoadProblem("hook", f"{name} raised {type(error).__name__}: {error}") from error
    for one in contributed.values() if isinstance(contributed, dict) else contributed:
        if not (isinstance(one, hooks.Fragment) if name == "pegboard_prompt" else callable(one)):
            wanted = "a Fragment" if name == "pegboard_prompt" else "a function"
            raise LoadProblem("hook", f"{name} returned {type(one).__name__} where {wanted} was expected")
    return contributed
