"""What a project would switch on if a person trusted it, one by one, each with its line: for `pegboard trust`.

All that could count of a trusted project is there, save what only denies: also what a person's own settings override now,
and tables of sets that are not installed yet. Who changes those later is not asked again, so it is shown before.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from pegboard.config.checking import OWN
from pegboard.config.layers import JOINED, Said, is_listed, leaves
from pegboard.config.places import PROJECT_FILE
from pegboard.config.project import Brought, Unfit, said_of
from pegboard.config.tightening import TIGHTER_MODES, Counted, Names, freed, named
from pegboard.config.trust import State, Trusted

Kind = Literal["rule", "command", "server", "set", "file", "setting"]
KINDS: dict[Kind, str] = {
    "rule": "Rules that it would loosen",
    "command": "Commands that it would have run, or that its settings may name",
    "server": "Models and servers that it would talk to",
    "set": "Tool sets that it would choose",
    "file": "Python files that it would run in this program, with all your rights",
    "setting": "Other settings",
}
"""What there is to be switched on, in the order in which it is shown."""
_COMMANDS = (("search", "rg"), ("shell",))


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """One thing. text: as it stands in the file, in full. news: new, or not as it was when the project was trusted."""

    kind: Kind
    text: str
    file: str
    line: int | None = None
    news: bool = True


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. gone: what was trusted and is not there any more. never: keys that count for nothing, whoever trusts. same:
    files whose bytes changed though nothing in them that counts is new."""

    state: State
    wishes: list[Wish]
    gone: list[str]
    never: list[str]
    same: list[str] = []


def wishes(
    found: Brought,
    state: State,
    before: Trusted | None,
    entries: frozenset[str],
    sets: frozenset[str],
) -> Wishes:
    """What this project would switch on. `before`: what was trusted of it, if it was; `entries` and `sets` as for
    `config.load.load`."""
    persons = entries - sets
    free = _free(found.said, persons)
    rows = [] if found.said is None else _rows(found.said, free)
    old = _known(before, persons) if state != "untrusted" else frozenset()
    told = [msgspec.structs.replace(row, news=row.text not in old) for row in rows]
    parts = before.parts if before is not None and state != "untrusted" else {}
    told += [
        Wish(
            kind="file",
            text=_file_text(one.path, one.data, one.digest),
            file=one.path,
            news=parts.get(one.path) != one.digest,
        )
        for one in found.plugins
    ]
    present = {row.text for row in rows}
    gone = [*sorted(old - present), *sorted({*parts} - {*found.parts()} - {PROJECT_FILE})]
    never = named(found.said, free.ignored) if found.said else []
    changed = PROJECT_FILE in parts and parts[PROJECT_FILE] != found.parts().get(PROJECT_FILE)
    idle = changed and found.said is not None and not (old - present) and not any(row.text not in old for row in rows)
    return Wishes(state=state, wishes=_sorted(told), gone=gone, never=never, same=[PROJECT_FILE] if idle else [])


def _free(said: Said | None, persons: frozenset[str]) -> Counted:
    """What could count as it stands. `persons`: the tables that only a person sets."""
    if said is None:
        return Counted(values={}, ignored=[])
    return freed(said, {}, Names(sets=frozenset(said.values) - persons))


def _known(before: Trusted | None, persons: frozenset[str]) -> frozenset[str]:
    """What the settings said when they were trusted."""
    if before is None or before.config is None:
        return frozenset()
    try:
        said = said_of(before.config, PROJECT_FILE)
    except Unfit:
        return frozenset()
    return frozenset(row.text for row in _rows(said, _free(said, persons)))


def _rows(said: Said, free: Counted) -> list[Wish]:
    """Every key that could count, and each table of a list by itself, save what only denies."""
    counting = msgspec.structs.replace(said, values=free.values, kept=free.kept)
    rows = []
    for key, value in leaves(free.values):
        name = ".".join(map(_part, key))
        if is_listed(key) and isinstance(value, list):
            for number, table in enumerate(value):
                if key[0] != "permission" or table["action"] != "deny":
                    source = counting.entry(key, number)
                    text = f"[[{name}]] {literal(table)}"
                    rows.append(_wish(key, text, source.line if source else None))
        elif not _only_denies(key, value):
            rows.append(_wish(key, f"{name} = {literal(value)}", said.line(key), loosens=not _is_harmless(key, value)))
    return rows


def _only_denies(key: tuple[str, ...], value: Any) -> bool:
    """Whether a key makes nothing looser whatever else holds. What stands in a mode may take the place of what it was."""
    return key[0] != "modes" and (key[-1] in JOINED or (key[0] == "tool_permission" and value == "deny"))


def _is_harmless(key: tuple[str, ...], value: Any) -> bool:
    """Whether it stands among the rules and loosens none: what a mode is for, and the mode in which nothing is changed."""
    return (key[0] == "modes" and key[2:] == ("description",)) or (key == ("mode",) and value in TIGHTER_MODES)


def _wish(key: tuple[str, ...], text: str, line: int | None, *, loosens: bool = True) -> Wish:
    return Wish(kind=_kind(key) if loosens else "setting", text=text, file=PROJECT_FILE, line=line)


def _kind(key: tuple[str, ...]) -> Kind:
    match key:
        case ("hooks", *_) | ("providers", _, "api_key_command", *_):
            return "command"
        case ("toolSets",):
            return "set"
        case ("model",) | ("providers", *_):
            return "server"
        case ("tool_permission", *_) | ("permission", *_) | ("mode", *_) | ("modes", *_):
            return "rule"
        case (table, *_) if table not in OWN or key[:2] in _COMMANDS or key[:1] in _COMMANDS:
            return "command"  # what a plugin's key does, only the plugin knows
        case _:
            return "setting"


def _sorted(told: list[Wish]) -> list[Wish]:
    order = list(KINDS)
    return sorted(told, key=lambda one: (order.index(one.kind), one.line or 0))


def _file_text(path: str, data: bytes, digest: str) -> str:
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return f"{path}: {lines} lines, {len(data)} bytes, SHA-256 {digest}"


def _part(name: str) -> str:
    return name if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name) else literal(name)


def literal(value: Any) -> str:
    """A value as it may stand in the file."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_part(key)} = {literal(one)}" for key, one in value.items()) + "}"
        case list():
            return f"[{', '.join(map(literal, value))}]"
        case str() | bool() | int() | float():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)  # dates
