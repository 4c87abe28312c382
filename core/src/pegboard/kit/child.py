"""One running child: started in a group of its own, its pipes drained on the event loop, its end noticed."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Literal, TypeAlias

from pegboard.kit.launch import Launch, Stream, spawned
from pegboard.kit.tree import Process, Tree

CHUNK = 256 * 1024
LINGER_SECONDS = 0.2
"""How long the pipes are read on after the child exited, while something it left behind still holds them."""
LATE_SECONDS = 0.002
"""A turn of the loop that comes later than this after the last one makes the pieces smaller."""
_PIPE_SIZE = 1024 * 1024
_ORDINARY_PIPE = 64 * 1024
_F_SETPIPE_SZ = 1031  # fcntl's own name for it exists on Linux only

Consume: TypeAlias = Callable[[Stream, bytes], None]
Ending: TypeAlias = Literal["ended", "lingering", "timeout"]


def start(launch: Launch, stdin: bytes, consume: Consume) -> Child:
    """Start a process whose output goes to `consume`, piece by piece, on the running loop.

    Raises ToolError when it cannot be started; then nothing was run.
    """
    loop = asyncio.get_running_loop()
    process, fds, tree = spawned(launch, stdin)
    if sys.platform == "linux":
        with suppress(OSError):  # an old kernel, or a sandbox that forbids it
            return _ReadyChild(loop, process, tree, fds, consume)
    return _ThreadChild(loop, process, tree, fds, consume)


class Child:
    """A started process. `exited` once it has ended; its pipes may be open longer, held by what it left behind."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        process: subprocess.Popen[bytes],
        tree: Tree,
        fds: dict[Stream, int],
        consume: Consume,
    ) -> None:
        self.tree = tree
        self.exited = False
        self._loop = loop
        self._process = process
        self._fds = fds
        self._consume = consume
        self._ending: asyncio.Future[Ending] = loop.create_future()
        self._linger: asyncio.TimerHandle | None = None

    async def ending(self, timeout: float | None) -> Ending:
        """Wait until it has exited and its pipes are at their end, or no longer than `timeout` seconds.

        Raises what `consume` raised.
        """
        timer = self._loop.call_later(timeout, self._end, "timeout") if timeout is not None else None
        try:
            return await self._ending
        finally:
            if timer:
                timer.cancel()

    async def outlasts(self, seconds: float) -> bool:
        """Whether it still runs after so long; False as soon as it has ended. `ending` may be awaited after it."""
        if await self.ending(seconds) != "timeout":
            return False
        self._ending = self._loop.create_future()
        if self.exited:  # in the very turn in which the time was over
            self._exit()
        return not self.exited

    def release(self) -> tuple[subprocess.Popen[bytes], dict[Stream, int]] | None:
        """Let go of a running child: its process and the descriptors of its pipes are the caller's from now on, and
        nothing more goes to `consume`. None where that cannot be done; then all is as it was."""
        return None

    def members(self) -> list[Process]:
        """Everything of its tree that is alive."""
        return self.tree.members(self._fds.values())

    def reap(self) -> int | None:
        """The return code as `subprocess` has it (negative: a signal), None while it runs. Leaves no zombie."""
        return self._process.poll()

    def kill(self) -> None:
        """Kill the tree where nothing can be awaited any more."""
        self.tree.kill(self._fds.values())
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)

    def close(self) -> None:
        """Take what the pipes hold now, without waiting, and let go of them."""
        if self._linger:
            self._linger.cancel()
        self.reap()

    def _take(self, stream: Stream, data: bytes) -> None:
        try:
            self._consume(stream, data)
        except Exception as error:  # noqa: BLE001 - on its way to the one who awaits `ending`
            if not self._ending.done():
                self._ending.set_exception(error)

    def _end(self, how: Ending) -> None:
        if not self._ending.done():
            self._ending.set_result(how)

    def _closed(self, stream: Stream) -> None:
        del self._fds[stream]
        if self.exited and not self._fds:
            self._end("ended")

    def _exit(self) -> None:
        self.exited = True
        if self._linger:
            self._linger.cancel()
        if self._fds:
            self._linger = self._loop.call_later(LINGER_SECONDS, self._end, "lingering")
        else:
            self._end("ended")


class _ReadyChild(Child):
    """Linux: both pipes and a descriptor of the process in an epoll of its own, which the loop watches. No thread.

    Each turn of the loop takes one piece of each pipe at most, and a smaller one where turns come late: many children
    that print at once share a loop without holding it up.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        process: subprocess.Popen[bytes],
        tree: Tree,
        fds: dict[Stream, int],
        consume: Consume,
    ) -> None:
        """Raises OSError where there are no such descriptors; nothing is held then."""
        super().__init__(loop, process, tree, fds, consume)
        self._pidfd = os.pidfd_open(process.pid)
        self._piece = CHUNK
        self._last_turn = 0.0
        self._enlarged: set[int] = set()
        try:
            self._epoll = select.epoll()
        except OSError:
            os.close(self._pidfd)
            raise
        self._epoll.register(self._pidfd, select.EPOLLIN)
        for fd in fds.values():
            os.set_blocking(fd, False)
            self._epoll.register(fd, select.EPOLLIN)
        loop.add_reader(self._epoll.fileno(), self._turn)

    def release(self) -> tuple[subprocess.Popen[bytes], dict[Stream, int]] | None:
        if self.exited or self._epoll.closed:
            return None
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        os.close(self._pidfd)
        fds, self._fds = self._fds, {}
        return self._process, fds

    def close(self) -> None:
        if not self._epoll.closed:
            self._loop.remove_reader(self._epoll.fileno())
            for stream, fd in list(self._fds.items()):
                left = 2 * _PIPE_SIZE // CHUNK
                while left and self._read(stream, fd):
                    left -= 1
                if stream in self._fds:
                    os.close(fd)
            self._epoll.close()
            os.close(self._pidfd)
        super().close()

    def _turn(self) -> None:
        pause = self._loop.time() - self._last_turn
        if pause > LATE_SECONDS:
            self._piece = max(_ORDINARY_PIPE, self._piece // 2)
        elif pause < LATE_SECONDS / 4:
            self._piece = min(CHUNK, self._piece * 2)
        ready = {fd for fd, _ in self._epoll.poll(0)}
        for stream, fd in list(self._fds.items()):
            if fd in ready:
                self._read(stream, fd)
        if not self._fds and self._pidfd not in ready:  # as a rule it ends as it closes its pipes
            ready = {fd for fd, _ in self._epoll.poll(0)}
        if self._pidfd in ready and not self.exited:
            self._epoll.unregister(self._pidfd)
            self._exit()
        self._last_turn = self._loop.time()

    def _read(self, stream: Stream, fd: int) -> bool:
        """Take one piece; False when there is none."""
        try:
            data = os.read(fd, self._piece)
        except BlockingIOError:
            return False
        if not data:
            os.close(fd)  # which takes it off the epoll
            self._closed(stream)
            return False
        if len(data) >= _ORDINARY_PIPE and fd not in self._enlarged:
            self._enlarged.add(fd)
            _enlarge(fd)
        self._take(stream, data)
        return True


def _enlarge(fd: int) -> None:
    """Make a pipe that was found full larger: fewer turns for whoever prints a lot."""
    if sys.platform == "linux":
        import fcntl

        with suppress(OSError):  # the user's share of pipe memory is used up
            fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_SIZE)


class _ThreadChild(Child):
    """Elsewhere: a thread for each pipe and one that waits. The next piece is read when the last one was taken."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        process: subprocess.Popen[bytes],
        tree: Tree,
        fds: dict[Stream, int],
        consume: Consume,
    ) -> None:
        super().__init__(loop, process, tree, fds, consume)
        self._gone = False
        for stream, fd in fds.items():
            threading.Thread(target=self._read, args=(stream, fd), daemon=True).start()
        threading.Thread(target=self._wait, daemon=True).start()

    def close(self) -> None:
        self._gone = True
        super().close()

    def _post(self, call: Callable[[], None]) -> bool:
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # the loop was closed
            return False
        return True

    def _wait(self) -> None:
        self._process.wait()
        self._post(self._exit)

    def _read(self, stream: Stream, fd: int) -> None:
        taken = threading.Semaphore(0)

        def take(data: bytes) -> None:
            self._take(stream, data)
            taken.release()

        def end() -> None:
            os.close(fd)
            self._closed(stream)

        try:
            while (data := os.read(fd, CHUNK)) and not self._gone and self._post(partial(take, data)):
                while not taken.acquire(timeout=1) and not self._gone:
                    pass
        finally:
            if not self._post(end):
                os.close(fd)
