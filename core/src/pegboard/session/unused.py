"""A session in which nothing happened: it leaves nothing behind."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

LOG = "events.jsonl"


def forget(folder: Path, alive: int | None) -> None:
    """Remove a session's folder where nothing was written to its log, no other process has it open, and nothing but files of
    its beginning is in it. `alive`: its `alive.lock`, open; None where there are no locks."""
    with suppress(OSError):
        if alive is not None and fcntl is not None:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)  # whoever opens it now finds that it is being deleted
        with os.scandir(folder) as found:
            files = [(one.name, one.is_file(follow_symlinks=False)) for one in found]
        log = folder / LOG
        if not all(regular for _, regular in files) or (log.exists() and log.stat().st_size):
            return
        for name, _ in files:
            os.unlink(folder / name)
        folder.rmdir()
