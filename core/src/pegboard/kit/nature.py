"""What a file is beside its content: mode, owner, access list (POSIX ACL) and extended attributes, read and put on again.

A file that is made anew never gives anyone more than the one it stands for did. In the mode of a file with an access list
the group's bits are the list's mask, the most that any of its entries may have; without the list they would be given to
all of the group. So a list that cannot be kept takes rights away, from the group and from others.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec

ACL = "system.posix_acl_access"
_OWN = "user."
"""Attributes that are a file's own, and no affair of the system's."""
_NONE = {errno.ENODATA, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
"""What the system answers where there is no such attribute."""
_USER, _GROUP_OWN, _GROUP, _MASK = 0x02, 0x04, 0x08, 0x10  # tags of entries, linux/posix_acl.h
_HEADER, _ENTRY = struct.Struct("<I"), struct.Struct("<HHI")


class Nature(msgspec.Struct, frozen=True, kw_only=True):
    """What a file is beside its content. `mode`: its permission bits. `owner`: numbers of user and group; None: not known.

    `attributes`: its access list and extended attributes as the system has them; None: not known. `left`: what of them was
    left out, in words; of a list that was, the rights have been taken from `mode`.
    """

    mode: int
    owner: tuple[int, int] | None = None
    attributes: dict[str, bytes] | None = None
    left: str | None = None

    def within(self, most: int) -> Nature:
        """The same with no more than `most` bytes of attributes; the access list goes first."""
        kept: dict[str, bytes] = {}
        names = sorted(self.attributes or (), key=lambda name: (name != ACL, name))
        lost = []
        for name in names:
            value = (self.attributes or {})[name]
            size = len(name.encode()) + len(value)
            if size > most:
                lost.append(name)
            else:
                kept[name] = value
                most -= size
        if not lost:
            return self
        mode = without_list(self.mode, (self.attributes or {})[ACL]) if ACL in lost else self.mode
        left = f"{_named(lost)} {'is' if len(lost) == 1 else 'are'} too large to keep, so undo does not bring "
        left += "it back" if len(lost) == 1 else "them back"
        return msgspec.structs.replace(self, mode=mode, attributes=kept, left=_joined(self.left, left))


def nature_of(fd: int) -> Nature:
    """That of an open file."""
    info = os.fstat(fd)
    return _nature(info, _attributes(fd))


def nature_unread(info: os.stat_result) -> Nature:
    """That of a file which may not be read, so that what it has of attributes is not known."""
    return _nature(info, None)


def put_on(fd: int, nature: Nature) -> str | None:
    """Make a new file what another was, as far as the system lets us; what it does not, in words.

    Raises OSError where not even the mode can be set.
    """
    lost: list[str] = []
    mode, user_kept, group_kept = nature.mode, True, True
    attributes = nature.attributes or {}
    for name, value in attributes.items():
        if name != ACL and not _set(fd, name, value):
            lost.append(name)
    if nature.owner is not None:
        user_kept, group_kept = _give(fd, nature.owner)
        if not (user_kept and group_kept):
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
    if ACL in attributes and not (group_kept and _set(fd, ACL, attributes[ACL])):
        mode = without_list(mode, attributes[ACL])
        lost.insert(0, ACL)
    if nature.attributes is not None and (ACL not in attributes or ACL in lost):
        _clear(fd)
    if not group_kept:  # it is another group now: that may do what all others may
        mode &= ~stat.S_IRWXG | (mode & stat.S_IRWXO) << 3
    os.fchmod(fd, mode)
    owner = None if user_kept else "its owner could not be kept: it is yours now"
    group = None if group_kept else "its group could not be kept"
    return _joined(owner, group, f"{_named(lost)} could not be kept" if lost else None)


def without_list(mode: int, acl: bytes) -> int:
    """A mode that, alone, gives nobody more than it gave together with an access list."""
    try:
        entries = [_Entry(*entry) for entry in _entries(acl)]
    except struct.error:
        return mode & ~0o077
    mask = next((entry.rights for entry in entries if entry.tag == _MASK), 0o7)
    group = next((entry.rights & mask for entry in entries if entry.tag == _GROUP_OWN), 0)
    others = mode & stat.S_IRWXO
    for entry in entries:  # who had less than all others has to find less, whichever of them he falls among now
        if entry.tag in (_USER, _GROUP):
            others &= entry.rights & mask
        if entry.tag == _USER:
            group &= entry.rights & mask
    return mode & ~0o077 | group << 3 | others


class _Entry(NamedTuple):
    tag: int
    rights: int
    number: int


def _entries(acl: bytes) -> Iterator[tuple[int, int, int]]:
    if len(acl) < _HEADER.size or _HEADER.unpack_from(acl)[0] != 2:
        raise struct.error
    return _ENTRY.iter_unpack(acl[_HEADER.size :])


def _nature(info: os.stat_result, attributes: dict[str, bytes] | None) -> Nature:
    mode, owner = stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid)
    if attributes is None and hasattr(os, "listxattr"):
        left = "its access list (ACL) could not be read, so its group and others have no rights to it now"
        return Nature(mode=mode & ~0o077, owner=owner, left=left)
    return Nature(mode=mode, owner=owner, attributes=attributes)


def _attributes(fd: int) -> dict[str, bytes] | None:
    """Its own attributes; None where they cannot be told."""
    if not hasattr(os, "listxattr"):
        return None
    try:
        names = [name for name in os.listxattr(fd) if name == ACL or name.startswith(_OWN)]
    except OSError as error:
        return {} if error.errno in _NONE else None
    found = {}
    for name in names:
        try:
            found[name] = os.getxattr(fd, name)
        except OSError as error:
            if error.errno not in _NONE:
                return None
    return found


def _set(fd: int, name: str, value: bytes) -> bool:
    try:
        os.setxattr(fd, name, value)
    except OSError:
        return False
    return True


def _clear(fd: int) -> None:
    """Take away the access list that a new file has of its folder."""
    with suppress(OSError):  # it has none
        os.removexattr(fd, ACL)


def _give(fd: int, owner: tuple[int, int]) -> tuple[bool, bool]:
    """Give a file to its owner: whether it has the user now, and the group."""
    for user, group in (owner, (-1, owner[1])):
        own = os.fstat(fd)
        if (own.st_uid, own.st_gid) == owner:
            break
        with suppress(OSError):
            os.fchown(fd, user, group)
    own = os.fstat(fd)
    return own.st_uid == owner[0], own.st_gid == owner[1]


def _named(names: list[str]) -> str:
    words = ["its access list (ACL)" if name == ACL else name for name in names]
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")


def _joined(*parts: str | None) -> str | None:
    return "; ".join(part for part in parts if part) or None
