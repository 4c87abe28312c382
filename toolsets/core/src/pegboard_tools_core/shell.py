"""`bash`: run a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec
from pegboard.calls import Result
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.errors import ToolError
from pegboard.kit.process import shell_argv
from pegboard.kit.ran import DEFAULT_MS, LONGEST_MS, milliseconds, result_of
from pegboard.touches import Lists, Runs

Shell: TypeAlias = Literal["bash", "sh", "zsh", "fish", "nu"]


def _other_shell(arguments: Any) -> Iterator[tuple[Literal["run"], str]]:
    """What another shell makes of a line, rules for bash cannot judge: it is judged as a program that is run."""
    if arguments.shell != "bash":
        yield "run", f"{arguments.shell} -c {shlex.quote(arguments.command)}"


@tool(
    touches=_other_shell,
    aliases=[
        "run_command",
        "run_shell",
        "shell",
        "sh",
        ("fish", {"shell": "fish"}),
        ("nushell", {"shell": "nu"}),
    ],
    param_aliases={
        "cmd": "command",
        "workdir": "cwd",
        "timeout_ms": "timeout",
        "timeout_s": ("timeout", milliseconds),
    },
    category="exec",
    short="run a command line",
    key_arg="command",
    echo=True,
    prefix="!",
    pages=True,
    examples=[
        "run the command {command}",
        "run {command} in the shell",
        "execute {command}",
        "execute the command {command}",
        "run {command} in {cwd}",
        "in the folder {cwd}, run {command}",
        "use bash to run {command}",
        "show me the output of {command}",
        "start the program {command}",
        "run {command} with {shell}",
        "call {command} on the command line",
    ],
)
async def bash(
    command: Annotated[str, Runs("Command line")],
    ctx: Context,
    timeout: Annotated[int, msgspec.Meta(description="Milliseconds", ge=1, le=LONGEST_MS)] = DEFAULT_MS,
    cwd: Annotated[str | None, Lists("Folder; default: the workspace root")] = None,
    shell: Shell = "bash",
) -> Result:
    """Run a command line. Stdin is empty; background jobs end with it."""
    argv = shell_argv(command, ctx.config.shell, shell=shell)
    try:
        done = await ctx.jobs.run(argv, label=command, cwd=cwd or ".", timeout=timeout / 1000)
    except ToolError:
        import shutil

        if shutil.which(shell):
            raise
        there = [name for name in get_args(Shell) if shutil.which(name)]
        text = (
            f"{shell} is not installed here. Nothing was run. shell may be {', '.join(there) or 'none that is here'}."
        )
        raise ToolError(text) from None
    return result_of(done, ctx.output, timeout / 1000)
