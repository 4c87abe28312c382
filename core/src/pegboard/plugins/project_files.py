"""The plugin files of a trusted project, `.pegboard/plugins/NAME.py`: loaded from the very bytes that a person trusted.

They are compiled here and never found by an import, so the folder is on no path and a file in it hides no module. Each is a
plugin of its own that brings tools, and may bring what a tool set may, observers, and guards, which only narrow. It is no
approver and no rewriter. What fails in one is its own. They are not looked at in a child first, as strangers' plugins are:
the person was asked.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from pegboard import hooks
from pegboard.config.project import PluginFile
from pegboard.config.schema import RESERVED
from pegboard.entries import Entry
from pegboard.plugins.contained import Containment
from pegboard.plugins.loaded import PROJECT, Failure, Loaded, LoadProblem, told
from pegboard.plugins.loading import load_one

HOOKS = hooks.GROUPS["pegboard.toolsets"] | hooks.GROUPS["pegboard.observers"] | hooks.GROUPS["pegboard.guards"]
"""The hooks that a project's plugin file may have."""
_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def entry_of(plugin: PluginFile) -> Entry:
    """A plugin file as the entry of a tool set; it stands in no distribution. `value` is its path below the root."""
    return Entry(
        name=plugin.name,
        group="pegboard.toolsets",
        value=plugin.path,
        distribution=PROJECT,
        version=plugin.digest[:8],
        own=False,
    )


def check_file(plugin: PluginFile, entries: Sequence[Entry]) -> None:
    """Whether a plugin file may be loaded, by its name alone, beside what is installed.

    Raises:
        LoadProblem: why not.
    """
    if not _NAME.fullmatch(plugin.name):
        raise LoadProblem("hook", f"a plugin file's name is [a-z][a-z0-9_-]*.py, not {plugin.name + '.py'!r}")
    if plugin.name in RESERVED:
        raise LoadProblem("hook", f"{plugin.name!r} is the name of one of core's own tables")
    for other in entries:
        if other.name == plugin.name and other.group in hooks.GROUPS:
            raise LoadProblem("duplicate", f"{other.distribution} {other.version} has the name {plugin.name!r} already")


def load_files(
    files: Sequence[PluginFile],
    entries: Sequence[Entry],
    tables: Mapping[str, Mapping[str, Any]],
    where: Mapping[str, str],
) -> Loaded:
    """Load each file alone. `entries`: what is installed; `tables` and `where` as for `plugins.load_all`."""
    loaded = Loaded()
    with Containment() as containment:
        for file in files:
            entry = entry_of(file)
            try:
                check_file(file, entries)
                with containment.around(entry, loaded.notes):
                    plugin = load_one(
                        entry,
                        tables.get(entry.name, {}),
                        where.get(entry.name),
                        importing=lambda _, file=file: module_of(file),  # type: ignore[misc]
                        allowed=HOOKS,
                    )
                loaded.plugins.append(plugin)
            except LoadProblem as problem:
                loaded.failures.append(Failure(entry=entry, what=problem.what, error=str(problem)))
    return loaded


def compiled(file: PluginFile) -> CodeType:
    """The code of a plugin file, not run.

    Raises:
        LoadProblem: it is no Python.
    """
    try:
        return compile(file.data, file.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LoadProblem("import", told(error)) from None


class _Loader:
    """Gives a module the code of bytes that are at hand."""

    def __init__(self, file: PluginFile) -> None:
        self._file = file

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual kind of module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run its code."""
        exec(compiled(self._file), module.__dict__)

    def get_source(self, name: str) -> str:
        """The text of it, for tracebacks: what is on the disk by now may be another."""
        return importlib.util.decode_source(self._file.data)


def module_of(file: PluginFile) -> ModuleType:
    """The module of a plugin file, run now. It is known to `sys.modules` by a name that nobody imports by chance, since
    dataclasses and the like look their module up there.

    Raises:
        LoadProblem: whatever its code raises, `SyntaxError` included.
    """
    name = f"pegboard_project_{file.digest[:12]}_{file.name.replace('-', '_')}"
    loader: Any = _Loader(file)
    spec = ModuleSpec(name, loader, origin=file.file)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = file.file
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except LoadProblem:
        sys.modules.pop(name, None)
        raise
    except (Exception, SystemExit) as error:  # isolates plugins: a project's module may raise anything
        sys.modules.pop(name, None)
        raise LoadProblem("import", told(error, name)) from error
    return module
