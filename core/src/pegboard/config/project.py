"""Reading a project's own settings file. It came with a clone, so nothing in it may stop, hang or crash a start."""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from pathlib import Path

from pegboard.config.layers import Said
from pegboard.config.lines import Lines
from pegboard.config.places import PROJECT_FILE

LARGEST = 64 * 1024
"""The largest project file that is read, in bytes."""
_DOTS = 200
"""tomllib takes quadratic time over the parts of one key: a line may have this many dots."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_ODD = "it is no regular file"
_NONE = (errno.ENOENT, errno.ENOTDIR)


class Unfit(Exception):
    """Why a project's file is ignored as a whole."""


def of_project(root: str, user_file: Path) -> Said | None:
    """What the project's file says; None when there is none, or it is the user's own.

    Raises:
        Unfit: it cannot be used; in words, without the file's name.
    """
    path = os.path.join(root, PROJECT_FILE)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a device may do something when it is opened
            raise Unfit(_ODD)
        fd = os.open(path, _FLAGS)  # not blocking, should it be a FIFO by now
    except OSError as error:
        if error.errno in _NONE and not os.path.islink(path):
            return None
        raise Unfit(f"it cannot be read ({error.strerror})") from None
    try:
        text = _text(fd, path, root, user_file)
    finally:
        os.close(fd)
    if text is None:
        return None
    return Said(layer="project", values=_parsed(text), file=path, lines=Lines(text))


def _text(fd: int, path: str, root: str, user_file: Path) -> str | None:
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        raise Unfit(_ODD)
    try:
        own = os.stat(user_file)
    except OSError:
        pass
    else:
        if os.path.samestat(found, own):
            return None
    real = os.path.realpath(path)
    if os.path.commonpath([real, os.path.realpath(root)]) != os.path.realpath(root):
        raise Unfit("it is a link that leads out of the project")
    try:
        if not os.path.samestat(found, os.stat(real)):
            raise Unfit("it was exchanged while it was read")
    except OSError as error:
        raise Unfit(f"it cannot be read ({error.strerror})") from None
    if hasattr(os, "getuid") and found.st_uid not in (0, os.getuid()):
        raise Unfit("it belongs to someone else")
    if found.st_size > LARGEST:
        raise Unfit(f"it is larger than {LARGEST // 1024} KiB")
    try:
        data = os.read(fd, LARGEST + 1)
    except OSError as error:
        raise Unfit(f"it cannot be read ({error.strerror})") from None
    if len(data) > LARGEST:
        raise Unfit(f"it is larger than {LARGEST // 1024} KiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Unfit("it is not UTF-8 text") from None


def _parsed(text: str) -> dict[str, object]:
    if any(line.count(".") > _DOTS for line in text.splitlines()):
        raise Unfit("a line of it is too intricate to be read")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Unfit("it is nested too deeply") from None
    except ValueError as error:
        raise Unfit(f"it is not valid TOML: {str(error)[:120]}") from None
