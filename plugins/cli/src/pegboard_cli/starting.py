"""A first settings file, and which model would answer now: for `pegboard init`."""

from __future__ import annotations

import os
import textwrap
from typing import Any

import msgspec
from pegboard.config.places import find_root, state_folder
from pegboard.config.published import Key, tables
from pegboard.entries import scan
from pegboard.providers import Choice, Providers

from pegboard_cli.configuring import read

SHOWN = {
    "": ["toolSets", "model", "project_instructions"],
    "tools": ["tools.allow", "tools.deny", "tools.NAME"],
    "tool_permission": ["tool_permission.read", "tool_permission.edit", "tool_permission.bash", "tool_permission.web"],
    "plugins": ["plugins.disable"],
    "paths": ["paths.outside"],
    "limits": ["limits.max_steps"],
}
"""The settings that a first file shows; docs/configuration.md has all."""
_EXAMPLES = {"toolSets": ["core"], "model": "offline", "tools.NAME": ("bash", True)}
"""Where nothing is shipped that could be shown: what works on every machine when the # is taken away."""


def first_file() -> str:
    """A settings file in which every line is a comment: a few as they are shipped, or an example."""
    out = [
        "# Settings of Pegboard. Take the # away from what you want otherwise, the [table] above it included.",
        "# `pegboard config show --origin` says what holds, and where it comes from.",
        "",
    ]
    for table, _, keys in tables():
        shown = [key for key in keys if key.name in SHOWN.get(table, ())]
        if shown and table:
            out.append(f"# [{table}]")
        for key in shown:
            out += [f"# {line}" for line in textwrap.wrap(f"# {key.description}", 110, subsequent_indent="# ")]
            out.append(f"# {_assignment(key)}")
        if shown:
            out.append("")
    return "\n".join(out)


def _assignment(key: Key) -> str:
    name: str = key.name.rpartition(".")[2]
    value: Any = _EXAMPLES.get(key.name, key.default)
    if isinstance(value, tuple):
        name, value = value
    return f"{name} = {msgspec.json.encode(value).decode()}"


def answering(path: str | None) -> Choice:
    """The model that would answer, and why: the one that is set, else the first that is there.

    Raises:
        ConfigError: a setting is wrong.
    """
    root, _ = find_root(path)
    loaded = read(path)
    if loaded.config.model:
        return Choice(model=loaded.config.model, why=f"it is set: {loaded.origin('model').layer}")
    return Providers(scan(), loaded, root=root, state=state_folder(os.environ)).choose(os.environ, "offline")
