"""The place that is written to: the real folder, held open, and a name in it that is no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress

from pegboard.errors import DoorError
from pegboard.kit.beneath import FOLDER_FLAGS, READ_FLAGS, Escapes, Walk, real_path
from pegboard.kit.handles import Opened, OpenFile, Place, Stamp
from pegboard.kit.names import given, shown
from pegboard.kit.nature import Nature, nature_of, nature_unread
from pegboard.kit.refusals import changed_error, escape_error, meanwhile_error, special, system_error
from pegboard.kit.workspace import SESSION, Route, Workspace

_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)


class Target:
    """One name in one folder. `info`: what has that name (a regular file or, if asked for, a link); None: nothing."""

    def __init__(self, workspace: Workspace, route: Route, walk: Walk) -> None:
        self._route = route
        self._walk = walk
        self._missing = walk.rest[:-1]
        self.name = walk.rest[-1]
        self.made: list[str] = []
        self._place = self._where()
        self._folder_at = workspace.name(route, self._inside())
        self.at = workspace.name(route, "/".join([self._inside(), *walk.rest]).removeprefix("./"))
        self.info = self._look()
        if self.info is not None and not stat.S_ISREG(self.info.st_mode) and not self.is_link:
            text = f"{self.at} is a {special(self.info.st_mode)}, not a regular file. Nothing was changed."
            raise DoorError(text, reason="special", path=self.at)

    @property
    def folder(self) -> int:
        return self._walk.folder

    @property
    def stamp(self) -> Stamp | None:
        return None if self.info is None else Stamp.of(self.info)

    @property
    def is_link(self) -> bool:
        """Only where links are not followed."""
        return self.info is not None and stat.S_ISLNK(self.info.st_mode)

    @property
    def escaped(self) -> bool:
        """Whether the name is shown with `\\xNN` in it, for bytes that are not UTF-8."""
        return shown(self.name) != self.name

    @property
    def names_note(self) -> str | None:
        """What whoever changes the file should know of its other names (hard links), where it has any."""
        if self.info is None or self.info.st_nlink < 2:
            return None
        return f"{self.at} had {self.info.st_nlink} names (hard links); the others keep the old content."

    def said(self, what: str | None) -> str | None:
        """A note on the file, where there is one, as a sentence that names it."""
        return what and f"{self.at}: {what}."

    def _where(self) -> str:
        return real_path(self.folder) or os.path.join(self._route.below.real, *self._walk.names)

    def _inside(self) -> str:
        inside = self._route.below.inside(self._place)
        if inside is None:
            raise Escapes
        return inside

    def _look(self) -> os.stat_result | None:
        if self._missing:
            return None
        try:
            return os.lstat(self.name, dir_fd=self.folder)
        except FileNotFoundError:
            return None

    @contextmanager
    def open(self) -> Iterator[OpenFile]:
        """The file as it was when it was looked at; anything else is "changed"."""
        with OpenFile(os.open(self.name, READ_FLAGS | _NOFOLLOW, dir_fd=self.folder), self.at) as opened:
            if opened.stamp != self.stamp:
                raise meanwhile_error(self.at)
            yield opened

    def nature(self) -> Nature | None:
        """What the file is beside its content; None where there is none."""
        if self.info is None:
            return None
        try:
            with self.open() as opened:
                return nature_of(opened.fd)
        except PermissionError:
            return nature_unread(self.info)

    def compare(self, expect: Mapping[str, Opened], places: Collection[str], before: Stamp | None) -> None:
        """The place must be the one that was decided on, and the file the one that was shown and that the caller read."""
        inside = any(place in (".", self.at) or self.at.startswith(place + "/") for place in places)
        if places and not inside:
            text = f"{self.at} is not where this call was to write: a path leads elsewhere now. Nothing was changed."
            raise DoorError(text, reason="changed", path=self.at)
        looked = expect.get(self.at)
        if looked is not None and looked.stamp != self.stamp:
            if looked.stamp is None or self.stamp is None or self.is_link:
                raise changed_error(self.at)
            with self.open() as opened:
                if opened.digest() != looked.digest:
                    raise changed_error(self.at)
        if before is not None and before != self.stamp:
            raise meanwhile_error(self.at)

    def check_writable(self) -> None:
        """Refuse a file that is read-only by its mode, for root too, or that this user may not write."""
        if self.info is None or self.is_link:
            return
        if not self.info.st_mode & 0o222:
            mode = stat.S_IMODE(self.info.st_mode)
            text = f"{self.at} is read-only (mode {mode:04o}). Nothing was changed; make it writable first if you may."
            raise DoorError(text, reason="readonly", path=self.at)
        effective = os.access in os.supports_effective_ids
        if not os.access(self.name, os.W_OK, dir_fd=self.folder, effective_ids=effective):
            text = f"You may not write {self.at}: permission denied. Nothing was changed."
            raise DoorError(text, reason="permission", path=self.at)

    def check_unchanged(self) -> None:
        """The last look before the rename: the same file under the same name, in the same folder, still inside."""
        now = self._look()
        if (None if now is None else Stamp.of(now)) != self.stamp or self._where() != self._place:
            raise meanwhile_error(self.at)

    def make_folders(self) -> None:
        """Make the missing parents; their modes follow the umask."""
        while self._missing:
            name = self._missing.pop(0)
            os.mkdir(name, 0o777, dir_fd=self.folder)
            self.made.append(name)
            self._walk.down(name, os.open(name, FOLDER_FLAGS, dir_fd=self.folder))
        self._place = self._where()
        self._inside()

    @contextmanager
    def folders(self) -> Iterator[None]:
        """With the missing parents, which are unmade if what follows fails."""
        try:
            self.make_folders()
            yield
        except BaseException:
            self.unmake_folders()
            raise

    def made_places(self) -> list[str]:
        """The folders that were made, outermost first."""
        base = "" if self._folder_at == "." else self._folder_at + "/"
        return [base + "/".join(self.made[: i + 1]) for i in range(len(self.made))]

    def unmake_folders(self) -> None:
        """Take back what make_folders made, as far as it is empty."""
        while self.made:
            name = self.made.pop()
            with suppress(OSError, Escapes):
                if self._walk.names and self._walk.names[-1] == name:
                    self._walk.up()
                os.rmdir(name, dir_fd=self.folder)


@contextmanager
def target_of(workspace: Workspace, path: str, *, follow: bool = True, escaped: bool = False) -> Iterator[Target]:
    """Where writing to `path` would write. The checks of the workspace are applied to the real path, as `edit`.

    `follow` false: the last name is not followed when it is a link. `escaped`: where nothing is there yet, `\\xNN` in the
    path stands for a byte that is not UTF-8.
    """
    with _reached(workspace, path, follow=follow, escaped=escaped) as (target, route):
        workspace.admit("edit", target.at, target.info, route)
        yield target


def link_place(workspace: Workspace, path: str) -> Place | None:
    """Where a link itself is, not where it leads, for whoever deletes it. None for what is no link, or cannot be reached."""
    try:
        with _reached(workspace, path, follow=False) as (target, _):
            return Place(target.at, outside=target.at.startswith("/")) if target.is_link else None
    except DoorError:
        return None


def as_shown(workspace: Workspace, at: str, shown: Opened) -> bool:
    """Whether a file is as a preview saw it, by its stamp or else its content."""
    try:
        with workspace.open(at) as opened:
            return shown.stamp is not None and (opened.stamp == shown.stamp or opened.digest() == shown.digest)
    except DoorError as error:
        if error.reason != "missing":
            raise
        return shown.stamp is None


@contextmanager
def _reached(workspace: Workspace, path: str, *, follow: bool, escaped: bool = False) -> Iterator[tuple[Target, Route]]:
    route = workspace.route(path)
    if route is None:
        raise escape_error(path)
    if route.prefix == SESSION:
        raise DoorError(f"{path} is kept output of the session, for reading only.", reason="readonly", path=path)
    try:
        walk = _walk(route, path, follow, escaped)
    except Escapes:
        raise escape_error(path) from None
    except OSError as error:
        raise system_error(error, path) from error
    with walk:
        try:
            target = Target(workspace, route, walk)
        except Escapes:
            raise escape_error(path) from None
        except OSError as error:
            raise system_error(error, path) from error
        yield target, route


def _walk(route: Route, path: str, follow: bool, escaped: bool) -> Walk:
    walk = route.below.walk(route.parts, follow=follow)
    parts = [given(part) or part for part in route.parts]
    if walk.kind == "missing" and parts != route.parts:
        other = route.below.walk(parts, follow=follow)
        walk, other = (walk, other) if other.kind == "missing" and not escaped else (other, walk)
        other.close()
    problem = _problem(walk, path)
    if problem is not None:
        walk.close()
        raise problem
    return walk


def _problem(walk: Walk, path: str) -> DoorError | None:
    if walk.kind == "folder" or (walk.kind == "missing" and walk.rest[-1] == "."):
        return DoorError(f"{path} is a folder, not a file. Nothing was changed.", reason="folder", path=path)
    if walk.kind == "blocked":
        text = f"A part of {path} is a file, not a folder, so nothing can lie below it. Nothing was changed."
        return DoorError(text, reason="missing", path=path)
    if ".." in walk.rest:
        return DoorError(f"No such folder on the way to {path}. Nothing was changed.", reason="missing", path=path)
    return None
