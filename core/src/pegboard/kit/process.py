"""Programs, run and watched: both pipes drained in bounded memory, a time limit, and no process left behind.

A child has a session and group of its own, nothing on stdin, and no terminal. When `run` returns or raises, every
process that began with it is dead, save one that detached itself wholly (own session, no pipe of ours) from a child
that ended by itself.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from pegboard.kit.child import Child, start
from pegboard.kit.launch import Launch, Launcher, Stream
from pegboard.kit.output import Sink
from pegboard.kit.settings import ShellSettings
from pegboard.kit.tree import is_alive

__all__ = [
    "Finished",
    "Launch",
    "Launcher",
    "ShellSettings",
    "Started",
    "Stream",
    "begin",
    "run",
    "shell_argv",
    "signal_name",
]

KEEP_BYTES = 1024 * 1024
GRACE_SECONDS = 0.05
"""Between SIGTERM and SIGKILL: time for a last word, while Ctrl-C still feels immediate."""
_GIVE_UP_SECONDS = 2.0


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """How a process ended.

    exit_code is None when a signal ended it, which `signal` names (`SIGKILL`). stdout and stderr are the beginning of
    what was printed; `cut` says that there was more. timed_out: the time limit ended it. stopped: the caller's `each`
    did. left_running: it had left processes behind, which were killed.
    """

    exit_code: int | None
    signal: str | None
    stdout: bytes
    stderr: bytes
    cut: bool
    timed_out: bool
    stopped: bool
    left_running: bool


async def run(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float | None = None,
    sink: Sink | None = None,
    each: Callable[[Stream, bytes], bool | None] | None = None,
    launcher: Launcher | None = None,
    keep: int = KEEP_BYTES,
) -> Finished:
    """Run a program to its end, or kill it and all its descendants at `timeout` seconds.

    `env` is the whole environment (default: ours). All output goes to `sink`, which stays open, and to `each`, piece by
    piece; `each` ends the run early by returning True. `keep` bytes of each stream are kept in the result.

    Raises ToolError when the program cannot be started: then nothing was run. Cancelling the awaiting task kills the
    whole tree before CancelledError is raised. What `sink` or `each` raises ends the run in the same way.
    """
    launch = Launch(argv=tuple(argv), cwd=os.fspath(cwd), env=env)
    return await begin(launch, stdin=stdin, sink=sink, each=each, launcher=launcher, keep=keep).finished(timeout)


def begin(
    launch: Launch,
    *,
    stdin: bytes = b"",
    sink: Sink | None = None,
    each: Callable[[Stream, bytes], bool | None] | None = None,
    launcher: Launcher | None = None,
    keep: int = KEEP_BYTES,
) -> Started:
    """Start a program as `run` does. It has to be brought to its end: await `finished`.

    Raises ToolError when it cannot be started: then nothing was run.
    """
    taker = _Taker(sink, each, keep)
    taker.child = start(launcher(launch) if launcher else launch, stdin, taker.take)
    return Started(taker.child, taker)


class Started:
    """A program that runs, and where its output goes."""

    def __init__(self, child: Child, taker: _Taker) -> None:
        self.child = child
        self._taker = taker
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._began

    async def outlasts(self, seconds: float) -> bool:
        """Whether it still runs after so long. Cancelling this ends it, as what `sink` or `each` raises does."""
        try:
            return await self.child.outlasts(seconds)
        except (asyncio.CancelledError, Exception):
            try:
                await _stop(self.child)
            finally:
                self._let_go()
            raise

    async def finished(self, timeout: float | None) -> Finished:
        """Its end; the whole tree is killed `timeout` seconds from now, and when this is cancelled."""
        child, taker = self.child, self._taker
        left_running = timed_out = cancelled = False
        try:
            ending = await child.ending(timeout)
            timed_out = ending == "timeout" and not child.exited
            if ending != "ended" or _someone_left(child):
                left_running, cancelled = await _stop(child)
        except (asyncio.CancelledError, Exception):
            await _stop(child)
            raise
        finally:
            self._let_go()
        if cancelled:
            raise asyncio.CancelledError
        code = child.tree.over(child.reap())
        return taker.finished(code, timed_out=timed_out, left_running=left_running and not timed_out)

    def _let_go(self) -> None:
        if not self.child.exited:  # the loop is going away under us
            self.child.kill()
        self.child.close()
        self.child.tree.over()


def shell_argv(
    command: str, settings: ShellSettings | None = None, *, shell: str = "bash", platform: str = sys.platform
) -> list[str]:
    """How a command line is run: `bash -c`, `bash -lc` with `shell.login`, `cmd /c` on Windows."""
    if platform == "win32":
        return ["cmd", "/c", command]
    login = shell == "bash" and settings is not None and settings.login
    if command.startswith(("-", "+")):  # it would be taken for options
        if shell in ("fish", "nu"):
            return [shell, "-c", f" {command}"]
        return [shell, "-lc" if login else "-c", "--", command]
    return [shell, "-lc" if login else "-c", command]


def signal_name(number: int) -> str:
    """The name of a signal, such as `SIGKILL`; real-time signals by their distance from `SIGRTMIN`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        first = getattr(signal, "SIGRTMIN", None)
        return f"SIGRTMIN+{number - first}" if first is not None and number > first else f"signal {number}"


class _Taker:
    """Takes the output of one child: to the result, the sink and the caller."""

    def __init__(self, sink: Sink | None, each: Callable[[Stream, bytes], bool | None] | None, keep: int) -> None:
        self.child: Child | None = None
        self._sink = sink
        self._each = each
        self._keep = keep
        self._kept: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._cut = False
        self._stopped = False

    def take(self, stream: Stream, data: bytes) -> None:
        if self._stopped:
            return
        kept = self._kept[stream]
        room = self._keep - len(kept)
        self._cut = self._cut or len(data) > room
        if room > 0:
            kept += data[:room]
        if self._sink:
            self._sink.feed(stream, data)
        if self._each and self._each(stream, data):
            self._stopped = True
            if self.child:
                self.child.tree.kill_group()

    def finished(self, code: int | None, *, timed_out: bool, left_running: bool) -> Finished:
        ended_by = -code if code is not None and code < 0 and sys.platform != "win32" else None
        return Finished(
            exit_code=code if ended_by is None else None,
            signal=None if ended_by is None else signal_name(ended_by),
            stdout=bytes(self._kept["stdout"]),
            stderr=bytes(self._kept["stderr"]),
            cut=self._cut,
            timed_out=timed_out,
            stopped=self._stopped,
            left_running=left_running,
        )


def _someone_left(child: Child) -> bool:
    """Whether the exited child left processes in its group (background jobs).

    An empty group does not keep the number alive, but pids are handed out in a circle: it is not another's so soon.
    """
    child.reap()
    return sys.platform != "win32" and child.tree.signal_group(0)


async def _stop(child: Child) -> tuple[bool, bool]:
    """Kill the whole tree: SIGTERM, and SIGKILL to what is there after a short grace.

    Returns whether there was anyone, and whether the task was cancelled meanwhile (that only cuts the grace short).
    """
    if sys.platform == "win32":
        await asyncio.to_thread(child.tree.kill)
        return not child.exited, False
    loop, tree, cancelled = asyncio.get_running_loop(), child.tree, False
    members = child.members()  # before anyone dies: whose parent died is harder to find
    found = bool(members)
    tree.signal(signal.SIGTERM, members)
    until = loop.time() + GRACE_SECONDS
    while not cancelled and loop.time() < until and (not child.exited or any(map(is_alive, members))):
        cancelled = await _nap(0.002)
    until = loop.time() + _GIVE_UP_SECONDS
    while (members := child.members()) or not child.exited:
        tree.signal(signal.SIGKILL, members)
        if loop.time() > until:  # a process stuck in the kernel, or one we may not signal
            break
        cancelled = await _nap(0.002) or cancelled
    return found, cancelled


async def _nap(seconds: float) -> bool:
    """Sleep; True when cancelled meanwhile."""
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        return True
    return False
