"""A guard: it sees each call before anything is decided, and refuses it or has a person asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated

import msgspec
from msgspec import Meta
from pegboard import Ask, Call, Deny, Touch, hookimpl
from pegboard.calls import TouchKind
from pegboard.hooks import Guard

pegboard_api = 1  # the version of Pegboard's hooks that this was written for


PATTERNS = ("*.lock", "vendor/*")
"""Files that no tool may change, whatever the settings say; `*` reaches into folders."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [sample-plugin] of a person's settings."""

    # Lists of this name are joined over all settings files: a project may add to it.
    protected: Annotated[
        list[str], Meta(description="Further patterns of files that no tool may change.")
    ] = []
    ask: Annotated[
        tuple[str, ...], Meta(description="Words; a command that holds one is asked about.")
    ] = ("deploy", "publish")


class ProtectedFiles:
    """Refuses changes of certain files, and has a person asked about commands with certain words.

    It goes by what a call touches, never by a tool's name or its arguments: so it holds for tools
    that nobody has written yet. What a program does once it runs is not seen here.
    """

    def __init__(self, settings: Settings) -> None:
        self._patterns = (*PATTERNS, *settings.protected)
        self._words = {word.casefold() for word in settings.ask}

    def __call__(self, call: Call, touches: Sequence[Touch], /) -> Deny | Ask | None:
        """Before a call; nothing has run. A refusal beats a question, whatever the order."""
        asked: Ask | None = None
        for touch in touches:
            if touch.kind == "edit":
                # Where it leads, and the name as it was written: either may be protected.
                for path in (touch.at or touch.what, touch.what):
                    if (refusal := self.path("edit", path)) is not None:
                        return refusal
            elif touch.kind == "run" and asked is None:
                asked = self._about(touch.what)
        return asked

    def path(self, kind: TouchKind, path: str, /) -> Deny | None:
        """The workspace's door asks, for the real path of each file: so no link leads around this.

        Keep it quick, and look at nothing but the name.
        """
        pattern = next((one for one in self._patterns if fnmatchcase(path, one)), None)
        if kind != "edit" or pattern is None:
            return None
        text = (
            f"{path} is protected (pattern {pattern}) and was not changed. "
            "Make the change elsewhere, or ask the person to make it."
        )
        return Deny(f"sample-plugin.protected: {pattern}", text)

    def _about(self, command: str) -> Ask | None:
        words = re.findall(r"\w+", command.casefold())
        word = next((word for word in words if word in self._words), None)
        if word is None:
            return None
        text = f"This command is one to {word}; nothing was run."
        return Ask(f"sample-plugin.ask: {word}", text)


@hookimpl
def pegboard_guards(settings: Settings) -> list[Guard]:
    """The guards. One that raises or takes too long refuses the call."""
    return [ProtectedFiles(settings)]
