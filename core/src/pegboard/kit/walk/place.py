"""Where a search takes place: found through the workspace's door, as the engines need it."""

from __future__ import annotations

import os
import stat
from typing import NamedTuple

from pegboard.calls import TouchKind
from pegboard.kit.beneath import real_path
from pegboard.kit.text import HEAD, sniff
from pegboard.kit.walk.ignore import NEVER, Scope, top_scope
from pegboard.kit.walk.paths import PathGlob
from pegboard.kit.workspace import Workspace


class Ground(NamedTuple):
    """Where a search takes place.

    top: the absolute folder that paths are relative to; prefix: what stands before them in results. start: the folder
    or file below it. scope: the ignore rules in force in the start, None for a file. binary: a NUL is in its head.
    """

    top: bytes
    prefix: str
    start: bytes
    named: bool
    scope: Scope | None = None
    binary: bool = False

    @property
    def never(self) -> bool:
        """Whether it lies in what is never searched."""
        return not NEVER.isdisjoint(self.start.split(b"/"))


def ground(workspace: Workspace, path: str, kind: TouchKind, *, require_git: bool) -> Ground:
    """The place that `path` names. Raises DoorError when there is none, or the door does not let it through."""
    with workspace.find(path) as found:
        real = real_path(found.fd) or os.path.join(found.route.below.real, found.at.removeprefix(found.route.prefix))
        folder = stat.S_ISDIR(found.info.st_mode)
        at, prefix, below = found.at, found.route.prefix, found.route.below.real
    if prefix:
        top = below
    elif os.path.isabs(at):
        top = real if folder else os.path.dirname(real)
        prefix = top.rstrip("/") + "/"
    else:
        top = workspace.root
    start = "" if real == top else os.path.relpath(real, top).replace(os.sep, "/")
    names = [os.fsencode(part) for part in start.split("/") if part]
    place = Ground(os.fsencode(top), prefix, b"/".join(names), not folder)
    if folder:
        with workspace.folder(path, kind):
            scope = top_scope(top, require_git=require_git).descend(names)
            return place._replace(scope=scope)
    with workspace.open(path) as opened:
        return place._replace(binary=sniff(os.pread(opened.fd, HEAD, 0)) == "binary")


def narrowed(place: Ground, only: PathGlob | None, *, ignored: bool) -> Ground | None:
    """The place further down where a pattern can match at all; None where that is not there, a link, or ignored."""
    if only is None or place.named or place.scope is None:
        return place
    scope, start = place.scope, place.start
    skip = len(start.split(b"/")) if start else 0
    for part in only.start[skip:]:
        name = os.fsencode(part)
        try:
            info = os.lstat(os.path.join(scope.folder, name))
        except (OSError, ValueError):
            return None
        if not stat.S_ISDIR(info.st_mode) or name in NEVER or (not ignored and scope.ignored(name, folder=True)):
            return None
        scope = scope.enter(name)
        start = start + b"/" + name if start else name
    return place._replace(scope=scope, start=start)
