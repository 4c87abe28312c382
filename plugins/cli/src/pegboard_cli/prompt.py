"""Asks the person at the terminal: questions go to stderr, answers are read from stdin, which is a terminal then.

What was typed before a question was on the screen does not answer it. Enter means no. "Always" is offered only where the
question says what it would keep, and that is on the screen before it is kept.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Sequence
from typing import NamedTuple

import msgspec
from pegboard import port
from pegboard.blocks import Activity
from pegboard.events import ApprovalAsked, QuestionAsked

from pegboard_cli.echo import echo
from pegboard_cli.render import activity_line, all_visible, argument_lines, block_lines
from pegboard_cli.screen import Screen
from pegboard_cli.styles import columns
from pegboard_cli.terminal import plain, visible
from pegboard_cli.wrapping import wrapped

ENDING = '[N]o (or: "n because ...") '
"""How every question for permission ends."""
QUESTION = f"Allow? [y]es once / {ENDING}"
QUESTION_ALWAYS = f"Allow? [y]es once / [a]lways for this session / {ENDING}"
_NO = re.compile(r"(?:no|n)\b[\s,:;.-]*(?:because\b)?\s*(?P<reason>.*)", re.IGNORECASE | re.DOTALL)


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What a call would do, as a person is shown it: the arguments are those it would run with, none left out."""

    tool: str
    activity: Activity
    arguments: object


class Reply(NamedTuple):
    """What was typed. `always`: the yes stands for what the question said it would keep."""

    granted: bool
    reason: str | None = None
    always: bool = False


def approval_lines(event: ApprovalAsked, subject: Subject, screen: Screen, *, glyphs: bool = True) -> list[str]:
    """Everything that a person should see before answering."""
    styles = screen.styles
    preview = [line for block in event.preview for line in block_lines(block, styles, all_visible)]
    asks = f"{visible(subject.tool)} asks: {visible(event.rule)} ({visible(event.layer)})"
    return [
        *activity_line(subject.activity, subject.tool, styles, glyphs=glyphs),
        "  " + styles.warn(asks),
        *("  " + line for line in argument_lines(subject.arguments, styles)),
        *("  " + line for line in preview),
        *("  " + styles.warn(f"always would allow, for this session: {visible(kept)}") for kept in event.remember),
    ]


def read_reply(line: str) -> Reply | None:
    """What was typed; None when it is no answer. An empty line means no."""
    text = line.strip()
    match text.casefold():
        case "y" | "yes":
            return Reply(True)
        case "a" | "always":
            return Reply(True, always=True)
        case "":
            return Reply(False)
    no = _NO.fullmatch(text)
    return Reply(False, plain(no["reason"].strip()) or None) if no else None


async def ask_approval(event: ApprovalAsked, subject: Subject, screen: Screen, *, glyphs: bool = True) -> port.Answer:
    """Show the call and read an answer. The end of input means no."""
    _say(screen, approval_lines(event, subject, screen, glyphs=glyphs))
    question = QUESTION_ALWAYS if event.remember else QUESTION
    while True:
        line = await _ask(screen, question)
        reply = Reply(False) if line is None else read_reply(line)
        if reply is not None and (event.remember or not reply.always):
            answer = port.Answer(id=event.id, granted=reply.granted, reason=reply.reason)
            return msgspec.structs.replace(answer, remember="session") if reply.always else answer
        if reply is not None:
            _say(screen, ["  That cannot be remembered; please answer y or n."])
        else:
            _say(screen, [f"  Please answer {'y, a or n' if event.remember else 'y or n'}."])


def _say(screen: Screen, lines: Sequence[str]) -> None:
    """Lines in rows of the terminal's width, so that none of what they hold begins a row."""
    width = columns(sys.stderr)
    screen.say(*(row for line in lines for row in wrapped(line, width)))


async def ask_question(event: QuestionAsked, screen: Screen) -> port.Answer:
    """Show a tool's question and read a text, or the number of an option. An empty line dismisses it."""
    screen.say("", *(visible(line, keep="\t") for line in event.question.split("\n")))
    screen.say(*(f"  {number}. {visible(option)}" for number, option in enumerate(event.options, 1)))
    line = await _ask(screen, "Your answer (Enter to dismiss): ")
    text = plain((line or "").strip())
    if text.isdecimal() and 1 <= int(text) <= len(event.options):
        text = event.options[int(text) - 1]
    return port.Answer(id=event.id, granted=bool(text), text=text or None)


async def _ask(screen: Screen, question: str) -> str | None:
    _forget_typed()  # it was typed ahead, and is no answer to this
    rows = wrapped(screen.styles.bold(question.rstrip()) + " ", columns(sys.stderr))
    screen.say(*rows[:-1])
    screen.ask(rows[-1])
    line: str | None = None
    try:
        with echo(True):
            line = await read_line()
    except asyncio.CancelledError:
        _forget_typed()  # nor is what was typed at it meant for what comes next
        raise
    finally:
        if line is None:  # Ctrl-D or Ctrl-C: nobody ended the line
            screen.say("")
    return line


def _forget_typed() -> None:
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
