"""The folders of sessions: their names, and how they are made and kept for their owner alone."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pegboard.errors import SessionError
from pegboard.session.files import tighten

NAME = re.compile(r"[A-Za-z0-9-]{1,64}")
"""What a session may be called."""


def private_folder(folder: Path, *, follow: bool = True) -> None:
    """Make a folder 0700, and those above it that are missing, whatever the umask. One that is there is closed to others.

    `follow=False`: a link in its place is not accepted.

    Raises:
        SessionError: it is a link, or no folder.
        OSError: it cannot be made.
    """
    _make(folder)
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0)
    try:
        fd = os.open(folder, flags if follow else flags | getattr(os, "O_NOFOLLOW", 0))
    except NotADirectoryError:
        what = "a link" if folder.is_symlink() else "no folder"
        raise SessionError(f"{folder} is {what}; nothing was started. Move it away, or use another session.") from None
    try:
        tighten(fd, 0o700)
    finally:
        os.close(fd)


def _make(folder: Path) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileNotFoundError:
        _make(folder.parent)
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass


def same_file(fd: int, path: Path) -> bool:
    """Whether an open file is what stands at `path` now."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(path, follow_symlinks=False))
    except OSError:
        return False
