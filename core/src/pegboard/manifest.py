"""What a plugin says of itself, written down where it is built: `pegboard.json` in the folder of its top package.

It travels in the wheel as package data, so that settings, help and what would be installed are known without importing
anything. `make` writes down what was loaded; `read` and `fresh` give it back. Nothing here decides what a call may do: a
manifest is shown, and the road looks at the tools themselves.

A distribution whose packages are several has one in each, of the entries that stand there. A single module has none.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from pegboard.entries import Entry
from pegboard.hooks import API, GROUPS, ROLES
from pegboard.plugins.loaded import Plugin
from pegboard.plugins.loading import import_guarded, load_one
from pegboard.tooling import BadTool, Tool
from pegboard.touches import kinds_in

NAME = "pegboard.json"
FORMAT = 1
MOST_BYTES = 1 << 20
"""A manifest larger than this is not read."""
MOST_FILES = 5000
LARGE = 4 << 20
"""Of a source file larger than this only the size counts."""
_HELP = 200


class ToolSaid(msgspec.Struct, frozen=True, kw_only=True):
    """A tool. `touches`: the kinds that its calls may touch, as far as that is declared; `by_arguments`: a function of the
    arguments says the rest. `permission`: the declared key, None: its touches' own. `bytes`: what it costs a request."""

    name: str
    description: str
    effect: str
    touches: list[str] = []
    by_arguments: bool = False
    permission: str | None = None
    bytes: int = 0
    aliases: list[str] = []


class EntrySaid(msgspec.Struct, frozen=True, kw_only=True):
    """An entry point. `object`: what it names; `role`: what its group may do, in words; `settings`: the JSON Schema of its
    table, written out in full, None: it has none; `help`: a line about a command, a slash command or a provider."""

    group: str
    name: str
    object: str
    role: str
    settings: dict[str, Any] | None = None
    tools: list[ToolSaid] = []
    hooks: list[str] = []
    help: str = ""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What the entries of one package say. `digest`: of the sources that it was made from. `version`: the distribution's
    then; a new version of the same sources is no reason to write another."""

    format: int
    api: int
    distribution: str
    version: str
    digest: str
    entries: list[EntrySaid]

    def entry(self, group: str, name: str) -> EntrySaid | None:
        """What it says of one entry."""
        return next((said for said in self.entries if (said.group, said.name) == (group, name)), None)


def make(plugins: Iterable[Plugin], objects: Mapping[Entry, Any] | None = None) -> Manifest:
    """Write down what is loaded: plugins with hooks, and `objects`, what entries without hooks name.

    Raises:
        ValueError: there is none, or they stand in several packages, or outside any.
    """
    found = [(plugin.entry, _of_plugin(plugin)) for plugin in plugins]
    found += [(entry, _of_object(entry, named)) for entry, named in (objects or {}).items()]
    folders = {package_folder(entry) for entry, _ in found}
    folder = folders.pop() if len(folders) == 1 else None
    if folder is None:
        raise ValueError("a manifest is of entries that stand in one package, at least one")
    manifest = Manifest(
        format=FORMAT,
        api=API,
        distribution=found[0][0].distribution,
        version=found[0][0].version,
        digest=digest(folder),
        entries=sorted((said for _, said in found), key=lambda said: (said.group, said.name)),
    )
    return msgspec.json.decode(encoded(manifest), type=Manifest)  # as it is read back: a schema may hold tuples


def made(entries: Sequence[Entry], tables: Mapping[str, Mapping[str, Any]] | None = None) -> Manifest:
    """The same, importing the entries in this process: for a child that is there for it. `tables`: settings by name.

    Raises:
        LoadProblem: one of them does not load.
        ValueError: as `make`.
    """
    plugins = [load_one(entry, (tables or {}).get(entry.name, {}), None) for entry in entries if entry.group in GROUPS]
    return make(plugins, {entry: import_guarded(entry) for entry in entries if entry.group not in GROUPS})


def role(group: str) -> str:
    """What entries of a group may do, in words that go on from "it"."""
    return ROLES.get(group, "is of a kind that this version of Pegboard does not know")


def said_by(entry: Entry, table: Mapping[str, Any] | None = None) -> EntrySaid:
    """What one entry says, importing it in this process; also of a single module.

    Raises:
        LoadProblem: it does not load.
    """
    if entry.group in GROUPS:
        return _of_plugin(load_one(entry, table or {}, None))
    return _of_object(entry, import_guarded(entry))


def encoded(manifest: Manifest) -> bytes:
    """The file: indented, the same for the same content, so that it can stand under version control."""
    return msgspec.json.format(msgspec.json.encode(manifest, order="deterministic"), indent=2) + b"\n"


def decoded(data: bytes) -> Manifest:
    """Raises ValueError: it is none, or one of a format that is not known here."""
    if len(data) > MOST_BYTES:
        raise ValueError(f"it is larger than {MOST_BYTES} bytes")
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"it is no manifest: {error}") from None
    if manifest.format != FORMAT:
        raise ValueError(f"its format is {manifest.format}, and {FORMAT} is known here")
    return manifest


def place(entry: Entry) -> Path | None:
    """Where the manifest of an entry stands, or would; None: its distribution is a single module, or is not there.

    Nothing of the plugin is imported for it."""
    folder = package_folder(entry)
    return folder / NAME if folder is not None else None


def read(entry: Entry) -> Manifest | None:
    """The manifest beside an entry, without importing the plugin. None: there is none that can be read."""
    try:
        return _read(entry)
    except (OSError, ValueError):
        return None


def unreadable(entry: Entry) -> str | None:
    """Why the manifest that is there cannot be read; None: it can, or there is none."""
    try:
        _read(entry)
    except (OSError, ValueError) as error:
        return str(error)
    return None


def stale(manifest: Manifest, entry: Entry) -> str | None:
    """Why a manifest does not speak of an entry as it stands on disk; None: it does. Nothing is imported."""
    said = manifest.entry(entry.group, entry.name)
    if said is None or said.object != entry.value:
        return f"it does not know {entry.name} = {entry.value} in {entry.group}"
    if manifest.distribution != entry.distribution:
        return f"it is of {manifest.distribution}, not of {entry.distribution}"
    if manifest.api != API:
        return f"it was made for version {manifest.api} of the hooks; this is {API}"
    folder = package_folder(entry)
    if folder is None or manifest.digest != digest(folder):
        return "the sources changed since it was made"
    return None


def fresh(entry: Entry) -> EntrySaid | None:
    """What a manifest that is up to date says of an entry; None: there is no such manifest. Nothing is imported."""
    manifest = read(entry)
    return manifest.entry(entry.group, entry.name) if manifest and stale(manifest, entry) is None else None


def package_folder(entry: Entry) -> Path | None:
    """The folder of the package that an entry's module stands in; in a namespace that others share, of the first part
    that is a package. None: it is a single module, or is not found."""
    top, *rest = entry.value.partition(":")[0].split(".")
    try:
        spec = importlib.util.find_spec(top)  # a package's parent is not imported for it: it has none
    except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: finders of editable installs are strangers' code
        return None
    if spec is None or spec.submodule_search_locations is None:
        return None
    folders = [Path(place) for place in spec.submodule_search_locations]
    if spec.origin is not None:
        return folders[0] if folders else None
    return next((found for folder in folders if (found := _below(folder, rest)) is not None), None)


def digest(folder: Path) -> str:
    """Of the Python sources below a folder: their names and bytes."""
    return digest_of((name, _bytes(folder / name)) for name in _sources(folder))


def digest_of(sources: Iterable[tuple[str, bytes]]) -> str:
    """The same of (name relative to the folder, bytes) pairs, of a package that is not unpacked. Names without `.py` at
    their end, and what lies in folders that begin with a dot or are caches, do not count."""
    rows = []
    for name, data in sources:
        parts = name.split("/")
        if name.endswith(".py") and not any(part == "__pycache__" or part.startswith(".") for part in parts[:-1]):
            rows.append((parts, hashlib.sha256(data).hexdigest()))
    text = "".join(f"{'/'.join(parts)}\0{found}\n" for parts, found in sorted(rows))
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"


def _bytes(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        return path.read_bytes() if size <= LARGE else str(size).encode()
    except OSError:
        return b"-"


def _sources(folder: Path) -> Iterator[str]:
    count = 0
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not name.startswith("."))
        for name in sorted(files):
            if name.endswith(".py") and count < MOST_FILES:
                count += 1
                yield os.path.relpath(os.path.join(base, name), folder).replace(os.sep, "/")


def _below(folder: Path, parts: Sequence[str]) -> Path | None:
    for part in parts:
        folder = folder / part
        if (folder / "__init__.py").is_file():
            return folder
    return None


def _read(entry: Entry) -> Manifest | None:
    path = place(entry)
    if path is None or not path.is_file():
        return None
    with open(path, "rb") as file:
        return decoded(file.read(MOST_BYTES + 1))


def _of_plugin(plugin: Plugin) -> EntrySaid:
    settings = type(plugin.settings) if isinstance(plugin.settings, msgspec.Struct) else None
    return EntrySaid(
        group=plugin.entry.group,
        name=plugin.entry.name,
        object=plugin.entry.value,
        role=role(plugin.entry.group),
        settings=settings_schema(settings) if settings else None,
        tools=list(tools_of(plugin)),
        hooks=sorted(plugin.contributions),
    )


def _of_object(entry: Entry, named: Any) -> EntrySaid:
    return EntrySaid(group=entry.group, name=entry.name, object=entry.value, role=role(entry.group), help=_help(named))


def tools_of(plugin: Plugin) -> Iterator[ToolSaid]:
    """What is to be said of the tools of a set that can be registered."""
    for function in plugin.contributions.get("pegboard_tools", ()):
        try:
            tool = Tool.of(function)
        except BadTool:
            continue
        except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: a function may be anything
            continue
        declared = tool.declaration
        kinds = [*declared.kinds, *(kind for _, node in tool.touched for kind in kinds_in(node))]
        by_arguments = declared.touches is not None
        yield ToolSaid(
            name=tool.name,
            description=tool.description,
            effect=tool.effect,
            touches=list(dict.fromkeys(kinds or ([] if declared.pure or by_arguments else ["unknown"]))),
            by_arguments=by_arguments,
            permission=declared.permission,
            bytes=tool.wire_size(),
            aliases=[alias if isinstance(alias, str) else alias[0] for alias in declared.aliases],
        )


def settings_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a plugin's table, with every `$ref` replaced by what it names; what contains itself is left open
    where it does."""
    (top,), parts = msgspec.json.schema_components((kind,), ref_template="{name}")

    def whole(node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [whole(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = str(node["$ref"])
            rest = {key: value for key, value in node.items() if key != "$ref"}
            return rest if name in inside else {**whole(parts[name], (*inside, name)), **rest}
        return {key: whole(value, inside) for key, value in node.items() if key != "title" or isinstance(value, dict)}

    found: dict[str, Any] = whole(top, ())
    return found


def _help(named: Any) -> str:
    """A line about what an entry without hooks names: what it says as its help, else its documentation's first line.

    A command is an object of its front end's making, so this only looks at attributes that may be there."""
    try:
        info, callback = getattr(named, "info", None), getattr(named, "registered_callback", None)
        only = getattr(named, "registered_commands", None) or []
        several = [named, info, callback, *(only if len(only) == 1 else ())]
        texts = [getattr(one, "help", None) for one in several]
        functions = [getattr(one, "callback", None) for one in several[2:]]
        documented = named if isinstance(named, type) or inspect.isroutine(named) else None
        texts += [getattr(one, "__doc__", None) for one in (*functions, documented) if one is not None]
        found = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    except (Exception, SystemExit):  # noqa: BLE001 - isolates plugins: an attribute may be a stranger's code
        return ""
    return " ".join(found.strip().split("\n\n")[0].split())[:_HELP]
