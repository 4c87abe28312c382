"""Settings as `pegboard config` shows and changes them: each value with its layer and line, secrets masked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from pegboard.calls import Layer, Source
from pegboard.config import layers
from pegboard.config.checking import OPEN, SECRET, nearest
from pegboard.config.layers import is_listed, joins, leaves
from pegboard.config.load import Loaded, load
from pegboard.config.places import config_file, find_root, state_folder
from pegboard.config.published import Key, keys
from pegboard.config.tightening import permission
from pegboard.entries import Entry, scan, set_names, table_names
from pegboard.errors import ConfigError

from pegboard_cli.manifests import settings_of, unknown_keys

MASK = "***"
_IN_PARTS = ("permission.rules", "hooks", "modes")
_REFERENCE = re.compile(r"(\w+ )?\{env:\w+\}")
_IN_URL = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
_IN_QUERY = re.compile(
    r"(?<=[?&;])([^=&;#\s]*(?:key|token|secret|passw|sig|auth|credential)[^=&;#\s]*=)[^&;#\s]+", re.I
)
_COMMAND = re.compile(r"providers\.[^.]+\.api_key_command", re.DOTALL)


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One setting as it holds now. `note`: what should be known of it, such as that it has no effect yet."""

    value: Any
    layer: Layer
    source: Source | None
    note: str | None


def read(path: str | None) -> Loaded:
    """The settings as they hold in the workspace. What a person should be told is in its `notes`.

    Raises:
        ConfigError: a setting is wrong.
    """
    root, notes = find_root(path)
    entries = scan()
    loaded = load(
        user_file=config_file(os.environ),
        root=root,
        environ=os.environ,
        flags={},
        entries=table_names(entries),
        sets=set_names(entries),
        state=state_folder(os.environ),
    )
    return msgspec.structs.replace(loaded, notes=[*loaded.notes, *notes, *_unknown(loaded, entries)])


def _unknown(loaded: Loaded, entries: list[Entry]) -> Iterator[str]:
    """Notes about keys of plugins' tables that their manifests do not know."""
    set_here = [entry for entry in entries if entry.name in loaded.config.tables]
    for key, near in unknown_keys(loaded.config.tables, settings_of(set_here)):
        from pegboard.selection import where

        yield f"{where(loaded, key)}: unknown setting {key!r} is ignored{near}"


def shown(loaded: Loaded) -> dict[str, Shown]:
    """Every setting of core's own, and those of plugins and providers that are set."""
    known = keys()
    found: dict[str, Shown] = {}
    for key in known.values():
        if key.open:
            table = key.name.split(".")[0]
            for name, value in getattr(getattr(loaded.config, table), OPEN[table][1]).items():
                found.setdefault(f"{table}.{name}", _shown(loaded, f"{table}.{name}", value, None))
        elif key.name in _IN_PARTS:
            found |= _in_parts(loaded, key.name)
        elif "NAME" not in key.name:
            found[key.name] = _shown(loaded, key.name, _value(loaded, key), key.effect)
    for table, values in [("providers", loaded.config.providers), *loaded.config.tables.items()]:
        inside = values if table == "providers" else {table: values}
        for path, value in leaves(inside):
            name = ".".join(("providers", *path) if table == "providers" else path)
            found[name] = _shown(loaded, name, masked(name, value), None)
    for table, schema in settings_of(scan()).items():
        for key, part in schema["properties"].items():
            name = f"{table}.{key}"
            if "default" in part and not any(f"{one}.".startswith(f"{name}.") for one in found):
                found[name] = _shown(loaded, name, masked(name, part["default"]), None)
    return found


def _in_parts(loaded: Loaded, name: str) -> dict[str, Shown]:
    """What stands in lists of tables, and in tables under names: each part with its own layer and line."""
    found: dict[str, Shown] = {}
    for said in loaded.stated:
        dotted = ".".join(said.key)
        if dotted != name and not dotted.startswith(f"{name}."):
            continue
        tables = said.value if isinstance(said.value, list) and is_listed(said.key) else [said.value]
        count = sum(1 for one in found if one.startswith(f"{dotted}["))
        for number, table in enumerate(tables):
            listed = is_listed(said.key)
            key = f"{dotted}[{count + number}]" if listed else dotted
            source = said.item(number) if listed else said.source
            found[key] = Shown(value=masked(key, table), layer=said.layer, source=source, note=None)
    if not found:
        held = _value(loaded, keys()[name])
        found[name] = Shown(value=held, layer="default", source=None, note=None)
    return found


def _value(loaded: Loaded, key: Key) -> Any:
    table, _, name = key.name.partition(".")
    if table == "tool_permission" and name not in OPEN[table][0].__struct_fields__:
        return permission(name, loaded.config)
    held = getattr(loaded.config, table)
    return getattr(held, name) if name else held


def _shown(loaded: Loaded, name: str, value: Any, effect: str | None) -> Shown:
    origin = loaded.origin(name)
    note = effect
    if joins(tuple(name.split("."))) and isinstance(value, list):
        from_ = dict.fromkeys(loaded.origin(f"{name}: {item}").layer for item in value)
        note = f"joined from {', '.join(from_)}" if len(from_) > 1 else note
    return Shown(value=value, layer=origin.layer, source=origin.source, note=note)


def masked(name: str, value: Any) -> Any:
    """The value without what may be a secret: headers, keys by their name, passwords in addresses."""
    if isinstance(value, dict):
        return {inner: masked(f"{name}.{inner}", one) for inner, one in value.items()}
    if isinstance(value, list) and _COMMAND.fullmatch(name):
        # Which program, not what it is told: that may be the key itself.
        return [*value[:1], *(MASK for _ in value[1:])]
    if isinstance(value, list):
        return [masked(name, one) for one in value]
    if not isinstance(value, str) or _REFERENCE.fullmatch(value):
        return value
    if SECRET.search(name) or re.fullmatch(r"providers\.[^.]+\.headers\..*", name, re.DOTALL):
        return MASK
    return _IN_QUERY.sub(rf"\1{MASK}", _IN_URL.sub(MASK, value))


def find(name: str, loaded: Loaded) -> dict[str, Shown]:
    """The setting of this name, or those of the table of this name.

    Raises:
        ConfigError: there is none; the nearest is named.
    """
    everything = shown(loaded)
    found = {key: one for key, one in everything.items() if key == name or key.startswith(f"{name}.")}
    plugins = table_names(scan())
    if not found and name.partition(".")[0] in plugins - {name}:
        from pegboard_cli.targets import Target

        target = Target(name)
        return {name: Shown(value=masked(name, target.default), layer="default", source=None, note=None)}
    if not found and not (name == "providers" or name in plugins):
        near = nearest(name, everything) or "; `pegboard config show` lists the keys there are"
        raise ConfigError(f"there is no setting {name!r}{near}")
    return found


def literal(value: Any) -> str:
    """A value as it is shown: as JSON, which is near enough to TOML."""
    return msgspec.json.encode(value).decode()


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """What `change` did. `file`: as a person would write it. `line`: the setting as it holds now, and what was done. `note`:
    what should be known of it. done: false where there was nothing to take out."""

    key: str
    file: Path
    line: str = ""
    value: Any = None
    note: str | None = None
    done: bool = True


def change(name: str, text: str | None, path: str | None) -> Changed:
    """Set a key in the user's own file; None: take it out of there.

    Raises:
        ConfigError: there is no such key, the text is no value for it, or it cannot be written; nothing was changed.
    """
    from pegboard.config.keeping import key_of
    from pegboard.config.places import below_home
    from pegboard.config.write import set_key, unset_key

    from pegboard_cli.targets import Target

    file = config_file(os.environ)
    if text is not None:
        target = Target(name)
        parts = target.key
        set_key(file, parts, target.value(text), target.check)
    else:
        parts = key_of(name)
        if not unset_key(file, parts):
            return Changed(key=name, file=file, done=False)
    loaded = read(path)
    key = ".".join(parts)
    now = shown(loaded).get(key)
    held = f"{key} = {literal(now.value)}" if now and now.value is not None else f"{key} is not set"
    return Changed(
        key=key,
        file=file,
        line=f"{held}  # {'taken out of' if text is None else 'written to'} {below_home(file, os.environ)}",
        value=now.value if now else None,
        note=overridden(loaded, parts) or (now.note if now else None),
    )


def whose_keys(name: str) -> str:
    """Where the keys of a plugin's table are told of, as the end of a sentence: only its module knows them."""
    packages = dict.fromkeys(entry.distribution for entry in scan() if entry.name == name)
    return f"; its keys: see the plugin ({', '.join(packages)})" if packages else ""


def overridden(loaded: Loaded, key: tuple[str, ...]) -> str | None:
    """Why a value in the user's file does not hold, where a later layer says something else."""
    later = [one for one in loaded.stated if one.key == key and one.layer not in ("user", "default")]
    if not later or joins(key):
        return None
    by = {"environment": layers.variable(key), "project": "the project's file"}
    return f"{by.get(later[-1].layer, later[-1].layer)} says otherwise here, and wins"
