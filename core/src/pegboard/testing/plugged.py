"""What hangs on a test's board: plugins of each group as objects or modules, and the person's own file that names some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from pegboard.entries import Entry
from pegboard.hooks import Fragment, hookimpl
from pegboard.plugins import given

HOOKS = {
    "tools": ("toolsets", "pegboard_tools", "test"),
    "guards": ("guards", "pegboard_guards", "testguard"),
    "approvers": ("approvers", "pegboard_approvers", "testapprover"),
    "rewriters": ("rewriters", "pegboard_rewriters", "testrewriter"),
    "renderers": ("renderers", "pegboard_renderers", "testrenderer"),
    "observers": ("observers", "pegboard_observers", "testobserver"),
    "prompts": ("prompts", "pegboard_prompt", "testprompt"),
}
"""What a board is given by hooks: its group, its hook, and its plugin's name where objects are given."""
OBJECTS = {"providers": "providers", "launchers": "launchers", "slash": "slash"}
"""What it is given as the object that an entry names, by that name."""
_TO_NAME = ("approvers", "rewriters")


def entries_of(brought: Mapping[str, Any], *, own_guards: bool = True) -> list[Entry]:
    """An entry for each plugin.

    Raises:
        TypeError: there is no such group, or it is given in another form than it takes.
    """
    found: list[Entry] = []
    for role, plugins in brought.items():
        if role in HOOKS:
            found += _hooked(role, plugins, own=own_guards or role != "guards")
        elif role not in OBJECTS:
            raise TypeError(f"a board takes no {role!r}; it takes {', '.join([*HOOKS, *OBJECTS])}")
        elif not isinstance(plugins, Mapping):
            raise TypeError(f"{role} are given by name, {role}={{'my-name': what_the_entry_point_names}}")
        else:
            found += [given(name, f"pegboard.{OBJECTS[role]}", one, own=True) for name, one in plugins.items()]
    return found


def _hooked(role: str, plugins: Any, *, own: bool) -> list[Entry]:
    group, hook, name = HOOKS[role]
    if isinstance(plugins, Mapping) and all(isinstance(key, str) for key in plugins):
        return [given(key, f"pegboard.{group}", module, own=own) for key, module in plugins.items()]
    if role == "renderers":
        if not isinstance(plugins, Mapping):
            raise TypeError("renderers are functions by type, renderers={Report: draw}, or modules by name")
    elif isinstance(plugins, str) or not isinstance(plugins, Iterable):
        raise TypeError(
            f"{role} are a list of objects, {role}=[mine], or modules by name, {role}={{'my-name': module}}"
        )
    elif role == "prompts":
        plugins = [Fragment(text=one) if isinstance(one, str) else one for one in plugins]
    contributed = plugins if isinstance(plugins, Mapping) else list(plugins)
    return [module_entry(name, f"pegboard.{group}", hook, contributed, own=own)] if contributed else []


def module_entry(name: str, group: str, hook: str, contributed: Any, *, own: bool) -> Entry:
    """An entry for a module whose only hook returns this."""
    module = ModuleType(f"pegboard_test_{name}")

    def impl() -> Any:
        return contributed

    impl.__name__ = hook
    setattr(module, hook, hookimpl(impl))
    return given(name, group, module, own=own)


def own_file(text: str, entries: Iterable[Entry], *, named: bool) -> str:
    """The person's own file: this text, in which approvers and rewriters are `named`, without which they do nothing."""
    roles = {role: [entry.name for entry in entries if entry.group == f"pegboard.{role}"] for role in _TO_NAME if named}
    if not any(roles.values()):
        return text
    import tomlkit

    document = tomlkit.parse(text)
    table = document.setdefault("plugins", tomlkit.table())
    for role, names in roles.items():
        there = table.get(role, [])
        if names:
            table[role] = [*there, *(name for name in names if name not in there)]
    return tomlkit.dumps(document)
