"""Pegboard's own guard, on when installed: protected paths (`guard.protected`) and destructive commands
(`guard.destructive`).

No tool may read or write secrets, nor write version control internals, CI definitions and Pegboard's own configuration.
No command may remove the system, a home, the workspace or its history, or overwrite a disk.
`Settings` is the table `[guard]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from pegboard import hookimpl

from pegboard_guard.settings import Settings as Settings

if TYPE_CHECKING:
    from pegboard.hooks import Guard

pegboard_api = 1


@hookimpl
def pegboard_guards(settings: Settings | None) -> Iterable[Guard]:
    """The guard of protected paths, and that of destructive commands."""
    from pegboard_guard.destructive import DestructiveCommands
    from pegboard_guard.protected import ProtectedPaths

    settings = settings or Settings()
    return [ProtectedPaths(settings), *([DestructiveCommands()] if settings.destructive else [])]
