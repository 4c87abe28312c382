"""Uninstall a plugin, which is not imported for it, and take its row out of the lock."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from pegboard.entries import installed, normal, scan
from pegboard.terminal import visible

from pegboard_cli.installing import CannotInstall, run, to_uninstall
from pegboard_cli.reviewed import lock
from pegboard_cli.reviewed.environment import here


def uninstall(name: str, *, json: bool) -> int:
    """The exit code. Raises CannotInstall: it is no plugin, is a part of Pegboard, or the installer failed."""
    from pegboard_cli.options import print_json

    entries = scan()
    place = here()
    wanted = normal(name.strip())
    command: list[str] = []
    there = installed(wanted) is not None
    try:
        locked = lock.read(place.prefix).row(wanted) is not None
    except CannotInstall:
        locked = False  # it is said when the row is to go; what is there is uninstalled all the same
    if there or not locked:
        wanted = to_uninstall(name, entries)
        command = place.uninstalls(wanted)
        if not json:
            _say(f"running: {shlex.join(command)}")
        run(command)
    gone = [f"{e.group.removeprefix('pegboard.')} {e.name}" for e in entries if e.distribution == wanted]
    left = any(entry.distribution == wanted for entry in scan())
    row = None if left else _drop(wanted, place.prefix)
    if row is not None:
        lock.forget(row)
    if json:
        print_json(_document(wanted, command, gone, left=left))
    elif left:
        _say(f"{wanted} is still there: another copy of it is on the path")
    elif command:
        _say(f"{wanted} is gone, and with it: {', '.join(gone)}")
    else:
        _say(f"{wanted} was gone already; what the lock said of it is, too")
    return 1 if left else 0


def _drop(wanted: str, prefix: str) -> lock.Row | None:
    """Its row, which is taken out of the lock. A lock that cannot be changed is told of: the plugin is gone by now."""
    try:
        return lock.drop(wanted, prefix)
    except CannotInstall as error:
        text = str(error).replace("nothing was changed", f"{wanted} is uninstalled, and the lock is as it was")
        sys.stderr.write(f"note: {visible(text)}\n")
        return None


def _document(wanted: str, command: list[str], gone: list[str], *, left: bool) -> dict[str, Any]:
    return {"distribution": wanted, "uninstalled": bool(command) and not left, "command": command, "plugins": gone}


def _say(line: str) -> None:
    sys.stdout.write(f"{visible(line)}\n")
    sys.stdout.flush()
