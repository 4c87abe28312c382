"""Two tools: one that reads a file, one that runs a command. Make them into your own."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from pegboard import Context, Reads, ToolError, hookimpl, tool

pegboard_api = 1  # the version of Pegboard's hooks that this was written for


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table [sample-plugin] of a person's settings."""

    depth: Annotated[int, Meta(ge=1, le=6, description="Levels of headings in an outline.")] = 3
    commands: Annotated[
        dict[str, list[str]], Meta(description="Commands by name: a program and its arguments.")
    ] = {}


@tool(
    category="read",
    verb="Outline",
    short="list the headings of a Markdown file",
    examples=["show the outline of {path}", "which headings does {path} have"],
)
def sample_plugin_outline(
    path: Annotated[str, Reads("Markdown file, relative to the workspace root")],
    ctx: Context,
) -> str:
    """List the headings of a Markdown file, each with its line number."""
    text = ctx.workspace.read_text(path)
    heading = re.compile(f"#{{1,{ctx.settings.depth}}} +[^ ]")
    lines = [f"{at}: {line}" for at, line in _outside_code(text) if heading.match(line)]
    if not lines:
        raise ToolError(
            f"{path} has no headings down to level {ctx.settings.depth}; nothing was changed. "
            "Read the file itself, or outline another one."
        )
    return "\n".join(lines)


def _outside_code(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines that are in no fenced code, where `#` begins a comment."""
    fenced = False
    for at, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield at, line


def _runs(arguments: Any, ctx: Context) -> Iterator[tuple[Literal["run"], str]]:
    """What a call touches, where no annotation can say it: the command line that it would run.

    Rules, guards and the person judge these words, so they have to be those that are run.
    """
    yield "run", shlex.join(_command(arguments.name, ctx.settings))


@tool(
    touches=_runs,
    kinds=["run"],
    category="exec",
    verb="Run",
    key_arg="name",
    short="run a command that the settings name",
    examples=["run the {name} command of this project"],
)
async def sample_plugin_run(
    name: Annotated[str, Meta(description="The command's name in the settings")],
    ctx: Context,
) -> str:
    """Run one of the commands that the person's settings name, and return what it printed."""
    done = await ctx.run(_command(name, ctx.settings))
    printed = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
    if done.exit_code != 0:
        how = done.signal or f"exit code {done.exit_code}"
        raise ToolError(
            f"{name} ended with {how}; what it changed before is not known. "
            f"Mend what it complains of, and run it again. It printed:\n{printed}"
        )
    return printed or "(it printed nothing)"


def _command(name: str, settings: Settings) -> list[str]:
    """The words of a command.

    Raises:
        ToolError: the settings do not name it, or name no program; nothing was run.
    """
    words = settings.commands.get(name)
    if not words:
        known = ", ".join(sorted(settings.commands)) or "none"
        raise ToolError(
            f"no command is called {name!r} (there is: {known}); nothing was run. "
            "Name one of these, or ask the person to add it to "
            "[sample-plugin.commands] in their settings."
        )
    return words


@hookimpl
def pegboard_tools() -> list[Callable[..., Any]]:
    """The tools, in the order in which a model is told of them."""
    return [
        sample_plugin_outline,
        sample_plugin_run,
    ]
