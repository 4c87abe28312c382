"""A call's arguments as JSON that a person edits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pegboard.terminal import visible

LONGEST = 100_000
"""Characters that may be edited in the panel; more than that only in an editor."""


def as_json(arguments: Mapping[str, Any]) -> str:
    """JSON that a person can read; where something in it would hide, with escapes."""
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    return text if visible(text, keep="\n") == text else json.dumps(arguments, indent=2)


def read_json(text: str) -> dict[str, Any]:
    """The arguments that a text says.

    Raises:
        ValueError: it is no JSON object; says why and where, for a person.
    """

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    try:
        value = json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(value, dict):
        raise ValueError("an object in braces was expected")
    return value
