"""Which model answers, and the provider that speaks to it.

`model = "NAME/rest"`: the table `[providers.NAME]`, else the installed entry NAME, else, for `local`, a server found on this
machine. Left out, the first that is there: an API key, a server on this machine, what the board falls back on.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pegboard import plugins
from pegboard.config.load import Loaded
from pegboard.entries import Entry
from pegboard.errors import ConfigError
from pegboard.loopback import PORTS, Found, find_servers
from pegboard.models import Provider, ProviderKind, ProviderSettings
from pegboard.plugins.claims import contested

GROUP = "pegboard.providers"
LOCAL = "local"
"""`local/NAME`: a model of a server found on this machine, unless a table `[providers.local]` says otherwise."""

_TABLE_KEYS = frozenset(ProviderSettings.__struct_fields__) - {"name", "root", "options"}


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """A model, and why it is that one, in words for a person; `server`: where it was found."""

    model: str
    why: str = ""
    server: Found | None = None


class Answering(msgspec.Struct, frozen=True, kw_only=True):
    """A provider, and the model's whole name; `why` as in `Choice`."""

    provider: Provider
    model: str
    why: str = ""


class Providers:
    """What is installed and configured. `state`: the folder in which it is kept what was found on this machine."""

    def __init__(self, entries: Sequence[Entry], loaded: Loaded, *, root: str, state: Path | None) -> None:
        self.entries = sorted((entry for entry in entries if entry.group == GROUP), key=lambda e: (not e.own, e.name))
        self.loaded = loaded
        self.tables = loaded.config.providers
        self._root = root
        self._state = state

    def choose(self, environ: Mapping[str, str], fallback: str) -> Choice:
        """The model where `model` is left out. Only our own providers and configured ones are looked at: a stranger's
        answers only to its name."""
        if (choice := next(self.with_keys(environ), None)) is not None:
            return choice
        if self.loaded.config.local_models and (servers := self.servers()):
            return _local(servers[0], servers)
        return Choice(model=fallback, why=self._unnamed(environ) or "no other model was found")

    def with_keys(self, environ: Mapping[str, str]) -> Iterator[Choice]:
        """What an API key is there for: configured tables in their order, then our own providers by name."""
        for name, table in self.tables.items():
            variable = table.get("api_key_env", self._kind_of(name, table, "key_env") or key_variable(name))
            why = f"{variable} is set" if isinstance(variable, str) and environ.get(variable) else None
            if table.get("api_key_command"):
                why = "it has an api_key_command"
            model = self._default(name, table)
            if why and model:
                yield Choice(model=f"{name}/{model}", why=why)
        for entry in self.entries:
            kind = self._own_kind(entry) if entry.own and entry.name not in self.tables else None
            if kind is not None and kind.key_env and environ.get(kind.key_env) and kind.default_model:
                yield Choice(model=f"{entry.name}/{kind.default_model}", why=f"{kind.key_env} is set")

    def _unnamed(self, environ: Mapping[str, str]) -> str:
        """What is said where an address is set for one of our own providers, and neither a key nor a model."""
        for entry in self.entries:
            kind = self._own_kind(entry) if entry.own and entry.name not in self.tables else None
            if kind is not None and kind.url_env and (address := environ.get(kind.url_env)):
                host = re.sub(r"^\w+://|[/?#].*$", "", address).rpartition("@")[2]
                return f"no model was named for {entry.name} at {host} (--model {entry.name}/NAME)"
        return ""

    def servers(self, *, fresh: bool = False) -> list[Found]:
        """The model servers on this machine, if anything here can speak to them."""
        return find_servers(self._state, fresh=fresh) if self._speaks_to_local() else []

    def load(self, model: str, server: Found | None = None) -> Answering:
        """The provider of `NAME/rest`, imported now. `server`: where a local model was found.

        Raises:
            ConfigError: it is not installed or configured, or does not load; nothing was started.
        """
        name, _, rest = model.partition("/")
        table = self.tables.get(name)
        if table is None and name == LOCAL and not any(entry.name == LOCAL for entry in self.entries):
            table, rest = self._local_table(rest, server)
        entry = self._entry(model, name, table)
        table = table or {}
        try:
            make = plugins.import_guarded(entry)
            settings = self._settings(name, rest or self._default(name, table) or "", table, make)
            provider: Provider = make(settings)
        except plugins.LoadProblem as problem:
            raise ConfigError(f"the provider {entry.name!r} does not load: {problem}; nothing was started") from None
        except ConfigError as error:
            raise error if error.file else self._wrong(name, "", str(error)) from None
        except (Exception, SystemExit) as error:  # isolates plugins: what makes a provider may raise anything
            raise ConfigError(
                f"the provider {name!r} cannot be used ({type(error).__name__}: {error}); nothing was started"
            ) from error
        return Answering(provider=provider, model=f"{name}/{settings.model}" if settings.model else name)

    def _entry(self, model: str, name: str, table: Mapping[str, Any] | None) -> Entry:
        kind = (table or {}).get("kind") or name
        entry = next((entry for entry in self.entries if entry.name == kind), None)
        if entry is not None:
            if (why := contested(entry, self.entries)) is not None:
                raise ConfigError(f"model {model!r}: {why}; nothing was started")
            return entry
        there = ", ".join(entry.name for entry in self.entries) or "none"
        if table is None:
            near = difflib.get_close_matches(name, [entry.name for entry in self.entries] + [*self.tables], 1, 0.6)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"model {model!r}: no provider {name!r} is installed (installed: {there}) and there is no table "
                f"[providers.{name}]{hint}; nothing was started"
            )
        said = f"kind {kind!r}" if table.get("kind") else "kind is missing, and its name"
        raise self._wrong(
            name, "kind", f"[providers.{name}]: {said} names no installed provider ({there}); nothing was started"
        )

    def _settings(self, name: str, model: str, table: Mapping[str, Any], make: Any) -> ProviderSettings:
        """The table as the provider gets it, every key of it known."""
        options = make.options if isinstance(make, ProviderKind) else None
        own = {key: value for key, value in table.items() if key not in _TABLE_KEYS}
        known = {*_TABLE_KEYS, *(options.__struct_encode_fields__ if options else ())}
        if isinstance(make, ProviderKind) and (unknown := [key for key in own if key not in known]):
            near = difflib.get_close_matches(unknown[0], sorted(known), 1, 0.6)
            hint = f"; did you mean {near[0]}?" if near else f"; it may hold {', '.join(sorted(known))}"
            raise self._wrong(
                name, unknown[0], f"[providers.{name}] has no key {unknown[0]!r}{hint}; nothing was started"
            )
        common = {key: value for key, value in table.items() if key in _TABLE_KEYS}
        try:
            more = msgspec.convert(own, options) if options else own or None
            return msgspec.convert(
                {**common, "name": name, "model": model or None, "root": self._root, "options": more}, ProviderSettings
            )
        except msgspec.ValidationError as error:
            key = re.search(r"at `\$\.(\w+)", str(error))
            told = re.sub(r" - at `.*`$", "", str(error))
            what = f"providers.{name}.{key[1]}" if key else f"[providers.{name}]"
            raise self._wrong(name, key[1] if key else "", f"{what}: {told}; nothing was started") from None

    def _wrong(self, name: str, key: str, text: str) -> ConfigError:
        """An error at the line of a table's key, or of the table where that is not to be had."""
        place = f"providers.{name}.{key}" if key else f"providers.{name}"
        for stated in (place, f"providers.{name}"):
            for at, origin in self.loaded.origins.items():
                if f"{at}.".startswith(f"{stated}.") and origin.source:
                    return ConfigError(text, file=origin.source.file, line=origin.source.line)
        return ConfigError(text)

    def _default(self, name: str, table: Mapping[str, Any]) -> str | None:
        """The model where only the provider is named."""
        listed = table.get("models")
        if isinstance(stated := table.get("model"), str):
            return stated
        if isinstance(listed, list) and listed and isinstance(listed[0], str):
            return listed[0]
        return None if table.get("base_url") else self._kind_of(name, table, "default_model")

    def _kind_of(self, name: str, table: Mapping[str, Any], what: str) -> str | None:
        """What one of our own entries declares, where a table is named like it."""
        entry = next((entry for entry in self.entries if entry.own and entry.name == name), None)
        if entry is None or table.get("kind", name) != name:
            return None
        kind = self._own_kind(entry)
        return getattr(kind, what) if kind is not None else None

    def _own_kind(self, entry: Entry) -> ProviderKind | None:
        try:
            made = plugins.import_guarded(entry)
        except plugins.LoadProblem:
            return None
        return made if isinstance(made, ProviderKind) else None

    def _speaks_to_local(self) -> str | None:
        own = (entry for entry in self.entries if entry.own)
        return next((e.name for e in own if (kind := self._own_kind(e)) is not None and kind.loopback), None)

    def _local_table(self, model: str, server: Found | None) -> tuple[dict[str, Any], str]:
        servers = [server] if server else self.servers()
        if not servers:
            raise ConfigError(
                f"no model server was found on this machine (looked at ports {', '.join(map(str, PORTS))} of 127.0.0.1); "
                "nothing was started. Start one, or set base_url in a table [providers.NAME]."
            )
        chosen = next((one for one in servers if model in one.models), None)
        if model and chosen is None:
            there = ", ".join(name for one in servers for name in one.models[:10])
            raise ConfigError(f"no model server on this machine has {model!r} (there is: {there}); nothing was started")
        chosen = chosen or servers[0]
        model = model or chosen.models[0]
        table = {
            "kind": self._speaks_to_local(),
            "base_url": chosen.base_url,
            "api_key_env": "",
            "models": chosen.models,
        }
        return {**table, **({"context": chosen.context[model]} if model in chosen.context else {})}, model


def key_variable(name: str) -> str:
    """The variable that holds the key of `[providers.NAME]` where the table names none: `NAME_API_KEY`."""
    return re.sub(r"\W", "_", name).upper() + "_API_KEY"


def _local(server: Found, servers: Sequence[Found]) -> Choice:
    others = [name for one in servers for name in one.models][1:]
    also = ""
    if others:
        more = f" and {len(others) - 3} more" if len(others) > 3 else ""
        also = f"; also there: {', '.join(others[:3])}{more} (--model {LOCAL}/NAME chooses)"
    return Choice(model=f"{LOCAL}/{server.models[0]}", why=f"found on this machine{also}", server=server)
