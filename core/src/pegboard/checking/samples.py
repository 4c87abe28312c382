"""Arguments for a tool, made from its schema and what it declares to touch: some that fit, and some that do not.

Where neither says what a text is, its name is guessed from. That decides nothing but how much a call shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect as mi

from pegboard.tooling import Tool
from pegboard.touches import Node
from pegboard.wanted import bare

FILE, FOLDER, LARGE = "notes.txt", "src", "large.txt"
TOUCHED: Mapping[str, str] = {
    "read": FILE,
    "edit": FILE,
    "list": FOLDER,
    "run": "echo alpha",
    "net": "https://example.org/page",
}
"""What stands for an argument of each kind of touch."""
_FORMATS = {
    "glob": "*.txt",
    "regex": "alpha",
    "uri": TOUCHED["net"],
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
}
_NAMES = (
    (r"glob|wildcard", "*.txt"),
    (r"url|uri|link", TOUCHED["net"]),
    (r"command|cmd|shell", "echo"),
    (r"dir|folder|root|cwd", FOLDER),
    (r"path|file", FILE),
    (r"tz|timezone", "UTC"),
    (r"time", "12:30"),
    (r"date|day", "2026-01-31"),
    (r"expression|formula|equation", "1 + 1"),
    (r"json", "{}"),
    (r"email|mail", "someone@example.org"),
    (r"lang|locale", "en"),
)
WORDS = ("alpha", "beta", "gamma", "delta")
"""Texts of which nothing is known."""
_WRONG: tuple[Any, ...] = ({"no such": ["thing"]}, "\u2027 no such word \u2027", 5.5, [[["deep"]]], True, -(10**30))
_DEPTH = 6


class CannotMake(Exception):
    """No value can be made for a type; the text says for which."""


def arguments_for(tool: Tool, *, full: bool = False) -> dict[str, Any]:
    """Arguments that fit: those that must be given, and those that are touched. `full`: every one.

    Raises:
        CannotMake: a type is not known here, or has constraints that nothing made up satisfies.
    """
    nodes = dict(tool.touched)
    made: dict[str, Any] = {}
    for name, declared in tool.signature.fields.items():
        if full or declared.required or name in nodes:
            made[name] = _fitting(name, _distinct(value_of(declared.type, name, nodes.get(name)), made), tool)
    return made


def _distinct(value: Any, others: Mapping[str, Any]) -> Any:
    """The same, where two texts of which nothing is known would be one: what is to be replaced, and by what."""
    if value == WORDS[0] and value in others.values():
        return next((word for word in WORDS if word not in others.values()), value)
    return value


def _fitting(name: str, value: Any, tool: Tool) -> Any:
    try:
        msgspec.convert(value, tool.signature.types[name], strict=False)
    except msgspec.ValidationError as error:
        raise CannotMake(f"{name}: {error}") from None
    except Exception:  # noqa: BLE001 - isolates tools: a struct's own check may raise anything; the call will show it
        return value
    return value


def wrong_for(tool: Tool, name: str) -> Any:
    """A value that a parameter cannot take. msgspec.UNSET: it takes anything."""
    for value in _WRONG:
        try:
            msgspec.convert(value, tool.signature.types[name], strict=False)
        except msgspec.ValidationError:
            return value
        except Exception:  # noqa: BLE001 - isolates tools: a struct's own check may raise anything
            return value
    return msgspec.UNSET


def value_of(declared: mi.Type, name: str = "", node: Node | None = None, depth: int = 0) -> Any:
    """A JSON value of a type. node: what is touched there.

    Raises:
        CannotMake: none can be made up.
    """
    extra = _extra(declared)
    declared = bare(declared)
    if depth > _DEPTH:
        raise CannotMake(f"{name}: nested too deep")
    match declared:
        case mi.UnionType(types=types):
            wanted = [one for one in types if not isinstance(bare(one), mi.NoneType)]
            return value_of(wanted[0] if wanted else types[0], name, node, depth + 1)
        case mi.LiteralType(values=values):
            return values[0]
        case mi.EnumType(cls=kind):
            return next(iter(kind)).value
        case mi.StrType():
            return _text(declared, name, node, extra)
        case mi.BoolType():
            return False
        case mi.IntType():
            return int(_number(declared, 1))
        case mi.FloatType():
            return _number(declared, 1.0)
        case mi.ListType(item_type=item) | mi.VarTupleType(item_type=item) | mi.SetType(item_type=item):
            return _items(declared, item, name, node, depth)
        case mi.TupleType(item_types=items):
            return [value_of(item, name, None, depth + 1) for item in items]
        case mi.StructType(fields=fields):
            inner = node.fields if node else {}
            wanted_fields = [field for field in fields if field.required or field.name in inner]
            made: dict[str, Any] = {}
            for field in wanted_fields:
                value = value_of(field.type, field.name, inner.get(field.name), depth + 1)
                made[field.encode_name] = _distinct(value, made)
            return made
        case mi.DataclassType(fields=fields) | mi.TypedDictType(fields=fields) | mi.NamedTupleType(fields=fields):
            return {f.encode_name: value_of(f.type, f.name, None, depth + 1) for f in fields if f.required}
        case mi.DictType():
            return {}
        case mi.NoneType():
            return None
        case mi.AnyType():
            return "alpha"
        case mi.DateType():
            return "2026-01-31"
        case mi.DateTimeType():
            return "2026-01-31T12:00:00Z"
        case mi.TimeType():
            return "12:30:00"
        case mi.UUIDType():
            return "00000000-0000-4000-8000-000000000000"
        case mi.DecimalType():
            return "1.5"
        case mi.BytesType():
            return "YWxwaGE="
        case _:
            raise CannotMake(f"{name}: no value is made up for {type(declared).__name__.removesuffix('Type')}")


def _items(declared: Any, item: mi.Type, name: str, node: Node | None, depth: int) -> list[Any]:
    inner = (node.items or Node(kind=node.kind)) if node else None
    if inner is not None and inner.kind == "run" and isinstance(bare(item), mi.StrType):
        return ["echo", "alpha"]
    one = value_of(item, name, inner, depth + 1)
    return [one] * max(1, declared.min_length or 0)


def _text(declared: mi.StrType, name: str, node: Node | None, extra: Mapping[str, Any]) -> str:
    text = TOUCHED.get(node.kind or "", "") if node else ""
    text = text or _FORMATS.get(str(extra.get("format", "")), "")
    text = text or next((value for words, value in _NAMES if re.search(words, name.lower())), "alpha")
    for tried in (text, "alpha", "a", "A", "1", "12:30", "2026-01-31", "alpha-1", "#ffffff", "alpha.beta"):
        if declared.min_length and len(tried) < declared.min_length:
            tried = tried.ljust(declared.min_length, "a")
        if declared.max_length is not None:
            tried = tried[: declared.max_length]
        if declared.pattern is None or re.search(declared.pattern, tried):
            return tried
    raise CannotMake(f"{name}: nothing that is made up matches {declared.pattern!r}")


def _number(declared: Any, wanted: float) -> float:
    low = declared.ge if declared.ge is not None else declared.gt + 1 if declared.gt is not None else None
    high = declared.le if declared.le is not None else declared.lt - 1 if declared.lt is not None else None
    if declared.multiple_of:
        wanted = declared.multiple_of
    if low is not None:
        wanted = max(wanted, low)
    return wanted if high is None else min(wanted, high)


def _extra(declared: mi.Type) -> dict[str, Any]:
    """What metadata say beside: a format."""
    found: dict[str, Any] = {}
    while isinstance(declared, mi.Metadata):
        found |= declared.extra_json_schema or {}
        declared = declared.type
    return found
