"""`bash`: run a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from pegboard.calls import Result
from pegboard.context import Context
from pegboard.declaration import tool
from pegboard.errors import Interrupted
from pegboard.kit.process import Finished, shell_argv
from pegboard.touches import Lists, Runs

DEFAULT_MS = 120_000
LONGEST_MS = 600_000


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """What programs get of a command. `exit_code` is null when a signal ended it, which `signal` names."""

    exit_code: int | None
    signal: str | None
    stdout: str
    stderr: str


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
        "timeout_s": ("timeout", lambda seconds: round(float(seconds) * 1000)),
    },
    category="exec",
    short="run a command line",
    key_arg="command",
    echo=True,
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
    cwd: Annotated[str | None, Lists("Folder to run in; default: the workspace root")] = None,
    shell: Literal["bash", "sh", "zsh", "fish", "nu"] = "bash",
) -> Result:
    """Run a command line with bash. Stdin is empty; background jobs end with it, unless they detach."""
    argv = shell_argv(command, ctx.config.shell, shell=shell)
    done = await ctx.run(argv, cwd=cwd or ".", timeout=timeout / 1000)
    if done.timed_out:
        raise Interrupted("timeout", limit=timeout / 1000)
    printed = ctx.output.close().text
    ran = Ran(
        exit_code=done.exit_code,
        signal=done.signal,
        stdout=ctx.output.stream("stdout"),
        stderr=ctx.output.stream("stderr"),
    )
    return Result(text=_text(printed, done), data=ran)


def _text(printed: str, done: Finished) -> str:
    """What it printed; below that, what else there is to say of how it ended."""
    notes = []
    if done.signal:
        notes.append(f"(killed by {done.signal})")
    elif done.exit_code:
        notes.append(f"(exit code {done.exit_code})")
    elif not printed:
        notes.append("(no output)")
    if done.left_running:
        notes.append("(what it had left running in the background was ended)")
    if printed and notes and not printed.endswith("\n"):
        printed += "\n"
    return printed + "\n".join(notes)
