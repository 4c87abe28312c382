"""`find`: files by their name, wherever they lie."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated

import msgspec
from pegboard import Context, Lists, tool
from pegboard.kit import walk  # its `glob` is imported when it is first called
from pegboard.kit.names import given
from pegboard.kit.walk import GlobQuery, Paths
from pegboard.kit.walk.globs import quoted
from pegboard.kit.walk.telling import Telling

from pegboard_tools_edit_plus.listing import ALIASES

_WILD = re.compile(r"[*?\[{]")


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    param_aliases={
        **ALIASES,
        "name": "pattern",
        "query": "pattern",
        "filename": "pattern",
        "max_results": "limit",
        "head_limit": "limit",
    },
    category="search",
    glyph="*",
    verb="Find",
    short="find files by a part of their name",
    key_arg="pattern",
    pages=True,
    examples=[
        "find the file that is called something like {pattern}",
        "find a file called something like {pattern}",
        "find the file in {path} that is called something like {pattern}",
    ],
)
async def find(
    pattern: Annotated[str, "Part of a name, in any case; or wildcards for the whole name"],
    ctx: Context,
    path: Annotated[str, Lists("Folder to search")] = ".",
    glob: Annotated[bool | None, "true: wildcards; false: plain text; left out: what it looks like"] = None,
    limit: Annotated[int, msgspec.Meta(description="Most paths", ge=1)] | None = None,
    include_hidden: bool = False,
    include_ignored: bool = False,
) -> Paths:
    """Find files at any depth when you know a part of the name; where you know the path's form, use glob."""
    query = GlobQuery(
        pattern=_anywhere(pattern, bool(_WILD.search(pattern)) if glob is None else glob),
        path=path,
        limit=limit,
        include_hidden=include_hidden,
        include_ignored=include_ignored,
    )
    run = partial(ctx.run, quiet=True)
    found = await walk.glob(
        ctx.workspace, query, ctx.config.search, run=run, caps=ctx.output.caps, told=Telling(ctx.output)
    )
    return msgspec.structs.replace(found, pattern=pattern)


def _anywhere(pattern: str, wild: bool) -> str:
    """A path pattern for names at any depth. Folders in front of a name are taken as they are written."""
    if not pattern.strip("/") or pattern.startswith("/"):
        return pattern
    folders, slash, name = pattern.rstrip("/").rpartition("/")
    if wild:
        return f"**/{folders}{slash}{name}"
    spelled = ["".join(map(_either_case, text)) for text in (name, given(name)) if text]
    # A wildcard does not stand for a leading dot: where one was asked for, the name may also begin with it.
    forms = [f"*{part}*" for part in spelled] + [f"{part}*" for part in spelled if name.startswith(".")]
    either = forms[0] if len(forms) == 1 else f"{{{','.join(forms)}}}"
    return f"**/{quoted(folders)}{slash}{either}"


def _either_case(char: str) -> str:
    low, high = char.lower(), char.upper()
    return f"[{low}{high}]" if low != high and len(low) == len(high) == 1 else quoted(char)
