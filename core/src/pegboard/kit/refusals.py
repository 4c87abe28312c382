"""The door's refusals in words. Each names the path as it was given, says that nothing was changed, and what helps."""

from __future__ import annotations

import errno
import stat

from pegboard.calls import Deny
from pegboard.errors import DoorError
from pegboard.kit.names import shown

_REASONS = {
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.EISDIR: "folder",
    errno.ELOOP: "loop",
    errno.ENAMETOOLONG: "name",
    errno.EINVAL: "name",
    errno.EILSEQ: "name",
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.EROFS: "readonly",
    errno.EEXIST: "exists",
    errno.ENOTEMPTY: "exists",
    errno.EFBIG: "too_large",
    errno.ENXIO: "special",
}
_TEXTS = {
    errno.ENOENT: "No such file: {path}",
    errno.ENOTDIR: "No such file: {path} (a part of the path is a file, not a folder)",
    errno.ELOOP: "Too many links on the way to {path}: they may lead in a circle",
    errno.ENAMETOOLONG: "The name is too long: {path}",
    errno.EACCES: "You may not access {path}: permission denied",
    errno.EROFS: "{path} lies on a read-only file system",
    errno.ENOSPC: "The disk is full",
    errno.EDQUOT: "Your quota of disk space is used up",
}


def escape_error(path: str) -> DoorError:
    text = f"Path escapes workspace: {shown(path)}. Nothing was read or changed; name a path inside the workspace."
    return DoorError(text, reason="escapes", path=shown(path))


def name_error(path: str) -> DoorError:
    what = "A path cannot be empty" if not path else f"No file can be called {shown(path)!r}"
    return DoorError(f"{what}. Nothing was read or changed.", reason="name", path=shown(path))


def protected_error(deny: Deny, at: str, name: str) -> DoorError:
    """`name` is the one that was refused: `at` itself, or another name of the same file."""
    text = deny.text if name == at else f"{at} is another name of {name}. {deny.text}"
    return DoorError(text, reason="protected", path=at)


def system_error(error: OSError, path: str) -> DoorError:
    """The operating system's refusal, for a path that was only looked at."""
    code = error.errno or 0
    text = _TEXTS.get(code, f"{{path}}: {error.strerror or error}")
    return DoorError(text.format(path=_short(shown(path))), reason=_REASONS.get(code, "system"), path=shown(path))


def write_error(error: OSError, at: str) -> DoorError:
    """The same while writing: the old file is still there."""
    code = error.errno or 0
    text = _TEXTS.get(code, f"{{path}}: {error.strerror or error}").format(path=_short(at))
    return DoorError(f"{text}. {_short(at)} was not changed.", reason=_REASONS.get(code, "system"), path=at)


def changed_error(at: str) -> DoorError:
    text = f"{at} was changed while you were asked. Nothing was written. Read it again, then decide anew."
    return DoorError(text, reason="changed", path=at)


def meanwhile_error(at: str) -> DoorError:
    text = f"{at} was changed by something else at the same time. Nothing was written. Read it again, then repeat this."
    return DoorError(text, reason="changed", path=at)


def special(mode: int) -> str:
    """What a file that is no regular one is called."""
    kinds = {stat.S_IFIFO: "FIFO (named pipe)", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return kinds.get(stat.S_IFMT(mode), "special file")


def _short(path: str) -> str:
    return path if len(path) <= 300 else f"{path[:300]}..."
