"""The process that a kind of widgets runs in, as the app sees it: started when the first is shown, ended for good when it
does not answer or talks nonsense.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

import msgspec

from pegboard_tui.custom import messages as told

_PROGRAM = (
    "import sys, ast; sys.path[:] = ast.literal_eval(sys.argv[1]); "
    "from pegboard_tui.custom.child import main; main(sys.argv[2])"
)


class Easel:
    """One kind's process. on_painted: a widget looks like this now. on_failed: a widget is gone, or (pane -1) all are."""

    START = 20.0
    """Seconds until the first painting: Python starts, the plugin is imported, the widget is made."""
    ANSWER = 3.0
    """Seconds in which it answers later on. It holds nobody up, so there is time for a busy machine."""

    def __init__(
        self, value: str, on_painted: Callable[[told.Painted], None], on_failed: Callable[[int, str], None]
    ) -> None:
        self._value = value
        self._on_painted = on_painted
        self._on_failed = on_failed
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._waiting: list[bytes] = []
        self._unpainted: dict[int, float] = {}
        self._pinged: float | None = None
        self._ended = False
        self.panes: set[int] = set()

    def send(self, message: told.AnyToChild) -> None:
        """Tell the process something; it is started for the first message."""
        if self._ended:
            return
        now = asyncio.get_running_loop().time()
        match message:
            case told.Open(pane=pane):
                self.panes.add(pane)
                self._unpainted[pane] = now
            case told.Close(pane=pane):
                self.panes.discard(pane)
                self._unpainted.pop(pane, None)
        line = told.encode(message) + b"\n"
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="widgets of a plugin")
        if self._process is None:
            self._waiting.append(line)
        elif self._process.stdin is not None and not self._process.stdin.is_closing():
            self._process.stdin.write(line)

    def watch(self) -> None:
        """Look whether it still answers; to be called about once a second."""
        now = asyncio.get_running_loop().time()
        if self._ended or self._task is None:
            return
        if self._unpainted and now - min(self._unpainted.values()) > self.START:
            self._fail(f"showed nothing within {self.START:g} s")
        elif self._pinged is not None and now - self._pinged > self.ANSWER:
            self._fail(f"did not answer for {self.ANSWER:g} s")
        elif self._pinged is None and not self._unpainted and self.panes:
            self._pinged = now
            self.send(told.Ping(pane=0))

    def end(self) -> None:
        """End the process, and whatever it started."""
        self._ended = True
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)  # process.kill() would look first, and take its end from who waits

    async def gone(self) -> None:
        """End the process, and wait until it is gone; not for long, whatever it does."""
        self.end()
        if self._task is not None:
            await asyncio.wait([self._task], timeout=2)

    @property
    def pid(self) -> int | None:
        """The process; None: there is none, or it has ended."""
        return None if self._process is None or self._process.returncode is not None else self._process.pid

    def _fail(self, error: str, pane: int = -1) -> None:
        if pane == -1 and not self._ended:
            self.end()
            self._on_failed(-1, error)
        elif pane in self.panes:
            self.panes.discard(pane)
            self._unpainted.pop(pane, None)
            self._on_failed(pane, error)

    async def _run(self) -> None:
        command = [sys.executable, "-P", "-c", _PROGRAM, repr([*sys.path]), self._value]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("TEXTUAL")}
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command,
                stdin=pipe,
                stdout=pipe,
                stderr=nowhere,
                env=environ,
                start_new_session=True,  # no key of the terminal is a signal to it
                limit=told.MOST_BYTES,
            )
        except OSError as error:
            self._fail(f"could not be given a process ({error})")
            return
        if self._ended:
            self.end()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.writelines(self._waiting)
        self._waiting.clear()
        wrong = await self._read(self._process.stdout)
        self.end()
        code = await self._process.wait()
        if wrong or self.panes:
            self._ended = False
            self._fail(wrong or f"ended its process (exit {code})")

    async def _read(self, stream: asyncio.StreamReader) -> str:
        """Take what comes until it ends; returns what was wrong with it."""
        while not self._ended:
            try:
                line = await stream.readline()
                message = told.read_from_child(line) if line else None
            except (ValueError, msgspec.MsgspecError, ConnectionError):
                return "" if self._ended else "wrote what nobody can read"
            match message:
                case None:
                    return ""
                case told.Painted():
                    self._unpainted.pop(message.pane, None)
                    if message.pane in self.panes:
                        self._on_painted(message)
                case told.Pong():
                    self._pinged = None
                case told.Failed(pane=-1):
                    return message.error
                case told.Failed():
                    self._fail(message.error, message.pane)
        return ""
