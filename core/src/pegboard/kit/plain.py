"""Values as a JSON document can hold them: what a tool returns or a model sends may be anything, the log is always JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from pegboard.kit.names import shown

_DEEPEST = 100
_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError)


def plain(value: Any) -> Any:
    r"""The value itself where it can be written as JSON; else a copy that can be.

    In the copy text that is not Unicode is shown as file names are (`caf\xe9`), what is nested deeper than a hundred
    levels is left out, and what JSON has no word for is named by its type.
    """
    try:
        msgspec.json.encode(value)
    except _UNWRITABLE:
        return _copied(value, 0)
    return value


def _copied(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return "..."
    match value:
        case str():
            return shown(value)
        case Mapping():
            return {shown(str(key)): _copied(item, depth + 1) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_copied(item, depth + 1) for item in value]
        case msgspec.Struct():
            return _copied(msgspec.structs.asdict(value), depth)
    try:
        msgspec.json.encode(value)
    except _UNWRITABLE:
        return f"({type(value).__name__})"
    return value
