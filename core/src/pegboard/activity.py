"""The activity line of a call: glyph, verb, subject, details. Front ends draw it; it is never persisted.

Everything comes from declarations: category, glyph, verb, summary, key_arg.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pegboard.blocks import Activity
from pegboard.tooling import Tool
from pegboard.wire import encode

GLYPHS: dict[str, tuple[str, str]] = {
    "read": ("←", "Read"),
    "write": ("→", "Write"),
    "search": ("%", "Search"),
    "exec": ("$", "Run"),
    "ask": ("~", "Ask"),
    "todo": ("-", "Todo"),
    "delegate": ("↳", "Call"),
    "mcp": ("@", "Call"),
}
"""Glyph and verb by a tool's `category`."""

_LONGEST = 60


def activity_of(tool: Tool | None, requested: str, arguments: Any, *, params: bool = True) -> Activity:
    """The activity line of a call; `verb` and `glyph` are empty for a tool without a known category.

    `details` is the bracketed rest of the arguments (`[limit=20]`) if `params`; after a newline, what the tool's
    `summary` says beyond its first line. Arguments are best given as they were validated."""
    given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
    if tool is None:
        return Activity(glyph="", verb="", subject=requested)
    declared = tool.declaration
    glyph, verb = GLYPHS.get(declared.category or "", ("", ""))
    glyph, verb = declared.glyph or glyph, declared.verb or verb
    if glyph and not verb:
        verb = tool.name.replace("_", " ").capitalize()
    summary = _summary(tool, given)
    subject, _, lines = (_subject(tool, given), "", "") if summary is None else summary.partition("\n")
    details = _details(tool, given, summary) if params else ""
    return Activity(glyph=glyph, verb=verb, subject=subject, details=details + ("\n" + lines if lines else ""))


def summary_of(tool: Tool | None, requested: str, arguments: Any) -> str:
    """`Grep TODO`: verb and subject in one line, for logs and lists."""
    if tool is None:
        return requested[:200]
    declared = tool.declaration
    verb = declared.verb or (GLYPHS[declared.category][1] if declared.category in GLYPHS else tool.name)
    subject = arguments.get(tool.key) if type(arguments) is dict and declared.summary is None else None
    if type(subject) is not str:
        given: Mapping[str, Any] = arguments if isinstance(arguments, Mapping) else {}
        subject = _summary(tool, given) or _subject(tool, given)
    first_line = subject[:200].partition("\n")[0]
    return f"{verb} {first_line}".rstrip()


def _summary(tool: Tool, given: Mapping[str, Any]) -> str | None:
    """What the tool itself says of the call; None where it says nothing."""
    if tool.declaration.summary is None:
        return None
    try:
        said: Any = tool.declaration.summary(dict(given))
    except (Exception, SystemExit):  # noqa: BLE001 - isolates tools: a line for display may not stop a call
        return None
    return said if isinstance(said, str) and said else None


def _subject(tool: Tool, given: Mapping[str, Any]) -> str:
    value = given.get(tool.key or "", "")
    if type(value) is str:
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return _text(value)


def _details(tool: Tool, given: Mapping[str, Any], summary: str | None) -> str:
    """The arguments that the label does not show: not the key one, nor a text that the summary holds."""
    key = tool.key if summary is None else tool.declaration.key_arg
    shown = [
        f"{name}={_short(value)}"
        for name, value in given.items()
        if name != key and not (summary and isinstance(value, str) and f" {value} " in f" {summary} ")
    ]
    return f"[{', '.join(shown)}]" if shown else ""


def _short(value: Any) -> str:
    """A value in one line: long text and text of several lines by its size."""
    text = _text(value)
    if isinstance(value, str) and "\n" in value:
        lines = value.count("\n") + (not value.endswith("\n"))
        return f"({lines} line{'' if lines == 1 else 's'})"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else encode(value).decode()
