"""`read_file`, `write_file`, `edit_file`: files through the workspace's door, a window, a whole, a replacement at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from pegboard import Context, Reads, Result, ToolError, Writes, tool
from pegboard.blocks import Block
from pegboard.errors import DoorError
from pegboard.kit.handles import BLOCK
from pegboard.kit.readlines import Window, read_window
from pegboard.kit.seen import Seen, check_fresh, seen_in
from pegboard.kit.text import TITLES, encode
from pegboard.kit.workspace import SESSION

if TYPE_CHECKING:
    from pegboard.kit.changes import Change
    from pegboard.kit.edits import Edit, Plan
    from pegboard.kit.handles import Stamp
    from pegboard.kit.writer import Writer

# What changes files is imported when a file is changed: most calls read.

T = TypeVar("T")
PATH_ALIASES = {"file_path": "path", "file": "path", "filename": "path", "file_name": "path"}


class FileRead(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of `read_file`: lines and characters of the whole file, and which lines were shown."""

    path: str
    lines: int
    chars: int
    first: int
    last: int
    encoding: str


class CutRead(FileRead, frozen=True, kw_only=True):
    """The caps let through less than was asked for."""

    @property
    def truncated(self) -> bool:
        """Read by the road: the model got less than there is."""
        return True


class ChangedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file that was changed; `added` and `removed` count lines, `to` is where a moved one is now."""

    path: str
    change: Literal["created", "changed", "deleted", "moved"]
    added: int
    removed: int
    to: str | None


class FilesChanged(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of tools that change files. `undo`: what `pegboard undo` knows it by; null: not kept."""

    files: list[ChangedFile]
    undo: str | None


async def apart(work: Callable[[], T]) -> T:
    """Do blocking work in a thread. When the call is cancelled, the work ends first: no lock or file is let go early."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


@tool(
    replay="safe",
    overlap="parallel",
    aliases=["file_read", "read", "view", "read_file_range"],
    param_aliases={**PATH_ALIASES, "start_line": "offset", "max_lines": "limit"},
    category="read",
    short="read a file",
    pages=True,
    examples=[
        "read {path}",
        "show {path}",
        "show me {path}",
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
    offset: Annotated[int, msgspec.Meta(description="First line, from 1", ge=1)] = 1,
    limit: Annotated[int, msgspec.Meta(description="Most lines; 0: only the counts", ge=0)] = 2000,
) -> Result:
    """Read a text file: its lines, numbered as `N: text`, below a header with the counts of the whole file."""
    try:
        info = ctx.workspace.stat(path)
        small = info is None or info.st_size <= BLOCK
        work = partial(_read, ctx, path, offset, limit)
        result, seen = work() if small else await apart(work)
        if seen is not None:
            ctx.seen.put(seen)
        return result
    except DoorError as error:
        if error.reason != "folder":
            raise
    listing = await ctx.call("list_dir", path=path)
    if listing.outcome == "ok":
        return Result(text=listing.text, data=listing.data)
    raise ToolError(f"{path} is a folder, not a file. See what is in it with glob: pattern=*, path={path}")


def _read(ctx: Context, path: str, offset: int, limit: int) -> tuple[Result, Seen | None]:
    """The result, and what the session has seen of the file now, if that is more than before."""
    seen: Seen | None = None
    with ctx.workspace.open(path) as opened:
        window = read_window(opened, offset, limit, ctx.output.caps)
        if limit and not opened.at.startswith(SESSION):
            known = ctx.seen.get(opened.at)
            seen = seen_in(opened, [window.shown], known)
            seen = None if seen == known else seen
    stopped = window.cut or (window.more and window.last - window.first + 1 < limit)
    data = (CutRead if stopped else FileRead)(
        path=opened.at,
        lines=window.total_lines,
        chars=window.total_chars,
        first=window.first,
        last=window.last,
        encoding=window.encoding,
    )
    return Result(text=_numbered(opened.at, window, limit), data=data), seen


def _numbered(at: str, window: Window, limit: int) -> str:
    """The header, the lines, and how to go on."""
    header = f"# {at} - {window.total_lines} lines, {window.total_chars} chars"
    if window.encoding != "utf-8":
        header += f", {TITLES[window.encoding]}"
    if window.line_ends == "mixed":
        header += ", mixed line ends"
    if not limit:
        return header
    if window.lines and not window.whole:
        header += f" (showing {window.first}-{window.last})"
    rows = [header, *(f"{number}: {line}" for number, line in enumerate(window.lines, window.first))]
    if not window.lines and window.total_lines:
        rows.append(f"(there is no line {window.first}: the last one is {window.total_lines})")
    if window.cut:
        rows.append(f"... (line {window.first} is too long to be shown whole)")
    if window.more and window.lines:
        rows.append(f"... (more: offset={window.last + 1})")
    return "\n".join(rows)


async def _preview_write(arguments: Any, ctx: Context) -> list[Block]:
    return await apart(lambda: [_planned_write(arguments, ctx)])


def _planned_write(arguments: Any, ctx: Context) -> Block:
    from pegboard.kit.edits import diff_of, plan_append

    try:
        with ctx.workspace.open(arguments.path, "edit") as opened:
            old = opened.read(ctx.config.edit.max_bytes)
    except DoorError as error:
        if error.reason != "missing":
            raise
        return diff_of(None, encode(arguments.content, "utf-8", "content"), ctx.workspace.place(arguments.path).at)
    if arguments.mode == "append":
        return plan_append(opened.at, old, arguments.content).diff()
    return diff_of(old, encode(arguments.content, "utf-8", "content"), opened.at)


@tool(
    aliases=["file_write", "write"],
    param_aliases={**PATH_ALIASES, "text": "content", "contents": "content", "file_text": "content"},
    category="write",
    short="write a file",
    preview=_preview_write,
    examples=[
        "write {content} to {path}",
        "write {content} into {path}",
        "save {content} as {path}",
        "put {content} in the file {path}",
        "create {path} with {content}",
        "create {path} containing {content}",
        "create the file {path} with the text {content}",
        "make a new file {path} with {content}",
        "append {content} to {path}",
        "overwrite {path} with {content}",
        "store {content} in {path}",
        "write a file {path}: {content}",
    ],
)
async def write_file(
    path: Annotated[str, Writes("File, relative to the workspace root; missing folders are made")],
    content: Annotated[str, "The whole new content, or what to append"],
    ctx: Context,
    mode: Literal["write", "append"] = "write",
    overwrite: Annotated[bool, "false: fail if the file exists"] = True,
) -> Result:
    """Write a whole file, or append to one. To change a part of a file, use edit_file."""
    data = encode(content, "utf-8", "content")
    if len(data) > ctx.config.edit.max_bytes:
        limit = ctx.config.edit.max_bytes
        raise ToolError(f"content is larger than the limit of {limit:,} bytes ({len(data):,}). Nothing was changed.")
    async with ctx.commit() as files:
        change, warning = await apart(lambda: _write(ctx, files, path, content, mode, overwrite))
    verb = "Created" if change.change == "created" else "Appended to" if mode == "append" else "Wrote"
    return _changed(f"{verb} {change.path}", change, files, warning)


def _write(
    ctx: Context, files: Writer, path: str, content: str, mode: str, overwrite: bool
) -> tuple[Change, str | None]:
    from pegboard.kit.edits import plan_append

    data = content.encode()
    try:
        with ctx.workspace.open(path, "edit") as opened:
            if not overwrite and mode == "write":
                return files.write(path, data, overwrite=False), None
            warning = check_fresh(opened, ctx.seen.get(opened.at), ctx.config.edit, whole=mode == "write")
            old = opened.read(ctx.config.edit.max_bytes) if mode == "append" else b""
    except DoorError as error:
        if error.reason != "missing":
            raise
        return files.write(path, data, overwrite=overwrite), None
    if mode == "append":
        made = plan_append(opened.at, old, content, max_bytes=ctx.config.edit.max_bytes)
        return files.splice(path, made, opened.stamp), warning
    return files.write(path, data, before=opened.stamp), warning


async def _preview_edit(arguments: Any, ctx: Context) -> list[Block]:
    def work() -> list[Block]:
        a = arguments
        edit = _edit(a.old_string, a.new_string, a.replace_all, a.count)
        return [_planned(ctx, a.path, edit, fresh=False)[0].diff()]

    return await apart(work)


def _edit(old: str, new: str, replace_all: bool, count: int) -> Edit:
    from pegboard.kit.edits import Edit

    return Edit(old, new, 0 if replace_all else count)


def _planned(ctx: Context, path: str, edit: Edit, *, fresh: bool = True) -> tuple[Plan, Stamp, str | None]:
    """The plan, the stamp of the file that it was made for, and a warning where staleness only warns."""
    from pegboard.kit.edits import plan

    limit = ctx.config.edit.max_bytes
    with ctx.workspace.open(path, "edit") as opened:
        warning = check_fresh(opened, ctx.seen.get(opened.at), ctx.config.edit, whole=False) if fresh else None
        data = opened.read(limit)
    return plan(data, [edit], path=opened.at, max_bytes=limit), opened.stamp, warning


@tool(
    aliases=["file_edit", "edit", "str_replace"],
    param_aliases={
        **PATH_ALIASES,
        "old_text": "old_string",
        "new_text": "new_string",
        "old_str": "old_string",
        "new_str": "new_string",
    },
    category="write",
    verb="Edit",
    short="replace text in a file",
    key_arg="path",
    preview=_preview_edit,
    examples=[
        "replace {old_string} with {new_string} in the file {path}",
        "in {path}, replace {old_string} with {new_string}",
        "in {path} replace {old_string} by {new_string}",
        "change {old_string} to {new_string} in {path}",
        "edit {path}: {old_string} becomes {new_string}",
        "edit {path} so that {old_string} is {new_string}",
        "substitute {new_string} for {old_string} in {path}",
        "rename {old_string} to {new_string} in {path}",
        "turn {old_string} into {new_string} in {path}",
        "swap {old_string} for {new_string} in {path}",
        "update {path}: {old_string} to {new_string}",
        "correct {old_string} to {new_string} in {path}",
    ],
)
async def edit_file(
    path: Annotated[str, Writes("File, relative to the workspace root")],
    old_string: Annotated[str, "Text to replace, exactly as in the file, without line numbers; must be unique"],
    new_string: Annotated[str, "Text to put there"],
    ctx: Context,
    replace_all: Annotated[bool, "Replace every place"] = False,
    count: Annotated[int, msgspec.Meta(description="Replace so many places from the first; 0: all", ge=0)] = 1,
) -> Result:
    """Replace an exact text in a file."""
    edit = _edit(old_string, new_string, replace_all, count)
    async with ctx.commit() as files:

        def work() -> tuple[Change, Plan, str | None]:
            made, stamp, warning = _planned(ctx, path, edit)
            return files.splice(path, made, stamp), made, warning

        change, made, warning = await apart(work)
    places = "1 place" if made.replaced == 1 else f"{made.replaced} places"
    return _changed(f"Replaced {places} in {change.path}", change, files, warning)


def _changed(what: str, change: Change, files: Writer, warning: str | None) -> Result:
    """The result of a tool that changed one file."""
    counts = " ".join(f"{sign}{n}" for sign, n in (("+", change.added), ("-", change.removed)) if n)
    notes = [note for note in (change.note, warning) if note]
    text = "\n".join([what + (f" ({counts} lines)" if counts else ""), *notes])
    done = ChangedFile(path=change.path, change=change.change, added=change.added, removed=change.removed, to=change.to)
    blocks = [change.diff] if change.diff is not None else []
    return Result(text=text, data=FilesChanged(files=[done], undo=files.undo_id), blocks=[*blocks])
