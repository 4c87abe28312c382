"""`glob` and `grep`: find files by name, and lines by pattern."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.kit import walk  # its `glob` and `grep` are imported when they are first called
from pegboard.kit.aside import FOLDER_ALIASES, HIDDEN_ALIASES
from pegboard.kit.walk import GlobQuery, Hits, Paths, Query
from pegboard.kit.walk.telling import Telling
from pegboard.touches import Lists, Reads

_REGEX = {"format": "regex"}
_REGEX_DEFAULT = {"default": "`true`, unless `search.grep_default` says otherwise"}  # told in docs, not to the model
_GLOB = {"format": "glob"}
_HIDDEN = msgspec.Meta(description="Also dot files")
_IGNORED = msgspec.Meta(description="Also what .gitignore hides")
_FOLDER_ALIASES = {**FOLDER_ALIASES, "cwd": "path"}


def _negated(value: Any) -> Any:
    """For a parameter that says the opposite in another dialect; what is neither true nor false is left as it is."""
    match str(value).strip().lower():
        case "true" | "1":
            return False
        case "false" | "0":
            return True
    return value


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    category="search",
    aliases=["find_files", "glob_files"],
    param_aliases={
        **_FOLDER_ALIASES,
        **HIDDEN_ALIASES,
        "glob": "pattern",
        "glob_pattern": "pattern",
        "respect_git_ignore": ("include_ignored", _negated),
        "max_results": "limit",
        "head_limit": "limit",
    },
    glyph="*",
    verb="Glob",
    short="find files by name",
    key_arg="pattern",
    pages=True,
    examples=[
        "which files match {pattern}",
        "what files match {pattern} in {path}",
        "files matching {pattern}",
        "glob {pattern}",
        "locate {pattern}",
        "where is the file {pattern}",
        "are there any {pattern} files",
        "show the {pattern} files in {path}",
        "list all {pattern}",
        "the newest {limit} files that match {pattern}",
        "is there a file called {pattern}",
        "look for files named like {pattern} below {path}",
    ],
)
async def glob(
    pattern: Annotated[str, msgspec.Meta(description="* ? ** [..] {a,b}", extra_json_schema=_GLOB)],
    ctx: Context,
    path: Annotated[str, Lists("Folder to search")] = ".",
    limit: Annotated[int, msgspec.Meta(description="Most paths", ge=1)] | None = None,
    sort: Annotated[Literal["path", "mtime"], msgspec.Meta(description="mtime: newest first")] = "path",
    include_hidden: Annotated[bool, _HIDDEN] = False,
    include_ignored: Annotated[bool, _IGNORED] = False,
) -> Paths:
    """Find files by a path pattern. `**/` reaches into subfolders."""
    query = GlobQuery(
        pattern=pattern,
        path=path,
        limit=limit,
        sort=sort,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
    )
    run = partial(ctx.run, quiet=True)
    return await walk.glob(ctx.workspace, query, ctx.config.search, run=run, caps=ctx.output.caps)


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    category="search",
    aliases=["rg", "ripgrep", "grep_search"],
    param_aliases={
        **_FOLDER_ALIASES,
        **HIDDEN_ALIASES,
        "query": "pattern",
        "regexp": "pattern",
        "search": "pattern",
        "file": "path",
        "file_path": "path",
        "glob": "include",
        "include_pattern": "include",
        "file_pattern": "include",
        "case_insensitive": "ignore_case",
        "-i": "ignore_case",
        "case_sensitive": ("ignore_case", _negated),
        "fixed": ("regex", _negated),
        "fixed_strings": ("regex", _negated),
        "literal": ("regex", _negated),
        "is_regex": "regex",
        "respect_git_ignore": ("include_ignored", _negated),
        "mode": "output_mode",
    },
    glyph="*",
    verb="Grep",
    short="search file contents",
    key_arg="pattern",
    pages=True,
    examples=[
        "where is {pattern} used",
        "where is {pattern} defined",
        "grep for {pattern}",
        "grep {pattern} in {path}",
        "which files mention {pattern}",
        "look for {pattern} in the source",
        "search {path} for {pattern}",
        "search the {include} files for {pattern}",
        "does anything use {pattern}",
        "show me the lines with {pattern}",
        "which lines contain {pattern}",
        "how often does {pattern} occur",
    ],
)
async def grep(
    pattern: Annotated[str, msgspec.Meta(description="Regular expression", extra_json_schema=_REGEX)],
    ctx: Context,
    path: Annotated[str, Reads("File or folder")] = ".",
    include: Annotated[
        str,
        msgspec.Meta(description="Only files like *.py or src/**/*.ts; !: all but", extra_json_schema=_GLOB),
    ] = "",
    ignore_case: bool = False,
    regex: Annotated[
        bool | None, msgspec.Meta(description="false: the pattern is plain text", extra=_REGEX_DEFAULT)
    ] = None,
    output_mode: Literal["content", "files", "count"] = "content",
    include_hidden: Annotated[bool, _HIDDEN] = False,
    include_ignored: Annotated[bool, _IGNORED] = False,
) -> Hits:
    """Search file contents line by line: `path:line: text`."""
    query = Query(
        pattern=pattern,
        path=path,
        include=include,
        regex=regex,
        ignore_case=ignore_case,
        output_mode=output_mode,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
    )
    run = partial(ctx.run, quiet=True)
    told = Telling(ctx.output)
    return await walk.grep(ctx.workspace, query, ctx.config.search, run=run, caps=ctx.output.caps, told=told)
