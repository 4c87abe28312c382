"""`multi_edit`: several replacements in one file, in order, as one change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from pegboard import Context, Result, Writes, tool
from pegboard.blocks import Block, Note
from pegboard.kit.aside import PATH_ALIASES, apart
from pegboard.kit.changes import FilesChanged
from pegboard.kit.seen import check_fresh

if TYPE_CHECKING:
    from pegboard.kit.handles import Stamp
    from pegboard.kit.plan import Plan


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """One replacement."""

    old_string: Annotated[str, msgspec.Meta(description="As the edits before left it, exactly; must be unique")]
    new_string: str
    replace_all: bool = False


async def _preview(arguments: Any, ctx: Context) -> list[Block]:
    def work() -> list[Block]:
        made = _planned(ctx, arguments.path, arguments.edits, fresh=False)[0]
        return [made.diff(), *(Note(text=note) for note in made.notes)]

    return await apart(work)


def _planned(
    ctx: Context, path: str, edits: list[Replacement], *, fresh: bool = True
) -> tuple[Plan, Stamp, str | None]:
    """The plan, the stamp of the file that it was made for, and a warning where staleness only warns."""
    from pegboard.kit.edits import Edit, plan

    settings = ctx.config.edit
    wanted = [Edit(edit.old_string, edit.new_string, 0 if edit.replace_all else 1) for edit in edits]
    with ctx.workspace.open(path, "edit") as opened:
        warning = check_fresh(opened, ctx.seen.get(opened.at), settings, whole=False) if fresh else None
        data = opened.read(settings.max_bytes)
    made = plan(data, wanted, path=opened.at, numbered=True, max_bytes=settings.max_bytes, tolerance=settings.tolerance)
    return made, opened.stamp, warning


@tool(
    aliases=["multiedit", "multi_edit_file", "edit_many"],
    param_aliases={
        **PATH_ALIASES,
        "changes": "edits",
        "replacements": "edits",
        "old_text": "old_string",
        "new_text": "new_string",
        "old_str": "old_string",
        "new_str": "new_string",
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

        def work() -> tuple[Plan, str | None]:
            made, stamp, warning = _planned(ctx, path, edits)
            files.splice(path, made, stamp)
            return made, warning

        made, warning = await apart(work)
    count = f"{len(edits)} edit{'s' if len(edits) != 1 else ''}"
    return changed(f"Made {count}:", files.changes, files.undo_id, [*made.notes, warning])
