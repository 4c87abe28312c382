"""The core tool set: read, write and edit files, find and search them, run commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.hooks import hookimpl


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The six tools, in the order the model is told of them."""
    from pegboard_tools_core.reading import read_file
    from pegboard_tools_core.search import glob, grep
    from pegboard_tools_core.shell import bash
    from pegboard_tools_core.writing import edit_file, write_file

    return [read_file, write_file, edit_file, glob, grep, bash]
