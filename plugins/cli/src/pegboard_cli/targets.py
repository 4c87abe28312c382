"""The key that `pegboard config set` is to set: whether there is such a key, what it takes, and the text as its value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec
from pegboard.config.checking import OPEN, OWN, complaint, insist, misfit, nearest
from pegboard.config.keeping import in_mapping, key_of
from pegboard.config.layers import Said, put, type_of, value_of
from pegboard.config.places import state_folder
from pegboard.config.published import NOT_SET, keys
from pegboard.config.write import UNCHANGED
from pegboard.entries import scan, table_names
from pegboard.errors import ConfigError
from pegboard.terminal import plain


class Target:
    """The key that is to be set, and what it takes.

    Raises:
        ConfigError: there is no such key; the nearest is named.
    """

    def __init__(self, text: str) -> None:
        self.key = key_of(text)
        self.name = ".".join(self.key)
        self._entries = scan()
        self._settings: list[type[msgspec.Struct]] = []
        self._declared: Any = None
        self._wanted = ""
        if self.key[0] in OWN:
            self._own()
        elif self.key[0] in table_names(self._entries):
            self._plugins()
        else:
            raise _no_key(self.name, [*keys(), *table_names(self._entries)])

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
        elif in_mapping(self.key):
            self._wanted, self._declared = "a text", str
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
        self._settings += self._of_launchers()
        inner = ".".join(self.key[1:])
        self._declared = next((found for kind in self._settings if (found := type_of(inner, kind)) is not None), None)
        if self._declared is None:
            fields = [f"{self.key[0]}.{name}" for kind in self._settings for name in kind.__struct_encode_fields__]
            raise _no_key(self.name, fields)

    def _of_launchers(self) -> list[type[msgspec.Struct]]:
        """The `Settings` of the modules that launchers of this name come from, as a start finds them."""
        from pegboard.launchers import GROUP, settings_of
        from pegboard.plugins import LoadProblem, import_guarded

        found: list[type[msgspec.Struct]] = []
        for entry in self._entries:
            if entry.group == GROUP and entry.name == self.key[0]:
                try:
                    kind = settings_of(import_guarded(entry))
                except LoadProblem as problem:
                    raise ConfigError(
                        f"{self.name}: what it takes is not known, for the launcher does not load ({problem}); "
                        f"{UNCHANGED}. Edit the file by hand."
                    ) from None
                found += [kind] if kind is not None else []
        return found

    @property
    def default(self) -> Any:
        """What a plugin's key is where nobody sets it."""
        for kind in self._settings:
            node: Any = kind()
            for part in self.key[1:]:
                node = getattr(node, part, None)
            if node is not None:
                return msgspec.to_builtins(node)
        return None


def _provider(name: str, table: Mapping[str, Any]) -> None:
    """The keys that every provider's table may have are of the right type.

    Raises:
        msgspec.ValidationError: one is not."""
    from pegboard.models import ProviderSettings

    msgspec.convert(
        {**{key: value for key, value in table.items() if key not in NOT_SET}, "name": name}, ProviderSettings
    )


def _no_key(name: str, known: Any) -> ConfigError:
    near = nearest(name, known) or "; `pegboard config show` lists the keys there are"
    return ConfigError(f"there is no setting {name!r}; {UNCHANGED}{near}")
