"""The guard of destructive commands (`guard.destructive`): what nobody wants, whoever allowed it, is refused; what may well
be of that kind is asked about.

It reads the line as the shell would, so text is not mistaken for a command: `echo "rm -rf /"` passes. It looks at every
command in it, also behind `sudo`, in loops and substitutions, and in the text given to another shell. It is no sandbox:
what a program does when it runs is not seen here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from pegboard.calls import Ask, Call, Deny, Touch

from pegboard_guard.doomed import Doomed

_TOO_MUCH = "more than is looked at"


class DestructiveCommands:
    """Refuses commands that remove the system, a home, the workspace or its history, overwrite disks, or are fork bombs.

    Asks about a forced removal of what is not known, and about formatting what may be an image file."""

    def __init__(
        self, home: str | None = None, here: str | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self._doomed = Doomed(home, here)
        self._environ = os.environ if environ is None else environ

    def __call__(self, call: Call, touches: list[Touch], /) -> Deny | Ask | None:
        """Before the call. Nothing has run yet, so nothing was changed."""
        asked: Ask | None = None
        for touch in touches:
            if touch.kind == "run":
                what, sure = self._worst(touch.what)
                if what is not None and sure:
                    return _deny(what)
                asked = asked or (None if what is None else _ask(what))
        return asked

    def found(self, line: str) -> str | None:
        """What is plainly destructive in a command line, as the rule names it: `rm of the workspace root`."""
        what, sure = self._worst(line)
        return what if sure else None

    def _worst(self, line: str) -> tuple[str | None, bool]:
        doubtful = None
        for what, sure in self._all(line):
            if sure:
                return what, True
            doubtful = doubtful or what
        return doubtful, False

    def _all(self, line: str) -> Iterator[tuple[str, bool]]:
        from pegboard_guard.bombs import is_bomb
        from pegboard_guard.values import TooMuch
        from pegboard_guard.verdicts import verdicts
        from pegboard_guard.walk import Walk

        walk = Walk(self._doomed, self._environ)
        try:
            for step in walk.line(line):
                walk.charge(len(step.words) // 4)
                for finding in verdicts(step, self._doomed):
                    yield finding.what, finding.sure
        except TooMuch:
            yield _TOO_MUCH, True
        if any(map(is_bomb, walk.scans)):
            yield "a fork bomb", True


def _deny(found: str) -> Deny:
    text = (
        f"This command was refused, because it holds {found}. Nothing was run and nothing was changed. "
        "Name exactly the files that are meant, or ask the person to do it; do not work around this with another command."
    )
    if found == _TOO_MUCH:
        text = (
            "This command line was refused, because it is too long, or holds too many commands, to be looked at. "
            "Nothing was run and nothing was changed. Write what is long to a file, or run it in several calls."
        )
    return Deny(f"guard.destructive: {found}", text)


def _ask(found: str) -> Ask:
    return Ask(
        f"guard.destructive: {found}",
        f"This command holds {found}. Nothing was run; a person has to say whether it may.",
    )
