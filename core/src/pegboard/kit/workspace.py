"""The workspace: the root folder an agent may work in, and the only door to files in it.

Every path is judged by its letters first, opened by descriptor beneath the root (`kit.beneath`), and the *opened* thing
is what is checked: that it still lies inside, that it is a regular file, and what the given checks (policy, guards) say
of its real path. So a link, a second name or a swap between check and use does not help. FIFOs, devices and sockets are
named and never opened for reading, so nothing here blocks.

Paths handed out (`at`) are relative to the root, with `/`, in the shown form of `kit.names`; the root itself is `.`.
"""

from __future__ import annotations

import copy
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, Protocol

from pegboard.calls import Deny, TouchKind
from pegboard.errors import DoorError
from pegboard.kit.beneath import Beneath, Escapes, split
from pegboard.kit.handles import Entry, EntryKind, Opened, OpenFile, OpenFolder, Place, Stamp
from pegboard.kit.links import other_names
from pegboard.kit.names import given, shown
from pegboard.kit.refusals import escape_error, name_error, protected_error, special, system_error
from pegboard.kit.text import decode

SESSION = "session:"
"""Paths that begin so lie in the session's own folder: a second root, for reading only."""

Outside = Literal["refuse", "allow"]


class PathCheck(Protocol):
    """What the door asks of every real path. It must be quick and make no I/O; an exception counts as Deny."""

    def __call__(self, kind: TouchKind, path: str, /) -> Deny | None: ...


class Route(NamedTuple):
    """A path on its way: below which folder, by which components. `prefix` is `session:` or nothing."""

    below: Beneath
    parts: list[str]
    prefix: str


class Found(NamedTuple):
    """A descriptor that names a thing without having opened it, where it really is, and what it is."""

    fd: int
    at: str
    info: os.stat_result
    route: Route


class Workspace:
    """Files beneath one root, for reading. Writing is `kit.writer`."""

    def __init__(
        self, root: str, checks: Iterable[PathCheck] = (), *, outside: Outside = "refuse", session: str | None = None
    ) -> None:
        self._root = Beneath(root)
        self._checks = tuple(checks)
        self._anywhere = Beneath("/") if outside == "allow" else None
        self._session = Beneath(session) if session is not None else None
        self._named: dict[Stamp, tuple[str, ...]] = {}
        self._seen: dict[str, Opened] | None = None
        self.notes: dict[str, str] = {}
        """Of a recording view: what else a preview showed than files, under names of the tool's own (`Writer.noted`)."""

    @property
    def root(self) -> str:
        """The root's real path."""
        return self._root.real

    @property
    def opened(self) -> dict[str, Opened]:
        """Of a recording view: what was opened, by real path."""
        return self._seen or {}

    @property
    def checked(self) -> bool:
        """Whether anything is asked of the paths that are opened."""
        return bool(self._checks)

    def recording(self) -> Workspace:
        """A view of the same door that notes what it opened, for `Writer(expect=...)`."""
        view = copy.copy(self)
        view._seen, view.notes = {}, {}
        return view

    def route(self, path: str) -> Route | None:
        """Which way `path` goes, by its letters alone: no filesystem call. None when it leaves the workspace."""
        if not path or "\0" in path:
            raise name_error(path)
        try:
            os.fsencode(path)
        except UnicodeError:
            raise name_error(path) from None
        if self._session is not None and path.startswith(SESSION):
            rest = path.removeprefix(SESSION)
            parts = None if rest.startswith("/") else self._session.relative(rest)
            return None if parts is None else Route(self._session, parts, SESSION)
        if self._anywhere is not None:
            return Route(self._anywhere, split(os.path.join(self.root, path)), "")
        parts = self._root.relative(path)
        return None if parts is None else Route(self._root, parts, "")

    def name(self, route: Route, at: str) -> str:
        """How a place is called outside of this module, from its real place below the route's folder."""
        if route.below is self._anywhere:
            at = self._root.inside("/" + at) or "/" + at
        return route.prefix + shown(at)

    def place(self, path: str) -> Place:
        """Where `path` leads. Never raises for what is missing; DoorError for NUL, empty and too many links."""
        route = self.route(path)
        if route is None:
            return Place(shown(os.path.normpath(os.path.join(self.root, path))), outside=True)
        try:
            fd, at, _ = self._find(route)
            os.close(fd)
        except Escapes:
            return self._beyond(route)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise system_error(error, path) from error
            return self._not_there(route)
        at = self.name(route, at)
        return Place(at, outside=at.startswith("/"))

    def _not_there(self, route: Route) -> Place:
        """The place of what is missing, or cannot be seen: by its letters from where the links end."""
        try:
            at = self.name(route, route.below.lexical(route.parts))
        except (Escapes, OSError):
            return self._beyond(route)
        return Place(at, outside=at.startswith("/"))

    def _beyond(self, route: Route) -> Place:
        real = os.path.realpath(os.path.join(route.below.real, *route.parts))
        at = self._root.inside(real)
        return Place(shown(at or real), outside=at is None)

    def _find(self, route: Route) -> tuple[int, str, Route]:
        r"""Raises OSError or Escapes. A name that is not there is tried as one that was shown with `\xNN`."""
        try:
            return *route.below.find(route.parts), route
        except FileNotFoundError:
            parts = [given(part) or part for part in route.parts]
            if parts == route.parts:
                raise
            return *route.below.find(parts), route._replace(parts=parts)

    @contextmanager
    def find(self, path: str) -> Iterator[Found]:
        """What is at `path`, named but not opened. No check is made of it."""
        route = self.route(path)
        if route is None:
            raise escape_error(path)
        try:
            fd, at, route = self._find(route)
        except Escapes:
            raise escape_error(path) from None
        except OSError as error:
            if self._seen is not None and isinstance(error, FileNotFoundError):
                self._seen.setdefault(self.place(path).at, Opened(None))
            raise system_error(error, path) from error
        try:
            yield Found(fd, self.name(route, at), os.fstat(fd), route)
        finally:
            os.close(fd)

    def refusal(self, kind: TouchKind, at: str) -> Deny | None:
        """What the checks say of a real path. Searches leave such paths out and say how many."""
        if at.startswith(SESSION) and self._session is not None:
            return None
        for check in self._checks:
            try:
                deny = check(kind, at)
            except Exception as error:  # noqa: BLE001  a check that fails must not open the door
                return Deny("door.check", f"A check of {at} failed ({type(error).__name__}), so it was refused.")
            if deny is not None:
                return deny
        return None

    def refuses(self, kind: TouchKind, path: str) -> bool:
        """Whether the door is shut to a path, whatever may be there: it is none, leads out, or a check refuses its place
        or its letters."""
        try:
            place = self.place(path)
        except DoorError:
            return True
        if place.outside and self._anywhere is None:
            return True
        names = {place.at, shown(os.path.normpath(path))}
        return any(self.refusal(kind, name) is not None for name in names)

    def admit(self, kind: TouchKind, at: str, info: os.stat_result | None, route: Route) -> None:
        """Raise DoorError when a check refuses a name of the thing: its real path, the letters of the path that led here
        and each link on its way (a protected name may itself be a link), or another name that the file has (hard links).
        """
        if not self._checks:
            return
        names = [at, *self._names_on_the_way(route, at)]
        if info is not None and stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
            names += self._other_names(info)
        for name in names:
            deny = self.refusal(kind, name)
            if deny is not None:
                raise protected_error(deny, at, name)

    def _names_on_the_way(self, route: Route, at: str) -> list[str]:
        letters = os.path.normpath("/".join(route.parts) or ".")
        if self.name(route, letters) == at:
            return []  # no link was followed
        try:
            with route.below.walk(route.parts) as walk:
                links = walk.links
        except (Escapes, OSError):
            links = []  # it changed under our hands; what was opened is checked all the same
        return [self.name(route, name) for name in (letters, *links)]

    def _other_names(self, info: os.stat_result) -> tuple[str, ...]:
        stamp = Stamp.of(info)  # making or moving a name changes ctime
        if stamp not in self._named:
            self._named[stamp] = tuple(shown(name) for name in other_names(self.root, info))
        return self._named[stamp]

    @contextmanager
    def open(self, path: str, kind: TouchKind = "read") -> Iterator[OpenFile]:
        """The regular file at `path`. Raises DoorError for everything else; never waits for anything."""
        with self.find(path) as found:
            if stat.S_ISDIR(found.info.st_mode):
                raise DoorError(f"{found.at} is a folder, not a file.", reason="folder", path=found.at)
            if not stat.S_ISREG(found.info.st_mode):
                text = f"{found.at} is a {special(found.info.st_mode)}, not a regular file, so it was not opened."
                raise DoorError(text, reason="special", path=found.at)
            self.admit(kind, found.at, found.info, found.route)
            fd = self._reopen(found, path)
        with OpenFile(fd, found.at) as opened:
            yield opened
            if self._seen is not None:
                same = Stamp.of(os.fstat(fd)) == opened.stamp
                self._seen[opened.at] = Opened(opened.stamp, opened.digest() if same else "changed meanwhile")

    @contextmanager
    def folder(self, path: str, kind: TouchKind = "list") -> Iterator[OpenFolder]:
        """The folder at `path`, open for listing."""
        with self.find(path) as found:
            if not stat.S_ISDIR(found.info.st_mode):
                raise DoorError(f"{found.at} is not a folder.", reason="missing", path=found.at)
            self.admit(kind, found.at, None, found.route)
            fd = self._reopen(found, path)
        try:
            yield OpenFolder(fd, found.at)
        finally:
            os.close(fd)

    def _reopen(self, found: Found, path: str) -> int:
        try:
            return found.route.below.reopen(found.fd, found.route.parts)
        except OSError as error:
            raise system_error(error, path) from error

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """All bytes of a file. Raises DoorError (too_large) when there are more than `limit`."""
        with self.open(path) as opened:
            return opened.read(limit)

    def read_text(self, path: str) -> str:
        """A file's text (`kit.text.decode`), its line ends as they are."""
        return decode(self.read_bytes(path))[0]

    def stat(self, path: str) -> os.stat_result | None:
        """Facts of what is at `path`, links followed; None when nothing is there."""
        try:
            with self.find(path) as found:
                return found.info
        except DoorError as error:
            if error.reason == "missing":
                return None
            raise

    def scan(self, path: str, kind: TouchKind = "list") -> list[Entry]:
        """The names in a folder, sorted. What the checks refuse is among them (see `refusal`)."""
        with self.folder(path, kind) as folder, os.scandir(folder.fd) as entries:
            return sorted((Entry(entry.name, _kind(entry)) for entry in entries), key=lambda entry: entry.name)


def _kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special"
