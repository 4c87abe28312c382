"""From a configuration to rules: `[tool_permission]`, the lists of `[tools]`, `paths.outside` and `approval.strict`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from pegboard.calls import STRICTNESS, Action
from pegboard.config.load import Loaded, Stated
from pegboard.config.schema import DEFAULT_PERMISSION, PermissionSettings
from pegboard.policy.rules import RANK, Rule, Where, ordered

_NO_KEYS = frozenset(field.name for field in msgspec.structs.fields(PermissionSettings)) - {"actions"}
"""Keys of `[tool_permission]` that rule command lines, and are no permission keys (`bash_read_only`)."""


def rules_of(loaded: Loaded) -> tuple[Rule, ...]:
    """The ordered list of a configuration. What a project's own file says counts only where it is stricter."""
    stated = loaded.stated
    return ordered([*_names(loaded), *_outside(stated), *_keys(stated), *_floors(stated)])


def _names(loaded: Loaded) -> Iterator[Rule]:
    """`tools.deny`, joined over the layers; `tools.allow`, of the last layer that has it."""
    for said in loaded.stated:
        for token in said.value if said.key == ("tools", "deny") else ():
            name = f"tools.deny: {token}"
            item = loaded.origin(name)
            source = item.source if item.layer == said.layer else said.source
            yield Rule(action="deny", name=name, layer=said.layer, source=source, tool=token)
    for said in _settings(loaded.stated, ("tools", "allow")):
        if said.value:
            yield Rule(
                action="deny", name="tools.allow", layer=said.layer, source=said.source, others=tuple(said.value)
            )


def _keys(stated: Sequence[Stated]) -> Iterator[Rule]:
    """`tool_permission`: what each permission key gets. As shipped, sending something asks where fetching does not."""
    for key, action in DEFAULT_PERMISSION.items():
        name = f"tool_permission.{key}"
        yield Rule(action=action, name=name, key=key)
        if action == "allow":
            yield Rule(action="ask", name=f"{name}: sends data", key=key, where=Where(sends=True))
    for said in stated:
        table, key = said.key[0], ".".join(said.key[1:])
        if table == "tool_permission" and key not in _NO_KEYS and said.value in (*STRICTNESS,):
            yield Rule(
                action=said.value,
                name=f"tool_permission.{key}",
                layer=said.layer,
                source=said.source,
                key=key,
                only_stricter=said.layer == "project",
            )


def _outside(stated: Sequence[Stated]) -> Iterator[Rule]:
    """`paths.outside`: `refuse` denies, `ask` is a floor."""
    for said in _settings(stated, ("paths", "outside"), "refuse"):
        if said.value != "allow":
            action: Action = "deny" if said.value == "refuse" else "ask"
            where = Where(outside=True)
            yield Rule(
                action=action,
                name="paths.outside",
                layer=said.layer,
                source=said.source,
                where=where,
                floor=action == "ask",
            )


def _floors(stated: Sequence[Stated]) -> Iterator[Rule]:
    """What asks whatever was allowed: strict mode, and models that ask to be asked about."""
    for said in _settings(stated, ("approval", "strict"), False):
        if said.value is True:
            where = Where(changes=True)
            yield Rule(
                action="ask", name="approval.strict", layer=said.layer, source=said.source, where=where, floor=True
            )
    yield Rule(
        action="ask", name="model.cautious", layer="plugin", where=Where(changes=True, cautious=True), floor=True
    )


def _settings(stated: Sequence[Stated], key: tuple[str, ...], default: Any = None) -> Iterator[Stated]:
    """What holds for a setting: the last layer's word, and beside it an untrusted project's, which adds what is stricter.

    A layer after the project's has the last word over both."""
    base, project = Stated("default", key, default), None
    for said in stated:
        if said.key == key and said.layer == "project":
            project = said
        elif said.key == key:
            base = said
    yield base
    if project is not None and RANK[base.layer] < RANK["project"]:
        yield project
