"""`apply_patch`: files added, changed, moved and deleted by one patch, all or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pegboard import Context, Result, tool
from pegboard.blocks import Block, Note
from pegboard.calls import Touch
from pegboard.kit.aside import apart
from pegboard.kit.changes import FilesChanged

if TYPE_CHECKING:
    from pegboard_tools_edit_plus.steps import Step


def _touched(arguments: Any, ctx: Context) -> list[Touch]:
    """Every file that the patch names, and every new name. Raises ToolError for a patch that cannot be read."""
    from pegboard_tools_edit_plus.deleting import deletes
    from pegboard_tools_edit_plus.patch_parser import parse

    found: dict[Touch, None] = {}
    for section in parse(arguments.patch):
        names = (section.path, section.to)
        touches = [deletes(ctx, section.path)] if section.action == "delete" else [Touch("edit", n) for n in names if n]
        found.update(dict.fromkeys(touches))
    return list(found)


async def _preview(arguments: Any, ctx: Context) -> list[Block]:
    def work() -> list[Block]:
        steps = _steps(ctx, arguments.patch, fresh=False)
        return [*(step.diff() for step in steps), *(Note(text=note) for step in steps for note in step.notes())]

    return await apart(work)


def _steps(ctx: Context, patch: str, *, fresh: bool = True) -> list[Step]:
    from pegboard_tools_edit_plus.patch_parser import parse
    from pegboard_tools_edit_plus.steps import planned

    return planned(ctx, parse(patch), fresh=fresh)


def _summary(arguments: dict[str, Any]) -> str:
    from pegboard_tools_edit_plus.patch_parser import PatchError, parse

    try:
        names = list(dict.fromkeys(section.path for section in parse(str(arguments.get("patch", "")))))
    except PatchError:
        return "a patch that cannot be read"
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@tool(
    effect="side_effecting",
    touches=_touched,
    kinds=["edit"],
    aliases=["applypatch"],
    param_aliases={"input": "patch", "patch_text": "patch", "diff": "patch"},
    category="write",
    verb="Patch",
    short="change several files by a patch",
    summary=_summary,
    preview=_preview,
    examples=[
        "apply the patch {patch}",
        "apply this patch: {patch}",
        "patch the files with {patch}",
        "change several files at once: {patch}",
    ],
)
async def apply_patch(
    patch: Annotated[
        str,
        "*** Begin Patch, sections, *** End Patch. Sections: *** Add File: PATH and + lines; *** Delete File: PATH; "
        "*** Update File: PATH, maybe *** Move to: PATH, then hunks: @@ or @@ LINE ABOVE, and lines that begin with a "
        "blank (stays), - (goes) or + (comes)",
    ],
    ctx: Context,
) -> Annotated[Result, FilesChanged]:
    """Add, change, move and delete several files by one patch: all or none. Not a unified diff."""
    from pegboard_tools_edit_plus.results import all_or_none, changed

    async with ctx.commit() as files:

        def work() -> list[str | None]:
            steps = _steps(ctx, patch)
            with all_or_none(ctx, files):
                for step in steps:
                    step.write(files)
            return [note for step in steps for note in (*step.notes(), step.warning)]

        notes = await apart(work)
    return changed("Applied the patch:", files.changes, files.undo_id, notes)
