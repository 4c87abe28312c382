"""What a command's operands name: whether it lies in the workspace, and whether it looks like a secret."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice

from pegboard.policy.shell.table_data import secrets

HARMLESS = frozenset(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "-", ""])
_MOST_MATCHES = 2000
_UNSURE = re.compile(r"[\[\]{}~\\'\"$`!()]")
"""In a glob: what bash may read in another way than we would."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    import fnmatch

    def joined(globs: Sequence[str]) -> re.Pattern[str]:
        return re.compile("|".join(fnmatch.translate(glob) for glob in globs))

    return joined(secrets().names), joined(secrets().shared)


def is_secret(path: str) -> bool:
    """Whether a name in the path, of a file or a folder, is one that holds secrets."""
    names, shared = _patterns()
    return any(names.match(part) and not shared.match(part) for part in path.casefold().split("/"))


class Place:
    """Where a command runs: `cwd`, relative to `root` or absolute. Without a root only spelling is judged."""

    def __init__(self, root: str | None, cwd: str) -> None:
        self.root = None if root is None else os.path.realpath(root)
        self.cwd = cwd if self.root is None else os.path.realpath(os.path.join(self.root, cwd))

    def within(self, folder: str) -> Place:
        """The same workspace, from another folder."""
        return Place(self.root, posixpath.join(self.cwd, folder))

    def readable(self, text: str, *, names: bool = False) -> bool:
        """Whether a path may be read unasked: in the workspace wherever its links lead, and no secret.

        `names`: nothing of what is in the file is shown."""
        if text in HARMLESS:
            return True
        if text.startswith("~") or "\0" in text or (not names and is_secret(text)):
            return False
        if self.root is None:
            return not text.startswith("/") and not self._climbs(text)
        real = self._real(text)
        return real is not None and (names or not is_secret(real))

    def _climbs(self, text: str) -> bool:
        reached = posixpath.normpath(posixpath.join(self.cwd, text))
        return reached == ".." or reached.startswith(("../", "/"))

    def _real(self, text: str) -> str | None:
        """Where a path leads, relative to the root; None: outside, or it cannot be told."""
        assert self.root is not None
        try:
            real = os.path.realpath(os.path.join(self.cwd, text))
        except (OSError, ValueError):
            return None
        if real == self.root:
            return ""
        return real[len(self.root) :].lstrip("/") if real.startswith(self.root.rstrip("/") + "/") else None

    def expanded(self, glob: str) -> list[str] | None:
        """The names that a glob stands for now; none: the glob itself, as bash has it. None: it cannot be told."""
        if _UNSURE.search(glob):
            return None
        if self.root is None:
            return None if _may_be_secret(glob) else [glob]
        import glob as globs

        if not self.readable(re.split(r"[*?]", glob)[0].rpartition("/")[0] or "."):
            return None
        try:
            found = list(islice(globs.iglob(glob, root_dir=self.cwd, recursive=False), _MOST_MATCHES + 1))
        except (OSError, ValueError):
            return None
        return None if len(found) > _MOST_MATCHES else (found or [glob])

    def holds_secrets(self, text: str, *, only: Sequence[str] = (), hidden: bool = True, follows: bool = False) -> bool:
        """Whether a folder has a secret somewhere below, or more in it than is looked at; always so without a root.

        `only`: patterns of the names that are read. `hidden`: whether hidden names are read too. `follows`: whether
        links are, so that one which leads out counts."""
        if self.root is None:
            return True
        folder = os.path.join(self.cwd, text)
        if not os.path.isdir(folder):
            return False
        table = secrets()
        for seen, (entry, path) in enumerate(_below(folder, frozenset(table.passed), hidden)):
            if seen >= table.most:
                return True
            if follows and entry.is_symlink() and not self.readable(path):
                return True
            is_folder = entry.is_dir(follow_symlinks=False)
            if only and (is_folder or not any(fnmatchcase(entry.name.casefold(), pattern) for pattern in only)):
                continue
            if is_secret(path[len(folder) :]):
                return True
        return False


def _below(folder: str, passed: frozenset[str], hidden: bool) -> Iterator[tuple[os.DirEntry[str], str]]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if hidden or not entry.name.startswith("."):
                        yield entry, entry.path
                        if entry.is_dir(follow_symlinks=False) and entry.name not in passed:
                            waiting.append(entry.path)
        except OSError:
            continue


_EXAMPLES = (
    ".env",
    ".envrc",
    ".env.local",
    "id_rsa",
    "id_ed25519",
    "server.pem",
    "site.key",
    "a.p12",
    ".netrc",
    ".npmrc",
)


def _may_be_secret(glob: str) -> bool:
    """Whether a glob may stand for the name of a secret, judged by examples."""
    return any(
        fnmatchcase(name, part) and (not name.startswith(".") or part.startswith("."))
        for part in glob.casefold().split("/")
        if "*" in part or "?" in part
        for name in _EXAMPLES
    )
