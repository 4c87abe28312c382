"""Rules as people write them: the lists of `[permission]`, and `[[permission.rules]]` one by one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from pegboard.calls import Action, Layer, Source
from pegboard.config.authority import RuleSettings
from pegboard.config.load import Stated
from pegboard.policy.asked import Where
from pegboard.policy.rules import Rule

_LISTS: dict[str, Action] = {"allow": "allow", "ask": "ask", "deny": "deny", "dangerous_default_deny": "deny"}
_SHOWN = 120


class Place(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where rules stand. only_stricter: in the file of a project that nobody trusts. root: the workspace root. prefix: of
    their names (`modes.plan: `). mode: in a mode."""

    layer: Layer
    only_stricter: bool = False
    root: str = ""
    prefix: str = ""
    mode: bool = False


def lists(said: Stated, place: Place) -> Iterator[Rule]:
    """`permission.allow = ["git:*"]` and its like."""
    word = said.key[-1]
    for number, token in enumerate(said.value if word in _LISTS else ()):
        yield Rule(
            action=_LISTS[word],
            name=f"{place.prefix}permission.{word}: {token}",
            layer=place.layer,
            source=said.item(number),
            tool=token,
            only_stricter=place.only_stricter,
            soft=word == "dangerous_default_deny",
            mode=place.mode,
        )


def one_by_one(said: Stated, place: Place) -> Iterator[Rule]:
    """`[[permission.rules]]`. One for another folder than this workspace root is none here."""
    for one, source in each(said):
        if one.project is not None and not _is_root(one.project, place.root):
            continue
        for where in _wheres(one):
            yield Rule(
                action=one.action,
                name=f"{place.prefix}permission.rules: {named(one)}",
                layer=place.layer,
                source=source,
                tool=one.tool,
                key=one.key,
                where=where,
                wants_sandbox=one.sandbox,
                only_stricter=place.only_stricter,
                mode=place.mode,
            )


def each(said: Stated) -> Iterator[tuple[RuleSettings, Source | None]]:
    """Every one of `[[permission.rules]]`, and where it stands."""
    for number, table in enumerate(said.value):
        one = table if isinstance(table, RuleSettings) else msgspec.convert(table, RuleSettings)
        yield one, said.item(number)


def texts(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """What a rule says of path, host or command, which may be one text or a list of them."""
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def named(one: RuleSettings) -> str:
    """What a rule is for, in words: `key edit, path src/**`; `every call` where it names nothing."""
    conditions = [
        ("tool", one.tool),
        ("key", one.key),
        ("path", one.path),
        ("host", one.host),
        ("command", one.command),
    ]
    words = [f"{word} {' | '.join(texts(value))}" for word, value in conditions if value is not None]
    if one.sends is not None:
        words.append("sends data" if one.sends else "sends nothing")
    text = ", ".join(words) or "every call"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _wheres(one: RuleSettings) -> list[Where | None]:
    """What it looks at. Where it allows or asks by several commands it stands for one rule each: the longer goes first."""
    commands = texts(one.command)
    if one.action == "deny" or len({len(text) for text in commands}) < 2:
        return [_where(one)]
    return [_where(msgspec.structs.replace(one, command=command)) for command in commands]


def _where(one: RuleSettings) -> Where | None:
    where = Where(sends=one.sends, paths=texts(one.path), hosts=texts(one.host), commands=texts(one.command))
    return None if where == Where() else where


def _is_root(folder: str, root: str) -> bool:
    return bool(root) and os.path.realpath(os.path.expanduser(folder)) == os.path.realpath(root)
