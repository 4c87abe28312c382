"""`exec`: run one program, without a shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta
from pegboard.calls import Result
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.errors import ToolError
from pegboard.kit.ran import DEFAULT_MS, LONGEST_MS, milliseconds, result_of
from pegboard.touches import Lists


def _as_line(arguments: Any) -> Iterator[tuple[Literal["run"], str]]:
    """The command line that would run the same, so that rules for command lines judge the same words.

    Raises:
        ToolError: there is no program, so nobody is asked about it.
    """
    if not arguments.command.strip():
        raise ToolError("no program is named; nothing was run. Name it as command, and its arguments as args.")
    yield "run", shlex.join([arguments.command, *arguments.args])


@tool(
    name="exec",
    touches=_as_line,
    kinds=["run"],
    aliases=["execute_program", "run_program"],
    param_aliases={
        "cmd": "command",
        "program": "command",
        "executable": "command",
        "arguments": "args",
        "workdir": "cwd",
        "working_directory": "cwd",
        "workingDirectory": "cwd",
        "timeout_ms": "timeout",
        "timeoutMs": "timeout",
        "timeout_s": ("timeout", milliseconds),
    },
    category="exec",
    short="run a program without a shell",
    key_arg="command",
    echo=True,
    pages=True,
    examples=[
        "run the program {command} without a shell",
        "run the program {command} with the argument {args}",
        "run the program {command} with the arguments {args}",
        "execute the program {command} directly, with no shell",
        "start the executable {command} with the argument {args}",
        "run the binary {command} with {args} taken literally",
        "pass {args} to the program {command} as it is",
        "execute {command} with {args}",
        "run the program {command} with {args}",
        "execute the program {command} with {args}",
    ],
)
async def run_program(
    command: Annotated[str, Meta(description="Program: a name on PATH, or a path")],
    ctx: Context,
    args: Annotated[list[str], Meta(description="Its arguments, each as it is")] = [],  # noqa: B006 - never changed
    timeout: Annotated[int, Meta(description="Milliseconds", ge=1, le=LONGEST_MS)] = DEFAULT_MS,
    cwd: Annotated[str | None, Lists("Folder to run in; default: the workspace root")] = None,
) -> Result:
    """Run one program without a shell: `|`, `*`, `$X` and spaces in args arrive as they are. For pipes, globs, variables or
    several commands use bash. Stdin is empty."""
    line = shlex.join([command, *args])
    try:
        done = await ctx.jobs.run([command, *args], label=line, cwd=cwd or ".", timeout=timeout / 1000)
    except ToolError as error:
        if not args and len(command.split()) > 1 and not os.path.lexists(command):
            raise ToolError(f"{error} A program and its arguments go apart: command and args.") from None
        raise
    return result_of(done, ctx.output, timeout / 1000)
