"""`openat2(2)` through ctypes: one call that resolves a path and refuses to leave a folder (Linux 5.6 and newer)."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache

_NUMBER = 437  # the same on every architecture
_RESOLVE = 0x08 | 0x02  # RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS
_FLAGS: int = getattr(os, "O_PATH", 0) | getattr(os, "O_CLOEXEC", 0)
_UNDECIDED = {errno.EXDEV, errno.ELOOP, errno.EAGAIN}  # "not beneath" (absolute links too), or "ask again"
_NOT_HERE = {errno.ENOSYS, errno.EPERM, errno.E2BIG}  # an old kernel, or a filter of system calls


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@cache
def _libc() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    return libc if _probe(libc) else None


def _probe(libc: ctypes.CDLL) -> bool:
    """Whether this kernel, and the filter we may run under, has the call."""
    fd = _call(libc, -1, ".")
    return fd < 0 and ctypes.get_errno() not in _NOT_HERE


def _call(libc: ctypes.CDLL, folder: int, path: str) -> int:
    how = _OpenHow(_FLAGS, 0, _RESOLVE)
    size = ctypes.c_size_t(ctypes.sizeof(how))
    fd: int = libc.syscall(ctypes.c_long(_NUMBER), ctypes.c_int(folder), os.fsencode(path), ctypes.byref(how), size)
    return fd


def name(folder: int, path: str) -> int | None:
    """A descriptor that names (O_PATH) what is at `path` beneath `folder`; None when a walk must decide.

    Raises OSError for everything plain: missing, not a folder, no permission.
    """
    libc = _libc()
    if libc is None:
        return None
    fd = _call(libc, folder, path)
    if fd >= 0:
        return fd
    code = ctypes.get_errno()
    if code in _UNDECIDED or code in _NOT_HERE:
        return None
    raise OSError(code, os.strerror(code), path)
