"""What of an engine's findings is let through: the same for both engines, whatever they let pass themselves."""

from __future__ import annotations

import os

from pegboard.calls import TouchKind
from pegboard.kit.names import shown
from pegboard.kit.walk.ignore import NEVER, Scope
from pegboard.kit.walk.paths import PathGlob
from pegboard.kit.workspace import Workspace


class Gate:
    """Judges files, each once: by the call's pattern, hidden names, ignore rules, and what the checks say.

    left_out counts the protected ones.
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
        self.left_out = 0
        self._workspace = workspace
        self._prefix = prefix
        self._start = start + b"/" if start else b""
        self._scopes: dict[bytes, Scope | None] = {start: scope}
        self._ruled = scope is not None
        self._only = only
        self._hidden = hidden
        self._last: tuple[bytes, bool] = (b"", False)

    def __call__(self, path: bytes, kind: TouchKind) -> bool:
        """Whether a file is among the results."""
        if path != self._last[0]:
            self._last = (path, self._wanted(path) and not self._protected(path, kind))
        return self._last[1]

    def _wanted(self, path: bytes) -> bool:
        below = path.removeprefix(self._start).split(b"/")
        if not NEVER.isdisjoint(below):
            return False
        if self._only is not None and not self._only.match(os.fsdecode(path)):
            return False
        if not self._hidden and any(part.startswith(b".") for part in below):
            return False
        if not self._ruled:
            return True
        folder, _, name = path.rpartition(b"/")
        scope = self._scope(folder)
        return scope is not None and not scope.ignored(name, folder=False)

    def _scope(self, folder: bytes) -> Scope | None:
        """The scope of a folder, None when it is ignored."""
        above, names = folder, list[bytes]()
        while above not in self._scopes:
            above, _, name = above.rpartition(b"/")
            names.append(name)
        scope = self._scopes[above]
        for name in reversed(names):
            above = above + b"/" + name if above else name
            if scope is not None:
                scope = None if scope.ignored(name, folder=True) else scope.enter(name)
            self._scopes[above] = scope
        return scope

    def _protected(self, path: bytes, kind: TouchKind) -> bool:
        refused = self._workspace.refusal(kind, self._prefix + shown(os.fsdecode(path))) is not None
        self.left_out += refused
        return refused
