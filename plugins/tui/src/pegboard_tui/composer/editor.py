"""The text of the input in the person's own editor."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import which

from textual.app import App, SuspendNotSupported

_USUAL = ("nano", "vim", "vi")


class EditorFailed(Exception):
    """The editor could not be started, or it failed; its text says what to do. The text is as it was."""


def editor_of(environ: Mapping[str, str]) -> list[str]:
    """The command that edits a file: `$VISUAL`, `$EDITOR`, or one of the usual ones that is installed.

    Raises:
        EditorFailed: there is none, or what is named is not there.
    """
    for name in ("VISUAL", "EDITOR"):
        if said := environ.get(name, "").strip():
            try:
                words = shlex.split(said)
            except ValueError as error:
                raise EditorFailed(f"${name} cannot be read: {error}. The text is as it was.") from None
            if not which(words[0], path=environ.get("PATH")):
                raise EditorFailed(f"${name} names {words[0]}, which is not installed. The text is as it was.")
            return words
    for name in _USUAL:
        if which(name, path=environ.get("PATH")):
            return [name]
    raise EditorFailed("no editor was found; set $EDITOR to one. The text is as it was.")


async def edited(app: App[object], text: str, environ: Mapping[str, str] | None = None, *, suffix: str = ".md") -> str:
    """The text as the person left it. The app is off the screen meanwhile, and what runs in it goes on. `suffix`: of the
    file, by which an editor knows what it is.

    Raises:
        EditorFailed: it could not be edited.
    """
    command = editor_of(os.environ if environ is None else environ)
    fd, name = tempfile.mkstemp(prefix="prompt-", suffix=suffix)
    try:
        with open(fd, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        await _run(app, [*command, name])
        return Path(name).read_bytes().decode("utf-8", "surrogateescape").removesuffix("\n")
    except OSError as error:
        raise EditorFailed(f"{command[0]}: {error.strerror or error}. The text is as it was.") from None
    finally:
        with suppress(OSError):
            os.unlink(name)


async def _run(app: App[object], command: list[str]) -> None:
    failed: OSError | None = None
    code = 0
    try:
        with (
            app.batch_update(),
            app.suspend(),
            _uninterrupted(),
        ):  # nothing is drawn while another program has the screen
            try:
                process = await asyncio.create_subprocess_exec(*command)
                code = await process.wait()
            except OSError as error:  # from here on the screen is to be taken back
                failed = error
    except SuspendNotSupported:
        raise EditorFailed("an editor cannot have this terminal. The text is as it was.") from None
    finally:
        app.refresh(layout=True)
    if failed is not None:
        raise failed
    if code:
        raise EditorFailed(f"{command[0]} ended with code {code}. The text is as it was.")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C is the editor's; this process, in the same foreground, passes over it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
