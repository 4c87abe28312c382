"""A line typed at a question. The question goes to stderr, the line is read from stdin, which is a terminal then.

What was typed before a question was on the screen does not answer it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence

from pegboard_cli.echo import echo
from pegboard_cli.screen import Screen
from pegboard_cli.styles import columns
from pegboard_cli.wrapping import wrapped


def say(screen: Screen, lines: Sequence[str]) -> None:
    """Lines in rows of the terminal's width, so that none of what they hold begins a row."""
    width = columns(sys.stderr)
    screen.say(*(row for line in lines for row in wrapped(line, width)))


async def ask(screen: Screen, question: str) -> str | None:
    """Put a question and read a line; None at the end of input."""
    forget_typed()  # it was typed ahead, and is no answer to this
    rows = wrapped(screen.styles.bold(question.rstrip()) + " ", columns(sys.stderr))
    screen.say(*rows[:-1])
    screen.ask(rows[-1])
    line: str | None = None
    try:
        with echo(True):
            line = await read_line()
    except asyncio.CancelledError:
        forget_typed()  # nor is what was typed at it meant for what comes next
        raise
    finally:
        if line is None:  # Ctrl-D or Ctrl-C: nobody ended the line
            screen.say("")
    return line


def forget_typed() -> None:
    """Drop what was typed and not read yet."""
    if sys.platform == "win32":
        return
    import termios

    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except (OSError, ValueError, termios.error):
        return


async def read_line() -> str | None:
    """A line from stdin, without its end; None at the end of input. Cancelling it leaves stdin as it was."""
    if sys.platform == "win32":  # there is no readiness to wait for; the thread ends with the line
        line = await asyncio.to_thread(sys.stdin.readline)
        return line.rstrip("\r\n") if line else None
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()
    done: asyncio.Future[bytes | None] = loop.create_future()
    held = bytearray()

    def ready() -> None:
        try:
            data = os.read(descriptor, 4096)
        except OSError:
            data = b""
        held.extend(data)
        if not done.done() and (not data or held.endswith(b"\n")):
            done.set_result(bytes(held) if held else None)

    loop.add_reader(descriptor, ready)
    try:
        line_read = await done
    finally:
        loop.remove_reader(descriptor)
    return None if line_read is None else line_read.decode("utf-8", "replace").rstrip("\r\n")
