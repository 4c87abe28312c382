"""`list_dir`: what lies in a folder, as a tree."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import msgspec
from pegboard import Context, Lists, Result, tool
from pegboard.kit.aside import FOLDER_ALIASES, HIDDEN_ALIASES, apart
from pegboard.kit.walk.listing import ListQuery, list_folder
from pegboard.kit.walk.tree import Folder

ALIASES = {**FOLDER_ALIASES, "dir_path": "path", **HIDDEN_ALIASES, "all": "include_hidden"}
"""Of tools that look into folders."""


@tool(
    replay="safe",
    overlap="parallel",
    aliases=["ls", "list_directory"],
    param_aliases={**ALIASES, "max_depth": "depth", "levels": "depth"},
    category="read",
    glyph="*",
    verb="List",
    short="list a folder",
    pages=True,
    examples=[
        "list the folder {path}",
        "what is in the folder {path}",
        "list the directory {path}",
        "what is in here",
        "which files are there",
        "show the tree of {path}",
        "show the folder structure",
        "what lies in {path}",
        "show everything below {path}",
        "ls {path}",
        "list {path}, {depth} levels deep",
    ],
)
async def list_dir(
    ctx: Context,
    path: Annotated[str, Lists("Folder")] = ".",
    depth: Annotated[int, msgspec.Meta(description="Levels", ge=1, le=6)] = 2,
    include_hidden: bool = False,
    include_ignored: bool = False,
) -> Annotated[Result, Folder]:
    """List a folder as a tree, with sizes."""
    query = ListQuery(path=path, depth=depth, include_hidden=include_hidden, include_ignored=include_ignored)
    listing = await apart(partial(list_folder, ctx.workspace, query, ctx.config.search))
    listing.fit(ctx.output.caps)
    return Result(text=listing.text(), data=listing.data())
