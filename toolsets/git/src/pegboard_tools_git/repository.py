"""Which repository a path lies in, and what of it is read here, through the workspace's door. What git would read of it
is looked through before git is started (`inside`).

Git itself is never asked to find one: what it would meet on the way (`.git` files and links, `core.worktree`, folders
that look like bare repositories, alternates) may lead out of the workspace.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from pegboard.errors import DoorError, ToolError
from pegboard.kit.names import given, shown
from pegboard.kit.workspace import Workspace

from pegboard_tools_git.config import Setting, patterns_in, read, true_in

_MOST_TEXT = 1 << 20
_SMALL = 1 << 13
_NEEDED = frozenset(("HEAD", "objects", "refs"))


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository that may be looked at. `gitdir` and `common` are absolute: what is a work tree's own, and what all of
    its work trees share; `top` is the work tree, absolute, and `at` the same from the workspace root, with `.` for the
    root. `names`, `shared`: what lies in `gitdir` and in `common`. `owned`: nobody but the person owns it. `patterns`: the
    files of ignored files and attributes that its configuration names, inside; `unread`: the keys of those that are not.
    """

    top: str
    at: str
    gitdir: str
    common: str
    bare: bool
    names: frozenset[str]
    shared: frozenset[str]
    owned: bool
    door: Workspace = field(repr=False)
    settings: list[Setting] = field(repr=False)
    patterns: list[Setting] = field(repr=False, default_factory=list)
    unread: tuple[str, ...] = ()

    @property
    def filters(self) -> frozenset[str]:
        """Filter drivers that the repository's own configuration names: programs that are not run."""
        return frozenset(s.name for s in self.settings if s.section == "filter" and s.name is not None)

    @property
    def includes(self) -> bool:
        """Whether there is configuration that was not read."""
        return any(s.section in ("include", "includeif") for s in self.settings)

    def state_file(self, name: str) -> str | None:
        """The first line of a small file in `gitdir`; None when it is not there."""
        return _first_line(self.door, f"{self.gitdir}/{name}")

    def workspace_path(self, name: str) -> str:
        """A path below the work tree's top, from the workspace root, as it is shown."""
        name = shown(name)
        return name if self.at == "." else f"{self.at}/{name}"


def find(workspace: Workspace, path: str, *, outside: bool = False) -> Repository:
    """The repository that `path` lies in; the path itself need not exist.

    `outside`: a work tree may belong to a repository elsewhere that lists it.

    Raises:
        ToolError: there is none, or a part of it lies outside the workspace. Nothing was run.
    """
    place = workspace.place(path)
    if place.outside or place.at.startswith("session:"):
        raise ToolError(f"{path} lies outside the workspace. Nothing was run. Name a path inside it.")
    folder = place.at
    info = workspace.stat(folder)
    if info is None or not stat.S_ISDIR(info.st_mode):
        folder = os.path.dirname(folder) or "."
    while True:
        dotgit = ".git" if folder == "." else f"{folder}/.git"
        info = _look(workspace, dotgit)
        if info is not None and stat.S_ISREG(info.st_mode):
            return _linked(workspace, folder, dotgit, outside)
        if info is not None and stat.S_ISDIR(info.st_mode):
            gitdir = _native(workspace, workspace.place(dotgit).at)
            names = _contents(workspace, gitdir)
            if names >= _NEEDED or "commondir" in names:  # git passes over other folders of that name, too
                return _made(workspace, workspace, folder, gitdir, names)
        if folder == ".":
            break
        folder = os.path.dirname(folder) or "."
    if all(os.path.lexists(f"{workspace.root}/{name}") for name in _NEEDED):
        return _made(workspace, workspace, ".", workspace.root, _contents(workspace, workspace.root), bare=True)
    raise ToolError(_none_here(workspace))


def _none_here(workspace: Workspace) -> str:
    text = f"{workspace.root} is not a git repository."
    above = os.path.dirname(workspace.root)
    while above != os.path.dirname(above) and not os.path.exists(f"{above}/.git"):
        above = os.path.dirname(above)
    if not os.path.exists(f"{above}/.git"):
        return f"{text} Nothing was run."
    return (
        f"{text} It lies in the one of {above}, which begins outside the workspace. Nothing was run. "
        "Ask the person to start Pegboard there."
    )


def _look(workspace: Workspace, path: str) -> os.stat_result | None:
    try:
        return workspace.stat(path)
    except DoorError as error:
        raise ToolError(f"{path} leads out of the workspace ({error.reason}), so git was not run.") from None


def _native(workspace: Workspace, at: str) -> str:
    r"""The absolute path of a place, with undecodable bytes as they are and not as `\xNN`."""
    path = os.path.normpath(os.path.join(workspace.root, at))
    other = given(path)
    return other if other is not None and not os.path.lexists(path) and os.path.lexists(other) else path


def _linked(workspace: Workspace, folder: str, dotgit: str, outside: bool) -> Repository:
    """The repository that a `.git` file names: of a further work tree, or of a submodule."""
    line = _first_line(workspace, dotgit) or ""
    if not line.startswith("gitdir:"):
        raise ToolError(f"{dotgit} is no link to a repository. Nothing was run. Ask the person to mend or remove it.")
    at = _native(workspace, workspace.place(dotgit).at)
    target = os.path.join(os.path.dirname(at), line.removeprefix("gitdir:").strip())
    place = workspace.place(target)
    if not place.outside:
        gitdir = _native(workspace, place.at)
        return _made(workspace, workspace, folder, gitdir, _contents(workspace, gitdir))
    everywhere = Workspace("/")
    gitdir = os.path.realpath(target)
    if not outside:
        raise ToolError(
            f"{dotgit} leads to a repository outside the workspace. Nothing was run. The person can allow work trees of "
            "repositories elsewhere with `git.worktree_outside = true`."
        )
    listed = _first_line(everywhere, f"{gitdir}/gitdir")
    if listed is None or os.path.realpath(os.path.join(gitdir, listed)) != at:
        raise ToolError(f"{dotgit} leads to a repository that does not list this work tree. Nothing was run.")
    return _made(workspace, everywhere, folder, gitdir, _contents(everywhere, gitdir))


def _first_line(door: Workspace, path: str) -> str | None:
    try:
        text = door.read_bytes(path, _SMALL)
    except DoorError:
        return None
    return os.fsdecode(text.split(b"\n", 1)[0]).rstrip("\r")


def _made(
    workspace: Workspace, door: Workspace, folder: str, gitdir: str, names: frozenset[str], *, bare: bool = False
) -> Repository:
    """The repository at `gitdir`, every part of which must lie behind the same door."""
    common, top = gitdir, _native(workspace, folder)
    if "commondir" in names:
        line = _first_line(door, f"{gitdir}/commondir") or "."
        place = door.place(os.path.join(gitdir, line))
        if place.outside:
            raise ToolError(f"{shown(gitdir)}/commondir leads out of the workspace. Nothing was run.")
        common = _native(door, place.at)
    shared = names if common == gitdir else _contents(door, common)
    if "HEAD" not in names or "objects" not in shared:
        raise ToolError(f"{shown(gitdir)} is not a git repository. Nothing was run.")
    _check_alternates(door, common)
    settings = read(door, f"{common}/config")
    if true_in(settings, "extensions", "worktreeconfig"):
        settings += read(door, f"{gitdir}/config.worktree")
    bare = bare or (common == gitdir and true_in(settings, "core", "bare"))
    if not bare:
        _check_files(top)
    patterns, unread = patterns_in(workspace, top, settings)
    return Repository(
        top=top,
        at=folder,
        gitdir=gitdir,
        common=common,
        bare=bare,
        names=names,
        shared=shared,
        owned=_owned(gitdir, common, top),
        door=door,
        settings=settings,
        patterns=patterns,
        unread=unread,
    )


def _contents(door: Workspace, folder: str) -> frozenset[str]:
    """The names in a folder of the repository."""
    try:
        with door.folder(folder) as opened:
            return frozenset(os.listdir(opened.fd))
    except DoorError as error:
        raise ToolError(f"{shown(folder)} cannot be looked at: {error} Git was not run.") from None


def _check_files(top: str) -> None:
    """Files of the work tree that git opens by itself: it would wait at a FIFO for ever."""
    for name in (".gitignore", ".gitattributes", ".gitmodules", ".mailmap"):
        try:
            mode = os.stat(f"{top}/{name}").st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise ToolError(f"{name} is no regular file. Git was not run. Ask the person to remove it.")


def _check_alternates(door: Workspace, common: str) -> None:
    """Objects borrowed from elsewhere would show what lies there."""
    try:
        lines = door.read_bytes(f"{common}/objects/info/alternates", _MOST_TEXT).splitlines()
    except DoorError as error:
        if error.reason == "missing":
            return
        raise ToolError(f"objects/info/alternates cannot be looked at: {error} Git was not run.") from None
    for line in lines:
        name = os.fsdecode(line.strip())
        if not name or name.startswith("#"):
            continue
        # A quoted name, or an alternate with alternates of its own, may lead out: rare, and not worth a second reader.
        place = None if name.startswith('"') else door.place(os.path.join(f"{common}/objects", name))
        further = place and door.stat(f"{place.at}/info/alternates") if place and not place.outside else None
        if place is None or place.outside or further is not None:
            raise ToolError(
                f"the repository borrows objects from {shown(name)}, which lies outside the workspace or may lead there. "
                "Git was not run. Ask the person to do this."
            )


def _owned(*places: str) -> bool:
    """Whether the person owns all of these, as git asks before it trusts a repository."""
    if not hasattr(os, "geteuid"):
        return True
    mine = {os.geteuid()}
    if os.geteuid() == 0 and os.environ.get("SUDO_UID", "").isdigit():
        mine.add(int(os.environ["SUDO_UID"]))
    return all(os.stat(place).st_uid in mine for place in set(places))
