"""A rewriter: a file's name is written in small letters."""

from typing import Any

from pegboard import Call, hookimpl


def small(call: Call) -> dict[str, Any] | None:
    path = call.arguments.get("path")
    return {**call.arguments, "path": path.lower()} if isinstance(path, str) else None


@hookimpl
def pegboard_rewriters():
    return [small]
