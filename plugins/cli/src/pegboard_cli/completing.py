"""What the words of a command line may be completed to. Nothing here dials, asks, writes, or looks at a new plugin.

Tools of strangers are known by name from what was kept when they were first looked at; a stranger's set is imported only for
the parameters of a tool of its own, and only when it was found good and has not changed since, as any start would.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from pegboard.entries import Entry, scan

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.config.load import Loaded
    from pegboard.tooling import Tool

Found = Iterable[tuple[str, str]]
"""Values, each with a line of help or nothing."""
NEWEST = 50
_SESSION = re.compile(r"[A-Za-z0-9-]{1,64}")


def tool_names(root: str | None) -> Iterator[tuple[str, str]]:
    """Every tool: ours with its label, strangers' by name."""
    entries = list(scan())
    names: set[str] = set()
    for tool in _board(root, [entry for entry in entries if _is_set(entry) and entry.own]).registry.tools:
        names.add(tool.name)
        yield tool.name, tool.label
    for _, known in _strangers(entries):
        yield from ((name, "") for name in known if name not in names)


def argument_words(root: str | None, name: str, given: Sequence[str], incomplete: str) -> Found:
    """`key=` for each parameter that was not given yet, or the values that a `key=` may have (shells may split there)."""
    words = [*given, incomplete]
    if len(words) > 1 and "=" in (words[-1], words[-2]):
        at = len(words) - (1 if words[-1] == "=" else 2)
        return [(choice, "") for choice in choices_of(_schema(root, name), words[at - 1])] if at else []
    key, sign, _ = incomplete.partition("=")
    if sign:
        return [(f"{key}={choice}", "") for choice in choices_of(_schema(root, name), key)]
    used = {re.split(r":?=", word)[0] for word in given}
    return [
        (f"{key}=", str(schema.get("description", "")))
        for key, schema in _schema(root, name).items()
        if key not in used or schema.get("type") == "array"
    ]


def session_ids(*, talks: bool = False) -> Found:
    """The sessions last changed, newest first. `talks`: not those of single calls alone."""
    from pegboard.config.places import state_folder

    with suppress(OSError), os.scandir(state_folder(os.environ) / "sessions") as folder:
        found = [(item.stat().st_mtime, item.name, item.path) for item in folder if _SESSION.fullmatch(item.name)]
        names = (name for _, name, path in sorted(found, reverse=True) if not (talks and only_calls(path)))
        return [(name, "") for name in islice(names, NEWEST)]
    return []


def undo_ids(root: str | None, session: str | None) -> Found:
    """Calls that changed files and undos of them, newest first: of a session, or of all that work in this root."""
    from pegboard.config.places import find_root, state_folder
    from pegboard.kit.workspace import Workspace
    from pegboard.undoable import listed, sources

    found, _ = find_root(root)
    store = state_folder(os.environ) / "sessions"
    logs = [source for source in sources(store, found, NEWEST) if session in (None, source[0].name)]
    entries = (entry for entry in listed(logs, Workspace(found)) if entry.state != "command")
    return list({entry.id: entry.summary or entry.tool for entry in entries}.items())[:NEWEST]


def only_calls(folder: str) -> bool:
    """Whether a session has events, and none of a turn."""
    from pegboard.session.summary import summary

    ends = summary(os.path.join(folder, "events.jsonl"))
    return ends.events > 0 and not ends.turns


def set_names(incomplete: str) -> Found:
    """Installed tool sets, after the commas that are there."""
    before, comma, _ = incomplete.rpartition(",")
    chosen = before.split(",")
    return [
        (f"{before}{comma}{entry.name}", f"{entry.distribution} {entry.version}")
        for entry in scan()
        if _is_set(entry) and entry.name not in chosen
    ]


def guard_names() -> Found:
    """Installed guards."""
    from pegboard.plugins.claims import address

    guards = [entry for entry in scan() if entry.group == "pegboard.guards"]
    return [(address(entry, guards), entry.distribution) for entry in guards]


def plugin_names() -> Found:
    """Distributions that bring plugins and are not ours."""
    return [(name, "") for name in dict.fromkeys(entry.distribution for entry in scan() if not entry.own)]


def setting_keys() -> Found:
    """Settings of the core's own tables."""
    from pegboard.config.schema import known_keys

    return [(key, "") for key in known_keys()]


def mode_names(root: str | None) -> Found:
    """The modes that come with Pegboard, and those of the configuration."""
    from pegboard.policy import choices

    loaded = _loaded(root)
    return list(choices(loaded).items()) if loaded is not None else []


def model_names(root: str | None) -> Iterator[tuple[str, str]]:
    """Models that the configuration names, and providers that are installed. Nobody is asked what there is."""
    loaded = _loaded(root)
    if loaded is not None:
        if loaded.config.model:
            yield loaded.config.model, "as configured"
        for name, table in loaded.config.providers.items():
            listed = table.get("models", ()) if isinstance(table, Mapping) else getattr(table, "models", ())
            yield name, "a provider of the configuration"
            yield from ((f"{name}/{model}", "") for model in listed or ())
    yield from ((entry.name, entry.distribution) for entry in scan() if entry.group == "pegboard.providers")


# --- what they are read from ------------------------------------------------------------------------------------------


def _is_set(entry: Entry) -> bool:
    return entry.group == "pegboard.toolsets"


def _board(root: str | None, entries: Sequence[Entry]) -> Board:
    """A board with these sets alone; nothing is ever run on it."""
    from pegboard.board import Board

    return Board.build(root, discover=False, extra=entries)


def _loaded(root: str | None) -> Loaded | None:
    from pegboard.config.load import load
    from pegboard.config.places import config_file, find_root
    from pegboard.errors import ConfigError

    try:
        found, _ = find_root(root)
        return load(user_file=config_file(os.environ), root=found, environ=os.environ, flags={})
    except ConfigError:
        return None


def _strangers(entries: Iterable[Entry]) -> Iterator[tuple[Entry, list[str]]]:
    """Strangers' sets that were looked at, found good and left as they were, each with the names of its tools."""
    from pegboard.config.places import state_folder
    from pegboard.plugins.vetting import Vetting

    vetting = Vetting(state_folder(os.environ))
    for entry in entries:
        verdict = vetting.of_files(entry) if _is_set(entry) and not entry.own else None
        if verdict is not None and verdict.good:
            yield entry, verdict.tools


def _tool(root: str | None, name: str) -> Tool | None:
    entries = [entry for entry in scan() if _is_set(entry)]
    found = _board(root, [entry for entry in entries if entry.own]).registry.get(name)
    if found is None:
        theirs = [entry for entry, tools in _strangers(entries) if name in tools]
        found = _board(root, theirs).registry.get(name) if theirs else None
    return found


def _schema(root: str | None, name: str) -> Mapping[str, Mapping[str, Any]]:
    tool = _tool(root, name)
    fields: Mapping[str, Mapping[str, Any]] = tool.parameters.get("properties", {}) if tool is not None else {}
    return fields


def choices_of(fields: Mapping[str, Mapping[str, Any]], key: str) -> list[str]:
    """The texts that a parameter may have, where its schema says which."""
    schema = fields.get(key, {})
    if schema.get("type") == "boolean":
        return ["true", "false"]
    either = [schema, *schema.get("anyOf", ())]
    return [choice for one in either for choice in one.get("enum", ()) if isinstance(choice, str)]
