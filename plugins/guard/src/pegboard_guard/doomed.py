"""What no command may remove: the file system's top folders, homes, the workspace root and its history; and devices.

A guard is not told where the workspace lies. A relative name is judged by its spelling, as if the line began at the root;
one that climbs, and an absolute one, by the folders that every system has, the person's home, and the folder that
Pegboard was started in.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from posixpath import join, normpath

from pegboard_guard.values import MAYBE, known, plain

_ROOT = "root"
"""The name of the person who may do everything, and of that person's home at the top."""
_TOPS = (
    f"bin boot dev etc home lib lib32 lib64 libx32 media mnt nix nix/store opt proc {_ROOT} run sbin snap srv sys tmp usr "
    "usr/bin usr/lib usr/local usr/sbin usr/share var var/lib var/log "
    "users system library applications volumes cores private private/etc private/tmp private/var"
)
TOPS = frozenset(["/", *(f"/{name}" for name in _TOPS.split())])
_HOME = re.compile(r"/(?:home|users)/[^/]+|/(?:var/)?root|/mnt/[a-z]|/proc/[^/]+/(?:root|cwd)", re.IGNORECASE)
_DEVICE = re.compile(
    r"/dev/(?:(?:[shvx]v?d|xvd|ubd)[a-z]|nvme|mmcblk|r?disk|loop|dm-|md|mapper/|nbd|sr[0-9]|mtd|pmem|k?mem$|port$|block/).*"
)
_DISKS = [
    f"/dev/{name}"
    for name in (
        *("sda", "sda1", "hda", "hda1", "vda", "vda1", "xvda", "xvda1", "nvme0", "nvme0n1", "nvme0n1p1", "mmcblk0"),
        *("mmcblk0p1", "disk0", "disk0s1", "rdisk0", "loop0", "dm-0", "md0", "mem"),
    )
]
"""Names that a glob may stand for."""
_EVERYTHING = re.compile(r"\.?[*?]*\*[*?]*|\.?\[.*\]\*|\.\?\?\*")
"""A name in a glob that leaves nothing, or nothing hidden, or nothing but what is hidden, out."""
_SAME_ROOT = re.compile(r"(?:/proc/(?:self|thread-self|[0-9]+)/(?:root))+(?=/)")
_PARTS = ("head", "objects", "refs", "config", "packed-refs", "refs/heads", "refs/tags", "objects/pack")
_REPOSITORY = frozenset([".git", *(f".git/{part}" for part in _PARTS)])
"""Without any of these a repository is none, or has lost its history."""


class Doomed:
    """Knows the home of the person and where this process runs, when it is made."""

    def __init__(self, home: str | None = None, here: str | None = None) -> None:
        self.home = normpath(home or os.path.expanduser("~"))
        try:
            self.here = normpath(here or os.getcwd())
        except OSError:  # the folder is gone
            self.here = "/"

    def device(self, word: str) -> bool:
        """Whether a word names a disk or the memory of the machine, or may as a glob."""
        if not word.startswith("/"):
            return False
        path = _single(normpath(_SAME_ROOT.sub("", _single(normpath(word)))))
        if any(char in path for char in "*?["):
            return any(fnmatchcase(disk, path) for disk in _DISKS)
        return _DEVICE.fullmatch(plain(path)) is not None

    def emptied(self, word: str, folder: str) -> str | None:
        """What a word with unknown values would name where they are nothing. None: nothing of the kind."""
        if MAYBE not in word:
            return None
        text = word.replace(MAYBE, "")
        return self.place(text, folder) if text and known(text) else None

    def place(self, word: str, folder: str) -> str | None:
        """What removing a word would remove, as a person says it; None: nothing of the kind, or nobody knows.

        word: as `values` gives it. folder: where the command runs, relative to the root or absolute."""
        if not word or not known(word):
            return None
        parts = word.rstrip("/").split("/") if word.strip("/") else [""]
        all_of = False
        while parts and _EVERYTHING.fullmatch(parts[-1]):
            parts.pop()
            all_of = True
        text = "/".join(parts) or ("/" if word.startswith("/") else ".")
        found = self._named(text, folder)
        return f"all of {found}" if found and all_of else found

    def history(self, word: str, folder: str) -> bool:
        """Whether a word names an essential part of a repository: to overwrite it is to lose it."""
        return bool(word) and known(word) and self._history(self.joined(word, folder).casefold()) is not None

    def joined(self, word: str, folder: str) -> str:
        """Where a word leads from a folder."""
        text = plain(word)
        if word == "~" or word.startswith("~/"):
            text = self.home + text[1:]
        elif re.match(r"~[\w.-]+(?:/|$)", word):
            name, _, rest = text[1:].partition("/")
            text = f"/{_ROOT}/{rest}" if name == _ROOT else f"/home/{name}/{rest}"
        elif word.startswith("~"):
            text = self.here
        return _single(normpath(join(folder, text)))

    def _named(self, text: str, folder: str) -> str | None:
        if not any(char in text for char in "*?["):
            return self._exact(self.joined(text, folder))
        parent, _, last = text.rpartition("/")
        if last.startswith(".") and fnmatchcase(".git", last):
            return self._exact(self.joined(f"{parent or '.'}/.git", folder))
        pattern = _single(normpath(join(folder, text))).lower()
        if not pattern.startswith(("/", ".")):
            return None
        depth = pattern.count("/")
        for name in [*sorted(TOPS), self.home, self.here] if pattern.startswith("/") else sorted(_REPOSITORY):
            if name.count("/") == depth and fnmatchcase(name.lower(), pattern):
                return self._exact(name)
        return None

    def _exact(self, path: str) -> str | None:
        folded = path.casefold()
        if not path.startswith("/"):
            if set(path.split("/")) <= {".", ".."}:
                return "the workspace root" if path == "." else "a folder that holds the workspace"
            if path.startswith("../"):
                return self._exact(_single(normpath(join(self.here, path))))
            return self._history(folded)
        if folded in TOPS:
            return "the root of the file system" if path == "/" else f"the system folder {path}"
        if path == self.home or _HOME.fullmatch(path):
            return "a home folder"
        if path == self.here:
            return "the workspace root"
        if any(place.startswith(path + "/") for place in (self.home, self.here)):
            return "a folder that holds the workspace or a home"
        rest = _SAME_ROOT.sub("", path)
        return self._exact(rest) if rest != path else self._history(folded)

    def _history(self, folded: str) -> str | None:
        parts = folded.split("/")
        ends = {"/".join(parts[-length:]) for length in (1, 2, 3)}
        return "the repository's .git" if ends & _REPOSITORY else None


def _single(path: str) -> str:
    """normpath keeps two leading slashes; they mean one."""
    return path[1:] if path.startswith("//") else path
