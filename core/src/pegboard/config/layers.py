"""What each layer says, read from where it stands: the user's file, the environment, flags. Nothing is judged here."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from pegboard.calls import Layer, Source
from pegboard.config.lines import Lines
from pegboard.config.schema import Config, known_keys
from pegboard.errors import ConfigError

PREFIX = "PEGBOARD_"
MARKS = frozenset({"PEGBOARD_CALL"})
"""Variables that begin alike and are no settings: the mark on what a call starts (`kit.tree.MARK`)."""
JOINED = frozenset({"deny", "protected"})
"""Lists that are joined over the layers, never replaced (decision 14). Each item has an origin of its own, `KEY: ITEM`."""
RULES = "permission"
"""The table whose lists are rules: those of all layers count, each with its own layer."""


def joins(key: tuple[str, ...]) -> bool:
    """Whether a list is joined over the layers, never replaced."""
    return key[-1] in JOINED or key[0] == RULES or is_listed(key)


LARGEST = 1024 * 1024
"""The largest settings file of a person that is read, in bytes."""


def is_listed(key: tuple[str, ...]) -> bool:
    """Whether a list of tables stands here (`[[permission.rules]]`, `[[hooks]]`). They are joined too: a later layer takes
    none away."""
    return key == ("hooks",) or (key[-2:] == ("permission", "rules") and key[0] in ("permission", "modes"))


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One layer's values as nested tables, and the file they stand in, if it is one.

    only_stricter: it counts where it makes something stricter. kept: which of the tables of a list in the file these are,
    where some do not count."""

    layer: Layer
    values: dict[str, Any]
    file: str | None = None
    lines: Lines | None = None
    only_stricter: bool = False
    kept: dict[tuple[str, ...], list[int]] = {}

    def line(self, key: tuple[str, ...]) -> int | None:
        """The line of a key; None where there is no file."""
        return self.lines.of(key) if self.lines else None

    def source(self, key: tuple[str, ...], item: str | None = None) -> Source | None:
        """Where a key stands, or an item of the list that is its value."""
        if self.file is None or self.lines is None:
            return None
        return Source(self.file, self.lines.of(key) if item is None else self.lines.item(key, item))

    def items(self, key: tuple[str, ...], value: list[Any]) -> tuple[Source | None, ...]:
        """Where each item of the list at a key stands."""
        return tuple(
            self.entry(key, number) if isinstance(item, dict) else self.source(key, str(item))
            for number, item in enumerate(value)
        )

    def entry(self, key: tuple[str, ...], index: int) -> Source | None:
        """Where one of the tables in the list at a key stands."""
        if self.file is None or self.lines is None:
            return None
        kept = self.kept.get(key)
        return Source(self.file, self.lines.entry(key, index if kept is None else kept[index]))


def of_file(file: Path) -> Said | None:
    """The user's file; None when there is none.

    Raises:
        ConfigError: it cannot be read, or is no TOML; names the line.
    """
    try:
        found = os.stat(file)
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError("is no regular file; nothing was started", file=str(file))
        if found.st_size > LARGEST:
            raise ConfigError(f"is larger than {LARGEST} bytes; nothing was started", file=str(file))
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({error}); nothing was started", file=str(file)) from None
    return of_text(text, str(file))


def of_text(text: str, file: str) -> Said:
    """The user's file as it would be with this text.

    Raises:
        ConfigError: it is no TOML; names the line.
    """
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError, deep nesting the other
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        line = re.search(r"line (\d+)", reason)
        raise ConfigError(
            f"not valid TOML: {reason}; nothing was started",
            file=file,
            line=int(line[1]) if line else None,
        ) from None
    return Said(layer="user", values=values, file=file, lines=Lines(text))


def of_environment(environ: Mapping[str, str], entries: frozenset[str] = frozenset()) -> Said:
    """`PEGBOARD_SEARCH_MAX_HITS=5` is `search.max_hits = 5`. `entries`: the names of installed plugins."""
    values: dict[str, Any] = {}
    if any(name.startswith(PREFIX) for name in environ):
        names = variables()
        for name, text in environ.items():
            if name in names:
                put(values, tuple(names[name].split(".")), value_of(text, type_of(names[name])))
            else:
                for key, declared in open_keys(name, entries):
                    put(values, key, value_of(text, declared))
    return Said(layer="environment", values=values)


def open_keys(name: str, entries: frozenset[str]) -> list[tuple[tuple[str, ...], Any]]:
    """The keys that a variable sets where any key may stand, with what each takes: `PEGBOARD_TOOLS_BASH` is the switch
    `tools.bash`, `PEGBOARD_GUARD_PROTECTED` the key `protected` of an installed plugin `guard`. Empty for all others."""
    rest = name.removeprefix(PREFIX)
    if rest == name or name in MARKS:
        return []
    word = rest.removeprefix("TOOLS_").lower()
    if rest.startswith("TOOLS_") and word:
        return [(("tools", one), bool) for one in _spelled_so(word, entries) or [word]]
    word = rest.removeprefix("TOOL_PERMISSION_").lower()
    if rest.startswith("TOOL_PERMISSION_") and word:
        return [(("tool_permission", word), str)]
    parts = rest.lower().split("_")
    for cut in range(len(parts) - 1, 0, -1):  # the longest name of a plugin first
        tables = [one for one in _spelled_so("_".join(parts[:cut]), entries) if one not in Config.__struct_fields__]
        key = "_".join(parts[cut:])
        if tables and key:
            return [((table, key), list if key in JOINED else None) for table in tables]
    return []


def _spelled_so(word: str, entries: frozenset[str]) -> list[str]:
    """The installed plugins that a variable can mean: it has neither hyphens nor small letters."""
    return sorted(entry for entry in entries if entry.lower().replace("-", "_") == word)


def variable(key: tuple[str, ...]) -> str:
    """The environment variable of a key."""
    return PREFIX + "_".join(key).upper().replace("-", "_")


def by_no_file(layer: Layer, key: tuple[str, ...]) -> str:
    """How an error tells of a key that stands in no file: ` (environment, PEGBOARD_MODE)`; nothing where it does."""
    return {"environment": f" (environment, {variable(key)})", "flag": " (command line)"}.get(layer, "")


def of_flags(flags: Mapping[str, Any]) -> Said:
    """Settings by dotted key, as a command line or a program gives them."""
    values: dict[str, Any] = {}
    for key, value in flags.items():
        put(values, tuple(key.split(".")), value)
    return Said(layer="flag", values=values)


def variables() -> dict[str, str]:
    """The environment variable of every key that has one, with the key."""
    return {PREFIX + key.replace(".", "_").upper(): key for key in known_keys()}


def value_of(text: str, declared: Any) -> Any:
    """Text as its key wants it: a list may be written `a,b`; else it is TOML where it parses, and text where not."""
    kinds = _kinds(declared)
    if list in kinds and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        value = tomllib.loads(f"v = {text}")["v"] if "\n" not in text else text
    except (ValueError, RecursionError):
        return text
    return text if str in kinds and kinds <= {str, type(None)} and not isinstance(value, str) else value


def _kinds(declared: Any) -> set[Any]:
    """The plain types that a declared type is made of: `Annotated[list[str], ...] | None` is {list, NoneType}."""
    origin = get_origin(declared)
    if origin is Annotated:
        return _kinds(get_args(declared)[0])
    if origin is Literal:
        return {type(word) for word in get_args(declared)}
    if isinstance(origin, type) and issubclass(origin, list | dict):
        return {origin}
    if origin is not None:
        return {kind for part in get_args(declared) for kind in _kinds(part)}
    return {declared}


def type_of(key: str, within: type[msgspec.Struct] = Config) -> Any:
    """The declared type of a dotted key, metadata included; None for keys that have none of their own."""
    node: Any = within
    for part in key.split("."):
        if not (isinstance(node, type) and issubclass(node, msgspec.Struct)):
            return None
        node = {field.name: field.type for field in msgspec.structs.fields(node)}.get(part)
    return node


# --- nested tables by their keys --------------------------------------------------------------------------------------


def leaves(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every (key, value) below, the keys as tuples. An empty table is a leaf."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), value


def put(into: dict[str, Any], key: tuple[str, ...], value: Any) -> None:
    """Set a value; a value in the way of a table makes room for it, as a later layer's does."""
    for part in key[:-1]:
        inner = into.get(part)
        if not isinstance(inner, dict):
            inner = into[part] = {}
        into = inner
    into[key[-1]] = value


def at(values: Mapping[str, Any], key: tuple[str, ...]) -> Any:
    """The value at a key, or None."""
    node: Any = values
    for part in key:
        node = node.get(part) if isinstance(node, dict) else None
    return node
