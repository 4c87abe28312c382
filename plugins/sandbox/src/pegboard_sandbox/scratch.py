"""What the sandbox keeps on disk while the board is there: the private tmp, and what is mounted over secrets."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref

from pegboard_sandbox.places import is_inside

_PARENTS = ("/tmp", "/var/tmp", "/dev/shm")


class Scratch:
    """A folder of the person's alone. `tmp` is what programs see as /tmp, from the first to the last; `nowhere` and
    `nothing` are a folder and a file that nobody may read, `blank` is an empty file. It ends with us."""

    def __init__(self, root: str) -> None:
        """Raises OSError when none can be made outside of `root`, which programs may write."""
        parents = [path for path in (*_PARENTS, tempfile.gettempdir()) if not is_inside(os.path.realpath(path), root)]
        self.folder = tempfile.mkdtemp(prefix="pegboard-sandbox-", dir=next(filter(_fits, parents), None))
        self.tmp, self.nowhere = f"{self.folder}/tmp", f"{self.folder}/nowhere"
        self.nothing, self.blank = f"{self.folder}/nothing", f"{self.folder}/blank"
        os.mkdir(self.tmp, 0o700)
        os.mkdir(self.nowhere)
        os.chmod(self.nowhere, 0o000)
        for path, mode in ((self.nothing, 0o000), (self.blank, 0o444)):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
            os.chmod(path, mode)
        self._end = weakref.finalize(self, _remove, self.folder, os.getpid())

    def close(self) -> None:
        """Remove it."""
        self._end()


def _fits(path: str) -> bool:
    return os.access(path, os.W_OK | os.X_OK)


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
