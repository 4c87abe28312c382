"""The tools of the set git-write. Every call asks, whatever `tool_permission.edit` says, and no answer is remembered."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from pegboard import Context, Reads, Result, ToolError, tool
from pegboard.blocks import Block
from pegboard.calls import Action, Touch
from pegboard.kit.aside import PATH_ALIASES

from pegboard_tools_git.looking import find, looking

# What runs git is imported when a tool is called or asked about.

SECONDS = 120
PUSH_SECONDS = 300
Runs = Iterator[tuple[Literal["run"], str]]


def always_ask(arguments: dict[str, Any]) -> Action:
    """What is staged, committed or sent is the person's to say, each time."""
    return "ask"


# Where there is no repository nobody is asked: the touches look for it.


def _adds(arguments: Any, ctx: Context) -> Runs:
    find(ctx, arguments.paths[0])
    yield "run", shlex.join(["git", "add", "--", *arguments.paths])


def _commits(arguments: Any, ctx: Context) -> Runs:
    if not arguments.message.strip() or "\0" in arguments.message:
        raise ToolError("the message is empty or holds a NUL. Nothing was committed. Say what the commit does.")
    find(ctx, ".")
    yield "run", shlex.join(["git", "commit", *(["--all"] if arguments.all else []), "-m", arguments.message])


def _branches(arguments: Any, ctx: Context) -> Runs:
    find(ctx, ".")
    yield "run", shlex.join(["git", "branch", "--", arguments.name, arguments.start])


def _pushes(arguments: Any, ctx: Context) -> Iterator[Touch]:
    """A push sends: to the addresses that the repository's own configuration has for the remote."""
    from pegboard_tools_git.pushing import addresses

    yield Touch("run", shlex.join(["git", "push", arguments.remote, arguments.branch]).removesuffix(" ''"))
    for address in addresses(find(ctx, "."), arguments.remote):
        yield Touch("net", address, sends=True)


async def _preview_add(arguments: Any, ctx: Context) -> list[Block]:
    from pegboard_tools_git.held import begin
    from pegboard_tools_git.staging import preview_add

    begin(ctx)
    async with looking(ctx, arguments.paths[0], tree=True) as git:
        return await preview_add(git, arguments.paths)


async def _preview_commit(arguments: Any, ctx: Context) -> list[Block]:
    from pegboard_tools_git.held import begin
    from pegboard_tools_git.staging import preview_commit

    begin(ctx)
    async with looking(ctx, ".", tree=True) as git:
        return await preview_commit(git, arguments.message, everything=arguments.all)


async def _preview_push(arguments: Any, ctx: Context) -> list[Block]:
    from pegboard_tools_git.held import begin
    from pegboard_tools_git.pushing import preview_push

    begin(ctx)
    async with looking(ctx) as git:
        return await preview_push(git, arguments.remote, arguments.branch, arguments.set_upstream)


async def _preview_branch(arguments: Any, ctx: Context) -> list[Block]:
    from pegboard_tools_git.held import begin
    from pegboard_tools_git.pushing import preview_branch

    begin(ctx)
    async with looking(ctx) as git:
        return await preview_branch(git, arguments.name, arguments.start)


@tool(
    effect="side_effecting",
    permission="edit",
    permission_fn=always_ask,
    touches=_adds,
    preview=_preview_add,
    preview_runs=True,
    category="write",
    verb="Git add",
    key_arg="paths",
    param_aliases={**dict.fromkeys([*PATH_ALIASES, "path", "files", "pathspec"], "paths")},
    short="stage files",
    timeout=SECONDS,
    examples=["git add {paths}", "stage {paths}", "stage the file {paths}", "add {paths} to the index"],
)
async def git_add(
    paths: Annotated[list[Annotated[str, Reads("File or folder; .: everything")]], msgspec.Meta(min_length=1)],
    ctx: Context,
) -> Result:
    """Stage changes, new and deleted files. Asks the person."""
    from pegboard_tools_git.staging import add

    async with looking(ctx, paths[0], tree=True, writes=True) as git:
        return await add(git, paths)


@tool(
    effect="side_effecting",
    permission="edit",
    permission_fn=always_ask,
    touches=_commits,
    preview=_preview_commit,
    preview_runs=True,
    category="write",
    verb="Git commit",
    key_arg="message",
    aliases=["commit"],
    param_aliases={"msg": "message", "m": "message", "text": "message", "a": "all", "stage_all": "all"},
    short="commit what is staged",
    timeout=SECONDS,
    examples=[
        "git commit {message}",
        "git commit -m {message}",
        "commit with the message {message}",
        "commit the staged changes as {message}",
        "commit {all} as {message}",
        "commit {all} with the message {message}",
        "make a commit {message}",
        "commit {message}",
    ],
)
async def git_commit(
    message: Annotated[str, msgspec.Meta(min_length=1)],
    ctx: Context,
    all: Annotated[bool, "Also unstaged changes of tracked files"] = False,
) -> Result:
    """Commit what is staged (git_add stages). Asks the person; hooks are not run."""
    from pegboard_tools_git.staging import commit

    async with looking(ctx, ".", tree=True, writes=True) as git:
        return await commit(git, message, everything=all)


@tool(
    effect="side_effecting",
    permission="edit",
    permission_fn=always_ask,
    touches=_pushes,
    preview=_preview_push,
    preview_runs=True,
    category="write",
    verb="Git push",
    key_arg="remote",
    param_aliases={"setUpstream": "set_upstream", "u": "set_upstream", "repository": "remote"},
    short="push a branch",
    timeout=PUSH_SECONDS,
    examples=["git push", "push to {remote}", "push {branch} to {remote}", "push the branch {branch}"],
)
async def git_push(
    ctx: Context,
    remote: Annotated[str, "A configured remote"] = "origin",
    branch: Annotated[str, "Default: the current one"] = "",
    set_upstream: bool = False,
) -> Result:
    """Push a branch under its own name; never by force. Asks the person."""
    from pegboard_tools_git.pushing import push

    async with looking(ctx, writes=True) as git:
        return await push(git, remote, branch, set_upstream)


@tool(
    effect="side_effecting",
    permission="edit",
    permission_fn=always_ask,
    touches=_branches,
    preview=_preview_branch,
    preview_runs=True,
    category="write",
    verb="Git branch",
    key_arg="name",
    param_aliases={"branch": "name", "branch_name": "name", "from": "start", "start_point": "start", "base": "start"},
    short="make a branch",
    timeout=SECONDS,
    examples=[
        "git branch {name}",
        "create branch {name}",
        "create a branch called {name}",
        "create a branch called {name} from {start}",
        "create the branch {name} at {start}",
        "make a branch called {name}",
        "make a new branch {name}",
        "make a new branch called {name}",
    ],
)
async def git_branch_create(
    name: str, ctx: Context, start: Annotated[str, "Commit or branch to begin at"] = "HEAD"
) -> Result:
    """Make a branch, without switching to it. Asks the person."""
    from pegboard_tools_git.pushing import create

    async with looking(ctx, writes=True) as git:
        return await create(git, name, start)
