"""`code_lint` and `code_format`: run the linter and the formatter of a project."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pegboard.calls import Result
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.errors import DoorError
from pegboard.kit.names import shown
from pegboard.touches import Lists, Reads

from pegboard_tools_dev.running import ALIASES, Timeout, judged, preview, run, told
from pegboard_tools_dev.targets import paths_of

if TYPE_CHECKING:
    from pegboard.kit.handles import Stamp
    from pegboard.kit.process import Finished
    from pegboard.kit.workspace import Workspace

MOST_FILES = 5_000
"""Files that are looked at before and after formatting, to say which were changed."""
_MOST_NAMED = 20


class Tidied(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a linter or formatter. `changed`: files that it changed; null where that is not known.
    exit_code is null when a signal ended it, which `signal` names."""

    command: str
    exit_code: int | None
    signal: str | None
    stdout: str
    stderr: str
    changed: list[str] | None = None


def _lints(arguments: Any, ctx: Context) -> Iterator[tuple[Any, str]]:
    from pegboard_tools_dev import commands

    yield "run", commands.tidying("lint", arguments, ctx)


def _formats(arguments: Any, ctx: Context) -> Iterator[tuple[Any, str]]:
    from pegboard_tools_dev import commands

    if not arguments.check:
        yield from (("edit", path) for path in paths_of(arguments.path))
    yield "run", commands.tidying("format", arguments, ctx, check=arguments.check)


@tool(
    touches=_lints,
    kinds=["run"],
    permission="bash",
    category="exec",
    verb="Lint",
    aliases=["lint"],
    param_aliases=ALIASES,
    short="run the linter",
    key_arg="path",
    echo=True,
    pages=True,
    keep="ends",
    preview=preview,
    examples=[
        "lint the code",
        "lint {path}",
        "run the linter",
        "run the linter on {path}",
        "check the code style",
        "check {path} for lint errors",
        "are there any lint warnings",
        "lint the project",
    ],
)
async def code_lint(
    ctx: Context,
    path: Annotated[str | list[str] | None, Reads("Files or folders; default: all")] = None,
    timeout: Timeout | None = None,
    cwd: Annotated[str, Lists("Folder of the project")] = ".",
) -> Result:
    """Run the project's linter. It changes nothing, unless it is set up to fix."""
    before = await asyncio.to_thread(_stamps, ctx.workspace, cwd)
    done = await run(ctx, cwd, timeout)
    changed = _changed(before, await asyncio.to_thread(_stamps, ctx.workspace, cwd))
    return _result(ctx, cwd, done, [_changes(changed)] if changed else [], changed)


@tool(
    touches=_formats,
    kinds=["run"],
    permission="bash",
    category="exec",
    verb="Format",
    aliases=["format_code"],
    param_aliases={**ALIASES, "dry_run": "check", "dryRun": "check", "check_only": "check"},
    short="run the formatter",
    key_arg="path",
    echo=True,
    pages=True,
    keep="ends",
    preview=preview,
    examples=[
        "format the code",
        "reformat the code",
        "format {path}",
        "run the formatter",
        "run the formatter on {path}",
        "reformat {path}",
        "format the whole project",
        "{check} the format of the project",
        "format {check}",
    ],
)
async def code_format(
    ctx: Context,
    path: Annotated[str | list[str] | None, Reads("Files or folders; default: all")] = None,
    check: Annotated[bool, msgspec.Meta(description="Only say what would change")] = False,
    timeout: Timeout | None = None,
    cwd: Annotated[str, Lists("Folder of the project")] = ".",
) -> Result:
    """Run the project's formatter, which rewrites files; undo does not cover it."""
    before = None if check else await asyncio.to_thread(_stamps, ctx.workspace, cwd)
    done = await run(ctx, cwd, timeout)
    if check:
        return _result(ctx, cwd, done, ["nothing was changed"], None)
    changed = _changed(before, await asyncio.to_thread(_stamps, ctx.workspace, cwd))
    if changed is None:
        return _result(ctx, cwd, done, ["files may have changed; undo does not cover that"], None)
    return _result(ctx, cwd, done, [_changes(changed)], changed)


def _changed(before: dict[str, Stamp] | None, after: dict[str, Stamp] | None) -> list[str] | None:
    """Files that are not as they were, or gone; None where that is not known."""
    if before is None or after is None:
        return None
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def _changes(changed: list[str]) -> str:
    if not changed:
        return "no file was changed"
    more = f" and {len(changed) - _MOST_NAMED} more" if len(changed) > _MOST_NAMED else ""
    return f"changed: {', '.join(changed[:_MOST_NAMED])}{more}; undo does not cover that"


def _result(ctx: Context, cwd: str, done: Finished, notes: list[str], changed: list[str] | None) -> Result:
    argv = judged(ctx)
    text = told(argv, cwd, ctx.output.close().text, done, notes)
    data = Tidied(
        command=shlex.join(argv),
        exit_code=done.exit_code,
        signal=done.signal,
        stdout=ctx.output.stream("stdout"),
        stderr=ctx.output.stream("stderr"),
        changed=changed,
    )
    return Result(text=text, data=data)


def _stamps(workspace: Workspace, cwd: str) -> dict[str, Stamp] | None:
    """What tells states of the files below a folder apart, those that ignore files hide aside; None: too many to look at."""
    from pegboard.kit.handles import Stamp
    from pegboard.kit.walk.ignore import top_scope
    from pegboard.kit.walk.walker import Rules, walk

    start = "" if cwd == "." else workspace.place(cwd).at
    if start.startswith("/"):
        return None
    parts = os.fsencode(start).split(b"/") if start else []
    scope = top_scope(workspace.root).descend(parts)
    names = walk(os.fsencode(workspace.root), os.fsencode(start), scope, Rules(), lambda path, error: None)
    found: dict[str, Stamp] = {}
    for name in islice(names, MOST_FILES + 1):
        try:
            info = workspace.stat(os.fsdecode(name))
        except DoorError:
            continue
        if info is not None:
            found[shown(os.fsdecode(name))] = Stamp.of(info)
    return found if len(found) <= MOST_FILES else None
