"""The settings as they are told to people and editors: every key with its meaning, and a JSON Schema of the whole.

Both are read off the structs, so that a new key is told of by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as mi

from pegboard.config.authority import HookSettings, ModeSettings, ModeTools, RuleSettings
from pegboard.config.schema import DEFAULT_PERMISSION, Config
from pegboard.models import ProviderSettings
from pegboard.wanted import bare, expected

NOT_SET = frozenset({"name", "root", "options"})
"""What stands in `ProviderSettings` and is no key of `[providers.NAME]`: the board adds it."""
_PERMISSIONS = {
    "read": "Reading files.",
    "list": "Listing and finding files.",
    "edit": "Changing files.",
    "bash": "Running command lines and programs.",
    "web": "Fetching from the web; what sends data asks all the same.",
    "mcp": "Tools of MCP servers.",
    "ask": "Asking you a question.",
    "state": "A tool's notes of its own in the session.",
    "delegate": "Handing work to another agent.",
}
LISTED: dict[str, type[msgspec.Struct]] = {
    "[permission.rules]": RuleSettings,
    "modes.NAME": ModeSettings,
    "modes.NAME.tools": ModeTools,
    "[hooks]": HookSettings,
}
"""Tables of which there may be any number."""
_ACTION = 'one of "allow", "ask", "deny"'
_TIGHTER = {True: "to true", False: "to false", "lower": "to less"}


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. `wanted`: what it takes, in words. `project`: how a project that came with a clone may set it, in
    words; None: not at all. `effect`: where it has none yet, that. `open`: it stands for any name."""

    name: str
    wanted: str
    default: Any
    description: str
    project: str | None = None
    effect: str | None = None
    open: bool = False


def tables() -> list[tuple[str, str, list[Key]]]:
    """(table, what it is about, its keys) for every table of core's own, top-level keys first with no name."""
    top: list[Key] = []
    found: list[tuple[str, str, list[Key]]] = [("", "", top)]
    shipped = Config()
    for field in _fields(Config):
        default = getattr(shipped, field.name)
        if isinstance(default, msgspec.Struct):
            doc = re.sub(r"^`[^`]*`[:.] ", "", str(type(default).__doc__)).split("\n")[0]
            found.append((field.name, doc[:1].upper() + doc[1:], list(_of_table(field.name, default))))
        elif field.name == "providers":
            found.append(("providers.NAME", "How a model's endpoint is reached.", list(_of_provider())))
        elif field.name != "tables":
            top.append(_key(field.name, field.type, default))
    return found


def listed() -> list[tuple[str, str, list[Key]]]:
    """The same of tables that stand there any number of times: in lists (`[[hooks]]`), or under a name."""
    found = []
    for name, kind in LISTED.items():
        fields = [field for field in _fields(kind) if field.name != "permission"]
        keys = [_key(f"{name}.{field.name}", field.type, _default_of(field)) for field in fields]
        doc = re.sub(r"^(One of )?`[^`]*`: ", "", str(kind.__doc__)).split("\n")[0]
        found.append((name, doc[:1].upper() + doc[1:], keys))
    return found


def _default_of(field: mi.Field) -> Any:
    return None if field.default is msgspec.NODEFAULT else field.default


def keys_of(table: str, settings: type[msgspec.Struct]) -> list[Key]:
    """The keys of a plugin's own table, from its `Settings`."""
    return list(_of_table(table, settings()))


def keys() -> dict[str, Key]:
    """Every key by its dotted name; `NAME` stands for any name."""
    return {key.name: key for _, _, found in tables() for key in found}


def _of_table(name: str, default: msgspec.Struct) -> Iterator[Key]:
    for field in _fields(type(default)):
        key = _key(f"{name}.{field.name}", field.type, getattr(default, field.name))
        if field.name == "actions":
            for permission, action in DEFAULT_PERMISSION.items():
                yield Key(
                    name=f"{name}.{permission}",
                    wanted=_ACTION,
                    default=action,
                    description=_PERMISSIONS[permission],
                    project="stricter",
                )
            yield _open(key, name, wanted=_ACTION, default="ask", project="stricter")
        elif field.name == "switches":
            yield _open(key, name, wanted="true or false", default=True)
        else:
            yield key


def _open(key: Key, table: str, **more: Any) -> Key:
    return msgspec.structs.replace(key, name=f"{table}.NAME", open=True, **more)


def _of_provider() -> Iterator[Key]:
    for field in _fields(ProviderSettings):
        if field.name not in NOT_SET:
            default = None if field.default is msgspec.NODEFAULT else field.default
            yield _key(f"providers.NAME.{field.name}", field.type, default)


def _key(name: str, declared: mi.Type, default: Any) -> Key:
    extra: dict[str, Any] = {}
    description = ""
    while isinstance(declared, mi.Metadata):
        extra |= declared.extra or {}
        description = description or str((declared.extra_json_schema or {}).get("description", ""))
        declared = declared.type
    tightens = extra.get("tightens")
    project = "stricter" if isinstance(tightens, tuple) else _TIGHTER.get(tightens) if tightens is not None else None
    if isinstance(declared, mi.ListType) and tightens is True:
        project = "more of them"
    if name == "permission.rules":
        project = "more that ask or deny"
    if name == "mode":
        project = "to plan, where no other denies"
    if name in ("tools.allow", "toolSets"):
        project = "where you have none" if name == "tools.allow" else "fewer"
    return Key(
        name=name,
        wanted=_wanted(declared),
        default=default,
        description=description,
        project=project,
        effect=extra.get("effect"),
    )


def _wanted(declared: mi.Type) -> str:
    if isinstance(declared, mi.ListType) and isinstance(bare(declared.item_type), mi.StructType):
        return "list of tables"
    if isinstance(declared, mi.DictType):
        inner = bare(declared.value_type)
        return "tables" if isinstance(inner, mi.StructType) else f"names, with {expected(inner)} each"
    return "table" if isinstance(declared, mi.StructType) else expected(declared).removesuffix(" or null")


def _fields(kind: type[msgspec.Struct]) -> tuple[mi.Field, ...]:
    info = mi.type_info(kind)
    assert isinstance(info, mi.StructType)
    return info.fields


def schema() -> dict[str, Any]:
    """A JSON Schema (2020-12) of a settings file, for editors. Tables of plugins are allowed, and are theirs to describe."""
    made = msgspec.json.schema(Config)
    parts = made["$defs"]
    whole = parts.pop("Config")
    properties = whole["properties"]
    del properties["tables"]
    properties["providers"]["additionalProperties"] = _provider_schema()
    switches = parts["ToolsSettings"]["properties"].pop("switches")
    parts["ToolsSettings"]["additionalProperties"] = switches["additionalProperties"] | _described(switches)
    permissions = parts["PermissionSettings"]
    actions = permissions["properties"].pop("actions")
    action = actions["additionalProperties"]
    for key, default in DEFAULT_PERMISSION.items():
        permissions["properties"][key] = action | {"description": _PERMISSIONS[key], "default": default}
    permissions["additionalProperties"] = action | _described(actions)
    for value in properties.values():
        if "$ref" in value:
            value.pop("default", None)
    several = {kind.__name__ for kind in LISTED.values()}
    for name, part in parts.items():
        if name not in several:
            part.pop("required", None)
        part.setdefault("additionalProperties", False)
        part.pop("title", None)
        part["description"] = str(part.get("description", name)).split("\n")[0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pegboard settings",
        "type": "object",
        "properties": properties,
        "additionalProperties": {"type": "object", "description": "The table of a plugin."},
        "$defs": dict(sorted(parts.items())),
    }


def _provider_schema() -> dict[str, Any]:
    made = msgspec.json.schema(ProviderSettings)["$defs"]["ProviderSettings"]
    kept = {name: value for name, value in made["properties"].items() if name not in NOT_SET}
    return {"type": "object", "properties": kept}


def _described(part: dict[str, Any]) -> dict[str, Any]:
    return {"description": part["description"]} if "description" in part else {}
