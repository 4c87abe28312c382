"""What a project's file may say: untrusted, it may tighten, and never widen; trusted, what `FREE` and `freed` say.

A project file comes with a clone. Of its keys count those whose field says in which direction it gets stricter,
`Meta(extra={"tightens": ...})`, and of these only values that are stricter than what the layers below give:

    True, False     that value is the strict one. Of a list: True, further items make it stricter, and they are joined
    "lower"         a smaller number is stricter; none is the loosest
    (a, b, c)       these words, from the loosest to the strictest

Beyond those: the mode `plan` where no other is on that denies, `tool_permission` by key, `tools.NAME = false`, lists called
deny or protected in a plugin's table, `tools.allow` where there is none below, `toolSets` where it takes sets away, and
rules one by one that ask or deny.

Once a person trusts the project, its rules, modes, commands, servers, sets and the tables of tool sets count as they stand.
All else is a person's own, and is only tightened: which guards, approvers and launchers there are and their settings, strict
mode, limits, what is kept of sessions, what leads out of the workspace, what is shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, get_args, get_origin

import msgspec

from pegboard.calls import STRICTNESS
from pegboard.config import never
from pegboard.config.authority import DEFAULT_PERMISSION, PermissionSettings
from pegboard.config.checking import OWN, complaint
from pegboard.config.layers import JOINED, Said, at, is_listed, leaves, put, type_of
from pegboard.config.schema import Config

MOST = 200
"""How many keys and list items of a project count. The rest is ignored, and that is said."""
FREE = frozenset(
    [
        "toolSets",
        "model",
        "tool_calling",
        "project_instructions",
        "tool_permission",
        "permission",
        "mode",
        "modes",
        "providers",
        "search",
        "output",
        "shell",
        "concurrency",
        "hooks",
    ]
)
"""Core's own tables and keys that a trusted project may set as it likes. A new one is not among them by itself."""
TIGHTER_MODES = frozenset({"plan"})
"""Shipped modes that only deny."""
_LOOSER_MODES = frozenset({None, "", "accept-edits", "auto"})
"""Those that deny nothing, so that one of the tighter loses nothing of them."""
_LONGEST = 256
_SHOWN = 8
_DEEP, _DEEPER = 4, 8
_UNSTATED: Any = object()


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """What counts of a project's file, as nested tables, and the keys that were ignored, in whole or in part. kept: of lists
    of tables, the numbers of those that count."""

    values: dict[str, Any]
    ignored: list[tuple[str, ...]]
    kept: dict[tuple[str, ...], list[int]] = {}


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """The plugins there are: all of them, and those whose tables a trusted project may set (tool sets and the like)."""

    all: frozenset[str] = frozenset()
    sets: frozenset[str] = frozenset()


def tightened(said: Said, below: Mapping[str, Any], config: Config, entries: frozenset[str]) -> Counted:
    """What counts of an untrusted project's values.

    `below`: the merged values of the layers below, as they were written; `config`: the same with defaults; `entries`:
    the names of installed plugins."""
    values: dict[str, Any] = {}
    ignored: list[tuple[str, ...]] = []
    kept: dict[tuple[str, ...], list[int]] = {}
    left = MOST
    for key, stated in leaves(said.values):
        value = _sound(key, stated)
        if key == ("permission", "rules") and isinstance(value, list):
            kept[key] = [number for number, rule in enumerate(value) if _is_stricter_rule(rule)][:left]
            counts = [value[number] for number in kept[key]] or _UNSTATED
        else:
            counts = _counting(key, value, below, config, entries) if left > 0 and _fits(key, value) else _UNSTATED
        if isinstance(counts, list):
            counts = counts[:left]
        if counts is _UNSTATED:
            if not _same(key, stated, config):
                ignored.append(key)
            continue
        if isinstance(value, list) and counts != stated:
            ignored.append(key)
        left -= len(counts) if isinstance(counts, list) else 1
        put(values, key, counts)
    return Counted(values=values, ignored=ignored, kept=kept)


def freed(said: Said, below: Mapping[str, Any], names: Names) -> Counted:
    """What counts of a trusted project's values as it stands; the keys that do not may still tighten.

    Whatever has the wrong type does not count. A mode or a provider that a person has is theirs, and so is the mode that
    they begin in."""
    values: dict[str, Any] = {}
    ignored: list[tuple[str, ...]] = []
    kept: dict[tuple[str, ...], list[int]] = {}
    for key, stated in leaves(said.values):
        value = _sound(key, stated)
        if key[0] not in (FREE if key[0] in OWN else names.sets) or _is_persons(key, below):
            ignored.append(key)
        elif is_listed(key) and isinstance(value, list):
            kept[key] = [number for number, one in enumerate(value) if _fits(key, [one], _DEEPER)]
            if len(kept[key]) < len(value):
                ignored.append(key)
            put(values, key, [value[number] for number in kept[key]])
        elif _fits(key, value, _DEEPER):
            put(values, key, value)
        else:
            ignored.append(key)
    return Counted(values=values, ignored=ignored, kept=kept)


def _sound(key: tuple[str, ...], value: Any) -> Any:
    """A list without the items that could never match: one that is misspelt costs none of those beside it."""
    if not isinstance(value, list) or is_listed(key):
        return value
    return [item for item in value if not (isinstance(item, str) and never.item_problem(key, item))]


def without(values: Mapping[str, Any], keys: list[tuple[str, ...]]) -> dict[str, Any]:
    """Nested tables, with these keys alone."""
    some: dict[str, Any] = {}
    for key, value in leaves(values):
        if key in keys:
            put(some, key, value)
    return some


def _is_persons(key: tuple[str, ...], below: Mapping[str, Any]) -> bool:
    """Whether a person has said this already, so that a project has no say in it."""
    if key[0] in ("modes", "providers") and len(key) > 1:
        return at(below, key[:2]) is not None
    return key == ("mode",) and below.get("mode") is not None


def _is_stricter_rule(rule: Any) -> bool:
    """Whether one of `[[permission.rules]]` asks or denies, and is one that can be shown."""
    if not isinstance(rule, dict) or rule.get("action") not in ("ask", "deny"):
        return False
    texts = [text for value in rule.values() for text in (value if isinstance(value, list) else [value])]
    shown = all(len(text) <= _LONGEST and text.isprintable() for text in texts if isinstance(text, str))
    return shown and complaint({"permission": {"rules": [rule]}}) is None


def listing(said: Said, ignored: list[tuple[str, ...]]) -> str:
    """The first few of what was ignored, with line numbers, for the header."""
    more = f" and {len(ignored) - _SHOWN} more (`pegboard doctor` names all)" if len(ignored) > _SHOWN else ""
    return f"{', '.join(named(said, ignored[:_SHOWN]))}{more}"


def named(said: Said, keys: list[tuple[str, ...]]) -> list[str]:
    """Keys as a person finds them: `search.engine (line 7)`."""
    return [f"{'.'.join(key)[:_LONGEST]} (line {said.line(key) or '?'})" for key in keys]


def _fits(key: tuple[str, ...], value: Any, deepest: int = _DEEP) -> bool:
    """Whether names are of a sensible length and the value has the type that its key wants."""
    if len(key) > deepest or any(len(part) > _LONGEST or not part.isprintable() for part in key):
        return False
    alone: dict[str, Any] = {}
    put(alone, key, value)
    return complaint(alone) is None


def _counting(
    key: tuple[str, ...], value: Any, below: Mapping[str, Any], config: Config, entries: frozenset[str]
) -> Any:
    """The value as it counts, else `_UNSTATED`."""
    match key:
        case ("toolSets",):
            return _fewer_sets(value, config.toolSets, entries)
        case ("mode",):
            own = {config.mode, value} & {*config.modes}  # a person's table may deny more, or allow
            return value if value in TIGHTER_MODES and config.mode in _LOOSER_MODES and not own else _UNSTATED
        case ("tools", "allow"):
            return _texts(value) if not config.tools.allow and value else _UNSTATED
        case ("tool_permission", name) if name not in PermissionSettings.__struct_fields__:
            now = permission(name, config)
            return value if STRICTNESS[value] > STRICTNESS[now] else _UNSTATED
        case ("tools", name) if isinstance(value, bool):
            return _UNSTATED if value or config.tools.switches.get(name) is False else value
        case (name, *_, last) if name not in OWN:
            joined = last in JOINED and name in entries and isinstance(value, list)
            return _texts(value) if joined and isinstance(at(below, key) or [], list) else _UNSTATED
        case (name, inner) if isinstance(getattr(config, name), msgspec.Struct):
            direction = direction_of(type_of(".".join(key)))
            if isinstance(value, list):
                return _texts(value) if direction is True else _UNSTATED
            return value if _stricter(direction, value, getattr(getattr(config, name), inner, None)) else _UNSTATED
        case (name,) if name in OWN and not isinstance(getattr(config, name), msgspec.Struct):
            return value if _stricter(direction_of(type_of(name)), value, getattr(config, name)) else _UNSTATED
        case _:
            return _UNSTATED


def permission(key: str, config: Config) -> Any:
    """What a permission key gets: what is set, else as shipped, else ask."""
    return config.tool_permission.actions.get(key) or DEFAULT_PERMISSION.get(key, "ask")


def direction_of(declared: Any) -> Any:
    """The `tightens` of a field's type; None where a project has no say."""
    for meta in get_args(declared)[1:] if get_origin(declared) is Annotated else ():
        if isinstance(meta, msgspec.Meta) and meta.extra and "tightens" in meta.extra:
            return meta.extra["tightens"]
    return None


def _stricter(direction: Any, value: Any, now: Any) -> bool:
    match direction:
        case bool():
            return value is direction and now is not direction
        case "lower":
            return value is not None and math.isfinite(value) and (now is None or value < now)
        case tuple():
            return direction.index(value) > direction.index(now)
        case _:
            return False


def _fewer_sets(value: list[str], now: list[str] | None, entries: frozenset[str]) -> Any:
    """The sets that are on already and that the project names too. A name that is not installed is not repeated: the
    header would tell the person to install it."""
    kept = [name for name in (sorted(entries) if now is None else now) if name in value]
    kept = [name for name in value if name in kept]
    return _UNSTATED if now is not None and set(kept) == set(now) else kept


def _texts(items: list[Any]) -> list[str]:
    """The items that are short, printable texts, and none that takes something back as `!` does in ignore files."""
    return [
        item
        for item in items
        if isinstance(item, str) and 0 < len(item) <= _LONGEST and item.isprintable() and item[0] != "!"
    ]


def _same(key: tuple[str, ...], value: Any, config: Config) -> bool:
    """Whether the project asks for what holds anyway: that is not worth a word."""
    node: Any = config
    for part in key:
        node = getattr(node, part, _UNSTATED)
    if key[0] == "tool_permission" and len(key) == 2 and node is _UNSTATED:
        node = permission(key[1], config)
    return node is not _UNSTATED and type(node) is type(value) and bool(node == value)
