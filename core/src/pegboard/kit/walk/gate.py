"""What of an engine's findings is let through: the same for both engines, whatever they let pass themselves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from pegboard.kit.names import shown
from pegboard.kit.walk.ignore import NEVER, Scope
from pegboard.kit.walk.paths import PathGlob
from pegboard.kit.walk.place import Ground
from pegboard.kit.workspace import Workspace


class Gate:
    """Judges files, each once: by the call's pattern, hidden names, ignore rules, and what the checks say.

    protected: those that the checks refuse, of the ones that a listing named (`listed`, `count`). What a search for
    content names (`__call__`) is never counted: the number would tell whether a protected file holds the pattern.
    """

    def __init__(
        self,
        workspace: Workspace,
        place: Ground,
        scope: Scope | None,
        only: PathGlob | None,
        *,
        hidden: bool,
    ) -> None:
        self.protected: set[str] = set()
        self._barred: set[tuple[int, int]] = set()
        self._workspace = workspace
        self._top = place.top
        self._prefix = place.prefix
        self._folders: dict[bytes, Scope | None] = {place.start: scope or Scope(folder=b"")}
        self._ruled = scope is not None
        self._only = only
        self._hidden = hidden
        self._last: tuple[bytes, bool] = (b"", False)

    def __call__(self, path: bytes) -> bool:
        """Whether a file that a search names is among the results."""
        if path != self._last[0]:
            wanted = self._wanted(path, os.fsdecode(path)) and not self.refuses(path) and not self._is_barred(path)
            self._last = (path, wanted)
        return self._last[1]

    def listed(self, path: bytes) -> bool:
        """The same for a file that a listing names; a protected one is counted."""
        if not self._wanted(path, os.fsdecode(path)) or self._is_barred(path):
            return False
        return not self._counted(path)

    def count(self, paths: Sequence[bytes]) -> None:
        """Count the protected ones of files that a listing names. Quick for all others, which most are."""
        refusal, prefix = self._workspace.refusal, self._prefix
        for index, name in enumerate(shown(os.fsdecode(b"\0".join(paths))).split("\0") if paths else ()):
            if refusal("read", prefix + name) is not None and self._wanted(paths[index], os.fsdecode(paths[index])):
                self.protected.add(prefix + name)

    @property
    def checked(self) -> bool:
        """Whether there is anything that could refuse a file."""
        return self._workspace.checked

    def refuses(self, path: bytes) -> bool:
        """Whether the checks refuse a name."""
        return self._workspace.refusal("read", self._at(path)) is not None

    def bar(self, paths: Iterable[bytes]) -> bool:
        """Let these no longer through, nor other names of the same files. False when that was so already.

        For files that are protected by another name: links of both kinds, which the door alone sees through.
        """
        before = len(self._barred)
        self._barred.update(identity for path in paths if (identity := self._identity(path)))
        self._last = (b"", False)
        return len(self._barred) > before

    def _is_barred(self, path: bytes) -> bool:
        return bool(self._barred) and self._identity(path) in self._barred

    def _identity(self, path: bytes) -> tuple[int, int] | None:
        try:
            info = os.stat(os.path.join(self._top, path))
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def _wanted(self, path: bytes, text: str) -> bool:
        folder, _, name = path.rpartition(b"/")
        scope = self._folders[folder] if folder in self._folders else self._enter(folder)
        if scope is None or not self._visible(name):
            return False
        if self._only is not None and not self._only.match(text):
            return False
        return not (self._ruled and scope.ignored(name, folder=False))

    def _visible(self, name: bytes) -> bool:
        return name not in NEVER and (self._hidden or not name.startswith(b"."))

    def _enter(self, folder: bytes) -> Scope | None:
        """The scope of a folder, None when nothing in it is wanted."""
        above, names = folder, list[bytes]()
        while above not in self._folders:
            if not above:  # not below the start: no engine should say so
                return None
            above, _, name = above.rpartition(b"/")
            names.append(name)
        scope = self._folders[above]
        for name in reversed(names):
            above = above + b"/" + name if above else name
            if scope is not None and self._ruled:
                scope = None if scope.ignored(name, folder=True) else scope.enter(name)
            scope = scope if self._visible(name) else None
            self._folders[above] = scope
        return scope

    def _counted(self, path: bytes) -> bool:
        refused = self.refuses(path)
        if refused:
            self.protected.add(self._at(path))
        return refused

    def _at(self, path: bytes) -> str:
        return self._prefix + shown(os.fsdecode(path))
