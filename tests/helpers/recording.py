"""Tools that do nothing but write down that they ran, a kind of touch each: for tests of who may do what."""

from __future__ import annotations

from typing import Annotated, Any

from pegboard.hooks import hookimpl
from pegboard.tooling import tool
from pegboard.touches import Fetches, Lists, Reads, Runs, Writes

RAN: list[str] = []
"""What ran, by the argument that it touches."""


@tool
def look(path: Annotated[str, Reads("f")]) -> str:
    """Look."""
    RAN.append(path)
    return path


@tool
def put(path: Annotated[str, Writes("f")]) -> str:
    """Put."""
    RAN.append(path)
    return path


@tool
def fetch(url: Annotated[str, Fetches("u")]) -> str:
    """Fetch."""
    RAN.append(url)
    return url


@tool(aliases=["bash"], param_aliases={"timeout": "cwd"})
def shell(command: Annotated[str, Runs("c")], cwd: Annotated[str | None, Lists("f")] = None) -> str:
    """Run nothing, and say what."""
    RAN.append(command)
    return command


class Brings:
    """The set of them, as a plugin."""

    @staticmethod
    @hookimpl
    def pegboard_tools(settings: Any) -> Any:
        """All four."""
        return [look, put, fetch, shell]
