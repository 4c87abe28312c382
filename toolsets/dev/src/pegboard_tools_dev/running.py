"""Running what was judged: the command line of a call is made once, as a touch, and run as it stands there.

So a project that changes while a person is asked cannot change what the answer was about.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from pegboard.arguments import ParamAlias
from pegboard.blocks import AnyBlock, Text
from pegboard.context import Context
from pegboard.errors import Interrupted
from pegboard.kit.process import Finished
from pegboard.kit.ran import LONGEST_MS, endings, milliseconds

from pegboard_tools_dev.settings import Settings

HEAD_BYTES = 512 * 1024
TAIL_BYTES = 1024 * 1024
_PLAIN = {
    "NO_COLOR": "1",
    "CLICOLOR": "0",
    "PY_COLORS": "0",
    "CARGO_TERM_COLOR": "never",
    "TERM": "dumb",
    "PYTHONUNBUFFERED": "1",  # else Python keeps what it prints back until the end, and nobody sees it come
}
_COLOURED = ("FORCE_COLOR", "CLICOLOR_FORCE")

Timeout = Annotated[int, msgspec.Meta(description="Milliseconds", ge=1, le=LONGEST_MS)]
ALIASES: dict[str, ParamAlias] = {
    "timeout_ms": "timeout",
    "timeout_s": ("timeout", milliseconds),
    "paths": "path",
    "file": "path",
    "files": "path",
    "file_path": "path",
    "filePath": "path",
    "target": "path",
    "workdir": "cwd",
}
"""Other names of what the three tools have in common."""


def settings_of(ctx: Context) -> Settings:
    """The set's settings."""
    return ctx.settings if isinstance(ctx.settings, Settings) else Settings()


def judged(ctx: Context) -> list[str]:
    """The command line that this call was judged by."""
    return shlex.split(next(touch.what for touch in ctx.touches if touch.kind == "run"))


def shown(argv: Sequence[str], cwd: str) -> str:
    """The command as the first line of a result has it."""
    return f"$ {shlex.join(argv)}" + ("" if cwd == "." else f"  (in {cwd})")


def preview(arguments: Any, ctx: Context) -> list[AnyBlock]:
    """The command, for the person who is asked: the arguments do not say it."""
    return [Text(text=shown(judged(ctx), arguments.cwd))]


async def run(
    ctx: Context, cwd: str, timeout: int | None, each: Callable[[str, bytes], bool | None] | None = None
) -> Finished:
    """Run the call's command to its end; its output is in `ctx.output`, without colours where it can be told so.

    `timeout` in milliseconds; None: as the settings say.

    Raises:
        Interrupted: the time was over.
        ToolError: it could not be started.
    """
    from pegboard_tools_dev.fitting import SCRIPTS

    argv = judged(ctx)
    limit = settings_of(ctx).timeout_s if timeout is None else timeout / 1000
    env = {name: value for name, value in os.environ.items() if name not in _COLOURED} | _PLAIN
    if argv[0] in SCRIPTS:
        env.setdefault("CI", "true")  # what runs below them waits for changes of files otherwise, and never ends
    done = await ctx.run(argv, cwd=cwd, env=env, timeout=limit, each=each)
    if done.timed_out:
        raise Interrupted("timeout", limit=limit)
    return done


def told(argv: Sequence[str], cwd: str, printed: str, done: Finished, notes: Sequence[str] = ()) -> str:
    """The text of a result: the command, what it printed, how it ended and what else there is to say."""
    said = [*notes, *endings(printed, done)]
    if printed and not printed.endswith("\n"):
        printed += "\n"
    return f"{shown(argv, cwd)}\n{printed}" + (f"({'; '.join(said)})" if said else "")


class Ends:
    """The beginning and the end of each stream, for looking at once it is over. Bounded, whatever is printed."""

    def __init__(self) -> None:
        self._head: dict[str, bytearray] = {}
        self._tail: dict[str, bytearray] = {}

    def take(self, stream: str, data: bytes) -> None:
        """Take a piece."""
        head = self._head.setdefault(stream, bytearray())
        room = max(0, HEAD_BYTES - len(head))
        head += data[:room]
        if rest := data[room:]:
            tail = self._tail.setdefault(stream, bytearray())
            tail += rest
            if len(tail) > 2 * TAIL_BYTES:
                del tail[:-TAIL_BYTES]

    def text(self, only: str | None = None) -> str:
        """One stream after the other: as they came, a line of one may stand inside a line of the other. Or one alone."""
        parts = []
        for stream, head in self._head.items():
            if only not in (None, stream):
                continue
            tail = self._tail.get(stream, b"")
            cut = b"\n" if len(tail) > TAIL_BYTES else b""
            parts.append((bytes(head) + cut + bytes(tail[-TAIL_BYTES:])).decode("utf-8", "replace"))
        return "\n".join(parts)
