"""The tool set git-write: stage, commit, push, make branches; every call asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.hooks import hookimpl

from pegboard_tools_git.settings import WriteSettings as Settings

__all__ = ["Settings", "pegboard_tools"]


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order the model is told of them."""
    from pegboard_tools_git.changing import git_add, git_branch_create, git_commit, git_push

    return [git_add, git_commit, git_push, git_branch_create]
