"""The terminal while the app has it: a driver that gives way when it is gone."""

from __future__ import annotations

import os
import select
import sys
import termios
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.message import Message

from pegboard_tui.composer.keyboards import read_pastes_whole

if TYPE_CHECKING:
    from pegboard_tui.app import PegboardApp


class Terminal(LinuxDriver):
    """Writes to a terminal that is gone go nowhere, so that what ends can end; with the plain driver they wait for ever."""

    def write(self, data: str) -> None:
        """Write to the terminal, if it is there."""
        writer = self._writer_thread
        if writer is not None and writer.is_alive():
            writer.write(data)

    def close(self) -> None:
        """Wait for what is written, if it is read."""
        writer = self._writer_thread
        if writer is not None and writer.is_alive():
            writer.stop()

    def process_message(self, message: Message) -> None:
        """Hand on what was typed. Of Ctrl-C the app is told at once, too: its loop may not run."""
        if isinstance(message, Key) and message.key == "ctrl+c":
            app: PegboardApp = self._app  # type: ignore[assignment]
            app.pressed()
        super().process_message(message)

    def _run_input_thread(self) -> None:
        read_pastes_whole()
        try:
            self.run_input_thread()
        except OSError:
            let_go()
            app: PegboardApp = self._app  # type: ignore[assignment]
            if (loop := app._loop) is not None:
                with suppress(RuntimeError):  # it is closed
                    loop.call_soon_threadsafe(app.told_to_end, "SIGHUP")


def is_gone() -> bool:
    """Whether nobody is at the other end of the terminal any more."""
    if sys.__stdin__ is None:
        return True
    try:
        poller = select.poll()
        poller.register(sys.__stdin__.fileno(), 0)
        termios.tcgetattr(sys.__stdin__.fileno())
        return any(what & (select.POLLHUP | select.POLLERR) for _, what in poller.poll(0))
    except (OSError, ValueError, termios.error):
        return True


def let_go() -> None:
    """The terminal is gone: what is still written to it goes nowhere, and fails nobody."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            with suppress(OSError, ValueError):
                if stream.isatty() or stream.fileno() == 2:
                    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
