"""git_status, git_diff, git_branch, git_rev_parse, and how every tool of the set comes to its repository: the one that its
path lies in, the workspace root's where none is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pegboard import Context, Lists, Reads, Result, ToolError, tool
from pegboard.kit.aside import PATH_ALIASES

if TYPE_CHECKING:
    from pegboard_tools_git.repository import Repository
    from pegboard_tools_git.safely import Git

# What runs git is imported when a tool is called.

SECONDS = 60
REF_ALIASES = {
    "commit": "ref",
    "revision": "ref",
    "rev": "ref",
    "sha": "ref",
    "hash": "ref",
    "branch": "ref",
    "target": "ref",
}
_FOLDER_ALIASES = {**PATH_ALIASES, "cwd": "path", "directory": "path", "dir": "path", "folder": "path", "repo": "path"}
SPEC_ALIASES = {**PATH_ALIASES, "pathspec": "path", "paths": "path", "files": "path"}
Offset = Annotated[int, "First line"]


def find(ctx: Context, path: str) -> Repository:
    """The repository a path lies in, under this set's settings."""
    from pegboard_tools_git import repository

    return repository.find(ctx.workspace, path, outside=bool(getattr(ctx.settings, "worktree_outside", False)))


@asynccontextmanager
async def looking(ctx: Context, path: str = ".", *, tree: bool = False, writes: bool = False) -> AsyncIterator[Git]:
    """Git for the repository a path lies in. `tree`: it must have a work tree. `writes`: git may change it."""
    from pegboard_tools_git.safely import opened

    repository = find(ctx, path)
    if tree and repository.bare:
        raise ToolError(
            f"{ctx.workspace.root} is a bare repository: it has no work tree. Nothing was run. "
            "git_log and git_show work in it."
        )
    async with opened(ctx, repository, writes=writes) as git:
        yield git


def specs_of(ctx: Context, git: Git, paths: Sequence[str]) -> list[str]:
    from pegboard_tools_git.places import pathspecs

    return pathspecs(ctx.workspace, git.repository, paths)


def listed(path: str | list[str]) -> list[str]:
    return [path] if isinstance(path, str) else path or ["."]


def file_in_ref(arguments: Any, ctx: Context) -> Iterator[tuple[Literal["read"], str]]:
    """A revision may name a file's content (`HEAD:a.py`): that file is read."""
    from pegboard_tools_git.places import path_in_ref

    inner = path_in_ref(arguments.ref)
    if inner is not None:
        top = find(ctx, listed(arguments.path)[0]).at
        yield "read", f"{top}/{inner}" if inner else top


def ref_of(ref: str) -> list[str]:
    """The revision as an argument; none where it is empty."""
    from pegboard_tools_git.safely import checked_ref

    return [checked_ref(ref)] if ref else []


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    category="read",
    verb="Git status",
    param_aliases=_FOLDER_ALIASES,
    short="what is changed, staged, untracked",
    pages=True,
    timeout=SECONDS,
    examples=[
        "git status",
        "which files are modified",
        "which branch am I on",
        "are there untracked files",
        "is there anything to commit",
        "have I got changes that are not committed",
        "is everything committed",
        "show the state of the repository",
        "are there merge conflicts",
        "is the checkout clean",
        "git status of {path}",
    ],
)
async def git_status(ctx: Context, path: Annotated[str, Lists("File or folder")] = ".") -> Result:
    """Branch, and which files are changed, staged, untracked. The changes: git_diff."""
    from pegboard_tools_git.status import status

    async with looking(ctx, path, tree=True) as git:
        text, data = await status(git, specs_of(ctx, git, [path]), ctx.output.caps)
    return Result(text=text, data=data)


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    touches=file_in_ref,
    effect="read_only",
    category="read",
    verb="Git diff",
    key_arg="path",
    param_aliases={**SPEC_ALIASES, **REF_ALIASES, "cached": "staged", "base": "ref"},
    short="changes as a unified diff",
    pages=True,
    timeout=SECONDS,
    examples=[
        "git diff",
        "git diff {path}",
        "what are my changes",
        "diff of {path}",
        "how does {path} differ from {ref}",
        "diff against {ref}",
        "show the {staged} changes",
        "which changes are {staged}",
        "compare {ref} with {ref}",
        "what is different from the last commit",
        "diff between {ref} and {ref}",
        "what changed between {ref} and {ref}",
    ],
)
async def git_diff(
    ctx: Context,
    ref: Annotated[str, "Compare with this commit, or a..b"] = "",
    staged: bool = False,
    path: Annotated[str | list[str], Reads("Only these")] = ".",
    offset: Offset = 1,
) -> Result:
    """Unstaged changes, or as ref and staged say. Of one commit: git_show."""
    from pegboard_tools_git.history import check_commits, page_of, paged
    from pegboard_tools_git.places import path_in_ref
    from pegboard_tools_git.safely import DIFF

    paths = listed(path)
    wanted = ref_of(ref)
    if path_in_ref(ref) is not None:
        raise ToolError(f"{ref} names a file, and git_diff compares commits. Nothing was run. Give the file as path.")
    async with looking(ctx, paths[0], tree=not ref) as git:
        page = page_of(git, ctx.output.caps, offset)
        specs = specs_of(ctx, git, paths)
        if ref:
            await check_commits(git, ref)
        await paged(git, ["diff", *DIFF, *(["--cached"] if staged else []), *wanted, "--", *specs], page)
    text, data = page.result()
    return Result(text=text or _nothing(ref, staged), data=data)


def _nothing(ref: str, staged: bool) -> str:
    if ref:
        return f"No difference from {ref}."
    return (
        "Nothing is staged." if staged else "No unstaged changes. (staged=true shows staged ones; git_status lists all)"
    )


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    category="read",
    verb="Git branch",
    param_aliases=_FOLDER_ALIASES,
    short="branches",
    timeout=SECONDS,
    examples=[
        "git branch",
        "list the branches",
        "which branches are there",
        "show all branches",
        "what branches exist on the remote",
        "which branch is ahead",
    ],
)
async def git_branch(ctx: Context, path: Annotated[str, Lists("A path in the repository")] = ".") -> Result:
    """Branches, newest first, and what they follow; `*` is the current one."""
    from pegboard_tools_git.history import branches

    async with looking(ctx, path) as git:
        text, data = await branches(git)
    return Result(text=text, data=data)


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    touches=file_in_ref,
    effect="read_only",
    category="read",
    verb="Git rev-parse",
    key_arg="ref",
    param_aliases={**_FOLDER_ALIASES, **REF_ALIASES},
    short="the hash of a revision",
    timeout=SECONDS,
    examples=["git rev-parse {ref}", "the full hash of {ref}", "which commit is {ref}", "resolve the revision {ref}"],
)
async def git_rev_parse(
    ctx: Context,
    ref: Annotated[str, "Branch, tag, short hash, HEAD~2"] = "HEAD",
    path: Annotated[str, Lists("A path in the repository")] = ".",
) -> str:
    """The full hash that a revision stands for."""
    from pegboard_tools_git.history import resolve

    wanted = ref_of(ref or "HEAD")[0]
    async with looking(ctx, path) as git:
        return await resolve(git, wanted)
