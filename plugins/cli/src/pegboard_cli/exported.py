"""What an export is made safe with, and the new file that it goes to."""

from __future__ import annotations

import os
from typing import Any

import typer
from pegboard.errors import ConfigError, ToolError


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
        new_file(output, data)
    except (ConfigError, ToolError) as error:
        typer.echo(f"pegboard: {error}", err=True)
        return 2 if isinstance(error, ConfigError) else 1
    return 0


def new_file(name: str, data: bytes, folder: int | None = None, *, shown: str | None = None) -> None:
    """Write a new file for its owner alone, below an open folder or where we are. `shown`: what it is called in errors.

    Raises:
        ConfigError: there is one already, or it cannot be made; nothing was written.
        ToolError: it could not be written; nothing is left of it.
    """
    told = shown or name
    try:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    except OSError as error:
        reason = "it is there already" if isinstance(error, FileExistsError) else error.strerror
        raise ConfigError(f"{told!r} was not written: {reason}. Choose another name.") from None
    try:
        with open(fd, "wb") as file:
            file.write(data)
    except OSError as error:
        os.unlink(name, dir_fd=folder)
        raise ToolError(f"{told!r} could not be written ({error.strerror}); nothing is left of it.") from None
