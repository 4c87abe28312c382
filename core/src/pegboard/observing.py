"""Observers are told of every durable event. They can change nothing: each gets its own copy. They can hold up nothing: a
stranger's is told in a thread of its own, and so is one that is `async def`.

One that raises is not told of anything more, and the session gets a note that names it.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from pegboard.entries import Entry
from pegboard.events import AnyEvent
from pegboard.plugins.loaded import log_failure, switch_off, told, whose
from pegboard.plugins.loading import is_stranger
from pegboard.wire import encode

MOST_WAITING = 10_000
"""Events that may wait for a slow observer; what comes beyond is not told to it."""
GRACE = 1.0
"""Seconds that an observer has for what still waits, when the board is closed."""
_decode = msgspec.json.Decoder(AnyEvent).decode


class ObserverSeat:
    """One observer of one session. `note`: appends a note to it. `off`: a person switched it off, and may switch it on."""

    def __init__(self, observe: Any, entry: Entry, note: Callable[[str], object]) -> None:
        self._observe = observe
        self._entry = entry
        self._note = note
        self._failure: str | None = None
        self._due = False
        self.off = False
        self._reported = False
        self._thread: threading.Thread | None = None
        self._waiting: queue.Queue[bytes | None] | None = None
        called = type(observe).__call__
        if is_stranger(entry) or inspect.iscoroutinefunction(observe) or inspect.iscoroutinefunction(called):
            self._waiting = queue.Queue(MOST_WAITING)

    def __call__(self, event: AnyEvent) -> None:
        """An event that is in the log."""
        if self._failure is None and not self.off:
            line = encode(event)
            if self._waiting is None:
                self._tell(line)
            else:
                self._hand_over(line, self._waiting)
        if self._failure is not None and not self._due:
            self._due = True
            with suppress(RuntimeError):  # no loop runs here
                asyncio.get_running_loop().call_soon(self._report)

    @property
    def owner(self) -> str:
        """Its plugin's name."""
        return self._entry.name

    def close(self) -> None:
        """No more events: what waits is told within the grace. The session is still open."""
        if self._thread is not None and self._waiting is not None:
            with suppress(queue.Full):
                self._waiting.put_nowait(None)
                self._thread.join(GRACE)
            self._thread = None
        if self._failure is not None:
            self._report()  # the loop may have ended before its turn came

    def _hand_over(self, line: bytes, waiting: queue.Queue[bytes | None]) -> None:
        with suppress(queue.Full):
            waiting.put_nowait(line)
        if self._thread is None:
            name = f"observer {self._entry.name}"
            self._thread = threading.Thread(target=self._serve, args=(waiting,), name=name, daemon=True)
            self._thread.start()

    def _serve(self, waiting: queue.Queue[bytes | None]) -> None:
        with asyncio.Runner() as loop:  # for `async def` ones; plain ones never use its loop
            while (line := waiting.get()) is not None and self._failure is None:
                self._tell(line, loop)

    def _tell(self, line: bytes, loop: asyncio.Runner | None = None) -> None:
        try:
            said = self._observe(_decode(line))
            if inspect.iscoroutine(said):
                if loop is not None:
                    loop.run(said)
                else:
                    said.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - isolates plugins: one that fails is not told any more
            self._failure = told(error, self._entry.value)
            log_failure(f"{whose(self._entry)}: its observer raised", error)

    def _report(self) -> None:
        if self._reported:
            return
        self._reported = True
        text = f"{whose(self._entry)}: its observer failed ({self._failure}) and is told of nothing more. "
        with suppress(OSError, ValueError):  # the session was closed meanwhile
            self._note(f"{text}To switch it off, {switch_off(self._entry)}")
