"""A Python process that looks at strangers' code for us: it may print, hang or die, and what it has to say comes by a pipe
of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from typing import Generic, TypeVar

import msgspec

from pegboard.kit.tree import Tree

_T = TypeVar("_T")
_GLANCE = 0.2
"""Seconds after which a silent child is looked at: a copy that a plugin forked may hold its pipe open for ever."""
_TAIL = 4000


class Child(Generic[_T]):
    """Such a process, and what it tells: one JSON document a line, each of type `kind`."""

    def __init__(self, process: subprocess.Popen[bytes], report: int, kind: type[_T]) -> None:
        assert process.stderr is not None
        self._process, self._report, self._stderr = process, report, process.stderr.fileno()
        self._kind = kind
        self._rest = self._tail = b""
        self._selector = DefaultSelector()
        self._selector.register(report, EVENT_READ)
        self._selector.register(self._stderr, EVENT_READ)

    def told(self, deadline: float) -> list[_T] | None:
        """What it tells next. Empty: it tells no more; None: nothing came before the deadline, a `time.monotonic()`."""
        while True:
            left = deadline - time.monotonic()
            ready = {key.fd for key, _ in self._selector.select(min(max(left, 0.0), _GLANCE))}
            if not ready and left <= 0:
                return None
            if not ready and self._process.poll() is not None:
                return []
            if self._stderr in ready:
                self._take_stderr()
            if self._report in ready:
                data = os.read(self._report, 1 << 16)
                if not data:
                    return []
                if told := self._decoded(data):
                    return told

    def _decoded(self, data: bytes) -> list[_T]:
        *whole, self._rest = (self._rest + data).split(b"\n")
        told = []
        for line in whole:
            with suppress(msgspec.MsgspecError):  # a plugin wrote to a descriptor that is not its own
                told.append(msgspec.json.decode(line, type=self._kind))
        return told

    def _take_stderr(self) -> None:
        data = os.read(self._stderr, 1 << 16)
        self._tail = (self._tail + data)[-_TAIL:]
        if not data:
            self._selector.unregister(self._stderr)

    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def how_it_ended(self) -> str:
        """How it ended, with the last line of what it printed."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "it closed what belongs to Pegboard"
        lines = self._tail.decode("utf-8", "replace").split("\n")
        last = next((f": {' '.join(line.split())[:200]}" for line in reversed(lines) if line.strip()), "")
        if code >= 0:
            return f"exit {code}{last}"
        with suppress(ValueError):
            return f"{signal.Signals(-code).name}{last}"
        return f"signal {-code}"

    def close(self) -> None:
        """Read no more of it."""
        self._selector.close()


@contextmanager
def reporting(
    main: str,
    *arguments: str,
    sent: bytes,
    kind: type[_T],
    cwd: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Iterator[Child[_T]]:
    """The process, whose report is lines of `kind`. It and all that it started are killed in the end.

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
        child = Child(process, report, kind)
        try:
            yield child
        finally:
            child.close()
    finally:
        tree.kill()
        process.wait()
        process.stderr.close()
        os.close(report)
