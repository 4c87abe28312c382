"""Opening what lies beneath one folder by descriptor, so that no link and no race leads out of it.

`Beneath` knows no policy. A path is first judged by its letters alone (`relative`), without a filesystem call. Then it
is opened: on Linux by one `openat2(RESOLVE_BENEATH)`; elsewhere, and for links that the kernel refuses though they stay
inside (absolute ones), by a walk that opens component after component with O_NOFOLLOW and resolves links itself, inside
the folder, at most 40 of them as the kernel does. What was opened is a handle on the thing itself: swapping names
afterwards changes nothing.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Literal

from pegboard.kit import openat2

MAX_LINKS = 40
_O_PATH: int = getattr(os, "O_PATH", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
FOLDER_FLAGS: int = _O_PATH | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC | _NONBLOCK
READ_FLAGS: int = os.O_RDONLY | _NONBLOCK | getattr(os, "O_NOCTTY", 0) | _CLOEXEC

_F_GETPATH = 50  # macOS


class Escapes(Exception):
    """The path, or a link on its way, leads out of the folder."""


def split(path: str) -> list[str]:
    """Components of a path; a trailing slash or dot stays as a last `.`, which says "must be a folder"."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if parts and path.endswith(("/", "/.")):
        parts.append(".")
    return parts


def real_path(fd: int) -> str | None:
    """Where the thing behind a descriptor is now; None when the system does not tell, or it was deleted."""
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(fd, _F_GETPATH, bytes(1024)).rstrip(b"\0"))
    try:
        path = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None
    return None if path.endswith(" (deleted)") and os.fstat(fd).st_nlink == 0 else path


class Walk:
    """How far a walk came: `folder` is a descriptor of the deepest existing folder, `names` where that is.

    `kind` folder: the path is that folder. other: it is `rest[0]` in it, and no folder. missing: `rest` is not there.
    blocked: `rest[0]` is no folder, and there is more behind it. `links`: where the links lay that were followed. A
    context manager: it closes the descriptors.
    """

    def __init__(self, root: int) -> None:
        self._stack = [root]
        self.names: list[str] = []
        self.rest: list[str] = []
        self.links: list[str] = []
        self.kind: Literal["folder", "other", "missing", "blocked"] = "folder"

    @property
    def folder(self) -> int:
        return self._stack[-1]

    def down(self, name: str, fd: int) -> None:
        self._stack.append(fd)
        self.names.append(name)

    def up(self) -> None:
        if not self.names:
            raise Escapes
        os.close(self._stack.pop())
        self.names.pop()

    def to_root(self) -> None:
        while self.names:
            self.up()

    def __enter__(self) -> Walk:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        while self._stack:
            os.close(self._stack.pop())


class Beneath:
    """One folder, and the only way to what lies beneath it."""

    def __init__(self, folder: str) -> None:
        self.real = os.path.realpath(folder)
        spellings = (self.real, os.path.abspath(folder))
        self._tells_places: bool | None = None  # whether the system says where a descriptor is
        self._spellings = list(dict.fromkeys(tuple(split(spelling)) for spelling in spellings))

    def relative(self, path: str) -> list[str] | None:
        """Components below the folder, judged by letters alone; None when the path climbs out of it.

        An absolute path counts when it begins with the folder's given or real spelling. `../app/x` in `app` is `x`.
        """
        parts: list[str] | None = split(path)
        if path.startswith("/"):
            parts = self._below(split(path))
        if parts is None:
            return None
        parts = self._back_in(parts)
        depth = 0
        for part in parts:
            depth += -1 if part == ".." else part != "."
            if depth < 0:
                return None
        return parts

    def _below(self, parts: Sequence[str]) -> list[str] | None:
        for spelling in self._spellings:
            if tuple(parts[: len(spelling)]) == spelling:
                return list(parts[len(spelling) :])
        return None

    def _back_in(self, parts: list[str]) -> list[str]:
        ups = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
        own = self._spellings[0]
        if 0 < ups <= len(own) and tuple(parts[ups : 2 * ups]) == own[len(own) - ups :]:
            return parts[2 * ups :]
        return parts

    def inside(self, path: str) -> str | None:
        """A real absolute path, relative to the folder (`.` is the folder itself); None when it is not below."""
        if path == self.real:
            return "."
        prefix = self.real if self.real.endswith("/") else self.real + "/"
        return path[len(prefix) :] if path.startswith(prefix) else None

    def find(self, parts: Sequence[str]) -> tuple[int, str]:
        """A descriptor that only names what is there (nothing was opened for reading), and where that really is.

        Raises Escapes, or OSError: FileNotFoundError, NotADirectoryError, ELOOP, PermissionError ...
        """
        for _ in range(3):  # again when it was replaced under our hands
            fd, by_walk = self._find_fast(parts) or self._find_slow(parts)
            try:
                at = self._where(fd, by_walk)
            except BaseException:
                os.close(fd)
                raise
            if at is not None:
                return fd, at
            os.close(fd)
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/".join(parts))

    def reopen(self, fd: int, parts: Sequence[str], flags: int = READ_FLAGS) -> int:
        """The same file or folder that `find(parts)` gave, open for reading."""
        if not _O_PATH:
            return os.dup(fd)
        try:
            return os.open(f"/proc/self/fd/{fd}", flags)
        except FileNotFoundError:  # no /proc here: by its name again, and it must be the same one
            with self.walk(parts) as walk:
                again = os.open(walk.rest[0] if walk.rest else ".", flags | _NOFOLLOW, dir_fd=walk.folder)
        if not os.path.samestat(os.fstat(fd), os.fstat(again)):
            os.close(again)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/".join(parts)) from None
        return again

    def lexical(self, parts: Sequence[str]) -> str:
        """Where `parts` would be: links followed as far as there is something, the rest by its letters."""
        with self.walk(parts) as walk:
            names = list(walk.names)
            for part in walk.rest:
                if part == "..":
                    if not names:
                        raise Escapes
                    names.pop()
                elif part != ".":
                    names.append(part)
        return "/".join(names) or "."

    def _find_fast(self, parts: Sequence[str]) -> tuple[int, None] | None:
        root = os.open(self.real, FOLDER_FLAGS & ~_NOFOLLOW)
        try:
            if self._tells_places is None:
                self._tells_places = real_path(root) is not None
            fd = openat2.name(root, "/".join(parts) or ".") if self._tells_places else None
        finally:
            os.close(root)
        return None if fd is None else (fd, None)

    def _find_slow(self, parts: Sequence[str]) -> tuple[int, str]:
        with self.walk(parts) as walk:
            if walk.kind == "missing":
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/".join(parts))
            if walk.kind == "blocked":
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), "/".join(parts))
            at = "/".join(walk.names + walk.rest) or "."
            if walk.kind == "folder":
                return os.dup(walk.folder), at
            flags = _O_PATH | _CLOEXEC if _O_PATH else READ_FLAGS
            return os.open(walk.rest[0], flags | _NOFOLLOW, dir_fd=walk.folder), at

    def _where(self, fd: int, by_walk: str | None) -> str | None:
        """The descriptor's place; None when it was deleted meanwhile. Raises Escapes when it lies outside."""
        path = real_path(fd)
        if path is None:
            return by_walk if os.fstat(fd).st_nlink else None
        at = self.inside(path)
        if at is None:
            raise Escapes
        return at

    def walk(self, parts: Sequence[str], *, follow: bool = True) -> Walk:
        """Follow `parts` from the folder, links and `..` as the kernel does, never out of it.

        `follow` false: a link at the end is not followed, and is `other`.
        Raises Escapes or OSError; what is missing or no folder is told by `kind`.
        """
        walk = Walk(os.open(self.real, FOLDER_FLAGS & ~_NOFOLLOW))
        try:
            self._follow(walk, list(reversed(parts)), follow)
        except BaseException:
            walk.close()
            raise
        return walk

    def _follow(self, walk: Walk, todo: list[str], last: bool) -> None:
        links = 0
        while todo:
            part = todo.pop()
            if part == ".":
                continue
            if part == "..":
                walk.up()
                continue
            try:
                walk.down(part, os.open(part, FOLDER_FLAGS, dir_fd=walk.folder))
                continue
            except FileNotFoundError:
                walk.kind, walk.rest = "missing", [part, *reversed(todo)]
                return
            except OSError as error:
                if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK, errno.ENXIO):
                    raise
            target = _link(part, walk.folder)
            if target is None or not (last or todo):
                walk.kind, walk.rest = "blocked" if todo else "other", [part, *reversed(todo)]
                return
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part)
            walk.links.append("/".join([*walk.names, part]))
            todo.extend(reversed(self._target(walk, target)))

    def _target(self, walk: Walk, target: str) -> list[str]:
        """The components to follow in place of a link."""
        parts = split(target)
        if not target.startswith("/"):
            return parts
        below = self._below(parts)
        if below is None:
            raise Escapes
        walk.to_root()
        return below


def _link(name: str, folder: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.EINVAL:
            return None
        raise
