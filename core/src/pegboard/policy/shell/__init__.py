"""Command lines: read as bash reads them, judged by what they would run. A line that is not sure does not pass.

Names are looked up when first used: a guard that only wants to know which names are protected starts without the parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegboard.policy.shell.judge import read_line as read_line
    from pegboard.policy.shell.line import Command as Command
    from pegboard.policy.shell.line import Line as Line
    from pegboard.policy.shell.line import Trouble as Trouble
    from pegboard.policy.shell.line import Word as Word
    from pegboard.policy.shell.matching import matches as matches

_WHERE = {
    "judge": ("read_line",),
    "line": ("Command", "Line", "Trouble", "Word"),
    "matching": ("matches",),
}
_NAMES = {name: module for module, names in _WHERE.items() for name in names}
__all__ = sorted(_NAMES)  # noqa: PLE0605 - the names above


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    from importlib import import_module

    module = _NAMES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
