"""git_log, git_show, git_blame: what was committed, when and by whom."""

from __future__ import annotations

from typing import Annotated

import msgspec
from pegboard import Context, Reads, Result, ToolError, tool
from pegboard.kit.aside import PATH_ALIASES

from pegboard_tools_git.looking import (
    REF_ALIASES,
    SECONDS,
    SPEC_ALIASES,
    Offset,
    file_in_ref,
    looking,
    ref_of,
    specs_of,
)

MOST_COMMITS = 40
BLAMED_LINES = 40


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    touches=file_in_ref,
    effect="read_only",
    category="read",
    verb="Git log",
    key_arg="path",
    param_aliases={
        **SPEC_ALIASES,
        **REF_ALIASES,
        "n": "limit",
        "max_count": "limit",
        "maxCount": "limit",
        "count": "limit",
    },
    short="commits, newest first",
    pages=True,
    timeout=SECONDS,
    examples=[
        "git log",
        "git log of {path}",
        "list the latest {limit} commits",
        "show recent commits",
        "the {limit} most recent commits",
        "history of {path}",
        "which commits changed {path}",
        "what was committed lately",
        "who committed last",
        "the log of {ref}",
        "commits on {ref}",
        "date of the latest commit",
    ],
)
async def git_log(
    ctx: Context,
    limit: Annotated[int, msgspec.Meta(description="At most 40", ge=1)] = 15,
    ref: Annotated[str, "Start here; a..b: a range"] = "",
    path: Annotated[str, Reads("Only commits that changed it")] = ".",
    patch: Annotated[bool, "With diffs; of one: git_show"] = False,
) -> Result:
    """Commits, newest first: hash, date, author: subject."""
    from pegboard_tools_git import history

    wanted = ref_of(ref)
    count = min(limit, MOST_COMMITS)
    async with looking(ctx, path) as git:
        specs = specs_of(ctx, git, [path])
        text, data = await history.log(git, count, next(iter(wanted), None), specs)
        if patch and data.commits:
            page = history.page_of(git, ctx.output.caps)
            await history.log_patches(git, count, next(iter(wanted), None), specs, page)
            text = page.result()[0]
            if page.more:
                text += "\n(a smaller limit, a path or git_show of one commit shows the rest)"
    if limit > count and len(data.commits) == count:
        text += f"\n({count} is the most; ref={data.commits[-1].hash[:10]}^ shows older ones)"
    return Result(text=text, data=data)


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    touches=file_in_ref,
    effect="read_only",
    category="read",
    verb="Git show",
    key_arg="ref",
    param_aliases={**SPEC_ALIASES, **REF_ALIASES, "object": "ref", "tag": "ref"},
    short="one commit, with its diff",
    pages=True,
    timeout=SECONDS,
    examples=[
        "git show {ref}",
        "what did commit {ref} change",
        "what is in commit {ref}",
        "display commit {ref}",
        "the diff of commit {ref}",
        "the message of commit {ref}",
        "look at the commit {ref}",
        "details of tag {ref}",
        "show what {ref} changed",
        "show the last commit",
        "what did the last commit change",
        "what changed in the last commit",
    ],
)
async def git_show(
    ctx: Context,
    ref: Annotated[str, "Commit, tag, or HEAD:path"] = "HEAD",
    path: Annotated[str, Reads("Only this")] = ".",
    offset: Offset = 1,
) -> Result:
    """One commit: message, author, diff; or a file as it was."""
    from pegboard_tools_git import history
    from pegboard_tools_git.places import path_in_ref

    wanted, content = ref_of(ref or "HEAD")[0], path_in_ref(ref) is not None
    async with looking(ctx, path) as git:
        page = history.page_of(git, ctx.output.caps, offset, files=not content)
        await history.show(git, wanted, specs_of(ctx, git, [path]), page, content=content)
    text, data = page.result()
    return Result(text=text or f"{ref} has nothing to show.", data=data)


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    category="read",
    verb="Git blame",
    param_aliases={
        **PATH_ALIASES,
        **REF_ALIASES,
        "startLine": "start_line",
        "endLine": "end_line",
        "start": "start_line",
        "end": "end_line",
    },
    short="who last changed each line",
    pages=True,
    timeout=SECONDS,
    examples=[
        "git blame {path}",
        "blame {path}",
        "who wrote {path}",
        "who changed the lines of {path}",
        "who last touched line {start_line} of {path}",
        "who wrote lines {start_line} to {end_line} of {path}",
        "which commit introduced line {start_line} of {path}",
        "annotate {path}",
        "when was line {start_line} of {path} written",
        "the authors of {path} line by line",
    ],
)
async def git_blame(
    path: Annotated[str, Reads()],
    ctx: Context,
    start_line: Annotated[int, "0: whole file; without end_line: 40 lines"] = 0,
    end_line: int = 0,
    ref: Annotated[str, "As of this commit"] = "",
) -> Result:
    """Who last changed each line, and when."""
    from pegboard_tools_git.history import blame

    wanted = next(iter(ref_of(ref)), None)
    start_line, end_line = max(start_line, 0), max(end_line, 0)
    last = start_line + BLAMED_LINES - 1 if start_line and not end_line else end_line
    if last and last < start_line:
        raise ToolError(f"end_line {last} is before start_line {start_line}. Nothing was run.")
    async with looking(ctx, path, tree=not ref) as git:
        specs = specs_of(ctx, git, [path])
        if not specs:
            raise ToolError(f"{path} is a folder, and lines of one file can be blamed. Nothing was run.")
        at = git.repository.workspace_path(specs[0])
        text, data = await blame(git, specs[0], at, wanted, start_line or 1, last or None, ctx.output.caps)
    return Result(text=text, data=data)
