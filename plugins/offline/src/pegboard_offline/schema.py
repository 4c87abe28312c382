"""Whether a value fits a parameter's JSON Schema: the part of JSON Schema that tool parameters are written in."""

from __future__ import annotations

import re
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def fits(value: Any, schema: Any) -> bool:
    """Whether a value may be sent. An unknown keyword forbids nothing; the board validates again."""
    if not isinstance(schema, dict):
        return True
    options = schema.get("anyOf") or schema.get("oneOf")
    if options and not any(fits(value, option) for option in options):
        return False
    if ("enum" in schema and value not in schema["enum"]) or ("const" in schema and value != schema["const"]):
        return False
    kinds = schema.get("type")
    if kinds is not None and not any(_is(value, kind) for kind in (kinds if isinstance(kinds, list) else [kinds])):
        return False
    if isinstance(value, str):
        return _within(len(value), schema, "minLength", "maxLength") and _matches(value, schema.get("pattern"))
    if isinstance(value, list):
        return _within(len(value), schema, "minItems", "maxItems") and all(fits(v, schema.get("items")) for v in value)
    if isinstance(value, int) and not isinstance(value, bool):
        below, above = schema.get("exclusiveMinimum", value - 1), schema.get("exclusiveMaximum", value + 1)
        return below < value < above and _within(value, schema, "minimum", "maximum")
    return True


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES.get(kind, (object,)))


def _within(size: int, schema: dict[str, Any], low: str, high: str) -> bool:
    return bool(schema.get(low, size) <= size <= schema.get(high, size))


def _matches(value: str, pattern: Any) -> bool:
    if not isinstance(pattern, str):
        return True
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True
