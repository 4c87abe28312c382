"""Pushing a branch and making one: which refs would move, from where to where."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

import msgspec
from pegboard.blocks import Block, Note, Text
from pegboard.calls import Result
from pegboard.errors import Pointless, ToolError
from pegboard.kit.names import shown
from pegboard.kit.refusals import changed_error

from pegboard_tools_git.held import check_begun, hold
from pegboard_tools_git.history import QUIET, commit_at
from pegboard_tools_git.repository import Repository
from pegboard_tools_git.safely import Git, checked_ref, within
from pegboard_tools_git.settings import WriteSettings

_MOST_SHOWN = 20
_SCP = re.compile(r"(?!.*://)[^/:]+:(?!:)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class Pushed(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_push."""

    remote: str
    branch: str
    hash: str
    upstream: bool


class Created(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of git_branch_create."""

    name: str
    hash: str


def addresses(repository: Repository, remote: str) -> list[str]:
    """The addresses that the repository's configuration has for pushing to a remote, without passwords.

    Raises:
        ToolError: there is no such remote. Nothing was run.
    """
    values: dict[str, list[str]] = {"url": [], "pushurl": []}
    for setting in repository.settings:
        if setting.section == "remote" and setting.name == remote and setting.key in values and setting.value:
            values[setting.key].append(setting.value)
    found = values["pushurl"] or values["url"]
    if not found or remote.startswith("-"):
        names = sorted({shown(s.name) for s in repository.settings if s.section == "remote" and s.name})
        raise ToolError(
            f"there is no remote {remote!r} with an address. Nothing was pushed. Remotes: {', '.join(names) or 'none'}."
        )
    return [_without_password(shown(address)) for address in found]


def _without_password(address: str) -> str:
    """An address as it may be shown: of ssh the user stays, elsewhere a user may be a token."""
    if protocol_of(address) == "ssh":
        return re.sub(r"^([a-z+]+://[^/@:]*):[^/@]*@", r"\1@", address, flags=re.IGNORECASE)
    return re.sub(r"^([a-z][a-z0-9+.-]*://)[^/@]*@", r"\1", address, flags=re.IGNORECASE)


def protocol_of(address: str) -> str:
    """`https`, `ssh`, `file`, ...: how git would reach an address; `ext` and the like for other programs."""
    if (scheme := re.match(r"([A-Za-z0-9][A-Za-z0-9+.-]*)://", address)) is not None:
        name = scheme[1].lower()
        return {"git+ssh": "ssh", "ssh+git": "ssh"}.get(name, name)
    if (helper := re.match(r"([A-Za-z0-9][A-Za-z0-9+.-]*)::", address)) is not None:
        return helper[1].lower()
    return "ssh" if _SCP.match(address) and not _DRIVE.match(address) else "file"


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A push: the branch's ref and commit, and where it goes. `old`: the remote's, as last seen here; None if unknown."""

    branch: str
    ref: str
    hash: str
    urls: list[str]
    old: str | None


async def _plan(git: Git, remote: str, branch: str) -> _Plan:
    addresses(git.repository, remote)
    if not branch:
        done = await git.run("symbolic-ref", "--quiet", "--short", "HEAD")
        branch = os.fsdecode(done.stdout).strip()
        if not branch:
            raise ToolError("HEAD is detached, so there is no current branch. Nothing was pushed. Name the branch.")
    checked_ref(branch)
    ref = f"refs/heads/{branch}"
    commit = await commit_at(git, ref)
    if commit is None or (await git.run("check-ref-format", ref)).exit_code != 0:
        raise ToolError(f"there is no branch {branch!r} with a commit. Nothing was pushed. git_branch lists branches.")
    urls = os.fsdecode(await git.out("remote", "get-url", "--push", "--all", "--", remote)).splitlines()
    if len(urls) > 1:
        raise ToolError(
            f"the remote {remote!r} has {len(urls)} addresses to push to, and one could take what the next refuses. "
            "Nothing was pushed. Ask the person to push, or name a remote with one address."
        )
    for url in urls:
        _check_address(git, url, _protocols(git))
    old = await commit_at(git, f"refs/remotes/{remote}/{branch}")
    return _Plan(branch=branch, ref=ref, hash=commit, urls=urls, old=old)


def _protocols(git: Git) -> Sequence[str]:
    settings = git.ctx.settings if isinstance(git.ctx.settings, WriteSettings) else WriteSettings()
    return settings.push_protocols


def _check_address(git: Git, url: str, allowed: Sequence[str]) -> None:
    protocol = protocol_of(url)
    if protocol not in allowed:
        raise ToolError(
            f"{_without_password(shown(url))} is reached by {protocol!r}, which is not among `git-write.push_protocols` "
            f"({', '.join(allowed)}). Nothing was pushed. Ask the person to push."
        )
    if protocol != "file":
        return
    for place in _served(git.repository.top, url):
        if within(git.ctx.workspace.root, place):
            raise ToolError(
                f"{shown(url)} lies in the workspace: what it holds may have come with a clone, and its hooks would be "
                "run. Nothing was pushed. Ask the person to push."
            )
        if os.path.exists(place) and hasattr(os, "geteuid") and os.stat(place).st_uid not in (os.geteuid(), 0):
            raise ToolError(
                f"{shown(url)} belongs to another user, whose hooks would be run. Nothing was pushed. "
                "Ask the person to push."
            )


def _served(top: str, url: str) -> list[str]:
    """Every folder and file, by its real path, that git may find a repository at for an address on this machine.

    A URL is decoded, and what stands for a host in it is passed over, or is a part of the path; then a home is looked
    for, endings are tried, and a `.git` file is followed.
    """
    paths = [url]
    if (scheme := re.match(r"[A-Za-z0-9][A-Za-z0-9+.-]*://", url)) is not None:
        path = os.fsdecode(unquote_to_bytes(os.fsencode(url[scheme.end() :])))
        paths = [f"//{path}", f"/{path.partition('/')[2]}"]
    places = []
    for base in dict.fromkeys((*paths, *map(os.path.expanduser, paths))):
        for ending in ("", "/.git", ".git", ".git/.git", "/.git/.git"):
            place = os.path.realpath(os.path.join(top, base + ending))
            if ending in ("", ".git") or os.path.exists(place):
                places.append(place)
            if os.path.isfile(place):
                with open(place, "rb") as file:
                    line = os.fsdecode(file.read(1 << 13)).split("\n", 1)[0].removeprefix("gitdir:").strip()
                places.append(os.path.realpath(os.path.join(os.path.dirname(place), line)))
    return places


def _noted(plan: _Plan) -> dict[str, str]:
    """What a person agrees to in a push, under the names by which an error tells of it."""
    return {"the branch": plan.ref, "the commit": plan.hash, "where it goes": "\n".join(plan.urls)}


async def preview_push(git: Git, remote: str, branch: str, set_upstream: bool) -> list[Block]:
    """Which ref moves from where to where, and the commits that go.

    Raises:
        Pointless: as far as is known here, the remote has them, and nothing else is to be done.
    """
    plan = await _plan(git, remote, branch)
    common = git.repository.common
    says = (f"{git.repository.gitdir}/HEAD", f"{common}/packed-refs", f"{common}/{plan.ref}", f"{common}/config")
    hold(git.ctx, says)  # what the branch is at, and where it goes
    wanted = f"{plan.old}..{plan.hash}" if plan.old else plan.hash
    exclude = [] if plan.old else ["--not", f"--remotes={remote}"]
    form = "--format=tformat:%h %s"
    listed = await git.out("log", *QUIET, form, f"--max-count={_MOST_SHOWN + 1}", wanted, *exclude, "--")
    commits = shown(os.fsdecode(listed)).splitlines()
    count = (await git.out("rev-list", "--count", wanted, *exclude, "--")).decode().strip()
    if plan.old and count == "0" and (plan.old != plan.hash or not set_upstream or _follows(git, plan.branch, remote)):
        raise Pointless(
            f"{remote}/{plan.branch}, as last seen, is at {plan.old[:7]} and has all of {plan.branch} ({plan.hash[:7]}). "
            "Nothing was pushed. If the remote is not like that any more, ask the person to fetch."
        )
    was = f"{plan.old[:7]} (as last seen)" if plan.old else "not seen there yet"
    lines = [f"{plan.branch} {plan.hash[:7]} -> {remote}/{plan.branch}, {was}"]
    lines += [f"to {_without_password(shown(url))}" for url in plan.urls]
    lines.append(f"{count} commits ahead:" if count != "1" else "1 commit ahead:")
    lines += commits[:_MOST_SHOWN] + (["..."] if len(commits) > _MOST_SHOWN else [])
    blocks: list[Block] = [Text(title="would be pushed", text="\n".join(lines))]
    if set_upstream:
        blocks.append(Note(text=f"{plan.branch} will follow {remote}/{plan.branch}"))
    git.ctx.workspace.notes.update(_noted(plan))  # last: what fails before it has shown nothing (`check_begun`)
    return blocks


async def push(git: Git, remote: str, branch: str, set_upstream: bool) -> Result:
    """Push one branch under its own name."""
    async with git.ctx.commit() as files:
        files.all_there_is = True  # which is none
        files.check_shown()
        plan = await _plan(
            git, remote, branch
        )  # first: what is wrong with the push says more than that it was not shown
        check_begun(files, "the commit")
        for what, now in _noted(plan).items():
            if files.noted.get(what, now) != now:
                raise changed_error(what)
        options = ["--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no"]
        protocols = ":".join(_protocols(git))
        done = await git.run("push", *options, "--", remote, f"{plan.hash}:{plan.ref}", protocols=protocols)
        if done.exit_code != 0:
            said = "\n".join(line for line in shown(os.fsdecode(done.stdout)).splitlines() if line.startswith("!"))
            lost = "remote fail" in said or b"hung up" in done.stderr  # it may have done it, and not have said so
            after = "Whether the remote was changed is not known." if lost else "The remote was not changed."
            text = str(git.failed(done, f"{said}\n{after}".strip()))
            for url in plan.urls:
                text = text.replace(shown(url), _without_password(shown(url)))
            raise ToolError(text)
        if set_upstream:
            await _follow(git, plan.branch, remote)
    moved = _moved(os.fsdecode(done.stdout), plan)
    text = f"Pushed {plan.branch} to {remote}: {moved}"
    if set_upstream:
        text += f"\n{plan.branch} follows {remote}/{plan.branch}"
    return Result(text=text, data=Pushed(remote=remote, branch=plan.branch, hash=plan.hash, upstream=set_upstream))


def _moved(printed: str, plan: _Plan) -> str:
    """What the remote said of the ref: `new -> 1a2b3c4`, `0f0f0f0 -> 1a2b3c4`, or that it had it."""
    line = re.search(r"^([ =*+-])\t[^\t]*\t(?:([0-9a-f]{4,})\.\.)?", printed, flags=re.MULTILINE)
    if line is not None and line[1] == "=":
        return "was up to date already"
    return f"{line[2][:7] if line is not None and line[2] else 'new'} -> {plan.hash[:7]}"


def _follows(git: Git, branch: str, remote: str) -> bool:
    """Whether the branch follows the one of its name there."""
    section = [s for s in git.repository.settings if s.section == "branch" and s.name == branch]
    values = {setting.key: setting.value for setting in section}
    return (values.get("remote"), values.get("merge")) == (remote, f"refs/heads/{branch}")


async def _follow(git: Git, branch: str, remote: str) -> None:
    """Write the upstream into the repository's own configuration: the one that git itself sees is a stand-in."""
    file = f"{git.repository.common}/config"
    for key, value in (("remote", remote), ("merge", f"refs/heads/{branch}")):
        done = await git.run("config", "--file", file, "--replace-all", f"branch.{branch}.{key}", value)
        if done.exit_code != 0:
            raise git.failed(done, f"{branch} was pushed, and does not follow {remote}/{branch}. Do not push again.")


async def preview_branch(git: Git, name: str, start: str) -> list[Block]:
    """Which branch would be made, and where.

    Raises:
        Pointless: there is one of that name, that is no name for one, or there is nothing that it could begin at.
    """
    full = git.ctx.workspace.notes["start"] = await _start(git, name, start)
    subject = shown(os.fsdecode(await git.out("log", *QUIET, "--max-count=1", "--format=%s", full, "--"))).strip()
    return [Text(title="would be made", text=f"branch {name} at {full[:7]} {subject}")]


async def _start(git: Git, name: str, start: str) -> str:
    """The commit a new branch begins at."""
    if name.startswith("-") or (await git.run("check-ref-format", "--branch", name)).exit_code != 0:
        raise Pointless(
            f"{name!r} is no name for a branch. Nothing was made. Leave out blanks, two dots, ~ ^ : ? * [ and a dash at "
            "the beginning."
        )
    if (at := await commit_at(git, f"refs/heads/{name}")) is not None:
        raise Pointless(f"there is a branch {name} already, at {at[:7]}. No branch was made. Choose another name.")
    done = await git.run("rev-parse", "--verify", f"{checked_ref(start)}^{{commit}}")
    if done.exit_code != 0:
        raise Pointless(str(git.failed(done, "No branch was made.")))
    return done.stdout.decode("ascii", "replace").strip()


async def create(git: Git, name: str, start: str) -> Result:
    """Make the branch. The work tree stays as it is."""
    async with git.ctx.commit() as files:
        files.all_there_is = True  # which is none
        full = await _start(git, name, start)
        check_begun(files, "start")
        if files.noted.get("start", full) != full:
            raise changed_error(start)
        done = await git.run("branch", "--no-track", "--", name, full)
        if done.exit_code != 0:
            raise git.failed(done, "No branch was made.")
    return Result(text=f"Made the branch {name} at {full[:7]}.", data=Created(name=name, hash=full))
