"""What of a workspace and of a home folder a program in the sandbox may not write, read or make.

Paths are real ones: what is mounted over a link would lie where the link leads, and the link itself could be replaced.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pegboard.errors import ToolError

from pegboard_sandbox.names import HOME_SECRETS, HOME_STARTS, SYSTEM_SECRETS, is_blank

NEVER_MADE = (".envrc", ".pegboard", ".git")
"""In the workspace root: what tools of the person obey, so that a command may not bring it about."""


@dataclass(slots=True)
class Plan:
    """What is mounted, by path. `writable` and `read_only` are what they are outside; `dark` cannot be read, `blank` is an
    empty file, `bare` an empty folder with further places in it. `stand_ins`: what is made for the time of the run;
    `kept_while`: those that stay afterwards for as long as another path is there."""

    writable: set[str] = field(default_factory=set)
    read_only: set[str] = field(default_factory=set)
    dark: set[str] = field(default_factory=set)
    blank: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    stand_ins: dict[str, str | None] = field(default_factory=dict)
    kept_while: dict[str, str] = field(default_factory=dict)

    def hide(self, path: str) -> None:
        """Keep it from being read, where it is there."""
        if not os.path.lexists(path):  # most are not, and to say so costs a tenth of the rest
            return
        real = os.path.realpath(path)
        if is_blank(path) and os.path.isfile(real):
            self.blank.add(real)
        elif os.path.exists(real):
            self.dark.add(real)

    def pin(self, root: str, path: str) -> None:
        """Keep the folders between `root` and `path` from being renamed: what is mounted on below them moves along."""
        self.writable |= set(between(root, path))

    def settle(self, shown: Iterable[str]) -> None:
        """One kind for each path, the strictest; what is in something dark and is to be there nonetheless stays."""
        for path in [path for path in self.stand_ins if not _may_change(os.path.dirname(path))]:
            del self.stand_ins[path]
            if os.path.lexists(path):
                self.read_only.add(path)
        shown = {os.path.realpath(path) for path in shown}
        self.dark -= shown
        self.blank -= shown
        self.read_only |= {
            path for path in shown if os.path.exists(path) and any(is_inside(path, d) for d in self.dark)
        }
        kept = self.writable | self.read_only
        self.bare |= {path for path in self.dark if any(is_inside(other, path) and other != path for other in kept)}
        self.dark -= self.bare
        self.blank -= self.dark
        self.read_only = (self.read_only | self.stand_ins.keys()) - self.dark - self.blank
        self.writable -= self.dark | self.blank | self.read_only


def between(root: str, path: str) -> Iterator[str]:
    """The folders between a workspace and a path in it, from below."""
    folder = os.path.dirname(path)
    while is_inside(folder, root) and folder != root:
        yield folder
        folder = os.path.dirname(folder)


def _may_change(folder: str) -> bool:
    """Whether anything could be made in a folder, by us or a program of ours: it may be written, or is ours to open."""
    if os.access(folder, os.W_OK | os.X_OK):
        return True
    try:
        return os.stat(folder).st_uid == os.geteuid() and not os.statvfs(folder).f_flag & os.ST_RDONLY
    except OSError:
        return True


def is_inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it."""
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def expanded(path: str, home: str, root: str) -> str:
    """A path of the settings: `~` is the home folder, and what is not absolute begins at the workspace."""
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(root, path))


def homes() -> list[str]:
    """The person's home folder: as the environment has it, and as the system does."""
    found = [os.path.expanduser("~")]
    with suppress(ImportError, KeyError):
        import pwd

        found.append(pwd.getpwuid(os.getuid()).pw_dir)
    return list(dict.fromkeys(os.path.realpath(path) for path in found if os.path.isabs(path) and path != "/"))


def home_secrets(plan: Plan, home: str, hidden: Sequence[str]) -> None:
    """The secrets of a person and of the system, and what the caller hides."""
    for path in (*(f"{home}/{name}" for name in HOME_SECRETS), *SYSTEM_SECRETS, *hidden):
        plan.hide(path)


def own_starts(plan: Plan, root: str, home: str) -> None:
    """Where the workspace has the home folder in it: what starts by itself there."""
    if is_inside(home, root):
        for name in HOME_STARTS:
            path = f"{home}/{name}"
            if os.path.exists(path):
                plan.read_only.add(os.path.realpath(path))


def solid(path: str) -> str | None:
    """What a protected path is: `dir`, `file`, or None where it is not there.

    Raises:
        ToolError: it is a link, which nothing can be mounted over: it could be replaced.
    """
    if os.path.islink(path):
        raise ToolError(
            f"{path} is a link, which the sandbox cannot keep from being replaced. Nothing was run. Put what it leads to in "
            "its place, or run it outside of the sandbox."
        )
    if os.path.isdir(path):
        return "dir"
    return "file" if os.path.lexists(path) else None
