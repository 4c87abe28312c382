"""`read_many_files`: windows of several files in one call, each exactly as it is read alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec
from pegboard import Context, Reads, Result, ToolError, tool
from pegboard.errors import DoorError
from pegboard.kit.aside import PATH_ALIASES, apart, as_list
from pegboard.kit.caps import Caps
from pegboard.kit.names import printable
from pegboard.kit.reading import FileRead, Shown, read_shown
from pegboard.kit.shares import shares

MOST_FILES = 20
WINDOW = 2000
"""Lines of one file where the call does not say."""


class FileWindow(msgspec.Struct, frozen=True, kw_only=True):
    """A file, and which lines of it."""

    path: Annotated[str, Reads()]
    offset: Annotated[int, msgspec.Meta(description="First line", ge=1)] = 1
    limit: Annotated[int, msgspec.Meta(description="Most lines; 0: only the counts", ge=0)] = WINDOW


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """A file that could not be read, and why."""

    path: str
    error: str


class FilesRead(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get: of each file, in the order of the call, what reading it alone gives, or why it was not read.

    more: of some file less is shown than was asked for."""

    files: list[FileRead | Unread]
    more: bool


@tool(
    replay="safe",
    overlap="parallel",
    permission="read",
    batch=True,
    param_aliases={
        **PATH_ALIASES,
        "path": ("files", as_list),
        "paths": ("files", as_list),
        "file_paths": ("files", as_list),
        "filenames": ("files", as_list),
        "start_line": "offset",
        "max_lines": "limit",
    },
    category="read",
    short="read several files",
    pages=True,
    examples=[
        "read the files {files}",
        "read {files} in one go",
        "read {files} at once",
        "open {files} together",
        "view {files} side by side",
        "take a look at all of {files}",
        "print the files {files}",
        "show the contents of the files {files}",
        "compare what is in {files}",
    ],
)
async def read_many_files(
    files: Annotated[
        list[Annotated[str, Reads()] | FileWindow],
        msgspec.Meta(description="Paths, or objects for a part of a file", min_length=1, max_length=MOST_FILES),
    ],
    ctx: Context,
) -> Annotated[Result, FilesRead]:
    """Read several text files at once, each as by read_file."""
    wanted = [FileWindow(path=item) if isinstance(item, str) else item for item in files]
    caps = ctx.output.caps
    read = await asyncio.gather(*(_one(ctx, file, caps) for file in wanted))
    labels = [f"===== {printable(file.path)} =====\n" for file in wanted]
    blocks = [label + _text(one) for label, one in zip(labels, read, strict=True)]
    for number, share in shares(blocks, caps).items():
        if isinstance(read[number], Shown):
            read[number] = await _one(ctx, wanted[number], share.less(labels[number]))
            blocks[number] = labels[number] + _text(read[number])
    return Result(text="\n\n".join(blocks), data=_data(ctx, wanted, read))


async def _one(ctx: Context, file: FileWindow, caps: Caps) -> Shown | str:
    """A file as it is shown, or why it is not."""
    work = partial(read_shown, ctx.workspace, file.path, offset=file.offset, limit=file.limit, caps=caps, seen=ctx.seen)
    try:
        return await apart(work)
    except ToolError as error:
        folder = isinstance(error, DoorError) and error.reason == "folder"
        return f"{error} See what is in it with list_dir." if folder else str(error)
    except OSError as error:
        return f"{file.path}: {error.strerror or error}"


def _text(read: Shown | str) -> str:
    return f"[unreadable: {printable(read)}]" if isinstance(read, str) else read.text


def _data(ctx: Context, wanted: Sequence[FileWindow], read: Sequence[Shown | str]) -> FilesRead:
    """What programs are told; what was shown counts as seen from here on."""
    files: list[FileRead | Unread] = []
    more = False
    for file, one in zip(wanted, read, strict=True):
        if isinstance(one, str):
            files.append(Unread(path=file.path, error=one))
            continue
        files.append(one.data)
        more = more or getattr(one.data, "truncated", False)
        if one.seen is not None:
            ctx.seen.put(one.seen)
    return FilesRead(files=files, more=more)
