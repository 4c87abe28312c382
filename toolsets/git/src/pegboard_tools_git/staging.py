"""Staging and committing: what is shown before, what is checked, and what is told after."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec
from pegboard.blocks import Block, Note, Text
from pegboard.calls import Result
from pegboard.errors import DoorError, Pointless, ToolError
from pegboard.kit.caps import Caps
from pegboard.kit.changes import counts
from pegboard.kit.names import shown
from pegboard.kit.writer import Writer

from pegboard_tools_git.held import check_noted, merge_heads, note
from pegboard_tools_git.history import commit_at, page_of, paged
from pegboard_tools_git.patches import quoted
from pegboard_tools_git.places import pathspecs
from pegboard_tools_git.repository import Repository
from pegboard_tools_git.safely import DIFF, Git
from pegboard_tools_git.status import Entry, status
from pegboard_tools_git.storable import check_storable

_SHOWN = Caps(max_chars=20_000, max_bytes=40_000, max_lines=400)
"""How much of a diff a person is shown."""
_MOST_NAMED = 300
"""Names of files that a person is shown; the others are counted."""


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_add: what is staged now."""

    entries: list[Entry]


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_commit. `branch` is null when HEAD is detached."""

    hash: str
    branch: str | None
    subject: str


async def preview_add(git: Git, paths: Sequence[str]) -> list[Block]:
    """What would be staged: names, and the diff of those that are tracked.

    Raises:
        Pointless: there is nothing to stage, or no such file; or one of them may not be staged.
    """
    specs, names, nested = await _to_add(git, paths)
    await note(git, names)
    _, now = await status(git, specs, _SHOWN)
    page = page_of(git, _SHOWN)
    await paged(git, ["diff", *DIFF, "--", *specs], page)
    diff = page.result()[0]
    blocks: list[Block] = [Text(title=f"would be staged: {_files(len(names))}", text=_named(names, now.entries))]
    if nested:
        blocks.append(Note(text=_left(nested).strip()))
    return [*blocks, Text(title="changes", text=diff)] if diff else blocks


async def add(git: Git, paths: Sequence[str]) -> Result:
    """Stage, as it was shown."""
    async with git.ctx.commit() as files:
        files.all_there_is = True  # which is none
        files.check_shown()
        specs, names, nested = await _to_add(git, paths)
        await check_noted(git, files, names)
        await _stage(git, files, names)
    _, now = await status(git, specs, git.ctx.output.caps)
    staged = [entry for entry in now.entries if entry.index]
    lines = [f"Staged {_files(len(staged))}:"]
    lines += [f"{quoted(entry.path)}  ({entry.index})" for entry in staged[:200]]
    lines += [_left(nested).strip()] if nested else []
    return Result(text="\n".join(lines), data=Staged(entries=staged))


async def preview_commit(git: Git, message: str, *, everything: bool) -> list[Block]:
    """The message, and the diff that would be committed.

    Raises:
        Pointless: there is nothing to commit.
    """
    names, nested = await _changed(git) if everything else ([], [])
    await check_storable(git, names)
    await note(git, names)
    page = page_of(git, _SHOWN)
    what = ["HEAD"] if everything and await commit_at(git, "HEAD") else ["--cached"]
    await paged(git, ["diff", *DIFF, *(["--ignore-submodules=all"] if nested else []), *what, "--"], page)
    if nested and (links := await _staged_links(git)):  # what else is at another commit is not staged
        await paged(git, ["diff", *DIFF, "--cached", "--", *links], page)
    diff = page.result()[0]
    blocks: list[Block] = [Text(title="message", text=message)]
    if nested:
        blocks.append(Note(text=_left(nested).strip()))
    if merged := merge_heads(git.repository):
        become = "which becomes a parent" if len(merged) == 1 else "which become parents"
        blocks.append(Note(text=f"this concludes the merge of {_commits(merged)}, {become} of the commit"))
    elif not diff:
        raise _nothing(everything, nested)
    if diff:
        blocks.append(Text(title="would be committed", text=diff))
    if hooks := _hooks(git.repository):
        blocks.append(Note(text=f"hooks will not be run: {', '.join(hooks)}"))
    return blocks


async def commit(git: Git, message: str, *, everything: bool) -> Result:
    """Commit, as it was shown."""
    async with git.ctx.commit() as files:
        files.all_there_is = True  # which is none
        files.check_shown()
        names, nested = await _changed(git) if everything else ([], [])
        await check_storable(git, names)
        await check_noted(git, files, names)
        if everything:
            await _stage(git, files, names)
        if (
            not merge_heads(git.repository)
            and (await git.run("diff", *DIFF, "--cached", "--quiet", "--")).exit_code == 0
        ):
            # `git commit` would say so by a status, which looks into submodules, and there runs what they name; with
            # --allow-empty it never does.
            raise _nothing(everything, nested)
        options = ["--quiet", "--no-verify", "--no-status", "--allow-empty", "--cleanup=whitespace", "--file=-"]
        done = await git.run("commit", *options, stdin=message.encode())
        if done.exit_code != 0:
            said = (shown(os.fsdecode(done.stdout[:2000])).strip() or "") if not done.stderr.strip() else ""
            raise ToolError(f"{said or git.message(done)}\nNothing was committed. git_status says what there is.")
    form = "--format=tformat:%H%x00%s%x00%D%x00%P%x00"
    shape = ("--no-patch", "--no-show-signature", "--decorate=full")
    full, subject, refs, parents = os.fsdecode(await git.out("show", *shape, form, "HEAD")).split("\0")[:4]
    head = re.search(r"HEAD -> refs/heads/([^,]+)", refs)
    branch = shown(head[1]) if head else None
    summary = os.fsdecode(
        await git.out("show", *DIFF, "--no-show-signature", "--format=", "--shortstat", "HEAD")
    ).strip()
    text = f"Committed {full[:7]} on {branch or 'a detached HEAD'}: {shown(subject)}"
    text += _summed(summary)
    if merged := parents.split()[1:]:
        text += f"\n(this concluded the merge of {_commits(merged)})"
    if hooks := _hooks(git.repository):
        text += f"\n(hooks were not run: {', '.join(hooks)})"
    return Result(text=text, data=Committed(hash=full, branch=branch, subject=shown(subject)))


def _nothing(everything: bool, nested: Sequence[str]) -> Pointless:
    if everything:
        text = "there is nothing to commit: no tracked file is changed. Nothing was committed."
        return Pointless(f"{text} New files git_add stages.{_left(nested)}")
    return Pointless("nothing is staged. Nothing was committed. Stage changes with git_add.")


def _summed(summary: str) -> str:
    """` (3 files, +10 -2)` from git's `3 files changed, 10 insertions(+), 2 deletions(-)`."""
    if not summary:
        return ""
    number = {word: int(count) for count, word in re.findall(r"(\d+) (file|insertion|deletion)", summary)}
    files = number.get("file", 0)
    lines = counts(number.get("insertion", 0), number.get("deletion", 0))
    return f" ({_files(files)}{', ' + lines if lines else ''})"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _named(names: Sequence[str], entries: Sequence[Entry]) -> str:
    """A line for each file, also of those in folders that a status only names."""
    words = {entry.path: entry.words(False) for entry in entries}
    lines = [f"{quoted(name)}  ({words.get(shown(name), 'untracked')})" for name in names[:_MOST_NAMED]]
    more = len(names) - len(lines)
    return "\n".join([*lines, f"... and {more} more (git_status lists them)"] if more else lines)


def _commits(hashes: Sequence[str]) -> str:
    return " and ".join(commit[:10] for commit in hashes)


async def _to_add(git: Git, paths: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The paths as git is given them, the files below them that would be staged, and repositories in the way, which are
    not looked into. None of the files may be protected.

    Raises:
        Pointless: no file would be, or one that is named is unknown, ignored or not to be staged. Nothing was staged.
    """
    specs = pathspecs(git.ctx.workspace, git.repository, paths)
    names, nested = await _listed(git, "--modified", "--others", "--exclude-standard", "--", *specs)
    await _check_known(git, [spec for spec in specs if not _holds(spec, [*names, *nested])])
    if not names:
        staged = (await git.run("diff", *DIFF, "--cached", "--quiet", "--", *specs)).exit_code != 0
        more = " What is staged already, git_commit commits." if staged else ""
        raise Pointless(
            f"there is nothing to stage: nothing there is changed and unstaged. Nothing was staged.{more}{_left(nested)}"
        )
    await check_storable(git, names)
    return specs, names, nested


def _holds(spec: str, names: Sequence[str]) -> bool:
    """Whether one of the names is the path, or lies below it."""
    return any(name.rstrip("/") == spec or name.startswith(f"{spec}/") for name in names)


async def _check_known(git: Git, specs: Sequence[str]) -> None:
    """Of paths below which nothing is to be staged: git knows them at least."""
    if not specs:
        return
    tracked = os.fsdecode(await git.out("ls-files", "-z", "--", *specs)).split("\0")
    for spec in specs:
        if not _holds(spec, tracked):
            path = git.repository.workspace_path(spec)
            there = os.path.lexists(f"{git.repository.top}/{spec}")
            why = (
                "is ignored, or a folder without files" if there else "is not there, and git knows no file of that name"
            )
            raise Pointless(f"{path} {why}. Nothing was staged. git_status lists what is changed.")


async def _changed(git: Git) -> tuple[list[str], list[str]]:
    """Tracked files with changes that are not staged, and repositories within this one that are at another commit."""
    return await _listed(git, "--modified")


async def _listed(git: Git, *options: str) -> tuple[list[str], list[str]]:
    """Names that `ls-files` lists: of files, and of repositories within this one (submodules and others)."""
    listed = os.fsdecode(await git.out("ls-files", "-z", "--deduplicate", *options)).split("\0")
    entries = os.fsdecode(await git.out("ls-files", "-z", "--stage")).split("\0")
    links = {entry.partition("\t")[2] for entry in entries if entry.startswith("160000 ")}
    names = [name for name in listed if name]
    nested = [name for name in names if name.endswith("/") or name in links]
    return [name for name in names if name not in set(nested)], nested


async def _staged_links(git: Git) -> list[str]:
    """Repositories within this one of which another commit is staged."""
    raw = os.fsdecode(await git.out("diff", *DIFF, "--cached", "--raw", "--no-renames", "-z", "--")).split("\0")
    return [name for change, name in zip(raw[::2], raw[1::2], strict=False) if "160000" in change.split()[:2]]


async def _stage(git: Git, files: Writer, names: Sequence[str]) -> None:
    """Stage these files as they are now. `git add` is not used: it has a status made of each repository within this one,
    and there runs what that one's configuration names."""
    top = git.repository.top
    there = [name for name in names if os.path.lexists(f"{top}/{name}") and not _is_folder(f"{top}/{name}")]
    gone = set(names).difference(there)
    for part, options in ((sorted(gone), ["--force-remove"]), (there, ["--add", "--remove", "--replace"])):
        if part:
            stdin = os.fsencode("".join(f"{name}\0" for name in part))
            done = await git.run("update-index", *options, "-z", "--stdin", stdin=stdin)
            if done.exit_code != 0:
                more = " What was deleted is staged." if gone and part is there else " Nothing was staged."
                raise git.failed(done, more.strip())
    try:
        files.check_shown()
    except DoorError as error:
        raise ToolError(
            f"{error.path} was changed while it was staged, and may be staged as it is now. Nothing was committed. "
            "git_diff with staged=true tells."
        ) from None


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _left(nested: Sequence[str]) -> str:
    """What is said of repositories within this one."""
    if not nested:
        return ""
    more = f" and {len(nested) - 1} more" if len(nested) > 1 else ""
    return f"\n({shown(nested[0])}{more}: a repository of its own, which is not staged here)"


def _hooks(repository: Repository) -> list[str]:
    """Hooks of the repository that a commit would have run."""
    folder = f"{repository.common}/hooks"
    wanted = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
    return [name for name in wanted if os.access(f"{folder}/{name}", os.X_OK)]
