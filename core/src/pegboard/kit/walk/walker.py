"""A walk over a tree in Python, by the same rules and in the same order as `rg --sort path`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pegboard.kit.walk.ignore import NEVER, Scope

Trouble = Callable[[bytes, OSError], None]
"""Told of what could not be read: the path relative to the root, and why."""


class Rules(NamedTuple):
    """What a walk goes into. links: linked folders and files too, as long as they lead inside `top`."""

    hidden: bool = False
    ignored: bool = False
    links: bool = False


class _Folder(NamedTuple):
    """A folder to walk. `loops`: device and inode of it and those above, when links are followed.

    `fresh`: its own ignore files are not in its scope yet."""

    path: bytes
    scope: Scope
    loops: frozenset[tuple[int, int]]
    fresh: bool = True


def walk(top: bytes, start: bytes, scope: Scope, rules: Rules, trouble: Trouble) -> Iterator[bytes]:
    """Regular files below `top/start`, as paths relative to `top`: by name within a folder, folder by folder.

    `scope` is the start's own. Iterative, so that no depth is too deep.
    """
    real = os.path.realpath(top) if rules.links else b""
    loops = frozenset({_identity(os.path.join(top, start))}) if rules.links else frozenset()
    stack: list[Iterator[bytes | _Folder]] = [
        _entries(top, real, _Folder(start, scope, loops, fresh=False), rules, trouble)
    ]
    while stack:
        for found in stack[-1]:
            if isinstance(found, _Folder):
                stack.append(_entries(top, real, found, rules, trouble))
                break
            yield found
        else:
            stack.pop()


def _entries(top: bytes, real: bytes, folder: _Folder, rules: Rules, trouble: Trouble) -> Iterator[bytes | _Folder]:
    try:
        with os.scandir(os.path.join(top, folder.path)) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        trouble(folder.path, error)
        return
    scope = folder.scope
    if folder.fresh and not rules.ignored:
        scope = scope.loaded(frozenset(entry.name for entry in entries))
    for entry in entries:
        name = entry.name
        if name in NEVER or (not rules.hidden and name.startswith(b".")):
            continue
        path = os.path.join(folder.path, name) if folder.path else name
        try:
            kind = _kind(entry, real, rules.links)
        except OSError as error:
            trouble(path, error)
            continue
        if kind == "skip" or (not rules.ignored and scope.ignored(name, folder=kind == "folder")):
            continue
        if kind == "file":
            yield path
            continue
        loops = folder.loops
        if rules.links:
            identity = _identity(entry.path)
            if identity in loops:
                continue
            loops = loops | {identity}
        yield _Folder(path, scope.at(name), loops)


def _kind(entry: os.DirEntry[bytes], real: bytes, links: bool) -> str:
    """file, folder, or skip: links that are not followed or lead out or nowhere, and what is neither."""
    if entry.is_symlink() and not (links and _may_follow(os.path.realpath(entry.path), real)):
        return "skip"
    if entry.is_dir(follow_symlinks=links):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=links) else "skip"


def _may_follow(target: bytes, real: bytes) -> bool:
    """Whether a link's target is there, inside the root, and nothing that is never walked."""
    if target == real:
        return True
    root = real.rstrip(b"/") + b"/"
    return target.startswith(root) and NEVER.isdisjoint(target[len(root) :].split(b"/")) and os.path.exists(target)


def _identity(path: bytes) -> tuple[int, int]:
    info = os.stat(path)
    return info.st_dev, info.st_ino
