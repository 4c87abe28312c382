"""Where a rule or a setting stands, as a person finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.calls import Source


def place_of(source: Source | None, before: str = "") -> str:
    """`file:line`, or the file alone where no line is known; nothing where it stands in no file. before: what goes before
    it, if there is any."""
    if source is None:
        return ""
    return f"{before}{source.file}" + (f":{source.line}" if source.line is not None else "")
