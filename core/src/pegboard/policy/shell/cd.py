"""Where `cd` leads. To a place inside the workspace it counts as reading; elsewhere it is like any command."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Sequence
from pathlib import Path

from pegboard.policy.shell.line import Word

READS = "cd inside the workspace"


class Whereabouts:
    """The folder that a line's commands run in, followed through its `cd`s. `here` is None once it is not known."""

    def __init__(self, root: str | None, cwd: str = ".") -> None:
        self.root = os.path.realpath(root) if root is not None else None
        self.here: str | None = self.root
        self.moved = False
        self._named = self.root or ""
        if self.root is not None:
            self.here = self._inside(os.path.relpath(cwd, self.root) if os.path.isabs(cwd) else cwd)

    def cd(self, words: Sequence[Word]) -> bool:
        """Follow a `cd`; whether it plainly leads to a folder of the workspace. If not, nothing is known from here on."""
        self.here, self.moved = self._target(words), True
        return self.here is not None

    def lose(self) -> None:
        """From here on nobody knows."""
        self.here, self.moved = None, True

    def _target(self, words: Sequence[Word]) -> str | None:
        given = list(words[1:])
        if given and given[0].text == "--" and given[0].plain:
            given = given[1:]
        elif given and given[0].text.startswith("-"):
            return None
        if self.here is None or len(given) != 1 or not given[0].inert or not given[0].text:
            return None
        text = given[0].text
        if text.startswith("~") or text == "-" or "\0" in text:
            return None
        if os.environ.get("CDPATH") and not text.startswith(("/", "./", "../")) and text not in (".", ".."):
            return None
        return self._inside(text)

    def _inside(self, text: str) -> str | None:
        """The real place, if it is a folder of the workspace whichever way `..` is read: of the name one came by, as bash
        does, or of the place itself. Above the root nothing is known of the name."""
        if self.root is None or self.here is None:
            return None
        named = posixpath.normpath(posixpath.join(self._named, text))
        try:
            real = os.path.realpath(named)
            fits = real == os.path.realpath(posixpath.join(self.here, text))
            fits = fits and os.path.isdir(real) and os.access(real, os.X_OK)
        except (OSError, ValueError):
            return None
        if (
            not fits
            or not Path(real).is_relative_to(self.root)
            or _climbs(posixpath.join(self._named, text), self.root)
        ):
            return None
        self._named = named
        return real

    def armed(self) -> bool:
        """Whether git run here would follow the settings of a repository other than the workspace's own, or nobody knows.

        Files of a workspace that look like a repository without `.git` are none of its own: any tool may write them."""
        if self.here is None or self.root is None:
            return self.moved or self.root is not None
        place = Path(self.here)
        while not _bare(place):
            if str(place) == self.root:
                return False
            if os.path.lexists(place / ".git") or place.parent == place:
                return True
            place = place.parent
        return True


def _bare(place: Path) -> bool:
    """Whether git takes a folder for a repository."""
    return os.path.lexists(place / "HEAD") and (
        os.path.lexists(place / "objects") or os.path.lexists(place / "commondir") or os.path.lexists(place / "refs")
    )


def _climbs(path: str, root: str) -> bool:
    """Whether a path leads over a folder above the root, or begins elsewhere."""
    above = root.rstrip("/") + "/"
    if not (path + "/").startswith(above):
        return True
    depth = 0
    for part in path[len(above) :].split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False
