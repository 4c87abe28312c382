"""What installed plugins say of themselves in their manifests: settings and help, without importing any."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pegboard.entries import WITHOUT_TABLE, Entry


def settings_of(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    """The JSON Schema of each plugin's table, by its name, of those whose manifest is up to date. Plugins of one name share
    a table: where one of them does not say what it takes, nothing is said."""
    from pegboard import manifest

    found: dict[str, dict[str, Any]] = {}
    silent: set[str] = set()
    for entry in (entry for entry in entries if entry.group not in WITHOUT_TABLE):
        said = manifest.fresh(entry)
        if said is None:
            silent.add(entry.name)
            continue
        schema = said.settings or {"type": "object", "properties": {}}
        known = found.setdefault(entry.name, {**schema, "properties": {}})
        known["properties"] |= schema.get("properties", {})
    return {name: schema for name, schema in found.items() if name not in silent and schema["properties"]}


def with_tables(schema: dict[str, Any], entries: Iterable[Entry]) -> dict[str, Any]:
    """The schema of a settings file with the tables of plugins in it."""
    own = schema["properties"]
    more = {name: {**part, "required": []} for name, part in settings_of(entries).items() if name not in own}
    return {**schema, "properties": {**own, **more}}


def unknown_keys(tables: Mapping[str, Any], known: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """(key, what it may have meant) for keys of plugins' tables that their manifests do not know."""
    for name, schema in known.items():
        values: Mapping[str, Any] = tables.get(name, {})
        keys: Sequence[str] = list(schema["properties"])
        for key in values:
            if key not in keys:
                near = difflib.get_close_matches(key, keys, 1, 0.5)
                yield f"{name}.{key}", f"; did you mean {name}.{near[0]}?" if near else ""


def help_of(entry: Entry) -> str:
    """What a plugin's command says of itself; empty where it says nothing that counts.

    Little is looked at where there is no manifest: `pegboard --help` is to be quick."""
    top = entry.value.partition(":")[0].partition(".")[0]
    if not entry.info or not os.path.isfile(os.path.join(os.path.dirname(entry.info), top, "pegboard.json")):
        return ""
    from pegboard import manifest

    said = manifest.fresh(entry)
    return said.help if said else ""
