"""Landlock: programs that may read everything the person may, and write nothing (Linux, by Landlock's third version).

A thread gives up the right to write, once and for good; programs that it starts inherit that. With `Places` it gives up
reading what lies elsewhere, too. Nothing has to be installed and no namespace is made, so it costs a short run next to
nothing. What it does not know of stays possible: changing modes, owners, times and attributes; UDP; sockets that have a
path; names, sizes and times of what may not be read.
"""

from __future__ import annotations

import ctypes
import gc
import os
import stat
import struct
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import msgspec

from pegboard.errors import ToolError

T = TypeVar("T")

LEAST = 3
"""The version that first keeps files from being cut short."""

# linux/landlock.h, linux/prctl.h; the numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
_WRITES = _WRITE_FILE | _MAKE_AND_REMOVE | 1 << 13 | _TRUNCATE  # 13: REFER, links and renames between folders
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP = 1 << 0 | 1 << 1
_SCOPES = 1 << 0 | 1 << 1  # abstract sockets and signals stay among the restricted
_NO_NEW_PRIVS = 38

_MAY_BE_WRITTEN = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty")


class Places(msgspec.Struct, frozen=True, gc=False):
    """Where a program may read, with all that lies below; and the one folder, for its temporary files, where it may write.
    What is not there is passed over."""

    read: tuple[str, ...]
    write: str | None = None


def available() -> bool:
    """Whether the system can keep a program from writing."""
    return version() >= LEAST


@cache
def version() -> int:
    """The version of Landlock here; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    return max(0, _syscall(_CREATE_RULESET, None, 0, _VERSION))


def reading(start: Callable[[], T], *, network: bool, places: Places | None = None) -> T:
    """What `start` returns, called in a thread that may not write; nor use TCP, but for `network`; nor read anywhere but in
    `places`. Where the system cannot do that, it is simply called.

    Raises:
        ToolError: the system can, and would not.
    """
    if not available():
        return start()
    try:
        with _uncollected():
            if places is None:
                return _thread(network).submit(start).result()
            with ThreadPoolExecutor(1, "reading-places", _restrict, (network, places)) as thread:  # for this one alone
                return thread.submit(start).result()
    except BrokenExecutor as error:
        raise ToolError("the system would not keep the program from writing. Nothing was run.") from error


@contextmanager
def _uncollected() -> Iterator[None]:
    """No collection of cycles meanwhile: what it finalizes in that thread could not remove its files."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class _Spawner:
    """A thread that has given up writing, and starts programs for others. It keeps no process from ending."""

    def __init__(self, network: bool) -> None:
        self._wanted: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        Thread(target=self._serve, args=(network,), name="read-only", daemon=True).start()

    def submit(self, start: Callable[[], T]) -> Future[T]:
        """Have it start something."""
        future: Future[T] = Future()
        self._wanted.put((start, future))
        return future

    def _serve(self, network: bool) -> None:
        broken: BrokenExecutor | None = None
        try:
            _restrict(network)
        except OSError as error:
            broken = BrokenExecutor(str(error))
        while True:
            start, future = self._wanted.get()
            try:
                if broken is not None:
                    raise broken
                future.set_result(start())
            except Exception as error:  # noqa: BLE001 - isolates the thread: it is raised to whoever asked
                future.set_exception(error)
            del start, future  # nothing is held on to until the next one comes


@cache
def _thread(network: bool) -> _Spawner:
    return _Spawner(network)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_thread.cache_clear)  # threads do not come along


def _restrict(network: bool, places: Places | None = None) -> None:
    """Give up writing, and reading outside of `places`, for this thread and whatever it starts.

    Raises:
        OSError: the system would not; the thread must not be used.
    """
    there = version()
    attributes = [_WRITES if places is None else _WRITES | _READ_FILE | _READ_DIR]
    if there >= 4:
        attributes.append(0 if network else _TCP)
    if there >= 6:
        attributes.append(_SCOPES)
    described = struct.pack(f"={len(attributes)}Q", *attributes)
    ruleset = _called(_CREATE_RULESET, described, len(described), 0)
    try:
        _allow(ruleset, _MAY_BE_WRITTEN, _WRITE_FILE | _TRUNCATE)
        if places is not None:
            _allow(ruleset, places.read, _READ_FILE | _READ_DIR)
            if places.write is not None:
                _allow(ruleset, [places.write], _WRITES | _READ_FILE | _READ_DIR)
        if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
        _called(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, paths: Iterable[str], rights: int) -> None:
    """Keep these rights for what is at these paths now, and below."""
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                kept = rights if stat.S_ISDIR(os.fstat(fd).st_mode) else rights & _OF_FILES
                _called(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", kept, fd), 0)
            finally:
                os.close(fd)


def _called(number: int, *arguments: int | bytes) -> int:
    made = _syscall(number, *arguments)
    if made < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}: {os.strerror(ctypes.get_errno())}")
    return made


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return int(call(ctypes.c_long(number), *given))
