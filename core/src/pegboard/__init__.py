"""Pegboard: a plugin-first framework for coding agents.

What a plugin author needs is here: `tool`, the annotations, `Context`, `hookimpl`, `ToolError`, `Result`. What a program
needs is `Board`. Names are looked up when first used, so that importing costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.lazily import lazily

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pegboard.board import Board as Board
    from pegboard.calls import Answer as Answer
    from pegboard.calls import Ask as Ask
    from pegboard.calls import Call as Call
    from pegboard.calls import Deny as Deny
    from pegboard.calls import Record as Record
    from pegboard.calls import Result as Result
    from pegboard.calls import Touch as Touch
    from pegboard.context import Context as Context
    from pegboard.context import SyncContext as SyncContext
    from pegboard.errors import PegboardError as PegboardError
    from pegboard.errors import ToolError as ToolError
    from pegboard.hooks import Fragment as Fragment
    from pegboard.hooks import hookimpl as hookimpl
    from pegboard.tooling import Tool as Tool
    from pegboard.tooling import tool as tool
    from pegboard.touches import Fetches as Fetches
    from pegboard.touches import Lists as Lists
    from pegboard.touches import Reads as Reads
    from pegboard.touches import Runs as Runs
    from pegboard.touches import Writes as Writes

__getattr__, _names = lazily(
    __name__,
    {
        "board": ("Board",),
        "calls": ("Answer", "Ask", "Call", "Deny", "Record", "Result", "Touch"),
        "context": ("Context", "SyncContext"),
        "errors": ("PegboardError", "ToolError"),
        "hooks": ("Fragment", "hookimpl"),
        "tooling": ("Tool", "tool"),
        "touches": ("Fetches", "Lists", "Reads", "Runs", "Writes"),
    },
)
__all__ = [*_names, "__version__"]  # noqa: PLE0604 - the names above
