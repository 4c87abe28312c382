"""Whether one layer's values are of the right type and known by name: each layer is checked by itself, before merging."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

import msgspec
from msgspec import inspect as mi

from pegboard.calls import Action
from pegboard.config import never
from pegboard.config.authority import (
    HookSettings,
    ModeSettings,
    ModeTools,
    PermissionSettings,
    RuleSettings,
    RulesSettings,
)
from pegboard.config.layers import MARKS, PREFIX, Said, at, by_no_file, is_listed, leaves, open_keys, variables
from pegboard.config.schema import Config, ToolsSettings
from pegboard.errors import ConfigError
from pegboard.wanted import expected, holding

OWN = tuple(name for name in Config.__struct_fields__ if name != "tables")
"""Core's own tables and top-level keys."""
OPEN = {"tools": (ToolsSettings, "switches"), "tool_permission": (PermissionSettings, "actions")}
"""Tables with further keys of one type: the struct, and its field that holds them."""

SECRET = re.compile(r"(api[_-]?key|token|secret|password|passwd|authorization|credentials?)$", re.IGNORECASE)
"""A key whose value is not shown."""


def converted(values: Mapping[str, Any]) -> Config:
    """One layer's (or all layers') values as a Config.

    Raises:
        msgspec.ValidationError: with the path of the first wrong value.
    """
    shaped: dict[str, Any] = {key: value for key, value in values.items() if key in OWN}
    shaped["tables"] = {key: value for key, value in values.items() if key not in OWN and isinstance(value, dict)}
    for name, (kind, rest) in OPEN.items():
        table = values.get(name)
        if isinstance(table, dict):
            known = {field for field in kind.__struct_fields__ if field != rest}
            shaped[name] = {key: table[key] for key in table if key in known}
            shaped[name][rest] = {key: value for key, value in table.items() if key not in known}
    return msgspec.convert(shaped, Config, strict=True)


def insist(said: Said) -> None:
    """The layer's values have the right types.

    Raises:
        ConfigError: names file and line, or the variable, and what was expected.
    """
    wrong = complaint(said.values)
    if wrong is None:
        return
    key, reason = wrong
    place = by_no_file(said.layer, (*key[:-1], key[-1].partition("[")[0]))
    raise ConfigError(f"{'.'.join(key)}{place}: {reason}; nothing was started", file=said.file, line=_line(said, key))


def _line(said: Said, key: tuple[str, ...]) -> int | None:
    """The line of a key, or of the item of a list that it is in (`rules[2]`)."""
    for length, part in enumerate(key, 1):
        if listed := re.fullmatch(r"(.*)\[(\d+)\]", part):
            whole, number = (*key[: length - 1], listed[1]), int(listed[2])
            items = said.items(whole, at(said.values, whole) or [])
            source = items[number] if number < len(items) else None
            return source.line if source else None
    return said.line(key)


def complaint(values: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
    """The key of the first value of a wrong type and what was expected there; None when all are right."""
    for key, value in leaves(values):
        if isinstance(value, float) and not math.isfinite(value):  # JSON has no form for it: it would be shown as null
            return key, f"Expected a finite number, got {value}"
    try:
        converted(values)
    except msgspec.ValidationError as error:
        where = re.search(r" - at `\$\.?(.*)`$", str(error), re.DOTALL)
        reason = re.sub(r" - at `.*`$", "", str(error), flags=re.DOTALL)
        path = re.sub(r"(?<!hooks)(?<!rules)\[\d+\]", "", where[1] if where else "")
        key = tuple(path.split("."))
        if "[...]" in path:
            key = _concrete(values, re.split(r"[.\[]", path)[0])
        return key, _in_words(reason, key)
    for key, number, why in mistakes(values):
        return (*key[:-1], f"{key[-1]}[{number}]"), why
    return None


def mistakes(values: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], int, str]]:
    """(key, number of the item, why it can never match), for each item of a list of texts and each hook that is so. Rules
    one by one are checked where they are made (`RuleSettings`). Values of another type are passed over."""
    for key, value in leaves(values):
        for number, item in enumerate(value if isinstance(value, list) else ()):
            if is_listed(key):
                match = item.get("match") if key == ("hooks",) and isinstance(item, dict) else None
                why = never.token_problem(match, "match") if isinstance(match, str) else None
            else:
                why = never.item_problem(key, item) if isinstance(item, str) else None
            if why is not None:
                yield key, number, why


def _in_words(reason: str, key: tuple[str, ...]) -> str:
    """What is wrong, with what was expected there."""
    if "enum" in reason and ("tool_permission" in key or key[-1] == "action"):
        return f"{reason}; expected {', '.join(get_args(Action))}"
    odd = re.search(r"unknown field `([^`]*)`$", reason)
    kinds: list[type[msgspec.Struct]] = [RulesSettings, ModeSettings, ModeTools]
    if "rules[" in key[-1]:
        kinds = [RuleSettings]
    elif "hooks[" in key[-1]:
        kinds = [HookSettings]
    return reason + nearest(odd[1], [name for kind in kinds for name in kind.__struct_fields__]) if odd else reason


def misfit(values: Mapping[str, Any], kind: type[msgspec.Struct], error: msgspec.ValidationError) -> str:
    """What is wrong with a plugin's table, in the words of `config set`: `word: expected string, got 5`."""
    where = re.search(r" - at `\$\.?(.*)`$", str(error), re.DOTALL)
    reason = re.sub(r" - at `.*`$", "", str(error), flags=re.DOTALL)
    path = where[1] if where else ""
    inner: Any = values
    declared: mi.Type = mi.type_info(kind)
    for name in path.split(".") if path else ():
        fields = {field.encode_name: field.type for field in getattr(holding(declared, inner), "fields", ())}
        if name not in fields or not isinstance(inner, Mapping) or name not in inner:
            return f"{path}: {reason}"
        inner, declared = inner[name], fields[name]
    plain = not isinstance(inner, Mapping | list) and "length" not in reason and "regex" not in reason
    if not path or not plain or not reason.startswith(("Expected", "Invalid enum")):
        return f"{path}: {reason}" if path else reason
    got = "another text" if isinstance(inner, str) and SECRET.search(path) else repr(inner)
    return f"{path}: expected {expected(declared)}, got {got if len(got) <= 60 else got[:57] + '...'}"


def _concrete(values: Mapping[str, Any], table: str) -> tuple[str, ...]:
    """msgspec writes `[...]` for any key of a mapping: find the one that does not fit, and in a mode what of it."""
    inside = values.get(table)
    for name, value in inside.items() if isinstance(inside, dict) else ():
        try:
            converted({table: {name: value}})
        except msgspec.ValidationError:
            return (table, name, *(_of_mode(value) if table == "modes" else ()))
    return (table,)


def _of_mode(value: Any) -> tuple[str, ...]:
    """The key in a mode that does not fit."""
    try:
        msgspec.convert(value, ModeSettings, strict=True)
    except msgspec.ValidationError as error:
        where = re.search(r" - at `\$\.(.*)`$", str(error), re.DOTALL)
        path = where[1] if where else ""
        if "[...]" in path:
            actions = value["tool_permission"].items()
            return ("tool_permission", next(key for key, action in actions if action not in get_args(Action)))
        return tuple(path.split(".")) if path else ()
    return ()


def unknown(said: Said, entries: frozenset[str]) -> list[str]:
    """Unknown names are told of, never fatal: a newer or older file must still start. `entries`: installed plugins."""
    notes: list[str] = []

    def tell(key: tuple[str, ...], what: str, known: Iterable[str], why: str = "") -> None:
        place = f"{said.file}:{said.line(key)}: " if said.file else ""
        notes.append(f"{place}unknown {what} {'.'.join(key)!r} is ignored{why}{nearest(key[-1], known)}")

    for name, value in said.values.items():
        if name not in OWN:
            if name not in entries or not isinstance(value, dict):
                what, why = (
                    ("table", ": no plugin of that name is installed") if isinstance(value, dict) else ("setting", "")
                )
                tell((name,), what, [*OWN, *entries], why)
            continue
        known = _inner(name)
        for key in value if known and isinstance(value, dict) else ():
            if key not in known:
                tell((name, key), "setting", known)
    return notes


def misspelt(environ: Mapping[str, str], entries: frozenset[str]) -> list[str]:
    """Variables that begin like ours and are none: who meant to make something stricter must be told that it is not."""
    names = [name for name in environ if name.startswith(PREFIX) and name not in MARKS]
    if not names:
        return []
    known = variables()
    short = [name.removeprefix(PREFIX) for name in known]  # the beginning that all share would make them all alike
    notes = []
    for name in sorted(names):
        if name not in known and not open_keys(name, entries):
            near = difflib.get_close_matches(name.removeprefix(PREFIX), short, 1, 0.6)
            hint = f"; did you mean {PREFIX}{near[0]}?" if near else ""
            notes.append(f"environment: {name} is no setting and is ignored{hint}")
    return notes


def unknown_inside(table: Mapping[str, Any], name: str, kinds: Iterable[type[msgspec.Struct]]) -> list[tuple[str, str]]:
    """(key, the nearest known one in words) of what a plugin's table holds and its `Settings` do not know.

    `kinds`: the Settings of every loaded plugin of that name, which share the table."""
    known = {field for kind in kinds for field in kind.__struct_encode_fields__}
    return [(f"{name}.{key}", nearest(key, known)) for key in table if key not in known]


def _inner(name: str) -> tuple[str, ...]:
    """The keys of a table; none where any key may stand (switches, permission keys of plugins, providers)."""
    default = getattr(Config(), name)
    return () if name in OPEN or not isinstance(default, msgspec.Struct) else default.__struct_fields__


def nearest(key: str, known: Iterable[str]) -> str:
    """`; did you mean X?` where a known name is near, else nothing."""
    near = difflib.get_close_matches(key, list(known), 3, 0.6)
    best = min(near, key=lambda one: (apart(key, one), _unshared(key, one)), default=None)
    return f"; did you mean {best}?" if best is not None else ""


def _unshared(one: str, other: str) -> int:
    """How many letters only one of them has."""
    return (Counter(one) - Counter(other)).total() + (Counter(other) - Counter(one)).total()


def apart(one: str, other: str) -> int:
    """How many letters were left out, added, changed, or exchanged with the next."""
    rows = [list(range(len(other) + 1))]
    for i, letter in enumerate(one, 1):
        row = [i]
        for j, wanted in enumerate(other, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (letter != wanted))
            if i > 1 and j > 1 and (one[i - 2], letter) == (wanted, other[j - 2]):
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
