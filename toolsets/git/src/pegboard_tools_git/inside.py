"""What lies in a repository's own folder, before git is started there: links that lead out, and files that are none.

git follows links within `.git` when it reads a ref or an object, and when it writes a log, a message or a ref: so what it
would read must lie inside, and where it writes there must be no links at all. At a FIFO it would wait for ever.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator

from pegboard import Context
from pegboard.errors import ToolError
from pegboard.kit.names import shown
from pegboard.kit.workspace import Workspace

from pegboard_tools_git.repository import Repository, find

_MOST = 500_000
"""Entries that are looked at: a second or so. A repository with more loose refs than that is slow in git, too."""
_PASSED = frozenset(("hooks", "modules"))
"""Folders of a repository that git gets to see nothing of: hooks do not run, submodules are repositories of their own."""
_GITLINK = b"\0\0\xe0\0"
"""The mode of a submodule as an index has it."""
_NAMES = frozenset((".gitignore", ".gitattributes"))


def check(ctx: Context, repository: Repository, *, writes: bool) -> None:
    """Look through the repository's own folders.

    Raises:
        ToolError: a link leads out of the workspace, or is in the way of writing; or something is no file. Nothing was run.
    """
    _walk(repository.door, (repository.common, repository.gitdir), writes)
    if not repository.bare and repository.door is ctx.workspace and "index" in repository.names:
        _check_submodules(ctx.workspace, repository)


def _walk(door: Workspace, folders: tuple[str, ...], writes: bool) -> None:
    waiting, seen, count = list(dict.fromkeys(folders)), set[str](), 0
    while waiting:
        folder = waiting.pop()
        if folder in seen:
            continue
        seen.add(folder)
        for entry in _entries(folder):
            count += 1
            if entry.is_file(follow_symlinks=False):
                continue
            if folder in folders and entry.name in _PASSED:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif entry.is_symlink():
                waiting += _followed(door, entry.path, writes)
            else:
                _check_kind(entry.path, entry.stat(follow_symlinks=False).st_mode)
        if count > _MOST:
            raise ToolError(
                f"{shown(folders[0])} holds more than {_MOST:,} files. Git was not run. Ask the person to run git gc."
            )


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise ToolError(f"{shown(folder)} cannot be looked at: {error.strerror}. Git was not run.") from None


def _followed(door: Workspace, path: str, writes: bool) -> list[str]:
    """The folder that a link leads to, which is looked at as well; nothing for a file or what is not there."""
    if writes:
        raise ToolError(
            f"{shown(path)} is a link, and git would write through it. Nothing was changed. "
            "Ask the person to do this, or to put a file or folder in the link's place."
        )
    if door.place(path).outside:
        raise ToolError(
            f"{shown(path)} leads out of the workspace. Git was not run. "
            "Ask the person to do this, or to start Pegboard where all of the repository lies inside."
        )
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode
    except OSError:
        return []
    _check_kind(path, mode)
    return [real] if stat.S_ISDIR(mode) else []


def _check_kind(path: str, mode: int) -> None:
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISSOCK(mode)):  # a monitor's socket: git cannot open it
        raise ToolError(f"{shown(path)} is no regular file. Git was not run. Ask the person to remove it.")


def _check_submodules(workspace: Workspace, repository: Repository) -> None:
    """git reads which commit a submodule is at: its repository must lie inside as well."""
    for name in _gitlinks(repository):
        folder = f"{repository.top}/{name}"
        if ".." in name.split("/") or not os.path.lexists(f"{folder}/.git"):
            continue
        inner = find(workspace, folder)
        _walk(inner.door, (inner.common, inner.gitdir), False)


def _gitlinks(repository: Repository) -> list[str]:
    """Paths of submodules in the index, and in the one that it shares."""
    found: list[str] = []
    for file in ("index", *sorted(name for name in repository.names if name.startswith("sharedindex."))):
        with open(f"{repository.gitdir}/{file}", "rb") as opened:
            if os.fstat(opened.fileno()).st_size < 12:
                continue
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if data.find(_GITLINK) >= 0:
                    found += _named(data)
    return found


def _named(data: mmap.mmap) -> Iterator[str]:
    """The names of entries that are submodules, read from an index as git lays it out (gitformat-index)."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    at, name, size = 12, b"", len(data)
    digest = 20 if _reads_as(data, 20) else 32
    for _ in range(count):
        flags_at = at + 40 + digest
        if flags_at + 2 > size:
            return
        mode, flags = data[at + 24 : at + 28], int.from_bytes(data[flags_at : flags_at + 2], "big")
        begin = flags_at + (4 if flags & 0x4000 else 2)
        if version == 4:
            cut, begin = _number(data, begin)
            end = data.find(b"\0", begin)
            name, at = name[: len(name) - cut] + data[begin:end], end + 1
        else:
            end = data.find(b"\0", begin)
            name, at = data[begin:end], at + ((end - at) // 8 + 1) * 8
        if end < 0:
            return
        if mode == _GITLINK:
            yield os.fsdecode(name)


def _reads_as(data: mmap.mmap, digest: int) -> bool:
    """Whether the first entry makes sense with hashes of so many bytes: its flags tell the length of its name."""
    at = 12 + 40 + digest
    flags = int.from_bytes(data[at : at + 2], "big")
    begin, length = at + (4 if flags & 0x4000 else 2), flags & 0xFFF
    if int.from_bytes(data[4:8], "big") == 4:
        begin = _number(data, begin)[1]
    return data.find(b"\0", begin) - begin == length or length == 0xFFF


def _number(data: mmap.mmap, at: int) -> tuple[int, int]:
    """A number of variable width, as in packs, and where it ends."""
    value = -1
    while True:
        byte = data[at]
        at, value = at + 1, ((value + 1) << 7) | (byte & 127)
        if not byte & 128:
            return value, at


def waits_at(top: str, most: int = 200_000) -> str | None:
    """A `.gitignore` or `.gitattributes` below `top` that is no file, so that git waits there; None where none was seen."""
    waiting, count = [top], 0
    while waiting and count < most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif entry.name in _NAMES and not stat.S_ISREG(os.stat(entry.path).st_mode):
                        return entry.path
        except OSError:
            continue
    return None
