"""Where a command may read that runs unasked because it only reads: the system's own folders, the workspace, programs and
what they are made of, git's settings. Not the home folder, and not what others put into /tmp."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from pegboard.kit.launch import Launch, own_folders

if TYPE_CHECKING:
    from pegboard.kit.process import Finished

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/snap"),
    *("/proc", "/dev", "/sys", "/run/current-system", "/run/systemd/resolve"),
)
_PROFILES = (".bash_profile", ".bash_login", ".profile", ".bashrc")
_GIT = (".gitconfig", ".gitignore", ".gitignore_global", ".gitattributes", ".config/git")
_PARTS = ("lib", "lib64", "libexec")
"""Beside a folder `bin`: what its programs are made of."""
_LINE = 4096
_DENIED = (b"permission denied", b"operation not permitted", b"read-only file system", b"eacces", b"eperm")


def reading(launch: Launch, root: str, ours: Mapping[str, str], *, login: bool) -> Launch:
    """The program of a call, held to reading. `ours`: the variables that a tool finds; login: its shell reads the person's
    profile."""
    env = ours if launch.env is None else launch.env
    shown = own_folders(launch.env, ours)
    readable = (*places(root, env, login=login), *shown)
    return msgspec.structs.replace(launch, view="read_only", root=root, shown=shown, readable=readable)


def stopped(done: Finished) -> str | None:
    """What is told of a program that was not let do something; None where it does not say so. In a pipe what it printed may
    be all there is to see of that."""
    failed = done.exit_code != 0 and not done.timed_out and not done.stopped
    said = (done.stderr + done.stdout if failed else done.stderr).lower()
    if not any(word in said for word in _DENIED):
        return None
    return (
        "(held to reading: it ran unasked because it only reads, and something in it was not permitted. Running it freely "
        "is a new question: the same call once more asks the person.)"
    )


def places(root: str, env: Mapping[str, str], *, login: bool = False) -> tuple[str, ...]:
    """The places, absolute; some may not be there. `env`: of the program. login: its shell reads the person's profile."""
    home = env.get("HOME", "")
    home = home if os.path.isabs(home) else ""
    found = [root, *_fixed(env.get("PATH", ""), home), *_repository(root)]
    if home:
        found += [os.path.join(home, name) for name in (*_GIT, *(_PROFILES if login else ()))]
    settings = env.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(settings):
        found.append(os.path.join(settings, "git"))
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=8)
def _fixed(path: str, home: str) -> tuple[str, ...]:
    """The system's folders, Python's, and those of the PATH. One that holds the home folder is no place for programs."""
    homes = {os.path.realpath(home)} if home else set()
    homes.add(os.path.realpath(os.path.expanduser("~")))

    def fits(folder: str) -> bool:
        real = os.path.realpath(folder)
        return not any(os.path.commonpath([real, one]) == real for one in homes)

    folders = filter(fits, (sys.prefix, sys.base_prefix, *_programs(path, home)))
    return tuple(dict.fromkeys((*_SYSTEM, *folders)))


def _programs(path: str, home: str) -> Iterator[str]:
    for folder in path.split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        for one in dict.fromkeys((folder, os.path.realpath(folder))):
            yield one
            above, name = os.path.split(one.rstrip("/"))
            if name == "shims" and above != home:  # pyenv's and the like: they look beside it for what to start
                yield above
            if name in ("bin", "sbin") and above != home:
                yield from (os.path.join(above, part) for part in _PARTS)


def _repository(root: str) -> Iterator[str]:
    """What `.git` of the workspace leads to, where that is a file: of a linked worktree, or a submodule. What a file there
    says is not believed: git's own files have to be where it leads, and of a worktree to lead back."""
    link = os.path.join(root, ".git")
    said = _text(link)
    if said is None or not said.startswith("gitdir: "):
        return
    folder = os.path.realpath(os.path.join(root, said.removeprefix("gitdir: ")))
    if not os.path.isfile(os.path.join(folder, "HEAD")):
        return
    common = _text(os.path.join(folder, "commondir"))
    if common is None:
        if os.path.isdir(os.path.join(folder, "objects")) and os.path.isdir(os.path.join(folder, "refs")):
            yield folder
        return
    back = _text(os.path.join(folder, "gitdir"))
    shared = os.path.realpath(os.path.join(folder, common))
    if back is not None and os.path.realpath(back) == os.path.realpath(link) and folder.startswith(f"{shared}/"):
        yield from (folder, shared)


def _text(file: str) -> str | None:
    """The line that a small file holds; None where there is no such file."""
    if not os.path.isfile(file):
        return None
    try:
        with open(file, encoding="utf-8") as opened:
            return opened.read(_LINE).strip()
    except (OSError, ValueError):
        return None
