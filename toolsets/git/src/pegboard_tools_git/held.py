"""What a person was shown of a repository before they agreed, and that it is still so when it is done."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence

from pegboard.context import Context
from pegboard.errors import DoorError, ToolError
from pegboard.kit.names import shown
from pegboard.kit.refusals import changed_error
from pegboard.kit.writer import Writer

from pegboard_tools_git.repository import Repository
from pegboard_tools_git.safely import Git

_FILE, _BEGUN = "file ", "begun"
_MOST_HEADS = 1 << 16


def begin(ctx: Context) -> None:
    """In a preview, before all else: where it fails, the person agrees to what they were not shown (`check_begun`)."""
    ctx.workspace.notes[_BEGUN] = ""


def check_begun(files: Writer, needed: str) -> None:
    """In the run.

    Raises:
        ToolError: the person was asked, and the preview failed before it noted what is `needed`.
    """
    if _BEGUN in files.noted and needed not in files.noted:
        raise ToolError("what would be done could not be shown, so it was not done. Nothing was changed. Ask again.")


def hold(ctx: Context, files: Sequence[str]) -> None:
    """In a preview: hold the contents of files to what they are now, for `Writer.check_shown`."""
    for path in files:
        try:
            with ctx.workspace.open(path):
                pass
        except DoorError:
            continue  # not there, which is held too; a link, a submodule; or in a repository outside


async def note(git: Git, names: Sequence[str]) -> None:
    """In a preview: hold the repository, and these files of its work tree, to what they are now: their contents as any
    file's, and what a commit is made of beside those as notes, which the door knows nothing of."""
    top, notes = git.repository.top, git.ctx.workspace.notes
    hold(git.ctx, [f"{top}/{name}" for name in names])
    notes.update(await _state(git))
    notes.update((_FILE + name, _kind(f"{top}/{name}")) for name in names)


async def check_noted(git: Git, files: Writer, names: Sequence[str]) -> None:
    """In the run, which would stage these files.

    Raises:
        DoorError (changed): something is not as it was shown.
        ToolError: a file was not shown at all.
    """
    check_begun(files, "HEAD")
    if not files.noted:
        return  # nobody was asked
    now = await _state(git)
    for what, was in files.noted.items():
        name = what.removeprefix(_FILE)
        if what != _BEGUN and was != (_kind(f"{git.repository.top}/{name}") if what.startswith(_FILE) else now[what]):
            raise changed_error(shown(name))
    for name in names:
        if _FILE + name not in files.noted:
            raise ToolError(f"{shown(name)} came up while you were asked. Nothing was changed. Ask again.")


async def _state(git: Git) -> dict[str, str]:
    """What a commit is made of beside the files, under the names by which an error tells of it."""
    repository = git.repository
    head = await git.run("rev-parse", "--verify", "--quiet", "HEAD")
    index = await git.out("ls-files", "-z", "--stage")  # not the file: a look at the repository may write that anew
    return {
        "the repository": f"{repository.gitdir}\0{repository.common}\0{repository.settings}",
        "HEAD": f"{repository.state_file('HEAD')} {os.fsdecode(head.stdout)}",
        "what is staged": hashlib.sha256(index).hexdigest(),
        "MERGE_HEAD": " ".join(merge_heads(repository)),
        "CHERRY_PICK_HEAD": repository.state_file("CHERRY_PICK_HEAD") or "",  # whose author the commit gets
    }


def merge_heads(repository: Repository) -> list[str]:
    """The commits that a merge under way brings in; none where there is no merge."""
    try:
        return os.fsdecode(repository.door.read_bytes(f"{repository.gitdir}/MERGE_HEAD", _MOST_HEADS)).split()
    except DoorError:
        return []


def _kind(path: str) -> str:
    """What git stages of a file beside its content: whether it is there, a link and where to, and whether it is run."""
    try:
        mode = os.lstat(path).st_mode
        if stat.S_ISLNK(mode):
            return f"link {os.readlink(path)}"
    except OSError:
        return "gone"
    return f"{stat.S_IFMT(mode):o} {bool(mode & stat.S_IXUSR)}"
