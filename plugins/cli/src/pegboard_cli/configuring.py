"""Settings as `pegboard config` shows and changes them: each value with its layer and line, secrets masked."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from pegboard.calls import Layer, Source
from pegboard.config import layers
from pegboard.config.checking import OPEN, OWN, SECRET, complaint, insist, misfit, nearest
from pegboard.config.layers import Said, is_listed, joins, leaves, put, type_of, value_of
from pegboard.config.load import Loaded, load
from pegboard.config.places import config_file, find_root, state_folder
from pegboard.config.published import NOT_SET, Key, keys
from pegboard.config.tightening import permission
from pegboard.config.write import UNCHANGED
from pegboard.entries import scan, set_names
from pegboard.errors import ConfigError

from pegboard_cli.terminal import plain

MASK = "***"
_IN_PARTS = ("permission.rules", "hooks", "modes")
_REFERENCE = re.compile(r"(\w+ )?\{env:\w+\}")
_IN_URL = re.compile(r"(?<=://)[^/?#\s]+(?=@)")
_IN_QUERY = re.compile(
    r"(?<=[?&;])([^=&;#\s]*(?:key|token|secret|passw|sig|auth|credential)[^=&;#\s]*=)[^&;#\s]+", re.I
)
_COMMAND = re.compile(r"providers\.[^.]+\.api_key_command", re.DOTALL)


def below_home(file: Path) -> str:
    """A file as a person would write it: below the home folder with a `~`."""
    home = os.environ.get("HOME", "")
    return f"~/{file.relative_to(home)}" if os.path.isabs(home) and file.is_relative_to(home) else str(file)


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
        entries=frozenset(entry.name for entry in entries),
        sets=set_names(entries),
        state=state_folder(os.environ),
    )
    return msgspec.structs.replace(loaded, notes=[*loaded.notes, *notes])


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


# --- changing ---------------------------------------------------------------------------------------------------------


class Target:
    """The key that is to be set, and what it takes.

    Raises:
        ConfigError: there is no such key; the nearest is named.
    """

    def __init__(self, text: str) -> None:
        self.key = parts_of(text)
        self.name = ".".join(self.key)
        self._entries = scan()
        self._settings: list[type[msgspec.Struct]] = []
        self._declared: Any = None
        self._wanted = ""
        if self.key[0] in OWN:
            self._own()
        elif self.key[0] in {entry.name for entry in self._entries}:
            self._plugins()
        else:
            raise _no_key(self.name, [*keys(), *(entry.name for entry in self._entries)])

    def value(self, text: str) -> Any:
        """The text as a value of this key.

        Raises:
            ConfigError: it is none; says what was expected.
        """
        if plain(text) != text:
            raise ConfigError(f"{self.name}: the value is not valid UTF-8, and a settings file is; {UNCHANGED}")
        value = value_of(text, self._declared)
        alone: dict[str, Any] = {}
        put(alone, self.key, value)
        try:
            found = complaint(alone)
            if found is not None and not found[1].startswith(("Expected", "Invalid")):
                raise ConfigError(f"{self.name}: {found[1]}; {UNCHANGED}")
            wrong = found is not None
            if self.key[0] == "providers":
                _provider(self.key[1], alone["providers"][self.key[1]])
        except msgspec.ValidationError:
            wrong = True
        if wrong:
            near = nearest(self.name, keys()) if self.key[0] == "tools" and self.name not in keys() else ""
            raise ConfigError(f"{self.name}: expected {self._wanted}, got {text!r}; {UNCHANGED}{near}")
        return value

    def check(self, said: Said) -> None:
        """The file as it would be: core's own keys, and the plugin's table that was changed.

        Raises:
            ConfigError: something in it is wrong."""
        insist(said)
        table = said.values.get(self.key[0], {})
        for kind in self._settings:
            try:
                msgspec.convert(table, kind)
            except msgspec.ValidationError as error:
                raise ConfigError(f"[{self.key[0]}] {misfit(table, kind, error)}; {UNCHANGED}") from None

    def _own(self) -> None:
        known = keys()
        table, *rest = self.key
        if table == "hooks" or (not rest and self.name not in known):
            raise ConfigError(f"{self.name} is a table and cannot be set as a whole; {UNCHANGED}. Name a key in it.")
        if table == "providers":
            if len(self.key) < 3:
                raise ConfigError(f"{self.name} is a table; {UNCHANGED}. Name a key in it: {self.name}.base_url.")
            general = f"providers.NAME.{self.key[2]}"
            self._wanted = known[general].wanted if general in known else "a value"
            self._declared = self._of_provider()
        elif table in OPEN and len(rest) == 1:
            key = known.get(self.name) or known[f"{table}.NAME"]
            self._wanted = key.wanted
            self._declared = type_of(self.name) or (bool if table == "tools" else str)
        elif self.name in known:
            self._wanted = known[self.name].wanted
            self._declared = type_of(self.name)
        else:
            raise _no_key(self.name, known)

    def _of_provider(self) -> Any:
        from pegboard.models import ProviderSettings

        if self.key[2] in NOT_SET:
            raise _no_key(self.name, [name for name in keys() if name.startswith("providers.")])
        return str if len(self.key) > 3 else type_of(self.key[2], ProviderSettings)

    def _plugins(self) -> None:
        """A plugin's own table: its `Settings` say what it takes, so it is loaded, as at a start."""
        from pegboard.plugins import load_all

        if len(self.key) < 2:
            raise ConfigError(f"{self.name} is a plugin's table and cannot be set as a whole; {UNCHANGED}.")
        mine = [entry for entry in self._entries if entry.name == self.key[0] and ":" not in entry.value]
        plugged = load_all(mine, {}, {}, state_folder(os.environ))  # not its table: that may be what is to be mended
        for failure in plugged.failures:
            raise ConfigError(
                f"{self.name}: what it takes is not known, for the plugin does not load ({failure.error}); {UNCHANGED}. "
                "Edit the file by hand."
            )
        self._settings = [type(one.settings) for one in plugged.plugins if isinstance(one.settings, msgspec.Struct)]
        inner = ".".join(self.key[1:])
        self._declared = next((found for kind in self._settings if (found := type_of(inner, kind)) is not None), None)
        if self._declared is None:
            fields = [f"{self.key[0]}.{name}" for kind in self._settings for name in kind.__struct_encode_fields__]
            raise _no_key(self.name, fields)


def _provider(name: str, table: Mapping[str, Any]) -> None:
    """The keys that every provider's table may have are of the right type.

    Raises:
        msgspec.ValidationError: one is not."""
    from pegboard.models import ProviderSettings

    msgspec.convert(
        {**{key: value for key, value in table.items() if key not in NOT_SET}, "name": name}, ProviderSettings
    )


def parts_of(text: str) -> tuple[str, ...]:
    """A key as TOML reads it; one with letters that TOML would have quoted is taken at its dots."""
    try:
        [(key, _)] = leaves(tomllib.loads(f"{text} = 0"))
    except (ValueError, RecursionError):
        key = tuple(text.split("."))
    if not all(key) or not text.isprintable() or len(key) > 8:
        raise ConfigError(
            f"{text!r} is no key; {UNCHANGED}. A key is written table.name, as `pegboard config show` lists them."
        )
    return key


def _no_key(name: str, known: Any) -> ConfigError:
    near = nearest(name, known) or "; `pegboard config show` lists the keys there are"
    return ConfigError(f"there is no setting {name!r}; {UNCHANGED}{near}")


def find(name: str, loaded: Loaded) -> dict[str, Shown]:
    """The setting of this name, or those of the table of this name.

    Raises:
        ConfigError: there is none; the nearest is named.
    """
    everything = shown(loaded)
    found = {key: one for key, one in everything.items() if key == name or key.startswith(f"{name}.")}
    if not found and not (name == "providers" or name in {entry.name for entry in scan()}):
        near = nearest(name, everything) or "; `pegboard config show` lists the keys there are"
        raise ConfigError(f"there is no setting {name!r}{near}")
    return found


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
