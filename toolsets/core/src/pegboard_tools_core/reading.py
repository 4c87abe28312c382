"""`read_file`: a window of a text file, through the workspace's door."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from pegboard import Context, Reads, Result, ToolError, tool
from pegboard.errors import DoorError
from pegboard.kit.aside import PATH_ALIASES, apart
from pegboard.kit.handles import BLOCK
from pegboard.kit.reading import read_shown


@tool(
    replay="safe",
    overlap="parallel",
    aliases=["file_read", "read", "view", "read_file_range"],
    param_aliases={**PATH_ALIASES, "start_line": "offset", "max_lines": "limit"},
    category="read",
    short="read a file",
    pages=True,
    examples=[
        "take a look at {path}",
        "view the file {path}",
        "the first {limit} lines of {path}",
        "open {path}",
        "print {path}",
        "cat {path}",
        "read the file {path}",
        "what is in {path}",
        "what is in the file {path}",
        "display the content of {path}",
        "let me see {path}",
        "read {limit} lines of {path} from line {offset}",
    ],
)
async def read_file(
    path: Annotated[str, Reads("File, relative to the workspace root")],
    ctx: Context,
    offset: Annotated[int, msgspec.Meta(description="First line", ge=1)] = 1,
    limit: Annotated[int, msgspec.Meta(description="Most lines; 0: only the counts", ge=0)] = 2000,
) -> Result:
    """Read a text file as `N: line`, below a header with the counts of the whole."""
    try:
        info = ctx.workspace.stat(path)
        small = info is None or info.st_size <= BLOCK
        work = partial(read_shown, ctx.workspace, path, offset=offset, limit=limit, caps=ctx.output.caps, seen=ctx.seen)
        shown = work() if small else await apart(work)
        if shown.seen is not None:
            ctx.seen.put(shown.seen)
        return Result(text=shown.text, data=shown.data)
    except DoorError as error:
        if error.reason != "folder":
            raise
        if error.path == ".":  # nobody means the root by a file: a name was lost on the way
            text = f"{path} is the workspace root, a folder. Name a file; see what there is with glob: pattern=*"
            raise ToolError(text) from None
    listing = await ctx.call("list_dir", path=path)
    if listing.outcome == "ok":
        return Result(text=listing.text, data=listing.data)
    raise ToolError(f"{path} is a folder, not a file. See what is in it with glob: pattern=*, path={path}")
