"""Other names of a file that has several (hard links), looked for beneath one folder.

Replacing one name of such a file leaves the others as they are, so writing is safe by construction; this search exists
so that a secret cannot be read under a second name.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator

MAX_ENTRIES = 200_000
"""Entries looked at before the search gives up: about a fifth of a second."""


def other_names(root: str, info: os.stat_result) -> Iterator[str]:
    """Names of the file beneath `root`, relative to it, shallow ones first; the one it was opened by among them.

    Ends early when every name was found, or after MAX_ENTRIES. Folders that cannot be read are passed over.
    """
    left, looked_at = info.st_nlink, 0
    folders = deque([""])
    while folders and left > 0 and looked_at < MAX_ENTRIES:
        below = folders.popleft()
        try:
            entries = list(os.scandir(os.path.join(root, below)))
        except OSError:
            continue
        looked_at += len(entries)
        for entry in entries:
            at = f"{below}/{entry.name}" if below else entry.name
            if entry.inode() == info.st_ino and _same(entry, info):
                left -= 1
                yield at
            elif entry.is_dir(follow_symlinks=False):
                folders.append(at)


def _same(entry: os.DirEntry[str], info: os.stat_result) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_dev == info.st_dev
    except OSError:
        return False
