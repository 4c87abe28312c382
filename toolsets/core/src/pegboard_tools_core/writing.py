"""`write_file`, `edit_file`: a whole file, or a replacement at a time; checked, previewed, atomic, undoable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from pegboard import Context, Result, ToolError, Writes, tool
from pegboard.blocks import Block
from pegboard.errors import DoorError
from pegboard.kit.aside import EDIT_ALIASES, PATH_ALIASES, apart
from pegboard.kit.names import printable
from pegboard.kit.seen import check_fresh
from pegboard.kit.text import encode

if TYPE_CHECKING:
    from pegboard.kit.changes import Change
    from pegboard.kit.edits import Edit, FilePlan
    from pegboard.kit.writer import Writer

# What changes files is imported when a file is changed.


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
    path: Annotated[str, Writes("File; missing folders are made")],
    content: Annotated[str, "What to write; append adds no line end"],
    ctx: Context,
    mode: Literal["write", "append"] = "write",
    overwrite: Annotated[bool, "false: fail if the file exists"] = True,
) -> Result:
    """Write a whole file, or append to one. To change a part: edit_file."""
    data = encode(content, "utf-8", "content")
    if len(data) > ctx.config.edit.max_bytes:
        limit = ctx.config.edit.max_bytes
        raise ToolError(f"content is larger than the limit of {limit:,} bytes ({len(data):,}). Nothing was changed.")
    async with ctx.commit() as files:
        change, warning = await apart(lambda: _write(ctx, files, path, content, mode, overwrite))
    verb = "Created" if change.change == "created" else "Appended to" if mode == "append" else "Wrote"
    return _changed(f"{verb} {printable(change.path)}", change, files, warning)


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
    from pegboard.kit.edits import plan_file

    a = arguments
    edit = _edit(a.old_string, a.new_string, a.replace_all, a.count)
    return await apart(lambda: plan_file(ctx.workspace, a.path, [edit], ctx.config.edit).blocks())


def _edit(old: str, new: str, replace_all: bool, count: int) -> Edit:
    from pegboard.kit.edits import Edit

    return Edit(old, new, 0 if replace_all else count)


@tool(
    aliases=["file_edit", "edit", "str_replace"],
    param_aliases={**PATH_ALIASES, **EDIT_ALIASES},
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
    path: Annotated[str, Writes("File")],
    old_string: Annotated[str, "Exact text, without line numbers; unique unless replace_all or count"],
    new_string: str,
    ctx: Context,
    replace_all: bool = False,
    count: Annotated[int, msgspec.Meta(description="Over 1: the first so many; 0: all", ge=0)] = 1,
) -> Result:
    """Replace text in a file."""
    from pegboard.kit.edits import plan_file

    edit = _edit(old_string, new_string, replace_all, count)
    async with ctx.commit() as files:

        def work() -> tuple[Change, FilePlan]:
            made = plan_file(ctx.workspace, path, [edit], ctx.config.edit, seen=ctx.seen)
            return files.splice(path, made.plan, made.stamp), made

        change, made = await apart(work)
    places = "1 place" if made.plan.replaced == 1 else f"{made.plan.replaced} places"
    return _changed(f"Replaced {places} in {printable(change.path)}", change, files, *made.plan.notes, made.warning)


def _changed(what: str, change: Change, files: Writer, *more: str | None) -> Result:
    """The result of a tool that changed one file, and what else is said of it."""
    from pegboard.kit.changes import counts, told

    lines = counts(change.added, change.removed)
    notes = [note for note in (change.note, *more) if note]
    text = "\n".join([what + (f" ({lines} lines)" if lines else ""), *notes])
    blocks = [change.diff] if change.diff is not None else []
    return Result(text=text, data=told([change], files.undo_id), blocks=[*blocks])
