"""The tool set git: look at a repository, change nothing, run nothing it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pegboard.hooks import hookimpl

from pegboard_tools_git.settings import ReadSettings as Settings

__all__ = ["Settings", "pegboard_tools"]


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order the model is told of them; `git` itself is only answered to."""
    from pegboard_tools_git.dispatch import git
    from pegboard_tools_git.looking import git_branch, git_diff, git_rev_parse, git_status
    from pegboard_tools_git.past import git_blame, git_log, git_show

    return [git_status, git_diff, git_log, git_show, git_blame, git_branch, git_rev_parse, git]
