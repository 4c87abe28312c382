"""What was seen of strangers' plugins, kept in the state folder, and which import is under way.

One file for each environment that Pegboard runs from (several share a state folder). A file that cannot be read or
written is no failure: what is not known is looked at again.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from pegboard.entries import Entry
from pegboard.hooks import API

try:
    import fcntl
except ImportError:  # Windows: a start that ended in an import is not noticed there
    fcntl = None  # type: ignore[assignment]

VERSION = 1
LOADING = "loading-"
_END = b"\0"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an entry when it was looked at.

    stamp: the files that were looked at. around: what else its failing may have come from (settings, other packages);
    None when neither can help. tables: digests of the settings that this is known with, the newest last. what: import,
    hook, version, settings, hang or crash. trace: a traceback. left_out: why functions of it are no tools. remarks: what
    it did beside."""

    good: bool
    stamp: str
    around: str | None = None
    tables: list[str] = []
    what: str | None = None
    error: str | None = None
    trace: str = ""
    hooks: list[str] = []
    tools: list[str] = []
    aliases: list[str] = []
    left_out: list[str] = []
    import_ms: float | None = None
    remarks: list[str] = []


class _File(msgspec.Struct, kw_only=True):
    version: int
    prefix: str
    verdicts: dict[str, Verdict]


def key_of(entry: Entry) -> str:
    """A name for an entry that no other has in this environment: a new version is another one."""
    return f"{entry.info}|{entry.version}|{entry.group}|{entry.name}|{entry.value}"


class Kept:
    """The verdicts of one environment. `folder`: None or unusable: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        where = f"{sys.prefix}|{sys.implementation.cache_tag}|{sys.version}|{API}"
        self._file = folder / f"{hashlib.sha256(where.encode()).hexdigest()[:16]}.json" if folder else None
        self.verdicts: Mapping[str, Verdict] = self._read()

    def _read(self) -> dict[str, Verdict]:
        if self._file is None:
            return {}
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=_File)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}  # there is none yet, or it is broken: everything is looked at again
        return found.verdicts if found.version == VERSION else {}

    def put(self, changed: Mapping[str, Verdict | None]) -> bool:
        """Keep verdicts (None: forget one), whatever other processes kept meanwhile. False: it cannot be written."""
        if self._file is None or self.folder is None:
            return False
        now = {key: verdict for key, verdict in self._read().items() if os.path.isdir(key.split("|", 1)[0])}
        for key, verdict in changed.items():
            now.pop(key, None)
            if verdict is not None:
                now[key] = verdict
        self.verdicts = {**self.verdicts, **now}
        data = msgspec.json.encode(_File(version=VERSION, prefix=sys.prefix, verdicts=now))
        part = self._file.with_name(f"{self._file.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            self._make_folder(self.folder)
            fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with open(fd, "wb") as file:
                file.write(data)
            os.replace(part, self._file)
        except OSError:
            with suppress(OSError):
                os.unlink(part)
            return False
        return True

    @staticmethod
    def _make_folder(folder: Path) -> None:
        for each in (folder.parent, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)

    # --- which import is under way ------------------------------------------------------------------------------------

    def left_over(self) -> list[str]:
        """The keys of entries that a process was importing when it ended. Told once: the notes are removed.

        The lock on a note is held by its process; one that can be taken belongs to nobody any more."""
        found: list[str] = []
        for note in self._notes():
            try:
                fd = os.open(note, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                key = os.read(fd, 1 << 16).partition(_END)[0].decode("utf-8", "replace")
                if key:  # an empty one may be about to be locked by its process, and harms nobody
                    found.append(key)
                    os.unlink(note)
            except OSError:
                pass  # its process is at work
            finally:
                os.close(fd)
        return found

    def _notes(self) -> list[Path]:
        if self.folder is None or fcntl is None:
            return []
        try:
            return [self.folder / name for name in os.listdir(self.folder) if name.startswith(LOADING)]
        except OSError:
            return []

    @contextmanager
    def under_way(self) -> Iterator[LoadingNote]:
        """A note in which each import is written down before it is made, removed when all came back."""
        note = LoadingNote(self._lock_note())
        try:
            yield note
        finally:
            note.close()

    def _lock_note(self) -> tuple[Path, int] | None:
        if self.folder is None or fcntl is None:
            return None
        path = self.folder / f"{LOADING}{os.getpid()}-{os.urandom(4).hex()}"
        try:
            self._make_folder(self.folder)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(fd, fcntl.LOCK_EX)
        except OSError:
            return None
        return path, fd


class LoadingNote:
    """The note of this process. Writing a name costs one system call: the file is never made shorter."""

    def __init__(self, file: tuple[Path, int] | None) -> None:
        self._file = file
        self._pid = os.getpid()

    def write(self, key: str) -> None:
        """The entry that is about to be imported; empty: none."""
        if self._file is None or os.getpid() != self._pid:
            return
        fd = self._file[1]
        with suppress(OSError):  # a plugin may have closed what is not its own
            os.pwrite(fd, key.encode("utf-8", "replace") + _END, 0)

    def close(self) -> None:
        """All imports came back."""
        if self._file is None or os.getpid() != self._pid:
            return
        path, fd = self._file
        self._file = None
        with suppress(OSError):
            os.unlink(path)
        with suppress(OSError):
            os.close(fd)


State = Literal["on", "off", "disabled", "failed", "hung", "incompatible", "new"]
"""What an installed plugin may be."""


def state_of(what: str) -> State:
    """The state of a plugin that did not load for this reason."""
    return "hung" if what == "hang" else "incompatible" if what == "version" else "failed"
