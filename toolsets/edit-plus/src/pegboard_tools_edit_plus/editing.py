"""`multi_edit`: several replacements in one file, in order, as one change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pegboard import Context, Result, Writes, tool
from pegboard.blocks import Block
from pegboard.kit.aside import EDIT_ALIASES, PATH_ALIASES, apart
from pegboard.kit.changes import FilesChanged

if TYPE_CHECKING:
    from pegboard.kit.edits import FilePlan
    from pegboard.kit.seen import SeenFiles


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """One replacement."""

    old_string: Annotated[str, msgspec.Meta(description="Exact text; unique unless replace_all")]
    new_string: str
    replace_all: bool = False


async def _preview(arguments: Any, ctx: Context) -> list[Block]:
    return await apart(lambda: _planned(ctx, arguments.path, arguments.edits).blocks())


def _planned(ctx: Context, path: str, edits: list[Replacement], seen: SeenFiles | None = None) -> FilePlan:
    from pegboard.kit.edits import Edit, plan_file

    wanted = [Edit(edit.old_string, edit.new_string, 0 if edit.replace_all else 1) for edit in edits]
    return plan_file(ctx.workspace, path, wanted, ctx.config.edit, seen=seen, numbered=True)


@tool(
    aliases=["multiedit", "multi_edit_file", "edit_many"],
    param_aliases={
        **PATH_ALIASES,
        **EDIT_ALIASES,
        "changes": "edits",
        "replacements": "edits",
        "all": "replace_all",
    },
    category="write",
    verb="Edit",
    short="several replacements in a file",
    key_arg="path",
    preview=_preview,
    examples=[
        "make these edits in {path}: {edits}",
        "make several edits in {path}: {edits}",
        "make several replacements in {path}: {edits}",
        "do all of these replacements in {path} at once: {edits}",
    ],
)
async def multi_edit(
    path: Annotated[str, Writes("File")],
    edits: Annotated[list[Replacement], "In order, each on what the one before made"],
    ctx: Context,
) -> Annotated[Result, FilesChanged]:
    """Replace several exact texts in one file: all or none. For one, use edit_file."""
    from pegboard_tools_edit_plus.results import changed

    async with ctx.commit() as files:

        def work() -> FilePlan:
            made = _planned(ctx, path, edits, ctx.seen)
            files.splice(path, made.plan, made.stamp)
            return made

        made = await apart(work)
    count = f"{len(edits)} edit{'s' if len(edits) != 1 else ''}"
    return changed(f"Made {count}:", files.changes, files.undo_id, [*made.plan.notes, made.warning])
