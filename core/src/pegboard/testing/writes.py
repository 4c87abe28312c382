"""What a tool that is declared read_only writes: seen through Python's audit events, and told as a failure of the test.

`TestBoard` watches each call of a read_only tool by itself. What Python does is seen, in the tool's own thread and tasks and
in threads that it starts: files opened for writing, made, renamed, removed, changed in their attributes. Not seen is what
no audit event tells of (a library in C that opens files itself, `os.mkfifo`), nor what a program does that the tool starts:
that one is confined by the launcher.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from pegboard.tooling import Tool

_PATHS: dict[str, tuple[tuple[int, int], ...]] = {
    "open": ((0, -1),),
    "os.chflags": ((0, -1),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.removexattr": ((0, -1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.setxattr": ((0, -1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, -1),),
    "os.utime": ((0, 3),),
    "sqlite3.connect": ((0, -1),),
}
"""The events that tell of a write; which of their arguments are what is written to and the folder it is in (-1: none)."""
_SCRATCH = ("tempfile.mkdtemp", "tempfile.mkstemp")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LIBRARY = (sysconfig.get_path("stdlib") + os.sep, os.path.dirname(os.path.dirname(__file__)) + os.sep, "<frozen")
"""Where the one who wrote something is not looked for: Python's own library, and the core."""


class Watch:
    """What one call wrote. `allowed`: folders in which it may. `roots`: those in which `tempfile` makes no difference;
    elsewhere, what it makes is the call's own to write and remove."""

    def __init__(self, allowed: Sequence[Path] = (), roots: Sequence[Path] = ()) -> None:
        self.allowed = [os.path.realpath(folder) for folder in allowed]
        self.roots = [os.path.realpath(folder) for folder in roots]
        self.scratch: list[str] = []
        self.found: list[str] = []
        self.over = False

    def see(self, event: str, path: object, folder: int) -> None:
        """Take note of a write, unless it is none, or one that is allowed. folder: a descriptor, if it is 0 or more."""
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a descriptor: its opening was seen
        given = os.fsdecode(path)
        if folder >= 0 and not os.path.isabs(given):
            given = os.path.join(_place_of(folder), given)
        above, name = os.path.split(given)
        above = os.path.realpath(above)
        place = os.path.join(above, name)  # a link itself is removed or renamed, not what it leads to
        if event == "open":
            place = os.path.realpath(place)
            if os.path.isdir(place):
                return  # a file without a name is made in it, or nothing at all
        if (place.startswith("/dev/") and not place.startswith("/dev/shm/")) or os.path.basename(
            above
        ) == "__pycache__":
            return
        scratch = _is_within(place, self.scratch) or sys._getframe(2).f_code.co_filename == tempfile.__file__
        if (not scratch or _is_within(place, self.roots)) and not _is_within(place, self.allowed):
            self.found.append(f"{event} {place}{_author()}")


def _is_within(place: str, folders: Sequence[str]) -> bool:
    return any(place == one or place.startswith(one + os.sep) for one in folders)


_current: ContextVar[Watch | None] = ContextVar("pegboard_writes", default=None)
_threads: WeakKeyDictionary[threading.Thread, Watch] = WeakKeyDictionary()
"""Threads that a watched tool started. One of a pool serves others afterwards, so it counts only until the call is over."""
_hooked = False


def _author() -> str:
    """The line of the tool that led to this, where it can be told."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_LIBRARY) or f"{os.sep}site-packages{os.sep}" in file.removeprefix(_LIBRARY[1]):
            return f" (line {frame.f_lineno} of {file})"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    places = _PATHS.get(event, ())
    if not (places and _writes(event, arguments)) and event not in _SCRATCH:
        return
    if (watch := _current.get() or _of_thread()) is None:
        return
    if not places:
        watch.scratch.append(os.path.realpath(os.fsdecode(arguments[0])))
    for place, folder in places:
        watch.see(event, arguments[place], arguments[folder] if folder >= 0 else -1)


def _place_of(folder: int) -> str:
    """Where a folder is, by its descriptor."""
    for listing in ("/proc/self/fd", "/dev/fd"):
        try:
            return os.readlink(f"{listing}/{folder}")
        except OSError:
            continue
    return os.getcwd()


def _install() -> None:
    """Once a process: hear of what is done, and of threads that are started (no event tells of them in every Python)."""
    global _hooked
    if _hooked:
        return
    _hooked = True
    start = threading.Thread.start

    @wraps(start)
    def starts(thread: threading.Thread) -> None:
        if (watch := _current.get() or _of_thread()) is not None:
            _threads[thread] = watch
        start(thread)

    threading.Thread.start = starts  # type: ignore[assignment]
    sys.addaudithook(_hook)  # it cannot be taken away again


def _of_thread() -> Watch | None:
    if not _threads:
        return None
    thread = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]  # current_thread() would make one
    watch = _threads.get(thread) if thread is not None else None
    pooled = watch is not None and getattr(thread, "_target", None) is not None and _is_worker(thread)
    return None if watch is not None and watch.over and pooled else watch


def _is_worker(thread: Any) -> bool:
    return getattr(thread._target, "__module__", "") == "concurrent.futures.thread"


def _writes(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "open":
        return isinstance(arguments[2], int) and bool(arguments[2] & _WRITING)
    if event == "sqlite3.connect":
        return ":memory:" not in str(arguments[0]) and "mode=ro" not in str(arguments[0])
    return True


@contextmanager
def writes_detected(allowed: Sequence[Path] = (), roots: Sequence[Path] = ()) -> Iterator[list[str]]:
    """While the block runs, what is written from here (also by threads and tasks that are started here) comes into the
    list: what was done, where, and by which line. allowed: folders that do not count. roots: folders in which temporary
    files count too."""
    _install()
    watch = Watch(allowed, roots)
    before = _current.set(watch)
    try:
        yield watch.found
    finally:
        watch.over = True
        _current.reset(before)


def watched(
    tool: Tool, allowed: Sequence[Path], roots: Sequence[Path], told: Callable[[str, list[str]], None]
) -> Callable[..., Any]:
    """The tool's function, watched. told: is given the tool's name and the list, which may grow for as long as threads of
    the call run."""
    function = tool.function

    if tool.is_async:

        @wraps(function)
        async def run(**given: Any) -> Any:
            with writes_detected(allowed, roots) as found:
                told(tool.name, found)
                return await function(**given)
    else:

        @wraps(function)
        def run(**given: Any) -> Any:
            with writes_detected(allowed, roots) as found:
                told(tool.name, found)
                return function(**given)

    return run


def complaint(name: str, found: Sequence[str]) -> str:
    """What a test that fails for it says."""
    wrote = "".join(f"\n    {one}" for one in dict.fromkeys(found))
    return (
        f"the tool {name!r} is declared read_only, and wrote:{wrote}\n"
        'A tool that changes files declares it (Writes, or effect="side_effecting") and changes them in ctx.commit().'
    )
