"""Where the prompts of a line session come from: a person at a terminal, or lines of a pipe.

At a terminal the line is edited with readline, where Python has it. It is read in the main thread, between turns: nothing
of ours runs meanwhile. What was typed during a turn waits in the terminal and comes up at the next prompt.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Protocol

from pegboard.terminal import plain, visible

from pegboard_cli.chat_history import History
from pegboard_cli.interrupts import SOON
from pegboard_cli.styles import is_terminal, takes_sequences

PROMPT, MORE = "{}> ", "… "
MOST_BYTES = 64 * 1024 * 1024
"""What one prompt may hold."""


class Leave(Exception):
    """The process was told to end, or its terminal is gone."""


class TooLong(Exception):
    """A line of the pipe is longer than a prompt may be."""


class _Resumed(Exception):
    """The process was stopped and goes on: the shell has had the terminal, so the line is set up again."""


class _Stopping(Exception):
    """Ctrl-Z: what is typed so far is kept, and the terminal given back as it was, before the process stops.

    What is heard when it goes on may come too late: with threads, any of them gets that signal, and the line is read by
    readline meanwhile, from a terminal that is not set up for it."""


class Lines(Protocol):
    """A source of prompts."""

    def read(self, mode: str = "") -> str | None:
        """The next prompt, without its end; None when there are no more. mode: stands before what is typed.

        Raises:
            Leave: the process was told to end.
            TooLong: of a pipe.
        """

    def stash(self) -> None:
        """Keep what is typed but not read yet for the next prompt: a question comes up, and it was not meant for that."""


class Piped:
    """Prompts from a pipe or a file: one a line; a backslash at the end joins the next."""

    def read(self, mode: str = "") -> str | None:
        """The next prompt. Nobody sees what mode is on."""
        whole: list[str] = []
        while (line := self._line()) is not None:
            whole.append(line.removesuffix("\\"))
            if not line.endswith("\\"):
                break
        return "\n".join(whole) if whole else None

    def stash(self) -> None:
        """Nobody types."""

    def _line(self) -> str | None:
        if sys.stdin is None or sys.stdin.closed:
            return None
        with taking({signal.SIGINT: _leave, signal.SIGTERM: _leave, **_hangup()}):
            line = sys.stdin.buffer.readline(MOST_BYTES + 1)
        if len(line) > MOST_BYTES:
            raise TooLong(f"a line on stdin has more than {MOST_BYTES // 1024**2} MiB; it was not sent")
        return plain(line.decode("utf-8", "surrogateescape").rstrip("\r\n")) if line else None


class Typed:
    """Prompts that a person types.

    words: what Tab offers, given the line up to the cursor. tell: shows a line on stderr."""

    def __init__(self, history: History, words: Callable[[str], Sequence[str]], tell: Callable[[str], object]) -> None:
        self._history = history
        self._tell = tell
        self._kept = ""
        self._pressed = float("-inf")
        self._editor = _editor(words)
        if self._editor is not None:
            for entry in history.load():
                self._editor.add_history(entry)

    def read(self, mode: str = "") -> str | None:
        """The next prompt. Ctrl-C takes the line away, and soon again says how to leave; Ctrl-D on an empty line leaves."""
        whole: list[str] = []
        while True:
            try:
                line = self._line(MORE if whole else PROMPT.format(mode))
            except KeyboardInterrupt:
                whole.clear()
                self._clear()
                continue
            except EOFError:
                line = None
            if line is not None:
                whole.append(line.removesuffix("\\"))
                if line.endswith("\\"):
                    continue
            elif not whole:
                self._tell("")
                return None
            text = plain("\n".join(whole)).rstrip("\n")
            self._remember(text)
            return text

    def stash(self) -> None:
        """Take what was typed ahead off the terminal, whole lines and the rest; it is put into the next prompt."""
        self._kept += "".join(c for c in _typed_ahead().decode("utf-8", "replace") if c.isprintable() or c in "\n\t")

    def _line(self, prompt: str) -> str:
        while True:
            kept, self._kept = self._kept.strip("\n"), ""
            try:
                return self._read_line(prompt, kept)
            except _Resumed as resumed:
                self._kept = str(resumed)
            except _Stopping as stopping:
                self._kept = str(stopping)
                signal.raise_signal(signal.SIGTSTP)  # it does here what it does in any program

    def _read_line(self, prompt: str, kept: str) -> str:
        handlers = {signal.SIGINT: _press, signal.SIGTERM: _leave, **_hangup()}
        editor = self._editor
        if editor is None:
            if kept:
                self._tell(f"(typed before, and not sent: {visible(kept)})")
            with taking(handlers):
                return _plain_line(prompt)

        def resume(_number: int, _frame: FrameType | None) -> None:
            raise _Resumed(editor.get_line_buffer())

        def stop(_number: int, _frame: FrameType | None) -> None:
            raise _Stopping(editor.get_line_buffer())

        handlers |= {signal.SIGCONT: resume}
        if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:  # a shell that knows no jobs has us pass over it
            handlers |= {signal.SIGTSTP: stop}
        editor.set_startup_hook((lambda: editor.insert_text(kept)) if kept else None)
        try:
            with taking(handlers):
                return input(prompt)
        finally:
            editor.set_startup_hook(None)

    def _clear(self) -> None:
        now = time.monotonic()
        self._tell("(Ctrl-D or /quit ends the session)" if now - self._pressed < SOON else "")
        self._pressed = now

    def _remember(self, text: str) -> None:
        if self._editor is not None and self._history.add(text):
            self._editor.add_history(text)


def lines_of_stdin(history: History, words: Callable[[str], Sequence[str]], tell: Callable[[str], object]) -> Lines:
    """Typed where a person is there to answer, piped elsewhere."""
    attended = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    return Typed(history, words, tell) if attended else Piped()


def _editor(words: Callable[[str], Sequence[str]]) -> Any:
    """readline, set up; None where Python has none, or where `input` would not use it."""
    if not is_terminal(sys.stdout):
        return None
    try:
        import readline
    except ImportError:  # Windows
        return None
    found: list[str] = []

    def complete(text: str, number: int) -> str | None:
        if number == 0:
            begin = readline.get_line_buffer()[: readline.get_begidx()]
            found[:] = [word for word in words(begin) if word.startswith(text)]
        return found[number] if number < len(found) else None

    sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    readline.set_auto_history(False)
    readline.set_completer(complete)
    readline.set_completer_delims(" ")
    if "libedit" in (readline.__doc__ or ""):
        readline.parse_and_bind("bind ^I rl_complete")
    else:
        readline.parse_and_bind("tab: complete")
        pastes = "on" if takes_sequences(sys.stdout) else "off"
        readline.parse_and_bind(f"set enable-bracketed-paste {pastes}")
    return readline


def _plain_line(prompt: str) -> str:
    """A line as the terminal itself lets it be edited; the prompt goes to stderr.

    Raises:
        EOFError: there is none.
    """
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = sys.stdin.buffer.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "surrogateescape").rstrip("\r\n")


def _typed_ahead() -> bytes:
    """What the terminal holds for us: without its line discipline for a moment, so that an unfinished line comes too."""
    if sys.platform == "win32" or not is_terminal(sys.stdin):
        return b""
    import termios

    descriptor = sys.stdin.fileno()
    held = b""
    with suppress(OSError, ValueError, termios.error):
        before = termios.tcgetattr(descriptor)
        raw = termios.tcgetattr(descriptor)
        raw[3] &= ~termios.ICANON
        raw[6][termios.VMIN] = raw[6][termios.VTIME] = 0
        termios.tcsetattr(descriptor, termios.TCSANOW, raw)
        try:
            while data := os.read(descriptor, 4096):
                held += data
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
    return held


@contextmanager
def taking(handlers: dict[int, Callable[[int, FrameType | None], Any]]) -> Iterator[None]:
    """Hear signals by these functions, not by the loop, which does not run while a line is waited for."""
    wake = signal.set_wakeup_fd(-1)
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old if old is not None else signal.SIG_DFL)
        signal.set_wakeup_fd(wake)


def _press(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise Leave


def _hangup() -> dict[int, Callable[[int, FrameType | None], Any]]:
    return {signal.SIGHUP: _leave} if hasattr(signal, "SIGHUP") else {}
