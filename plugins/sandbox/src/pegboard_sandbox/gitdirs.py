"""What of a repository git would run or be led by: hooks, settings, and the files that say where those are.

Commits can be made in the sandbox; settings, remotes, worktrees and submodules cannot be changed in it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from pegboard_sandbox.places import Plan, is_inside, solid

_LED_BY = ("hooks", "config", "config.worktree", "modules", "worktrees")
_PATHS = re.compile(r"^\s*(?:hookspath|path|worktreeconfig)\s*=\s*\"?([^\"#;\n]+)", re.IGNORECASE | re.MULTILINE)
HERE = ".\n"
_LONGEST = 256 * 1024


def protect(plan: Plan, root: str, git: str) -> None:
    """Protect the repository whose `.git` this is, which may be a file that leads to it.

    Raises:
        ToolError: something of it is a link.
    """
    match solid(git):
        case "dir":
            plan.pin(root, git)
            _folder(plan, root, git)
        case "file":
            plan.pin(root, git)
            plan.read_only.add(git)
            _linked(plan, root, git)
        case _:
            pass


def _folder(plan: Plan, root: str, folder: str) -> None:
    """A repository's own folder: it may be written, save what git would run."""
    if not os.listdir(folder):  # a stand-in of another program's run
        plan.stand_ins[folder] = None
        return
    plan.writable.add(folder)
    for name in _LED_BY:
        path = f"{folder}/{name}"
        kind = solid(path)
        if name == "hooks" and (kind is None or not os.listdir(path)):
            plan.stand_ins[path] = None
        elif kind is not None:
            plan.read_only.add(path)
    here = f"{folder}/commondir"  # it would say where hooks and settings are: here, then
    if solid(here) is None or _text(here) == HERE:
        plan.stand_ins[here] = HERE
    else:
        plan.read_only.add(here)
    top = os.path.dirname(folder)
    for named in _named_in(f"{folder}/config"):
        path = os.path.normpath(os.path.join(top, os.path.expanduser(named)))
        if is_inside(path, root) and path != root and solid(path) is not None:
            plan.pin(root, path)
            plan.read_only.add(path)


def _linked(plan: Plan, root: str, git: str) -> None:
    """A worktree's `.git` is a file. Its repository lies elsewhere, and may be written if it says that this is its own."""
    folder = _first_line(git).removeprefix("gitdir:").strip()
    folder = os.path.realpath(os.path.join(os.path.dirname(git), folder))
    worktrees, common = os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))
    back = os.path.realpath(_first_line(f"{folder}/gitdir") or "/")
    told = os.path.realpath(os.path.join(folder, _first_line(f"{folder}/commondir") or "/"))
    if os.path.basename(worktrees) != "worktrees" or told != common or back != os.path.realpath(git):
        return
    if os.path.basename(common) != ".git" or solid(common) != "dir" or not os.path.isfile(f"{common}/config"):
        return
    _folder(plan, root, common)
    plan.writable.add(folder)
    for name in ("gitdir", "commondir", "config.worktree"):
        if os.path.exists(f"{folder}/{name}"):
            plan.read_only.add(f"{folder}/{name}")


def _named_in(config: str) -> list[str]:
    """Paths that a repository's settings name: folders of hooks, further files of settings."""
    return [found.strip() for found in _PATHS.findall(_text(config))]


def _first_line(path: str) -> str:
    return _text(path).partition("\n")[0].strip()


def _text(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read(_LONGEST)
    return ""
