"""Which command line a call is: found out from settings and files, then fitted to what the call names.

Imported by a call, not with the tools: a process that runs none of them reads no project.
"""

from __future__ import annotations

import shlex
from typing import Any

from pegboard.context import Context

from pegboard_tools_dev.detect import Task, detected
from pegboard_tools_dev.fitting import Argv, checking, fitted, fitted_paths
from pegboard_tools_dev.project import Project
from pegboard_tools_dev.running import settings_of
from pegboard_tools_dev.settings import argv_of
from pegboard_tools_dev.targets import Target, paths_of, place_to_run, targets


def testing(arguments: Any, ctx: Context) -> str:
    """The line of `code_test`. Raises ToolError: nothing fits, or not what was named; nothing was run."""
    argv, project, where = _found("test", arguments, ctx)
    return shlex.join(fitted(argv, project, where, arguments.filter))


def tidying(task: Task, arguments: Any, ctx: Context, *, check: bool = False) -> str:
    """The line of `code_lint` and `code_format`. Raises as `testing` does."""
    argv, project, where = _found(task, arguments, ctx)
    argv = checking(argv, project) if check else argv
    return shlex.join(fitted_paths(argv, where, f"{task}_cmd under [dev]"))


def _found(task: Task, arguments: Any, ctx: Context) -> tuple[Argv, Project, list[Target]]:
    """The command as it is configured or detected, the project it is for, and the paths of the call."""
    cwd = place_to_run(ctx.workspace, arguments.cwd)
    where = targets(ctx.workspace, paths_of(arguments.path), cwd)
    project = Project(ctx.workspace, cwd)
    configured = getattr(settings_of(ctx), f"{task}_cmd")
    return detected(task, project) if configured is None else argv_of(configured), project, where
