"""From a configuration to rules: `[tool_permission]`, the lists of `[tools]`, `[permission]`, modes, `paths.outside`,
`approval.strict`. Each layer's word is a rule of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from pegboard.calls import STRICTNESS, Action
from pegboard.config.authority import DEFAULT_PERMISSION, PermissionSettings
from pegboard.config.load import Loaded, Stated
from pegboard.policy.asked import Reading, Where
from pegboard.policy.modes import Mode, rules_in
from pegboard.policy.policy import Policy
from pegboard.policy.rules import RANK, Rule, ordered
from pegboard.policy.written import Place, lists, one_by_one

_NO_KEYS = frozenset(field.name for field in msgspec.structs.fields(PermissionSettings)) - {"actions"}
"""Keys of `[tool_permission]` that rule command lines, and are no permission keys (`bash_read_only`)."""


def rules_of(loaded: Loaded, *, mode: Mode | None = None) -> tuple[Rule, ...]:
    """The ordered list of a configuration, in a mode. What an untrusted project's file says counts only where it is
    stricter."""
    stated = loaded.stated
    return ordered(
        [
            *_names(loaded, lists_tools=mode is None or not mode.allows_tools),
            *_outside(stated),
            *_keys(stated),
            *_commands(stated),
            *_permission(loaded),
            *(rules_in(mode, loaded.root) if mode else ()),
            *_floors(stated),
        ]
    )


def policy_of(loaded: Loaded, *, mode: Mode | None = None, confined: bool | Callable[[], bool] = False) -> Policy:
    """The policy of a configuration, in a mode. confined: a sandbox can hold programs here; a function is asked where a
    rule wants one."""
    reading = Reading(settings=loaded.config.tool_permission, root=loaded.root or None)
    rules = rules_of(loaded, mode=mode)
    if callable(confined):
        confined = any(rule.wants_sandbox for rule in rules) and confined()
    return Policy(rules, confined=confined, reading=reading)


def _names(loaded: Loaded, *, lists_tools: bool) -> Iterator[Rule]:
    """`tools.deny`, joined over the layers; `tools.allow`, of the last layer that has it, unless a mode brings its own."""
    for said in loaded.stated:
        for number, token in enumerate(said.value if said.key == ("tools", "deny") else ()):
            yield Rule(
                action="deny", name=f"tools.deny: {token}", layer=said.layer, source=said.item(number), tool=token
            )
    for said in _settings(loaded.stated, ("tools", "allow")) if lists_tools else ():
        if said.value:
            yield Rule(
                action="deny", name="tools.allow", layer=said.layer, source=said.source, others=tuple(said.value)
            )


def _keys(stated: Sequence[Stated]) -> Iterator[Rule]:
    """`tool_permission`: what each permission key gets. As shipped, sending something asks where fetching does not."""
    for key, action in DEFAULT_PERMISSION.items():
        name = f"tool_permission.{key}"
        yield Rule(action=action, name=name, key=key, general=True)
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
                general=True,
                only_stricter=said.only_stricter,
            )


def _commands(stated: Sequence[Stated]) -> Iterator[Rule]:
    """`tool_permission.bash_allow`, of the last layer that has it, and `bash_read_only`."""
    for said in _settings(stated, ("tool_permission", "bash_allow"), ()):
        for number, pattern in enumerate(said.value if not said.only_stricter else ()):
            yield Rule(
                action="allow",
                name=f"tool_permission.bash_allow: {pattern}",
                layer=said.layer,
                source=said.item(number),
                key="bash",
                where=Where(commands=(pattern,)),
            )
    said, *stricter = _settings(stated, ("tool_permission", "bash_read_only"), "allow")
    if all(one.value == "allow" for one in (said, *stricter)):
        yield Rule(
            action="allow",
            name="tool_permission.bash_read_only",
            layer=said.layer,
            source=said.source,
            key="bash",
            where=Where(reads=True),
        )


def _permission(loaded: Loaded) -> Iterator[Rule]:
    """`[permission]`: the lists and the rules of all layers. An untrusted project's allow is none."""
    for said in loaded.stated:
        if said.key[0] != "permission":
            continue
        only_stricter = said.only_stricter
        place = Place(layer=said.layer, only_stricter=only_stricter, root=loaded.root)
        made = lists if said.key[1:] != ("rules",) else one_by_one
        for rule in made(said, place):
            if not (only_stricter and rule.action == "allow"):
                yield rule


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
            where = Where(acts=True)
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
        if said.key == key and said.only_stricter:
            project = said
        elif said.key == key:
            base = said
    yield base
    if project is not None and RANK[base.layer] < RANK["project"]:
        yield project
