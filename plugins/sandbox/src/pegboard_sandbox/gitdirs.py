"""What of a repository git would run or be led by: hooks, settings, and the files that say where those are.

Commits, branches and checkouts can be made in the sandbox; settings, remotes, worktrees and submodules cannot be changed in
it. What is there is read-only; what is not there yet, and would lead git, is stood in for.
"""

from __future__ import annotations

import os
from contextlib import suppress

from pegboard_sandbox import gitconfig
from pegboard_sandbox.places import Plan, between, is_inside, solid

HERE = ".\n"
_STOOD_IN: tuple[tuple[str, str | None], ...] = (
    ("hooks", None),
    ("config", ""),
    ("config.worktree", ""),
    ("commondir", HERE),  # it would say where hooks and settings are: here, then
)
_KEPT = ("modules", "worktrees")
_PINNED = ("objects", "refs")
"""They may be written and not be taken away: without them it is no repository, and git looks for another one."""
_LONGEST = 4096


def protect(plan: Plan, root: str, git: str, person: list[gitconfig.Named]) -> None:
    """Protect the repository whose `.git` this is, which may be a file that leads to it. person: what a person's own
    settings name, which may lie in any repository.

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
            return
    led_by(plan, root, os.path.dirname(git), person)


def protect_bare(plan: Plan, root: str, top: str) -> None:
    """Keep a folder from being made into a repository without a `.git`; protect it where it is one.

    git takes a folder for one that has `HEAD`, `objects` and `refs`, where the `.git` in it is none: it may be spoilt. It
    gives up where `commondir` is a folder, so there is one, and it stays for as long as a `HEAD` lies beside it.

    Raises:
        ToolError: something of it is a link.
    """
    head, common = f"{top}/HEAD", f"{top}/commondir"
    if is_bare(top):
        plan.pin(root, head)
        _folder(plan, root, top)
    elif (kind := solid(common)) is None or (kind == "dir" and not os.listdir(common)):
        plan.stand_ins[common] = None
        plan.kept_while[common] = head
    else:  # a project's own
        (plan.writable if kind == "dir" else plan.read_only).add(common)
        if kind == "file":
            _stand_in(plan, head, None)


def is_bare(top: str) -> bool:
    """Whether git may take the folder itself for a repository."""
    return os.path.lexists(f"{top}/HEAD") and all(os.path.isdir(f"{top}/{name}") for name in _PINNED)


def _folder(plan: Plan, root: str, folder: str) -> None:
    """A repository's own folder: it may be written, save what git would run."""
    if not os.listdir(folder):  # a stand-in of another program's run
        plan.stand_ins[folder] = None
        return
    plan.writable.add(folder)
    for name in _PINNED:
        if solid(f"{folder}/{name}") == "dir":
            plan.writable.add(f"{folder}/{name}")
    for name in _KEPT:
        if solid(f"{folder}/{name}") is not None:
            plan.read_only.add(f"{folder}/{name}")
    for name, text in _STOOD_IN:
        _stand_in(plan, f"{folder}/{name}", text)
    if solid(f"{folder}/info") == "dir":
        plan.writable.add(f"{folder}/info")
        _stand_in(plan, f"{folder}/info/attributes", "")
    else:
        _stand_in(plan, f"{folder}/info", None)
    top = folder if os.path.basename(folder) != ".git" else os.path.dirname(folder)
    for config in (f"{folder}/config", f"{folder}/config.worktree"):
        led_by(plan, root, top, gitconfig.named_in(config))


def led_by(plan: Plan, root: str, top: str, named: list[gitconfig.Named]) -> None:
    """Keep what settings name in the workspace from being changed, or made. top: where paths of hooks begin."""
    for one in named:
        base = os.path.dirname(one.source) if one.included else top
        path = os.path.normpath(os.path.join(base, os.path.expanduser(one.path)))
        if not is_inside(path, root) or path == root or is_inside(path, f"{root}/.git/hooks"):
            continue
        first = path
        while not os.path.lexists(up := os.path.dirname(first)):
            first = up
        plan.pin(root, first)
        for folder in between(root, first):
            solid(folder)
        _stand_in(plan, first, "" if first == path and one.kind == "file" else None)


def _stand_in(plan: Plan, path: str, text: str | None) -> None:
    """Read-only where it is there; else something that does no harm is, meanwhile."""
    kind = solid(path)
    same = kind == "file" and _is(path, text) if text is not None else kind == "dir" and not os.listdir(path)
    if kind is None or same:
        plan.stand_ins[path] = text
    else:
        plan.read_only.add(path)


def _linked(plan: Plan, root: str, git: str) -> None:
    """A worktree's `.git` is a file. Its repository lies elsewhere, and may be written if it says that this is its own."""
    folder = _first_line(git).removeprefix("gitdir:").strip()
    folder = os.path.realpath(os.path.join(os.path.dirname(git), folder))
    if is_inside(folder, root) and "/.git/" not in folder and is_bare(folder):  # made by --separate-git-dir
        plan.pin(root, folder)
        _folder(plan, root, folder)
        return
    worktrees, common = os.path.dirname(folder), os.path.dirname(os.path.dirname(folder))
    back = os.path.realpath(_first_line(f"{folder}/gitdir") or "/")
    told = os.path.realpath(os.path.join(folder, _first_line(f"{folder}/commondir") or "/"))
    if os.path.basename(worktrees) != "worktrees" or told != common or back != os.path.realpath(git):
        return
    if os.path.basename(common) != ".git" or solid(common) != "dir" or not os.path.isfile(f"{common}/config"):
        return
    _folder(plan, root, common)
    led_by(plan, root, os.path.dirname(git), gitconfig.named_in(f"{common}/config"))
    led_by(plan, root, os.path.dirname(git), gitconfig.named_in(f"{folder}/config.worktree"))
    plan.writable.add(folder)
    for name in ("gitdir", "commondir"):
        plan.read_only.add(f"{folder}/{name}")
    _stand_in(plan, f"{folder}/config.worktree", "")


def _is(path: str, text: str) -> bool:
    with suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as file:
        return file.read(len(text) + 1) == text
    return False


def _first_line(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read(_LONGEST).partition("\n")[0].strip()
    return ""
