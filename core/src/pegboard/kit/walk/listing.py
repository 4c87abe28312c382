"""What lies in a folder, some levels deep: a walk of its own, because rg names no folders.

Level by level, so that what is nearest is shown first when there is more than fits. Folders are opened by descriptor,
name by name below the one the door opened, and links are never followed: nothing outside is listed, whatever is swapped
meanwhile. What is shown is asked for its size; of the rest the names alone are counted.
"""

from __future__ import annotations

import heapq
import os
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from pegboard.errors import DoorError
from pegboard.kit.names import shown
from pegboard.kit.refusals import special, system_error
from pegboard.kit.settings import SearchSettings
from pegboard.kit.walk.ignore import NEVER, Scope
from pegboard.kit.walk.place import ground
from pegboard.kit.walk.tree import Entry, Kind, Listing
from pegboard.kit.workspace import Workspace

MOST_COUNTED = 100_000
"""Entries that are looked at, one folder at least; beyond that the number of all is not found out."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A listing of `path`, `depth` levels deep (1: what lies in the folder itself)."""

    path: str = "."
    depth: int = 2
    include_hidden: bool = False
    include_ignored: bool = False


class _Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder to look into. names: the way from the top; entry: what is shown of it, None where it is not."""

    names: tuple[str, ...]
    level: int
    scope: Scope
    entry: Entry | None


def list_folder(workspace: Workspace, query: ListQuery, settings: SearchSettings) -> Listing:
    """The entries, at most `list_dir_max_entries`. Blocks; call it in a thread. Raises DoorError."""
    place = ground(workspace, query.path, "list", require_git=settings.require_git)
    if place.scope is None:
        path = shown(query.path)
        raise DoorError(f"{path} is a file, not a folder. Read it instead.", reason="missing", path=path)
    at = place.prefix + shown(os.fsdecode(place.start))
    listing = Listing(at=at or ".")
    if place.never:
        listing.never = True
        return listing
    with workspace.folder(query.path) as top:
        walk = _Walk(workspace, query, listing, settings.list_dir_max_entries, f"{at}/" if place.start else at)
        walk.through(top.fd, place.scope)
    return listing


class _Walk:
    """One listing under way. `before`: what stands in front of the paths below the top."""

    def __init__(self, workspace: Workspace, query: ListQuery, listing: Listing, most: int, before: str) -> None:
        self._workspace = workspace
        self._query = query
        self._listing = listing
        self._most = most
        self._before = before
        self._waiting: deque[_Folder] = deque()

    def through(self, top: int, scope: Scope) -> None:
        """All levels."""
        self._waiting.append(_Folder(names=(), level=1, scope=scope, entry=None))
        while self._waiting:
            if self._listing.total >= MOST_COUNTED:
                self._listing.uncounted = True
                return
            folder = self._waiting.popleft()
            try:
                with _opened(top, folder.names) as fd:
                    self._look_into(fd, folder)
            except OSError as error:
                if folder.entry is not None:
                    folder.entry.trouble = (error.strerror or str(error)).lower()
                elif not folder.names:
                    raise system_error(error, self._listing.at) from error

    def _look_into(self, fd: int, folder: _Folder) -> None:
        listing = self._listing
        scope = folder.scope if not folder.names or self._query.include_ignored else folder.scope.loaded()
        found: list[os.DirEntry[str]] = []
        number, full = 0, MOST_COUNTED
        with os.scandir(fd) as entries:
            for entry in entries:
                if not self._wanted(entry, folder, scope):
                    continue
                number += 1
                found.append(entry)
                if len(found) > full:
                    found = heapq.nsmallest(self._most, found, key=_by_name)
                    listing.uncounted, full = True, self._most + MOST_COUNTED
            found.sort(key=_by_name)
            listing.total += number
            for entry in found:
                self._take(entry, fd, folder, scope)
        if folder.entry is not None:
            folder.entry.inside = number

    def _wanted(self, entry: os.DirEntry[str], folder: _Folder, scope: Scope) -> bool:
        """Whether an entry is listed; what is hidden, ignored or protected is counted apart."""
        query, name = self._query, os.fsencode(entry.name)
        if name in NEVER:
            return False
        if (not query.include_hidden and name.startswith(b".")) or (
            not query.include_ignored and scope.ignored(name, folder=_is_folder(entry))
        ):
            self._listing.passed += 1
            return False
        if self._workspace.checked and self._refused(self._path(folder, entry.name)):
            self._listing.left_out += 1
            return False
        return True

    def _take(self, entry: os.DirEntry[str], fd: int, folder: _Folder, scope: Scope) -> None:
        listing, is_folder, kept = self._listing, _is_folder(entry), None
        if len(listing.entries) < self._most:
            kept = self._entry(entry, fd, folder)
            if kept is None:
                return
            listing.entries.append(kept)
        if is_folder and folder.level < self._query.depth:
            below = _Folder(
                names=(*folder.names, entry.name),
                level=folder.level + 1,
                scope=scope.at(os.fsencode(entry.name)),
                entry=kept,
            )
            self._waiting.append(below)

    def _entry(self, entry: os.DirEntry[str], fd: int, folder: _Folder) -> Entry | None:
        """What is shown of an entry; None where it is another name of what is protected."""
        name, path = entry.name, self._path(folder, entry.name)
        kind: Kind = "folder"
        size, target, trouble = None, None, ""
        if entry.is_symlink():
            kind, target = "link", self._target(path)
            if target is not None and self._refused(target):
                self._listing.left_out += 1
                self._listing.total -= 1
                return None
        elif not _is_folder(entry):
            try:
                info = os.stat(name, dir_fd=fd, follow_symlinks=False)
                kind = "file" if stat.S_ISREG(info.st_mode) else "special"
                size = info.st_size if kind == "file" else None
                trouble = special(info.st_mode).partition(" (")[0] if kind == "special" else ""
            except OSError as error:
                kind, trouble = "file", (error.strerror or str(error)).lower()
        return Entry(
            path=path, name=shown(name), kind=kind, size=size, target=target, trouble=trouble, above=folder.entry
        )

    def _target(self, path: str) -> str | None:
        """Where a link leads, as a path from the root; None when that is outside, or nowhere at all."""
        try:
            place = self._workspace.place(path)
        except DoorError:
            return None
        return None if place.outside else place.at

    def _refused(self, path: str) -> bool:
        return self._workspace.refusal("read", path) is not None

    def _path(self, folder: _Folder, name: str) -> str:
        return self._before + shown("/".join((*folder.names, name)))


def _by_name(entry: os.DirEntry[str]) -> bytes:
    return os.fsencode(entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """False too for what is gone by now."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


@contextmanager
def _opened(top: int, names: tuple[str, ...]) -> Iterator[int]:
    """A folder below `top`, open for listing, through no link."""
    fd = os.dup(top)
    try:
        for name in names:
            above, fd = fd, os.open(name, _FOLDER, dir_fd=fd)
            os.close(above)
        yield fd
    finally:
        os.close(fd)
