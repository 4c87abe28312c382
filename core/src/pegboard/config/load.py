"""Read the layers (defaults < user file < environment < flags), check each by itself, merge, and remember origins.

A project's own file comes with a clone, so before `pegboard trust` exists it is ignored as a whole, and that is said.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from pegboard.calls import Action, Layer, Source
from pegboard.config.places import PROJECT_FOLDER
from pegboard.config.schema import Config, PermissionSettings, known_keys
from pegboard.errors import ConfigError

PREFIX = "PEGBOARD_"
_TOOL_LISTS = ("allow", "deny", "stuck")
JOINED = frozenset({"deny", "protected"})
"""Lists that are joined over the layers, never replaced (decision 14). Each item has an origin of its own, `KEY: ITEM`."""


class Origin(msgspec.Struct, frozen=True):
    """Where a setting comes from."""

    layer: Layer
    source: Source | None = None


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration, the origin of every key that is not a default, and what a person should be told."""

    config: Config
    origins: dict[str, Origin]
    notes: list[str]

    def origin(self, key: str) -> Origin:
        """Where this dotted key's value comes from."""
        return self.origins.get(key, Origin("default"))


def load(
    *,
    user_file: Path,
    root: str,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
    entries: frozenset[str] = frozenset(),
) -> Loaded:
    """Read and merge all layers. `entries` are the names of installed plugins, whose tables are known.

    Raises:
        ConfigError: a file cannot be parsed or a value has the wrong type; names file, line, and what was expected.
    """
    notes: list[str] = []
    merged: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for layer, values, text, file in _layers(user_file, environ, flags):
        _check(values, layer, text, file)
        notes += _unknown(values, text, file, entries)
        for key, value in _leaves(values):
            line = _line_of(text, key) if text is not None else None
            origin = Origin(layer, Source(str(file), line) if file else None)
            origins[".".join(key)] = origin
            if key[-1] in JOINED and isinstance(value, list):
                origins |= {f"{'.'.join(key)}: {item}": origin for item in value}
                value = [*dict.fromkeys([*_at(merged, key), *value])]
            _put(merged, key, value)
    project = Path(root) / PROJECT_FOLDER / "config.toml"
    if project.is_file() and project.resolve() != user_file.resolve():
        notes.append(
            f"{PROJECT_FOLDER}/config.toml is ignored: it came with the project, and projects cannot be trusted yet"
        )
    return Loaded(config=_convert(merged), origins=origins, notes=notes)


def _layers(
    user_file: Path, environ: Mapping[str, str], flags: Mapping[str, Any]
) -> Iterator[tuple[Layer, dict[str, Any], str | None, Path | None]]:
    if user_file.exists() and not user_file.is_file():
        raise ConfigError("is no regular file; nothing was started", file=str(user_file))
    try:
        text = user_file.read_text("utf-8")
    except FileNotFoundError:
        pass
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({error}); nothing was started", file=str(user_file)) from None
    else:
        try:
            yield "user", tomllib.loads(text), text, user_file
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"line (\d+)", str(error))
            raise ConfigError(
                f"not valid TOML: {error}; nothing was started",
                file=str(user_file),
                line=int(line[1]) if line else None,
            ) from None
    yield "environment", _environment(environ), None, None
    given: dict[str, Any] = {}
    for key, value in flags.items():
        _put(given, tuple(key.split(".")), value)
    yield "flag", given, None, None


def _environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """`PEGBOARD_SEARCH_MAX_HITS=5` is `search.max_hits = 5`. A value is TOML where it parses, else text or a list."""
    names = {PREFIX + key.replace(".", "_").upper(): key for key in known_keys()}
    out: dict[str, Any] = {}
    for name, text in environ.items():
        if name in names:
            key = names[name]
            _put(out, tuple(key.split(".")), _value(text, _type_of(key)))
    return out


def _value(text: str, wanted: Any) -> Any:
    if "list" in str(wanted) and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        value = tomllib.loads(f"v = {text}")["v"]
    except tomllib.TOMLDecodeError:
        return text
    return text if wanted in (str, str | None) and not isinstance(value, str) else value


def _type_of(key: str) -> Any:
    """The declared type of a dotted key; None for keys that have none of their own (permission keys)."""
    node: Any = Config
    for part in key.split("."):
        node = {field.name: field.type for field in msgspec.structs.fields(node)}.get(part)
        if node is None:
            return None
    return node


def _leaves(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _put(into: dict[str, Any], key: tuple[str, ...], value: Any) -> None:
    for part in key[:-1]:
        inner = into.get(part)
        if not isinstance(inner, dict):
            inner = into[part] = {}  # a later layer has a table where an earlier one had a value
        into = inner
    into[key[-1]] = value


def _at(values: Mapping[str, Any], key: tuple[str, ...]) -> list[Any]:
    """The list that stands at a key so far."""
    node: Any = values
    for part in key:
        node = node.get(part) if isinstance(node, dict) else None
    return node if isinstance(node, list) else []


def _convert(values: Mapping[str, Any]) -> Config:
    """One layer's (or all layers') values as a Config.

    Raises:
        msgspec.ValidationError: with the path of the first wrong value.
    """
    own = {field.name for field in msgspec.structs.fields(Config)} - {"tables"}
    shaped: dict[str, Any] = {key: value for key, value in values.items() if key in own}
    shaped["tables"] = {key: value for key, value in values.items() if key not in own and isinstance(value, dict)}
    if isinstance(values.get("tools"), dict):
        table = values["tools"]
        known = {"allow", "deny", "stuck"}
        shaped["tools"] = {key: table[key] for key in table if key in known}
        shaped["tools"]["switches"] = {key: value for key, value in table.items() if key not in known}
    if isinstance(values.get("tool_permission"), dict):
        table = values["tool_permission"]
        known = {field.name for field in msgspec.structs.fields(PermissionSettings)} - {"actions"}
        shaped["tool_permission"] = {key: table[key] for key in table if key in known}
        shaped["tool_permission"]["actions"] = {key: value for key, value in table.items() if key not in known}
    return msgspec.convert(shaped, Config, strict=True)


def _check(values: dict[str, Any], layer: Layer, text: str | None, file: Path | None) -> None:
    try:
        _convert(values)
    except msgspec.ValidationError as error:
        where = re.search(r" - at `\$\.?(.*)`$", str(error))
        key = (where[1] if where else "").replace(".switches", "").replace(".actions", "")
        reason = re.sub(r" - at `.*`$", "", str(error))
        key = _concrete(values, key)
        if key.startswith("tool_permission.") and "enum" in reason:
            reason += "; expected " + ", ".join(get_args(Action))
        line = _line_of(text, tuple(key.split("."))) if text is not None else None
        place = {
            "environment": f" (environment, {PREFIX}{key.replace('.', '_').upper()})",
            "flag": " (command line)",
        }.get(layer, "")
        raise ConfigError(
            f"{key}{place}: {reason}; nothing was started", file=str(file) if file else None, line=line
        ) from None


def _concrete(values: Mapping[str, Any], key: str) -> str:
    """msgspec writes `[...]` for a mapping's key; find the one that does not fit."""
    if "[...]" not in key:
        return key
    table = key.split("[...]")[0].rstrip(".")
    inside = values.get(table, {})
    known = {field.name for field in msgspec.structs.fields(PermissionSettings)}
    if table == "tool_permission":
        wrong = [name for name, value in inside.items() if name not in known and value not in get_args(Action)]
    else:
        wrong = [name for name, value in inside.items() if name not in _TOOL_LISTS and not isinstance(value, bool)]
    return f"{table}.{wrong[0]}" if wrong else table


def _unknown(values: Mapping[str, Any], text: str | None, file: Path | None, entries: frozenset[str]) -> list[str]:
    """Unknown names are told of, never fatal: a newer or older file must still start."""
    own = {field.name: field.type for field in msgspec.structs.fields(Config) if field.name != "tables"}
    notes: list[str] = []

    def tell(key: tuple[str, ...], what: str, known: list[str]) -> None:
        line = _line_of(text, key) if text is not None else None
        place = f"{file}:{line}: " if file else ""
        notes.append(f"{place}unknown {what} {'.'.join(key)!r} is ignored{_nearest(key[-1], known)}")

    for name, value in values.items():
        if name not in own:
            if name not in entries or not isinstance(value, dict):
                tell((name,), "table" if isinstance(value, dict) else "setting", [*own, *entries])
            continue
        inner = _inner_keys(name, own[name])
        for key in value if inner is not None and isinstance(value, dict) else ():
            if key not in (inner or ()):
                tell((name, key), "setting", list(inner or ()))
    return notes


def _inner_keys(name: str, kind: Any) -> list[str] | None:
    """The keys of a table, or None where any key may stand (switches, permission keys of plugins, providers)."""
    if name in ("tools", "tool_permission") or not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return None
    return [field.name for field in msgspec.structs.fields(kind)]


def _nearest(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, 1, 0.6)
    return f"; did you mean {near[0]}?" if near else ""


def _line_of(text: str, key: tuple[str, ...]) -> int | None:
    """The line on which a key stands (tomllib keeps no positions); None when it cannot be told."""
    table: tuple[str, ...] = ()
    best: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?", line)
        if header:
            table = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            if table == key[: len(table)] and best is None:
                best = number
            if table == key:
                return number
            continue
        pair = re.match(r"\s*([\w\-.\"']+)\s*=", line)
        if pair:
            path = table + tuple(part.strip("\"'") for part in pair[1].split("."))
            if path == key[: len(path)]:
                return number
    return best
