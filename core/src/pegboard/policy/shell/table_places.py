"""What a command's operands name: whether it lies in the workspace, and whether it looks like a secret."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase, translate
from functools import cache

from pegboard.policy.shell import protected_names as listed
from pegboard.policy.shell.budget import PATH, Budget
from pegboard.policy.shell.globs import expanded
from pegboard.policy.shell.ignoring import IGNORE_FILES, above, brought_back
from pegboard.policy.shell.table_data import secrets

HARMLESS = frozenset(["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "-", ""])
_MOST_MATCHES = 2000
_LONGEST = 4096
_UNSURE = re.compile(r"[\[\]{}~\\'\"$`!()]")
"""In a glob: what bash may read in another way than we would."""


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Of one name: secret, and shared all the same. Of a path: rows of names that are secret, and what is not written."""

    def joined(globs: Sequence[str]) -> re.Pattern[str]:
        return re.compile("|".join(translate(glob) for glob in globs))

    def rows(names: Sequence[str]) -> re.Pattern[str]:
        return re.compile(rf"(?:^|/)(?:{'|'.join(map(re.escape, names))})(?:/|$)")

    suffixes = [f"*.{suffix}" for suffix in sorted(listed.SECRET_SUFFIXES)]
    several = [*listed.SECRET_FOLDERS, *listed.SECRET_FILES, ".git/config"]  # which may hold an address with a token
    return joined([*secrets().names, *suffixes]), joined(secrets().shared), rows(several), rows(listed.UNWRITTEN)


def is_secret(path: str) -> bool:
    """Whether a name in the path, of a file or a folder, is one that holds secrets: the guard's, and more."""
    names, shared, rows, _ = _patterns()
    path = path.casefold()
    if rows.search(path):
        return True
    for part in path.split("/"):
        if names.match(part) and not shared.match(part):
            return True
        kept = part.rstrip(" .~")  # what an editor leaves beside a file
        if kept != part and names.match(kept) and not shared.match(kept):
            return True
    return False


def is_kept(path: str) -> bool:
    """Whether a path, relative to the root, leads into what no tool writes, or to a secret."""
    return _patterns()[3].search(path.casefold()) is not None or is_secret(path)


class Place:
    """Where a command runs: `cwd`, relative to `root` or absolute. Without a root only spelling is judged."""

    def __init__(self, root: str | None, cwd: str, budget: Budget | None = None) -> None:
        self._budget = budget or Budget()
        self.root = None if root is None else os.path.realpath(root)
        self.cwd = cwd if self.root is None else os.path.realpath(os.path.join(self.root, cwd))

    def within(self, folder: str) -> Place:
        """The same workspace, from another folder."""
        return Place(self.root, posixpath.join(self.cwd, folder), self._budget)

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

    def writable(self, text: str) -> bool:
        """Whether a path may be named to a program that writes: in the workspace, no secret, and nothing that is kept."""
        if text in HARMLESS:
            return True
        if not self.readable(text) or is_kept(posixpath.normpath(text)):
            return False
        real = self._real(text) if self.root is not None else ""
        return real is not None and not is_kept(real)

    def _climbs(self, text: str) -> bool:
        reached = posixpath.normpath(posixpath.join(self.cwd, text))
        return reached == ".." or reached.startswith(("../", "/"))

    def _real(self, text: str) -> str | None:
        """Where a path leads, relative to the root; None: outside, or it cannot be told."""
        assert self.root is not None
        if len(text) > _LONGEST or not self._budget.look(PATH):
            return None
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
        if not self.readable(re.split(r"[*?]", glob)[0].rpartition("/")[0] or "."):
            return None
        found = expanded(glob, self.cwd, self._budget)
        return None if found is None or len(found) > _MOST_MATCHES else (found or [glob])

    def holds_secrets(self, text: str, *, only: Sequence[str] = (), hidden: bool = True, follows: bool = False) -> bool:
        """Whether a folder has a secret somewhere below, or more in it than is looked at; always so without a root.

        `only`: patterns of the names that are read. `hidden`: whether hidden names are read too, beyond those that an
        ignore file brings back. `follows`: whether links are, so that one which leads out, or to a folder, counts."""
        if self.root is None:
            return True
        folder = os.path.join(self.cwd, text)
        if not os.path.isdir(folder):
            return False
        table = secrets()
        veiled: list[str] = []
        ignoring: list[str] = []
        for seen, (entry, path) in enumerate(_below(folder, frozenset() if follows else frozenset(table.passed))):
            if seen >= table.most or not self._budget.look():
                return True
            if follows and entry.is_symlink() and (os.path.isdir(path) or not self.readable(path)):
                return True
            if entry.name in IGNORE_FILES:
                ignoring.append(path)
            is_folder = entry.is_dir(follow_symlinks=False)
            if only and (is_folder or not any(fnmatchcase(entry.name.casefold(), pattern) for pattern in only)):
                continue
            below = path[len(folder) :]
            if is_secret(below):
                if hidden or "/." not in below:
                    return True
                veiled.append(below)
        return bool(veiled) and brought_back(veiled, [*ignoring, *above(folder)])


def _below(folder: str, passed: frozenset[str]) -> Iterator[tuple[os.DirEntry[str], str]]:
    waiting = [folder.rstrip("/") or "/"]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
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
