"""The words of `[permission]` and `[modes]` that name tools and keys, and rules that can never match: so that a person is
told of those that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator

from pegboard.config.authority import RuleSettings, RulesSettings
from pegboard.config.schema import Config

_OF_KIND = {"path": ("read", "list", "edit"), "host": ("web",), "command": ("bash",)}
"""The permission keys that touches of these kinds have, where a tool has no key of its own."""


def tokens_of(config: Config) -> Iterator[tuple[str, list[str]]]:
    """(where they stand, words that name tools)."""
    yield from _of("", config.permission)
    for name, mode in config.modes.items():
        yield f"modes.{name}.tools.allow", mode.tools.allow
        yield f"modes.{name}.tools.deny", mode.tools.deny
        yield from _of(f"modes.{name}.", mode.permission)


def _of(prefix: str, rules: RulesSettings) -> Iterator[tuple[str, list[str]]]:
    for name in ("allow", "ask", "deny", "dangerous_default_deny"):
        yield f"{prefix}permission.{name}", getattr(rules, name)
    yield f"{prefix}permission.rules", [rule.tool for rule in rules.rules if rule.tool is not None]


def keys_of(config: Config) -> Iterator[tuple[str, list[str]]]:
    """(where they stand, permission keys)."""
    yield "tool_permission", [*config.tool_permission.actions]
    yield "permission.rules", _keys(config.permission.rules)
    for name, mode in config.modes.items():
        yield f"modes.{name}.tool_permission", [*mode.tool_permission]
        yield f"modes.{name}.permission.rules", _keys(mode.permission.rules)


def _keys(rules: list[RuleSettings]) -> list[str]:
    return [rule.key for rule in rules if rule.key is not None]


def pointless_rules(config: Config) -> list[str]:
    """A note for each rule that no call can match: it looks at a path and at a host, or at one and at another's key."""
    modes = [(f"modes.{name}.", mode.permission) for name, mode in config.modes.items()]
    return [
        f"{prefix}permission.rules[{number}]: it can never match: {why}"
        for prefix, permission in [("", config.permission), *modes]
        for number, rule in enumerate(permission.rules)
        if (why := _why_never(rule)) is not None
    ]


def _why_never(rule: RuleSettings) -> str | None:
    looks = [name for name in _OF_KIND if getattr(rule, name) is not None]
    if len(looks) > 1:
        return f"nothing has a {looks[0]} and a {looks[1]}"
    shipped = [key for keys in _OF_KIND.values() for key in keys]
    if looks and rule.key in shipped and rule.key not in _OF_KIND[looks[0]]:
        return f"what has the key {rule.key} has no {looks[0]}"
    if rule.sandbox and ((looks and looks[0] != "command") or (rule.key in shipped and rule.key != "bash")):
        return "the sandbox holds programs alone"
    return None
