"""What no command may remove: the file system's top folders, homes, the workspace root and its history; and devices.

A guard is not told where the workspace lies. A relative name is judged by its spelling, as if the line began at the root;
an absolute one by the folders that every system has, the person's home, and the folder that Pegboard was started in.
"""

from __future__ import annotations

import os
import re
from fnmatch import fnmatchcase
from itertools import islice, product
from posixpath import join, normpath

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
_EVERYTHING = re.compile(r"\.?[*?]*\*[*?]*|\.?\[.*\]\*|\.\?\?\*")
"""A name in a glob that leaves nothing, or nothing hidden, or nothing but what is hidden, out."""
_VARIABLE = {
    "~": re.compile(r"\$HOME\b|\$\{HOME(?:[:?=+-][^{}]*)?\}"),
    ".": re.compile(
        r"\$PWD\b|\$\{PWD(?:[:?=+-][^{}]*)?\}|\$\( *pwd *\)|` *pwd *`|\$\( *git rev-parse --show-toplevel *\)"
    ),
}
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_REPOSITORY = frozenset([".git", ".git/objects", ".git/refs", ".git/head"])
_MOST = 64


class Doomed:
    """Knows the home of the person and where this process runs, when it is made."""

    def __init__(self, home: str | None = None, here: str | None = None) -> None:
        self.home = normpath(home or os.path.expanduser("~"))
        try:
            self.here = normpath(here or os.getcwd())
        except OSError:  # the folder is gone
            self.here = "/"

    def device(self, path: str) -> bool:
        """Whether a path names a disk or the memory of the machine."""
        return _DEVICE.fullmatch(_single(normpath(path))) is not None if path.startswith("/") else False

    def place(self, text: str, folder: str, *, inert: bool) -> str | None:
        """What removing `text` would remove, as a person says it; None: nothing of the kind.

        text: a word, as its program gets it; as it is spelled where it is not `inert`. folder: where the command runs,
        relative to the root or absolute."""
        for spelled in [text] if inert else islice(self._spellings(text), _MOST):
            found = self._named(spelled, folder)
            if found is not None:
                return found
        return None

    def _spellings(self, raw: str) -> list[str]:
        """What an expanding word stands for, as far as its spelling tells: home, the current folder, lists in braces."""
        text = raw
        for stands_for, pattern in _VARIABLE.items():
            text = pattern.sub(self.home if stands_for == "~" else ".", text)
        text = re.sub(r"[\"'\\]", "", text)
        parts = _BRACES.split(text)
        if len(parts) > 9:
            return [text]
        choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
        return ["".join(chosen) for chosen in islice(product(*choices), _MOST)]

    def folder(self, text: str, folder: str, *, inert: bool) -> str:
        """Where `cd text` leads from `folder`."""
        return self._joined(text if inert else self._spellings(text)[0], folder)

    def _joined(self, text: str, folder: str) -> str:
        if text == "~" or text.startswith("~/"):
            text = self.home + text[1:]
        elif re.match(r"~[\w.-]+(?:/|$)", text):
            name, _, rest = text[1:].partition("/")
            text = f"/{_ROOT}/{rest}" if name == _ROOT else f"/home/{name}/{rest}"
        elif text.startswith("~"):
            text = self.here
        return _single(normpath(join(folder, text)))

    def _named(self, text: str, folder: str) -> str | None:
        if not text:
            return None
        *parents, last = text.rstrip("/").split("/") if text.strip("/") else ["", ""]
        if any(char in last for char in "*?["):
            parent = "/".join(parents) or ("/" if text.startswith("/") else ".")
            if _EVERYTHING.fullmatch(last):
                found = self._exact(self._joined(parent, folder))
                return None if found is None else f"all of {found}"
            if last.startswith(".") and fnmatchcase(".git", last):
                return self._exact(self._joined(f"{parent}/.git", folder))
            known = [top for top in TOPS if top.count("/") == self._joined(parent, folder).rstrip("/").count("/") + 1]
            matching = [top for top in known if fnmatchcase(top, self._joined(f"{parent}/{last}", folder).lower())]
            return self._exact(matching[0]) if matching else None
        return self._exact(self._joined(text, folder))

    def _exact(self, path: str) -> str | None:
        folded = path.casefold()
        if not path.startswith("/"):
            if set(path.split("/")) <= {".", ".."}:
                return "the workspace root" if path == "." else "a folder that holds the workspace"
            return self._history(folded)
        if folded in TOPS:
            return "the root of the file system" if path == "/" else f"the system folder {path}"
        if path == self.home or _HOME.fullmatch(path):
            return "a home folder"
        if path == self.here:
            return "the workspace root"
        if any(place.startswith(path + "/") for place in (self.home, self.here)):
            return "a folder that holds the workspace or a home"
        return self._history(folded)

    def _history(self, folded: str) -> str | None:
        parts = folded.split("/")
        ends = {parts[-1], "/".join(parts[-2:])}
        return "the repository's .git" if ends & _REPOSITORY else None


def _single(path: str) -> str:
    """normpath keeps two leading slashes; they mean one."""
    return path[1:] if path.startswith("//") else path
