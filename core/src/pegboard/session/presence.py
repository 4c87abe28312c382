"""Agents that work in one folder, told of each other: a file an agent in the state folder, locked while it lives.

A lock ends with its process, however that ends, so what is there and not locked was left behind and is cleared away. Nobody
polls: others are looked for when an agent starts and when it begins a turn.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from pegboard.session.places import private_folder, same_file

if TYPE_CHECKING:
    from pegboard.session.session import Session

try:
    import fcntl
except ImportError:  # Windows: see session.log
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".agent"
_MAKING = 60.0
"""Seconds after which a file that was never written to is no longer one that is just being made."""


class Company(Protocol):
    """Who else works in this folder."""

    def news(self) -> list[str]:
        """A line for each agent that was not told of before."""

    def close(self) -> None:
        """Be no longer there."""


class _Agent(msgspec.Struct, frozen=True):
    session: str
    process: int


class Presence:
    """This process's agent in a folder; `news` names those of other processes. Agents of one process know of each other."""

    def __init__(self, state: Path, root: str, session: str) -> None:
        """Raises OSError where the state folder cannot be written."""
        self._folder = state / "agents" / hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]
        self._told: set[str] = set()
        self._path = self._folder / f"{os.getpid()}-{secrets.token_hex(4)}{_SUFFIX}"
        self._fd = -1
        if fcntl is None:
            return
        private_folder(self._folder)
        self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        # Shared: whoever looks tries it for itself alone, and may look at the same moment as another.
        fcntl.flock(self._fd, fcntl.LOCK_SH)
        os.write(self._fd, msgspec.json.encode(_Agent(session=session, process=os.getpid())))

    def news(self) -> list[str]:
        """A line for each living agent of another process in this folder that was not told of before."""
        if self._fd < 0:
            return []
        found = [self._look(path) for path in sorted(self._folder.glob(f"*{_SUFFIX}")) if path.name not in self._told]
        return [
            f"another agent (session {agent.session}, process {agent.process}) works in this folder"
            for agent in found
            if agent is not None
        ]

    def close(self) -> None:
        """Be no longer there. Again does nothing."""
        if self._fd >= 0:
            self._path.unlink(missing_ok=True)
            os.close(self._fd)
            self._fd = -1

    def _look(self, path: Path) -> _Agent | None:
        """Who holds a file; None for our own process, and for what was left behind, which is cleared away."""
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            return None
        try:
            if _try_lock(fd, fcntl.LOCK_EX):
                info = os.fstat(fd)
                if (info.st_size or time.time() - info.st_mtime > _MAKING) and same_file(fd, path):
                    path.unlink(missing_ok=True)
                return None
            if not _try_lock(fd, fcntl.LOCK_SH) or not same_file(fd, path):
                return None  # it is being cleared away by another who looks
            agent = msgspec.json.decode(os.pread(fd, 1000, 0), type=_Agent)
            self._told.add(path.name)
            return agent if agent.process != os.getpid() else None
        except (OSError, msgspec.DecodeError):
            return None
        finally:
            os.close(fd)


def join(session: Session, state: Path, root: str) -> list[str]:
    """Be seen by other agents in a folder while a session is open, and be told of them: a line for each that is there."""
    try:
        company = Presence(state, root, session.id)
    except OSError as error:
        return [f"other agents in this folder cannot be looked for ({error.strerror})"]
    session.keep_company(company)
    return company.news()


def is_open(session: Path) -> bool:
    """Whether a process has a session open, this one or another; true where that cannot be told."""
    if fcntl is None:
        return True
    flags = os.O_RDWR | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(session / "alive.lock", flags)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        return not _try_lock(fd, fcntl.LOCK_EX)
    except OSError:
        return True
    finally:
        os.close(fd)


def _try_lock(fd: int, how: int) -> bool:
    try:
        fcntl.flock(fd, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
