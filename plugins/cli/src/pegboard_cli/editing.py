"""A call's arguments, or a pattern, edited by the person at the terminal.

One line is edited with readline, where Python has it; arguments in the editor that VISUAL or EDITOR names, as JSON in a file
for their owner alone. Either runs as a program of its own, so what goes on beside a question goes on.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from pegboard.terminal import plain, visible

from pegboard_cli import typed
from pegboard_cli.screen import Screen

LONGEST = 4000
"""Characters that a line may have to be edited in its place: more does not fit into the pipe it is handed over by."""
_EDIT = """
import os, sys
text = os.read(int(sys.argv[1]), 65536).decode()
try:
    import readline
    readline.set_startup_hook(lambda: readline.insert_text(text))
    readline.set_auto_history(False)
except ImportError:
    print("(it was: " + text + ")", file=sys.stderr)
try:
    line = input(sys.argv[3])
except (EOFError, KeyboardInterrupt):
    print()
    sys.exit(3)
said = line.encode("utf-8", "replace")
if len(said) > 60000:
    sys.exit(4)
os.write(int(sys.argv[2]), said)
"""


class NotEdited(Exception):
    """It could not be edited, or was left; says why, for a person."""


async def edit_arguments(arguments: Mapping[str, Any], screen: Screen) -> dict[str, Any]:
    """The arguments as the person makes them. One text alone is edited as a line; all others as JSON.

    Raises:
        NotEdited: they are as they were.
    """
    if len(arguments) == 1:
        [(name, text)] = arguments.items()
        if isinstance(text, str) and fits_a_line(text):
            return {name: await edit_line(f"{visible(name)}: ", text, screen)}
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if editor:
        return await _with_editor(editor, arguments, screen)
    text = json.dumps(arguments)
    while True:
        if len(text) > LONGEST:
            raise NotEdited("they are too long to be edited in a line; set EDITOR to a program that edits files")
        text = await edit_line("", text, screen)
        try:
            return _read(text)
        except ValueError as error:
            typed.say(
                screen, [f"  That is no JSON object ({visible(str(error))}); please mend it, or Ctrl-D to leave."]
            )


async def edit_line(prompt: str, text: str, screen: Screen) -> str:
    """A line as the person makes it of this one, which nothing may hide in.

    Raises:
        NotEdited: it was left with Ctrl-D, or nothing is left of it.
    """
    if sys.platform == "win32":
        typed.say(screen, [f"  {prompt}{text}"])
        line = await typed.ask(screen, "Instead: ")
        if line is None:
            raise NotEdited("left as it was")
        return line
    given, take = os.pipe()
    result, give = os.pipe()
    try:
        os.write(take, text.encode())
        os.close(take)
        argv = [sys.executable, "-I", "-c", _EDIT, str(given), str(give), prompt]
        code = await _run(argv, screen, (given, give))
        os.set_blocking(result, False)
        with suppress(BlockingIOError):
            said = os.read(result, 1 << 16)
            if code == 0:
                return plain(said.decode("utf-8", "replace"))
        raise NotEdited("left as it was")
    finally:
        for descriptor in (given, result, give):
            os.close(descriptor)


async def _with_editor(editor: str, arguments: Mapping[str, Any], screen: Screen) -> dict[str, Any]:
    """Arguments through an editor, until they are JSON or are left as they were."""
    text = as_json(arguments)
    descriptor, file = tempfile.mkstemp(prefix="pegboard-", suffix=".json")  # for its owner alone
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as new:
            new.write(text)
        while True:
            await _edit_file(editor, file, screen)
            with open(file, encoding="utf-8") as edited:
                now = edited.read()
            try:
                return _read(now)
            except ValueError as error:
                typed.say(screen, [f"  That is no JSON object ({visible(str(error))})."])
                again = await typed.ask(screen, "Edit it again? [Y]es / [n]o ")
                if again is None or again.strip().casefold() in ("n", "no"):
                    raise NotEdited("left as they were") from None
    except (OSError, UnicodeDecodeError) as error:
        raise NotEdited(f"they could not be edited in a file ({visible(str(error))})") from None
    finally:
        with suppress(OSError):
            os.unlink(file)


async def _edit_file(editor: str, file: str, screen: Screen) -> None:
    try:
        argv = [*shlex.split(editor), file]
    except ValueError:
        argv = [editor, file]
    screen.lent = True  # Ctrl-C is the editor's
    try:
        code = await _run(argv, screen)
    except OSError as error:
        raise NotEdited(f"the editor {visible(editor)} could not be started ({error.strerror})") from None
    finally:
        screen.lent = False
    if code != 0:
        raise NotEdited(f"the editor ended with {code}")


async def _run(argv: list[str], screen: Screen, descriptors: tuple[int, ...] = ()) -> int:
    """A program that has the terminal until it ends; it is ended when nobody waits for it any more."""
    screen.clear_tail()
    sys.stderr.flush()
    with _terminal_kept():
        program = await asyncio.create_subprocess_exec(*argv, stdout=sys.stderr.fileno(), pass_fds=descriptors)
        try:
            return await program.wait()
        finally:
            if program.returncode is None:
                with suppress(ProcessLookupError):
                    program.kill()
                await program.wait()


@contextmanager
def _terminal_kept() -> Iterator[None]:
    """The terminal's modes are afterwards as they were, however the program ended; what is typed in it is shown."""
    if sys.platform == "win32":
        yield
        return
    import termios

    descriptor = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(descriptor)
    except (OSError, termios.error):
        yield
        return
    from pegboard_cli.echo import echo

    typed.forget_typed()
    try:
        with echo(True):
            yield
    finally:
        with suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def fits_a_line(text: str) -> bool:
    """Whether a text can be edited as a line: short, and with nothing in it that a terminal obeys or does not draw."""
    return 0 < len(text) <= LONGEST and visible(text) == text


def as_json(arguments: Mapping[str, Any]) -> str:
    """JSON that a person can read; where something in it would hide, with escapes."""
    text = json.dumps(arguments, indent=2, ensure_ascii=False)
    return (text if visible(text, keep="\n") == text else json.dumps(arguments, indent=2)) + "\n"


def _read(text: str) -> dict[str, Any]:
    """Raises ValueError: it is no JSON object."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("an object was expected")
    return value
