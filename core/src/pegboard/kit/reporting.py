"""A Python process that looks at strangers' code for us: it may print, hang or die, and what it has to say comes by a pipe
of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from pegboard.kit.tree import Tree


@contextmanager
def reporting(
    main: str, *arguments: str, sent: bytes, cwd: str | None = None, environ: Mapping[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The process, and the descriptor to read its report from. It and all that it started are killed in the end.

    `main`: a function as `module:name`. It is called with the descriptor to write to and these arguments, whole numbers as
    texts, on the same `sys.path` as ours; it finds what is `sent` on its stdin. Its stderr is a pipe, its stdout nowhere.

    Raises:
        OSError: no process can be started.
    """
    module, _, name = main.partition(":")
    code = (
        "import sys, ast; sys.path[:] = ast.literal_eval(sys.argv[1]); "
        f"from {module} import {name} as main; main(*map(int, sys.argv[2:]))"
    )
    tree = Tree()
    report, write = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code, repr([*sys.path]), str(write), *arguments],
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=tree.marked(os.environ if environ is None else environ),
            pass_fds=(write,),
            start_new_session=True,
        )
    except OSError:
        os.close(report)
        raise
    finally:
        os.close(write)
    tree.pid = process.pid
    assert process.stdin is not None and process.stderr is not None
    try:
        with suppress(OSError):  # it ended before it read all
            process.stdin.write(sent)
        with suppress(OSError):
            process.stdin.close()
        yield process, report
    finally:
        tree.kill()
        process.wait()
        process.stderr.close()
        os.close(report)


def how_it_ended(process: subprocess.Popen[bytes], tail: bytes) -> str:
    """How such a process ended, with the last line of what it printed."""
    try:
        code = process.wait(1)
    except subprocess.TimeoutExpired:
        return "it closed what belongs to Pegboard"
    lines = tail.decode("utf-8", "replace").split("\n")
    last = next((f": {' '.join(line.split())[:200]}" for line in reversed(lines) if line.strip()), "")
    if code >= 0:
        return f"exit {code}{last}"
    with suppress(ValueError):
        return f"{signal.Signals(-code).name}{last}"
    return f"signal {-code}"
