"""A call as a person types it after a slash: `NAME k=v ...`, or `NAME {"k": "v"}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pegboard import typed
from pegboard.errors import ConfigError

if TYPE_CHECKING:
    from pegboard.board import Board
    from pegboard.policy import Policy


def read_call(rest: str, board: Board, *, usage: str) -> tuple[str, dict[str, Any]]:
    """The tool that is named, and the arguments.

    Raises:
        ConfigError: none is named, or the arguments are neither words nor a JSON object. Nothing was done.
    """
    from pegboard_cli.call import of_words

    try:
        name, arguments = typed.read_call(rest, usage=usage)
    except typed.BadWord as error:
        raise ConfigError(str(error)) from None
    return name, dict(of_words(arguments, board.registry.get(name)))


def call_words(rest: str, board: Board, policy: Policy) -> list[str]:
    """What the last word of a call could be: a tool, or a parameter that was not given yet, or a value it may have."""
    from pegboard_cli.completing import choices_of

    words = rest.split(" ")
    if len([word for word in words[:-1] if word]) == 0:
        return [tool.name for tool in board.registry.tools if not policy.hidden(tool)]
    tool = board.registry.get(next(word for word in words if word))
    if tool is None:
        return []
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    key, sign, _ = words[-1].partition("=")
    if sign:
        return [f"{key}={choice}" for choice in choices_of(properties, key)]
    used = {word.partition("=")[0] for word in words[1:-1]}
    return [f"{name}=" for name in properties if name not in used]
