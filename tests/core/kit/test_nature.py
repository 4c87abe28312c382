"""What a file is beside its content stays with it: when it is changed, moved with new content, deleted and put back."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.kit import writer
from pegboard.kit.changes import Change
from pegboard.kit.nature import ACL, without_list
from pegboard.kit.undo import undo
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer

DEFAULT = "system.posix_acl_default"
USER_OWN, USER, GROUP_OWN, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
UNNAMED = 0xFFFFFFFF

pytestmark = pytest.mark.skipif(not hasattr(os, "setxattr"), reason="extended attributes are Linux's")


def acl(*entries: tuple[int, int, int]) -> bytes:
    """An access list as the kernel takes it."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def shared(user: int = 4, group: int = 0, mask: int = 6, other: int = 0) -> bytes:
    """A list for the owner, one more user, the group and the others."""
    entries = [(USER_OWN, 6, UNNAMED), (USER, user, 4711), (GROUP_OWN, group, UNNAMED)]
    return acl(*entries, (MASK, mask, UNNAMED), (OTHER, other, UNNAMED))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "app"
    root.mkdir()
    (root / "a.txt").write_bytes(b"one\n")
    try:
        os.setxattr(root / "a.txt", "user.note", b"mine")
        os.setxattr(root / "a.txt", ACL, shared())
    except OSError as error:
        pytest.skip(f"this file system has no extended attributes or access lists: {error.strerror}")
    assert mode(root / "a.txt") == 0o660, "what the mode shows of a list is its mask"
    return root


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(str(root))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def nature(path: Path) -> tuple[int, dict[str, bytes]]:
    return mode(path), {name: os.getxattr(path, name) for name in sorted(os.listxattr(path))}


def back(workspace: Workspace, change: Change) -> Change:
    """Undo a change as it comes from the disk."""
    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(change), type=Change)
    return undo(workspace, Writer(workspace), kept)


def test_a_move_with_new_content_takes_it_along_and_back(root: Path, workspace: Workspace) -> None:
    before = nature(root / "a.txt")
    change = Writer(workspace).move("a.txt", "new/b.txt", b"two\n")
    assert nature(root / "new" / "b.txt") == before and change.note is None
    back(workspace, change)
    assert nature(root / "a.txt") == before and (root / "a.txt").read_bytes() == b"one\n"


def test_a_deleted_file_comes_back_with_it(root: Path, workspace: Workspace) -> None:
    before = nature(root / "a.txt")
    change = Writer(workspace).remove("a.txt")
    made = back(workspace, change)
    assert nature(root / "a.txt") == before and made.note is None
    back(workspace, back(workspace, made))
    assert nature(root / "a.txt") == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_and_what_hangs_on_him_come_back(root: Path, workspace: Workspace) -> None:
    os.chown(root / "a.txt", 1234, 4321)
    (root / "a.txt").chmod(0o4760)
    change = Writer(workspace).remove("a.txt")
    back(workspace, change)
    info = (root / "a.txt").stat()
    assert (info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode)) == (1234, 4321, 0o4760)


def test_an_owner_that_cannot_be_kept_takes_his_rights_with_him(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.txt").chmod(0o6775)
    os.setxattr(root / "a.txt", ACL, shared(user=7, group=7, mask=7, other=5))
    change = msgspec.structs.replace(Writer(workspace).remove("a.txt"), owner=(123456, 654321))

    def refused(*_: Any) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fchown", refused)
    made = back(workspace, change)
    assert mode(root / "a.txt") == 0o655, "neither setuid nor setgid, and the group may what all may"
    assert os.listxattr(root / "a.txt") == ["user.note"]
    assert made.note == (
        "a.txt: its owner could not be kept: it is yours now; its group could not be kept; "
        "its access list (ACL) could not be kept."
    )


@pytest.mark.parametrize("how", ["change", "move", "restore"])
def test_without_its_list_nobody_has_more_than_before(
    root: Path, workspace: Workspace, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., None] = os.setxattr

    def no_lists(path: Any, name: str, value: bytes, *more: Any) -> None:
        if name == ACL:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        real(path, name, value, *more)

    monkeypatch.setattr(os, "setxattr", no_lists)
    files = Writer(workspace)
    match how:
        case "change":
            change, name = files.write("a.txt", b"two\n"), "a.txt"
        case "move":
            change, name = files.move("a.txt", "b.txt", b"two\n"), "b.txt"
        case _:
            change, name = back(workspace, files.remove("a.txt")), "a.txt"
    assert nature(root / name) == (0o600, {"user.note": b"mine"}), "the group had nothing by the list"
    assert change.note == f"{name}: its access list (ACL) could not be kept."


def test_a_list_that_cannot_be_read_leaves_it_to_the_owner(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "getxattr", broken)
    change = Writer(workspace).remove("a.txt")
    assert "a.txt: its access list (ACL) could not be read" in (change.note or "")
    monkeypatch.undo()
    back(workspace, change)
    assert nature(root / "a.txt")[0] == 0o600


def test_what_is_too_large_to_keep_is_said(root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("user.large", "user.larger"):
        os.setxattr(root / "a.txt", name, bytes(500))
    monkeypatch.setattr(writer, "KEPT_ATTRIBUTES", 300)
    change = Writer(workspace).remove("a.txt")
    assert change.note == "a.txt: user.large, user.larger are too large to keep, so undo does not bring them back."
    back(workspace, change)
    assert nature(root / "a.txt") == (0o660, {ACL: shared(), "user.note": b"mine"}), "the list goes first"
    monkeypatch.setattr(writer, "KEPT_ATTRIBUTES", 10)
    back(workspace, Writer(workspace).remove("a.txt"))
    assert nature(root / "a.txt") == (0o600, {}), "nor does anyone have what the list did not give"


def test_the_folders_list_is_not_put_upon_a_file_that_had_none(root: Path, workspace: Workspace) -> None:
    (root / "b.txt").write_bytes(b"b\n")
    (root / "b.txt").chmod(0o664)
    os.setxattr(root, DEFAULT, shared(user=6, group=6, mask=6))
    Writer(workspace).write("b.txt", b"B\n")
    assert nature(root / "b.txt") == (0o664, {})
    back(workspace, Writer(workspace).remove("b.txt"))
    assert nature(root / "b.txt") == (0o664, {})
    Writer(workspace).write("new.txt", b"n\n")
    assert ACL in nature(root / "new.txt")[1], "a new file is what its folder makes of it"


def test_records_of_before_can_be_undone(root: Path, workspace: Workspace) -> None:
    (root / "a.txt").unlink()
    old = {"path": "a.txt", "change": "deleted", "removed": 1, "mode": 0o640}
    kept = msgspec.msgpack.encode({**old, "spans": [{"start": 0, "length": 0, "old": b"old\n"}]})
    undo(workspace, Writer(workspace), msgspec.msgpack.decode(kept, type=Change))
    assert (root / "a.txt").read_bytes() == b"old\n" and mode(root / "a.txt") == 0o640


rights = st.integers(0, 7)


@given(user=rights, group=rights, named=rights, mask=rights, other=rights)
def test_a_mode_alone_gives_nobody_more_than_with_the_list(
    user: int, group: int, named: int, mask: int, other: int
) -> None:
    entries = [(USER_OWN, 7, UNNAMED), (USER, user, 1), (GROUP_OWN, group, UNNAMED), (GROUP, named, 2)]
    alone = without_list(0o4700 | mask << 3 | other, acl(*entries, (MASK, mask, UNNAMED), (OTHER, other, UNNAMED)))
    in_group, others = alone >> 3 & 7, alone & 7
    assert alone & 0o7700 == 0o4700
    for without in (in_group, others):  # in the group or not, the named user
        assert not without & ~(user & mask)
    assert not in_group & ~(group & mask) and not others & ~other
    assert not others & ~(named & mask), "who is in the named group only"


def test_a_list_that_is_none_leaves_it_to_the_owner() -> None:
    assert without_list(0o664, b"") == without_list(0o664, b"\1\0\0\0") == without_list(0o664, acl() + b"x") == 0o600
