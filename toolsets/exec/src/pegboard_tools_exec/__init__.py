"""The tool set exec: programs without a shell, and commands in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pegboard.hooks import hookimpl
from pegboard.kit.settings import JobSettings


class Settings(JobSettings, frozen=True, kw_only=True):
    """`[exec]`: commands in the background, whichever tool started them."""

    hint: ClassVar[str] = (
        "What it prints from here on: bg action=output id={id}; its end: action=wait; to end it: action=cancel."
    )


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order the model is told of them."""
    from pegboard_tools_exec.background import bg
    from pegboard_tools_exec.program import run_program

    return [run_program, bg]
