"""Modules of this set run as programs of their own: what may hang or crash does it there."""

from __future__ import annotations

import re
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.kit.process import Finished

_EXCEPTION = re.compile(r"((?:[a-z_][\w.]{0,60}\.)?[A-Z][A-Za-z]{0,40}(?:Error|Exception|Exit|Interrupt))(?::|$)")
Run = Callable[..., Awaitable["Finished"]]
"""A context's `run`."""


async def printed(
    run: Run, module: str, *arguments: str, stdin: bytes, seconds: float, env: Mapping[str, str] | None = None
) -> tuple[bytes, str]:
    """What a module prints, and how it ended, as `took longer than 20 s`; empty where it ended well.

    Raises:
        ToolError: it could not be started.
    """
    said = bytearray()

    def take(stream: str, data: bytes) -> None:
        if stream == "stdout":
            said.extend(data)

    # -P: the folder it runs in is the workspace, and a module there shall not stand in for a library.
    argv = [sys.executable, "-P", "-m", module, *arguments]
    done = await run(argv, stdin=stdin, env=env, timeout=seconds, each=take, quiet=True)
    if done.timed_out:
        return bytes(said), f"took longer than {seconds:.0f} s"
    if done.exit_code != 0:
        return bytes(said), f"failed ({done.signal or _last(done.stderr)})"
    return bytes(said), ""


def _last(stderr: bytes) -> str:
    """The name of the exception that ended a child."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines() or [""]
    found = _EXCEPTION.match(lines[-1])  # the line may be the end of an error's text, which may be the page's
    return found[1] if found else "no reason given"
