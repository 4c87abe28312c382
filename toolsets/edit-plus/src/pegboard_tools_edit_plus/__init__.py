"""The tool set edit-plus: several edits, patches, folders, many files at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.hooks import hookimpl


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order the model is told of them."""
    from pegboard_tools_edit_plus.counting import line_count
    from pegboard_tools_edit_plus.deleting import delete_files
    from pegboard_tools_edit_plus.editing import multi_edit
    from pegboard_tools_edit_plus.finding import find
    from pegboard_tools_edit_plus.listing import list_dir
    from pegboard_tools_edit_plus.patching import apply_patch
    from pegboard_tools_edit_plus.reading import read_many_files

    return [multi_edit, list_dir, read_many_files, apply_patch, find, delete_files, line_count]
