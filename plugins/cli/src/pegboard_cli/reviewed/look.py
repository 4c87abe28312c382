"""What one installed entry declares, looked at in a process of its own: `python -m pegboard_cli.reviewed.look`.

The entry comes on stdin; what it says goes into a file, as whatever the plugin prints is not to stand in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
from pegboard.entries import Entry
from pegboard.kit.tree import Tree
from pegboard.manifest import MOST_BYTES, EntrySaid
from pegboard.plugins.child import Wanted

LIMIT = 10.0
"""Seconds."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What it says, or why that could not be had."""

    said: EntrySaid | None = None
    error: str | None = None


def look(entry: Entry, table: dict[str, Any]) -> Answer:
    """Import an entry in a child process, and give what it declares; what hangs or dies there harms nobody."""
    tree = Tree()
    with tempfile.TemporaryDirectory(prefix="pegboard-look-") as folder:
        file = Path(folder, "answer.json")
        command = [sys.executable, "-P", "-m", "pegboard_cli.reviewed.look", str(file)]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=tree.marked(os.environ),
        ) as process:
            tree.pid = process.pid
            try:
                process.communicate(msgspec.json.encode(Wanted.of(entry, table)), timeout=LIMIT)
            except subprocess.TimeoutExpired:
                return Answer(error=f"it did not load within {LIMIT:g} seconds")
            finally:
                tree.kill()
        try:
            with open(file, "rb") as answer:
                return msgspec.json.decode(answer.read(MOST_BYTES), type=Answer)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return Answer(error="it ended the process that looked at it")


def main(file: str) -> None:
    """The child."""
    from pegboard.manifest import said_by
    from pegboard.plugins.loaded import LoadProblem, told

    wanted = msgspec.json.decode(sys.stdin.buffer.read(), type=Wanted)
    try:
        answer = Answer(said=said_by(wanted.entry, wanted.table))
    except LoadProblem as problem:
        answer = Answer(error=str(problem))
    except BaseException as error:  # noqa: BLE001 - isolates plugins: in this process nothing else is to be ended
        answer = Answer(error=told(error, wanted.entry.value))
    with open(file, "wb") as out:
        out.write(msgspec.json.encode(answer))
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
