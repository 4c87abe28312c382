"""Find plugins through entry points and load each alone: one that fails is told of, and harms nobody else.

Scanning reads `entry_points.txt` of installed distributions directly (importlib.metadata parses every METADATA and costs a
third of the start). Loading an entry: import its module, read its `Settings`, convert its table, register, call each hook
once with the arguments it declares. What comes back is kept with its owner.
"""

from __future__ import annotations

import configparser
import importlib
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import msgspec
import pluggy

from pegboard import hooks
from pegboard.config.schema import RESERVED

GROUP = "pegboard."
_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An entry point as it stands on disk; nothing of it is imported. `module`: given by a program, see `given`."""

    name: str
    group: str
    value: str
    distribution: str
    version: str
    own: bool
    module: Any = None


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


def scan(paths: Iterable[str] | None = None) -> list[Entry]:
    """Every entry point of ours on `sys.path`: our own distributions first, others by name (decision 58)."""
    found: list[tuple[str, str, str, str, str]] = []
    seen: set[str] = set()
    ours: frozenset[str] = frozenset()
    for folder in dict.fromkeys(os.path.abspath(path or ".") for path in (sys.path if paths is None else paths)):
        for info, distribution, version in _distributions(folder):
            if distribution in seen:
                continue  # an earlier path wins, as for imports
            seen.add(distribution)
            if distribution == "pegboard":
                ours = _required(os.path.join(folder, info))
            for group, name, value in _entry_points(os.path.join(folder, info, "entry_points.txt")):
                found.append((group, name, value, distribution, version))
    entries = [
        Entry(name=name, group=group, value=value, distribution=distribution, version=version, own=distribution in ours)
        for group, name, value, distribution, version in found
    ]
    return sorted(entries, key=lambda e: (not e.own, e.distribution, e.group, e.name))


def _distributions(folder: str) -> list[tuple[str, str, str]]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    out = []
    for info in sorted(names):
        stem, dot, ending = info.rpartition(".")
        if ending in ("dist-info", "egg-info") and dot:
            name, _, version = stem.partition("-")
            out.append((info, _normal(name), version.split("-py")[0]))
    return out


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _entry_points(path: str) -> list[tuple[str, str, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return []
    if GROUP not in text:
        return []
    parser = configparser.ConfigParser(delimiters=("=",), strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    return [(s, n, v) for s in parser.sections() if s.startswith(GROUP) for n, v in parser.items(s)]


def _required(info: str) -> frozenset[str]:
    """The distributions that the distribution `pegboard` names: those are our own."""
    try:
        with open(os.path.join(info, "METADATA"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return frozenset()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("Requires-Dist:"))
    return frozenset({"pegboard", *(_normal(re.split(r"[^\w.\-]", name)[0]) for name in names)})


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
    module: ModuleType = entry.module or import_guarded(entry)
    return module


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
            raise LoadProblem("hook", f"{caller.name} is no hook of {entry.group} (it may have {', '.join(sorted(allowed))})")
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
        return dict(returned) if name == "pegboard_renderers" else list(returned)
    except (Exception, SystemExit) as error:  # isolates plugins: a stranger's hook may raise anything
        raise LoadProblem("hook", f"{name} raised {type(error).__name__}: {error}") from error
