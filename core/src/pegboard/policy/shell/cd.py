"""Where `cd` leads. To a place inside the workspace it counts as reading; elsewhere it is like any command."""

from __future__ import annotations

import copy
import os
import posixpath
from collections.abc import Callable, Sequence
from pathlib import Path

from pegboard.policy.shell.line import Word

READS = "cd inside the workspace"


class Whereabouts:
    """A folder that a line's commands may run in, followed through its `cd`s. `here` is None once it is not known."""

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

    def after(self, words: Sequence[Word]) -> Whereabouts:
        """The same after a `cd`, or nowhere known."""
        moved = copy.copy(self)
        moved.cd(words)
        return moved

    def within(self, folders: Sequence[str]) -> Whereabouts:
        """A folder named from here, by one name after the other."""
        moved = copy.copy(self)
        for folder in folders:
            moved.here, moved.moved = moved._inside(folder) if moved.here is not None else None, True
        return moved

    @property
    def known(self) -> bool:
        """Whether it is known, or nothing is asked of it: without a workspace."""
        return self.here is not None or (self.root is None and not self.moved)

    @property
    def key(self) -> tuple[str | None, str, bool]:
        """What tells two of them apart."""
        return self.here, self._named, self.moved

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


class Trail:
    """All the folders that the next command of a line may run in: a `cd` behind `&&` may not be reached.

    To be told of each command in turn (`begin`), and then whether it is a `cd`."""

    MOST = 8

    def __init__(self, start: Whereabouts) -> None:
        self.places = [start]  # of this command
        self._before, self._earlier = "", ([start], [start])
        self._done = self._failed = [start]  # after what came before it, by how that ended
        self._lost = copy.copy(start)
        self._lost.lose()

    def begin(self, before: str) -> None:
        """A command that stands behind this operator."""
        if before in ("|", "|&"):
            return
        if before not in ("&&", "||"):
            self._done, self._failed = self._few([*self._done, *self._failed]), []
        self._earlier = done, failed = self._done, self._failed
        self._before = before
        self.places = failed if before == "||" else done
        if before == "||":
            self._done = self._few([*done, *failed])
        else:
            self._failed = self._few([*failed, *done])

    def cd(self, words: Sequence[Word]) -> bool:
        """This command is a `cd`; whether it leads to a folder of the workspace from wherever it is run."""
        moved = [place.after(words) for place in self.places]
        if not moved or not all(place.here is not None for place in moved):
            self.lose()
            return False
        done, failed = self._earlier  # it cannot fail itself, the folder is there
        if self._before == "||":
            self._done, self._failed = self._few([*done, *moved]), []
        else:
            self._done, self._failed = self._few(moved), failed
        return True

    def lose(self) -> None:
        """From here on nobody knows."""
        self.places = self._done = self._failed = [self._lost]

    def all(self, fits: Callable[[Whereabouts], bool]) -> bool:
        """Whether something holds wherever this command is run; of one that is never run, from the lost place."""
        return all(fits(place) for place in self.places or [self._lost])

    def _few(self, places: Sequence[Whereabouts]) -> list[Whereabouts]:
        found = {place.key: place for place in places}
        return list(found.values()) if len(found) <= self.MOST else [self._lost]


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
