"""Staging and committing: what is shown before, what is checked, and what is told after."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial

import msgspec
from pegboard.blocks import Block, Note, Text
from pegboard.calls import Result
from pegboard.errors import ToolError
from pegboard.kit.caps import Caps
from pegboard.kit.changes import counts
from pegboard.kit.names import shown

from pegboard_tools_git.history import paged
from pegboard_tools_git.patches import Page
from pegboard_tools_git.places import hold, may_not_read, pathspecs, tip_files
from pegboard_tools_git.repository import Repository
from pegboard_tools_git.safely import DIFF, Git
from pegboard_tools_git.status import Entry, status

_SHOWN = Caps(max_chars=20_000, max_bytes=40_000, max_lines=400)
"""How much of a diff a person is shown."""


class Staged(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_add: what is staged now."""

    entries: list[Entry]


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_commit. `branch` is null when HEAD is detached."""

    hash: str
    branch: str | None
    subject: str


async def preview_add(git: Git, paths: Sequence[str]) -> list[Block]:
    """What would be staged: names, and the diff of those that are tracked."""
    specs, names = await _to_add(git, paths)
    _hold(git, names)
    if not names:
        return [Note(text="there is nothing to stage")]
    text, _ = await status(git, specs, _SHOWN)
    page = _page(git)
    await paged(git, ["diff", *DIFF, "--", *specs], page)
    diff = page.result()[0]
    blocks: list[Block] = [Text(title=f"would be staged: {len(names)} files", text=text)]
    return [*blocks, Text(title="changes", text=diff)] if diff else blocks


async def add(git: Git, paths: Sequence[str]) -> Result:
    """Stage, as it was shown."""
    async with git.ctx.commit() as files:
        files.check_shown()
        specs, names = await _to_add(git, paths)
        if not names:
            return Result(text="There is nothing to stage.", data=Staged(entries=[]))
        done = await git.run("add", "--all", "--", *(specs or ["."]))
        if done.exit_code != 0:
            raise git.failed(done, "Nothing was staged.")
    _, now = await status(git, specs, git.ctx.output.caps)
    staged = [entry for entry in now.entries if entry.index]
    lines = [f"Staged {len(staged)} files:" if len(staged) != 1 else "Staged 1 file:"]
    lines += [f"{entry.path}  ({entry.index})" for entry in staged[:200]]
    return Result(text="\n".join(lines), data=Staged(entries=staged))


async def preview_commit(git: Git, message: str, *, everything: bool) -> list[Block]:
    """The message, and the diff that would be committed."""
    names = await _changed(git) if everything else []
    await _check_files(git, names)
    _hold(git, names)
    page = _page(git)
    born = everything and (await git.run("rev-parse", "--verify", "--quiet", "HEAD")).exit_code == 0
    what = ["HEAD"] if born else ["--cached"]
    await paged(git, ["diff", *DIFF, *what, "--"], page)
    diff = page.result()[0]
    blocks: list[Block] = [Text(title="message", text=message)]
    if not diff:
        return [*blocks, Note(text="there is nothing to commit" if everything else "nothing is staged")]
    blocks.append(Text(title="would be committed", text=diff))
    if hooks := _hooks(git.repository):
        blocks.append(Note(text=f"hooks will not be run: {', '.join(hooks)}"))
    return blocks


async def commit(git: Git, message: str, *, everything: bool) -> Result:
    """Commit, as it was shown."""
    async with git.ctx.commit() as files:
        files.check_shown()
        if everything:
            await _check_files(git, await _changed(git))
        options = ["--quiet", "--no-verify", "--no-status", "--cleanup=whitespace", "--file=-"]
        done = await git.run("commit", *options, *(["--all"] if everything else []), stdin=message.encode())
        if done.exit_code != 0:
            said = (shown(os.fsdecode(done.stdout[:2000])).strip() or "") if not done.stderr.strip() else ""
            raise ToolError(f"{said or git.message(done)}\nNothing was committed. git_status says what there is.")
    form = "--format=tformat:%H%x00%s%x00%D%x00"
    shape = ("--no-patch", "--no-show-signature", "--decorate=full")
    full, subject, refs = os.fsdecode(await git.out("show", *shape, form, "HEAD")).split("\0")[:3]
    head = re.search(r"HEAD -> refs/heads/([^,]+)", refs)
    branch = shown(head[1]) if head else None
    stat = os.fsdecode(await git.out("show", *DIFF, "--no-show-signature", "--format=", "--shortstat", "HEAD")).strip()
    text = f"Committed {full[:7]} on {branch or 'a detached HEAD'}: {shown(subject)}"
    text += _summed(stat)
    if hooks := _hooks(git.repository):
        text += f"\n(hooks were not run: {', '.join(hooks)})"
    return Result(text=text, data=Committed(hash=full, branch=branch, subject=shown(subject)))


def _summed(stat: str) -> str:
    """` (3 files, +10 -2)` from git's `3 files changed, 10 insertions(+), 2 deletions(-)`."""
    if not stat:
        return ""
    number = {word: int(count) for count, word in re.findall(r"(\d+) (file|insertion|deletion)", stat)}
    files = number.get("file", 0)
    lines = counts(number.get("insertion", 0), number.get("deletion", 0))
    return f" ({files} file{'s' if files != 1 else ''}{', ' + lines if lines else ''})"


def _hold(git: Git, names: Sequence[str]) -> None:
    """Have what would be staged or committed stay as it is while a person is asked."""
    ctx, repository = git.ctx, git.repository
    held = [f"{repository.gitdir}/index", *tip_files(repository)]
    hold(ctx, [*held, *(f"{repository.top}/{name}" for name in names[:500])])


async def _to_add(git: Git, paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths as git is given them, and the files below them that would be staged; none of those may be protected."""
    specs = pathspecs(git.ctx.workspace, git.repository, paths)
    listed = await git.out(
        "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate", "--", *specs
    )
    names = [name for name in os.fsdecode(listed).split("\0") if name]
    if not names and specs:
        return specs, await _named(git, specs)
    await _check_files(git, names)
    return specs, names


async def _named(git: Git, specs: Sequence[str]) -> list[str]:
    """Where nothing is to be staged: whether git knows the paths at all; its own words where it does not."""
    done = await git.run("add", "--all", "--dry-run", "--", *specs)
    if done.exit_code != 0:
        raise git.failed(done, "Nothing was staged.")
    return []


async def _changed(git: Git) -> list[str]:
    """Tracked files with changes that are not staged."""
    listed = await git.out("ls-files", "-z", "--modified", "--deduplicate")
    return [name for name in os.fsdecode(listed).split("\0") if name]


async def _check_files(git: Git, names: Sequence[str]) -> None:
    """Refuse files that may not be read, and files that are stored through a program that only the repository names.

    Without that program they would be stored as they lie there: for an encrypting one, in the clear."""
    refused = [name for name in names if may_not_read(git.ctx.workspace, git.repository, name)]
    if refused:
        raise ToolError(f"{shown(refused[0])} may not be read, so it is not staged. Nothing was staged. Leave it out.")
    if not names or not (git.repository.filters or git.repository.includes):
        return
    stdin = os.fsencode("\0".join(names))
    answered = os.fsdecode(await git.out("check-attr", "-z", "--stdin", "filter", stdin=stdin)).split("\0")
    drivers = {
        name: driver
        for name, driver in zip(answered[::3], answered[2::3], strict=False)
        if driver not in ("unspecified", "unset", "set")
    }
    own = await _own_filters(git) if drivers else frozenset()
    for name, driver in drivers.items():
        if driver not in own and (driver in git.repository.filters or git.repository.includes):
            raise ToolError(
                f"{shown(name)} is stored through the filter {shown(driver)!r}, a program that the repository's own "
                "configuration names, which is not run here; without it something else would be stored. Nothing was "
                "staged. Ask the person to stage it, or to name the filter in their own git configuration."
            )


async def _own_filters(git: Git) -> frozenset[str]:
    """Filters that the person's own configuration names."""
    done = await git.run("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$")
    keys = os.fsdecode(done.stdout).split("\0")
    return frozenset(key.removeprefix("filter.").rpartition(".")[0] for key in keys if key)


def _hooks(repository: Repository) -> list[str]:
    """Hooks of the repository that a commit would have run."""
    folder = f"{repository.common}/hooks"
    wanted = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
    return [name for name in wanted if os.access(f"{folder}/{name}", os.X_OK)]


def _page(git: Git) -> Page:
    return Page(_SHOWN, 1, partial(may_not_read, git.ctx.workspace, git.repository))
