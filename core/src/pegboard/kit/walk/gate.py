"""What of an engine's findings is let through: the same for both engines, whatever they let pass themselves."""

from __future__ import annotations

import os

from pegboard.kit.names import shown
from pegboard.kit.walk.ignore import NEVER, Scope
from pegboard.kit.walk.paths import PathGlob
from pegboard.kit.workspace import Workspace


class Gate:
    """Judges files, each once: by the call's pattern, hidden names, ignore rules, and what the checks say.

    protected: those that the checks refuse.
    """

    def __init__(
        self,
        workspace: Workspace,
        prefix: str,
        start: bytes,
        scope: Scope | None,
        only: PathGlob | None,
        *,
        hidden: bool,
    ) -> None:
        self.protected: set[str] = set()
        self._workspace = workspace
        self._prefix = prefix
        self._folders: dict[bytes, Scope | None] = {start: scope or Scope(folder=b"")}
        self._ruled = scope is not None
        self._only = only
        self._hidden = hidden
        self._last: tuple[bytes, bool] = (b"", False)

    def __call__(self, path: bytes) -> bool:
        """Whether a file is among the results."""
        if path != self._last[0]:
            text = os.fsdecode(path)
            self._last = (path, self._wanted(path, text) and not self._protected(text))
        return self._last[1]

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

    def _protected(self, text: str) -> bool:
        at = self._prefix + shown(text)
        refused = self._workspace.refusal("read", at) is not None
        if refused:
            self.protected.add(at)
        return refused
