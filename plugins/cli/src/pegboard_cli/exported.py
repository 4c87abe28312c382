"""What an export is made safe with, and the new file that it goes to."""

from __future__ import annotations

import os
from typing import Any

import typer


def redactor() -> Any:
    """What exports are redacted with: the person's own settings, and the secrets of this environment."""
    from pegboard.config.load import load
    from pegboard.config.places import config_file, find_root
    from pegboard.session.redaction import redactor_of

    root, _ = find_root(None)
    loaded = load(user_file=config_file(os.environ), root=root, environ=os.environ, flags={})
    return redactor_of(loaded.config.sessions, os.environ)


def write_new(output: str, data: bytes) -> int:
    """Write a new file for its owner alone; 2 where there is one already, or where it cannot be made."""
    try:
        fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = "it is there already" if isinstance(error, FileExistsError) else error.strerror
        typer.echo(f"pegboard: {output!r} was not written: {reason}. Choose another name.", err=True)
        return 2
    try:
        with open(fd, "wb") as file:
            file.write(data)
    except OSError as error:
        os.unlink(output)
        typer.echo(f"pegboard: {output!r} could not be written ({error.strerror}); nothing is left of it.", err=True)
        return 1
    return 0
