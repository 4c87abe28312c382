"""`pegboard tools NAME`: a tool as a person reads it, from its declarations and its schema alone."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from pegboard.terminal import visible

from pegboard_cli.listing import ToolRow
from pegboard_cli.styles import Styles

LIMITS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}
"""What the schema says of a value's limits, in words."""


def tool_page(row: ToolRow, styles: Styles, width: int = 100) -> list[str]:
    """A tool's names, what it may do, its description, and a paragraph a parameter. Lines fit `width`."""
    parameters = parameter_rows(row)
    lines = [styles.bold(visible(row.name)), *_wrapped(row.description, width, ""), ""]
    lines += [part for name, value in facts(row).items() if value for part in _wrapped(f"{name}: {value}", width, "")]
    lines += ["", styles.bold("parameters") if parameters else "no parameters"]
    for name, kind, text in parameters:
        lines += [f"  {styles.place(visible(name))}: {visible(kind)}", *_wrapped(text, width, "      ")]
    return lines


def facts(row: ToolRow) -> dict[str, str]:
    """What a tool may do and is called, each under its name; empty where there is nothing to say."""
    return {
        "set": row.set or "",
        "effect": row.effect.replace("_", " "),
        "category": row.category or "",
        "permission": row.permission or "by what a call touches",
        "also called": ", ".join(row.aliases),
        "not offered": row.why_not or "",
    }


def parameter_rows(row: ToolRow) -> list[tuple[str, str, str]]:
    """(name, what it takes, what it is) of each parameter, as they are: nothing is made safe for a terminal."""
    parameters: Mapping[str, Any] = row.parameters.get("properties", {})
    needed = row.parameters.get("required", [])
    return [
        (
            name,
            ", ".join([kind_of(schema), *_conditions(schema, needed=name in needed)]),
            str(schema.get("description", "")),
        )
        for name, schema in parameters.items()
    ]


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type that a schema asks for, in words: `list of string`, `one of a, b`."""
    choices = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if choices:
        return "one of " + ", ".join(_shown(choice) for choice in choices if choice is not None)
    either = schema.get("anyOf") or schema.get("oneOf")
    if either:
        kinds = dict.fromkeys(kind_of(one) for one in either if one.get("type") != "null")
        return " or ".join(kinds)
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return " or ".join(str(one) for one in kind if one != "null")
    items = schema.get("items")
    if kind == "array" and isinstance(items, Mapping) and items:
        return f"list of {kind_of(items)}"
    fields = schema.get("properties")
    if kind == "object" and fields:
        return "object with " + ", ".join(fields)
    return {"array": "list"}.get(kind, str(kind))


def _conditions(schema: Mapping[str, Any], *, needed: bool) -> Iterator[str]:
    if needed:
        yield "needed"
    elif schema.get("default") not in (None, "", [], {}):
        yield f"default {_shown(schema['default'])}"
    for key, words in LIMITS.items():
        if key in schema:
            yield words.format(_shown(schema[key]))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    lines = visible(text.strip(), keep="\n").split("\n") if text.strip() else []
    return [
        part
        for line in lines
        for part in textwrap.wrap(
            line,
            max(width, 40),
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or [""]
    ]
