"""Importing a stranger's module runs its code: what that changes in this process is put back, and said.

What it prints is kept off stdout, at the level of the descriptor too, for stdout belongs to the answer. Standard output
is one for the process: what other threads print there meanwhile is lost with it.
"""

from __future__ import annotations

import locale
import os
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, TextIO

from pegboard.entries import Entry
from pegboard.plugins.loaded import switch_off, whose

STDOUT = 1
_SHOWN = 80
_SIGNALS = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGCHLD", "SIGALRM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]
QUIET = "changes the environment"
"""A remark that begins so is told when a plugin is first met, and by `doctor`; others at every start."""


class Containment:
    """While it is entered, fd 1 and `sys.stdout` lead into a file of ours."""

    def __enter__(self) -> Containment:
        self._pid = os.getpid()
        self._stdout: TextIO | None = sys.stdout
        _flush(self._stdout)
        try:
            self._saved: int | None = _above(os.dup(STDOUT))
        except OSError:  # it was closed before we were started
            self._saved = None
        self._fd = _above(_capture())
        self._file = self._stand_in()
        self._redirect()
        self._interrupt = _interruptible()
        self._process = _Process()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._interrupt is not None:
            signal.signal(signal.SIGINT, self._interrupt)
        sys.stdout = self._stdout
        with suppress(OSError):
            if self._saved is None:
                os.close(STDOUT)
            else:
                os.dup2(self._saved, STDOUT)
                os.close(self._saved)
        # Who kept our stand-in (a logging handler) may go on writing to it: it leads nowhere now, and ends with them.
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            os.dup2(nowhere, self._fd, inheritable=False)
            os.close(nowhere)
        weakref.finalize(self._file, os.close, self._fd)
        del self._file

    def _stand_in(self) -> TextIO:
        return open(self._fd, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)

    def _redirect(self) -> None:
        if self._file.closed:
            self._file = self._stand_in()
        sys.stdout = self._file
        with suppress(OSError):
            os.dup2(self._fd, STDOUT)

    @contextmanager
    def around(self, entry: Entry, notes: list[str]) -> Iterator[None]:
        """Put back what happens inside, and add to `notes` what a person should know of it."""
        remarks: list[str] = []
        try:
            with self.watched(remarks):
                yield
        finally:
            loud = [remark for remark in remarks if not remark.startswith(QUIET)]
            if loud:
                notes.append(f"{whose(entry)} {'; '.join(loud)}. To switch it off, {switch_off(entry)}")

    @contextmanager
    def watched(self, remarks: list[str]) -> Iterator[None]:
        """Put back what happens inside; `remarks` gets a sentence's end for each thing that did."""
        threads = set(threading.enumerate())
        try:
            yield
        finally:
            if os.getpid() != self._pid:
                os._exit(0)  # a copy that the plugin forked and let run on: there is one Pegboard only
            printed = self._printed()
            if printed:
                remarks.append(f"prints when it is loaded, which was kept off stdout ({_short(printed)!r})")
            started = [thread for thread in threading.enumerate() if thread not in threads]
            if started:
                remarks.append(f"leaves threads running ({', '.join(sorted(thread.name for thread in started)[:3])})")
            if sys.stdout is not self._file or self._file.closed:
                remarks.append("replaces or closes sys.stdout (put back)")
            self._redirect()
            remarks += self._process.put_back()

    def _printed(self) -> str:
        _flush(sys.stdout)
        _flush(None if self._file.closed else self._file)
        with suppress(OSError):
            size = os.lseek(self._fd, 0, os.SEEK_END)
            if size:
                text = os.pread(self._fd, 4 * _SHOWN, 0).decode("utf-8", "replace")
                os.ftruncate(self._fd, 0)
                os.lseek(self._fd, 0, os.SEEK_SET)
                return text
        return ""


class _Process:
    """What a module may change in the process when it is imported, as it was before."""

    def __init__(self) -> None:
        self.environ = dict(os.environ)
        self.folder = _folder()
        self.path = list(sys.path)
        self.limit = sys.getrecursionlimit()
        self.locale = locale.setlocale(locale.LC_ALL)
        self.streams = {name: getattr(sys, name) for name in ("stdin", "stderr", "excepthook", "displayhook")}
        # Signals may be set in the main thread alone; an import in another one cannot change them.
        main = threading.current_thread() is threading.main_thread()
        self.signals: dict[int, Any] = {number: signal.getsignal(number) for number in _SIGNALS} if main else {}
        self.alarm = signal.getitimer(signal.ITIMER_REAL) if hasattr(signal, "getitimer") else (0.0, 0.0)

    def put_back(self) -> list[str]:
        """Make everything as it was. What was not is said."""
        said = [f"{what} (put back)" for what in self._files_and_words()]
        for number, handler in self.signals.items():
            if signal.getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)
                said.append(f"handles {signal.Signals(number).name} (put back)")
        if self.alarm == (0.0, 0.0) and hasattr(signal, "getitimer") and signal.getitimer(signal.ITIMER_REAL)[0]:
            signal.setitimer(signal.ITIMER_REAL, 0)
            said.append("sets an alarm (put back)")
        return said

    def _files_and_words(self) -> Iterator[str]:
        if os.environ != self.environ:
            now = dict(os.environ)
            changed = sorted(name for name in {*now, *self.environ} if now.get(name) != self.environ.get(name))
            for name in changed:
                os.environ.pop(name, None)
                if name in self.environ:
                    os.environ[name] = self.environ[name]
            yield f"{QUIET}: {', '.join(changed[:5])}"
        if self.folder is not None and _folder() != self.folder:
            with suppress(OSError):
                os.chdir(self.folder)
            yield "goes to another folder"
        if sys.path != self.path:
            # What it added may be needed by its later imports; it comes after what was there, and hides none of that.
            sys.path[:] = [*self.path, *(place for place in sys.path if place not in self.path)]
            yield "changes the order of sys.path"
        if sys.getrecursionlimit() != self.limit:
            sys.setrecursionlimit(self.limit)
            yield "changes the recursion limit"
        if locale.setlocale(locale.LC_ALL) != self.locale:
            locale.setlocale(locale.LC_ALL, self.locale)
            yield "changes the locale"
        for name, stream in self.streams.items():
            if getattr(sys, name, None) is not stream:
                setattr(sys, name, stream)
                yield f"replaces sys.{name}"


def _interruptible() -> Any:
    """Let Ctrl-C end an import at once (asyncio's handler would wait for it). Returns the handler to put back."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    if handler in (None, signal.SIG_IGN, signal.default_int_handler):
        return None
    return signal.signal(signal.SIGINT, signal.default_int_handler)


def _capture() -> int:
    """A file without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("pegboard")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _above(fd: int) -> int:
    """The same file under a number that is none of the standard streams', which may be closed."""
    while fd <= 2:
        fd = os.dup(fd)  # what is passed over stays open: it keeps the number taken
    return fd


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _flush(stream: TextIO | None) -> None:
    with suppress(OSError, ValueError, AttributeError):
        if stream is not None:
            stream.flush()


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
