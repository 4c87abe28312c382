"""The guard of protected paths: secrets may be neither read nor written; version control internals, CI definitions and
Pegboard's own configuration may not be written."""

from __future__ import annotations

import os
import re

from pegboard.calls import Call, Deny, Touch, TouchKind

from pegboard_guard.patterns import whole
from pegboard_guard.search import Rule, Search
from pegboard_guard.settings import Settings


class ProtectedPaths:
    """Refuses calls that would write protected files, or read secrets. It looks at names only and opens nothing.

    It is asked twice: for a call's declared touches before anything is decided, and by the workspace's door for the
    real path of what was opened, so that a link does not help."""

    def __init__(self, settings: Settings) -> None:
        self._searches: dict[TouchKind, Search] = {"edit": Search(more=settings.protected)}
        if not settings.read_secrets:
            self._searches["read"] = Search(secrets_only=True)
        self._named = frozenset(settings.allow)
        self._allowed = [(glob, re.compile(glob.regex)) for glob in map(whole, settings.allow)]

    def __call__(self, call: Call, touches: list[Touch], /) -> Deny | None:
        """Before the call. Nothing has run yet, so nothing was changed."""
        for touch in touches:
            if touch.kind in self._searches:
                # Where it leads, and the name itself: a protected name may be a link to an ordinary one.
                for name in {touch.at or touch.what: None, _letters(touch.what): None}:
                    rule = self._refusing(touch.kind, name)
                    if rule is not None:
                        return _deny(rule, touch.kind, name, "Nothing was changed. ")
        return None

    def path(self, kind: TouchKind, path: str, /) -> Deny | None:
        """For the workspace's door: `path` is real, relative to the root or absolute.

        In the middle of a batch other files may have been changed already, so the text speaks of this one alone."""
        rule = self._refusing(kind, path)
        return None if rule is None else _deny(rule, kind, path)

    def _refusing(self, kind: TouchKind, path: str) -> Rule | None:
        search = self._searches.get(kind)
        rule = search.find(path) if search else None
        return None if rule is None or self._is_allowed(path) else rule

    def _is_allowed(self, path: str) -> bool:
        """Whether `guard.allow` names the path, letter for letter or by a pattern.

        One that may begin at any depth does not reach into a protected folder: `*.key` is no word on `.git/x.key`."""
        outside = path.startswith("/")
        subject = path if outside else f"/{path}"
        if subject in self._named or ("/" in path and path in self._named):
            return True
        for glob, regex in self._allowed:
            found = regex.search(subject) if glob.floating or glob.absolute or not outside else None
            if found and not (glob.floating and self._searches["edit"].find(subject[1 : found.start()])):
                return True
        return False


def _letters(path: str) -> str:
    """A path as it was written, without `.`, `..` and doubled slashes."""
    return path if "/" not in path else os.path.normpath(path)


def _deny(rule: Rule, kind: TouchKind, path: str, effect: str = "") -> Deny:
    name, pattern = _printable(path), _printable(rule.shown)
    entry = name if "/" in name else f"/{name}"
    done = "changed" if kind == "edit" else "read"
    text = (
        f"{name} is protected (pattern {pattern}) and was not {done}. {effect}"
        f'If it should be {done}, ask the person to add "{entry}" to guard.allow in their own configuration; '
        "do not work around this with another tool."
    )
    return Deny(f"guard.protected: {pattern}", text)


def _printable(text: str) -> str:
    """Names and a project's patterns are others' words: they may not begin a new line in ours."""
    return text if text.isprintable() else ascii(text)[1:-1]
