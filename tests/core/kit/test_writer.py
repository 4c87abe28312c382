"""Writing: atomic, keeping what a file is, never outside, never over what was not shown, and undone to the byte."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.calls import Deny, TouchKind
from pegboard.errors import DoorError
from pegboard.kit.changes import Change
from pegboard.kit.edits import Edit, plan
from pegboard.kit.undo import undo
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "app"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_bytes(b"one\ntwo\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f.txt").write_bytes(b"KEEP\n")
    return root


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(str(root))


def snapshot(top: Path) -> dict[str, object]:
    """Names, modes, links and bytes of all below."""
    found: dict[str, object] = {}
    for path in sorted(top.rglob("*")):
        info = path.lstat()
        what = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(top))] = (stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode), what)
    return found


@contextmanager
def refused(top: Path, reason: str, text: str = "") -> Iterator[None]:
    """The body raises DoorError with this reason and text and changes nothing, leaving no temporary file."""
    before = snapshot(top)
    with pytest.raises(DoorError) as caught:
        yield
    assert caught.value.reason == reason and text in str(caught.value), caught.value
    assert snapshot(top) == before


def edit(workspace: Workspace, path: str, old: str, new: str, count: int = 1) -> Change:
    with workspace.open(path, "edit") as opened:
        data, stamp = opened.read(), opened.stamp
    return Writer(workspace).splice(path, plan(data, [Edit(old, new, count)], path=path), stamp)


class TestWhatIsKept:
    @pytest.mark.parametrize("mode", [0o755, 0o600, 0o644, 0o4755, 0o1640])
    def test_the_mode(self, root: Path, workspace: Workspace, mode: int) -> None:
        (root / "a.txt").chmod(mode)
        edit(workspace, "a.txt", "one", "1")
        assert stat.S_IMODE((root / "a.txt").stat().st_mode) == mode

    @pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
    def test_the_owner(self, root: Path, workspace: Workspace) -> None:
        os.chown(root / "a.txt", 1234, 4321)
        edit(workspace, "a.txt", "one", "1")
        info = (root / "a.txt").stat()
        assert (info.st_uid, info.st_gid) == (1234, 4321)

    def test_extended_attributes(self, root: Path, workspace: Workspace) -> None:
        try:
            os.setxattr(root / "a.txt", "user.note", b"mine")
        except (AttributeError, OSError):
            pytest.skip("this file system has no extended attributes")
        edit(workspace, "a.txt", "one", "1")
        assert os.getxattr(root / "a.txt", "user.note") == b"mine"

    def test_a_link_inside_stays_a_link_and_its_target_changes(self, root: Path, workspace: Workspace) -> None:
        (root / "link.txt").symlink_to("a.txt")
        change = edit(workspace, "link.txt", "one", "1")
        assert change.path == "a.txt"
        assert os.readlink(root / "link.txt") == "a.txt"
        assert (root / "a.txt").read_bytes() == b"1\ntwo\n"

    def test_a_dangling_link_inside_makes_its_target(self, root: Path, workspace: Workspace) -> None:
        (root / "link.txt").symlink_to("sub/new.txt")
        Writer(workspace).write("link.txt", b"n\n")
        assert (root / "sub" / "new.txt").read_bytes() == b"n\n" and (root / "link.txt").is_symlink()

    def test_other_names_keep_the_old_content_and_that_is_told(self, root: Path, workspace: Workspace) -> None:
        (root / "two.txt").hardlink_to(root / "a.txt")
        change = Writer(workspace).write("two.txt", b"new\n")
        assert (root / "a.txt").read_bytes() == b"one\ntwo\n" and (root / "two.txt").read_bytes() == b"new\n"
        assert change.note is not None and "2 names" in change.note

    def test_writing_what_is_there_already_writes_nothing(self, root: Path, workspace: Workspace) -> None:
        before = (root / "a.txt").stat()
        change = Writer(workspace).write("a.txt", b"one\ntwo\n")
        assert (root / "a.txt").stat() == before and change.added == change.removed == 0


class TestNewFiles:
    @pytest.mark.parametrize(("umask", "file_mode", "folder_mode"), [(0o027, 0o640, 0o750), (0o022, 0o644, 0o755)])
    def test_files_and_parents_follow_the_umask(
        self, root: Path, workspace: Workspace, umask: int, file_mode: int, folder_mode: int
    ) -> None:
        before = os.umask(umask)
        try:
            change = Writer(workspace).write("new/deep/n.txt", b"n\n")
        finally:
            os.umask(before)
        assert (root / "new/deep/n.txt").read_bytes() == b"n\n"
        assert stat.S_IMODE((root / "new/deep/n.txt").stat().st_mode) == file_mode
        assert stat.S_IMODE((root / "new/deep").stat().st_mode) == folder_mode
        assert change.change == "created" and change.folders == ["new", "new/deep"]

    def test_through_a_folder_link_inside(self, root: Path, workspace: Workspace) -> None:
        (root / "dir").symlink_to("sub")
        assert Writer(workspace).write("dir/x/n.txt", b"n\n").path == "sub/x/n.txt"
        assert (root / "sub/x/n.txt").read_bytes() == b"n\n"

    def test_append_makes_and_extends(self, root: Path, workspace: Workspace) -> None:
        writer = Writer(workspace)
        writer.append("log.txt", b"1\n")
        change = writer.append("log.txt", b"2\n")
        assert (root / "log.txt").read_bytes() == b"1\n2\n"
        assert (change.added, change.removed) == (1, 0)

    def test_overwrite_false_fails_on_a_file(self, root: Path, workspace: Workspace) -> None:
        with refused(root, "exists"):
            Writer(workspace).write("a.txt", b"x", overwrite=False)
        Writer(workspace).write("b.txt", b"x", overwrite=False)


class TestRefusals:
    @pytest.mark.parametrize(
        ("link", "target", "path"),
        [
            (None, None, "../outside/new.txt"),
            (None, None, "nosuch/../../outside/new.txt"),
            ("leak", "../outside/f.txt", "leak"),
            ("leak", "../outside/new.txt", "leak"),
            ("d", "../outside", "d/new/deep.txt"),
            ("d", "../outside", "d/n1/n2/x.txt"),
            ("d", "../outside/not-there", "d/x.txt"),
            ("d", "/tmp", "d/x.txt"),
        ],
    )
    def test_nothing_is_written_outside(
        self, root: Path, workspace: Workspace, link: str | None, target: str | None, path: str
    ) -> None:
        if link is not None and target is not None:
            (root / link).symlink_to(target)
        for write in (Writer(workspace).write, Writer(workspace).append):
            with refused(root.parent, "escapes"):
                write(path, b"PWNED\n")

    def test_links_in_a_circle(self, root: Path, workspace: Workspace) -> None:
        (root / "x").symlink_to("y")
        (root / "y").symlink_to("x")
        with refused(root, "loop"):
            Writer(workspace).write("x", b"PWNED\n")

    @pytest.mark.parametrize(
        ("path", "reason"),
        [
            ("sub", "folder"),
            (".", "folder"),
            ("new/", "folder"),
            ("a.txt/x", "missing"),
            ("a.txt/", "missing"),
            ("nosuch/../x.txt", "missing"),
            ("pipe", "special"),
            ("", "name"),
            ("n" * 300, "name"),
            ("session:x", "readonly"),
        ],
    )
    def test_what_is_no_file(self, root: Path, path: str, reason: str) -> None:
        os.mkfifo(root / "pipe")
        workspace = Workspace(str(root), session=str(root.parent / "outside"))
        before = snapshot_names(root)
        with pytest.raises(DoorError) as caught:
            Writer(workspace).write(path, b"x")
        assert caught.value.reason == reason
        assert snapshot_names(root) == before

    def test_a_read_only_file_also_for_root(self, root: Path, workspace: Workspace) -> None:
        (root / "a.txt").chmod(0o444)
        for do in (
            lambda writer: writer.write("a.txt", b"x"),
            lambda writer: writer.append("a.txt", b"x"),
            lambda writer: writer.remove("a.txt"),
            lambda writer: writer.move("a.txt", "b.txt"),
        ):
            with refused(root, "readonly"):
                do(Writer(workspace))

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
    def test_a_file_that_this_user_may_not_write(self, root: Path, workspace: Workspace) -> None:
        root.chmod(0o777)
        for folder in root.parents[:-1]:
            folder.chmod(folder.stat().st_mode | 0o011)
        os.seteuid(65534)
        try:
            with pytest.raises(DoorError) as caught:
                Writer(workspace).write("a.txt", b"x")
        finally:
            os.seteuid(0)
        assert caught.value.reason == "permission"
        assert (root / "a.txt").read_bytes() == b"one\ntwo\n"

    def test_checks_see_the_real_path_and_other_names(self, root: Path) -> None:
        def check(kind: TouchKind, path: str) -> Deny | None:
            return Deny("test", f"{path} is protected.") if path.startswith(".git/") else None

        (root / ".git").mkdir()
        (root / ".git" / "config").write_bytes(b"[core]\n")
        (root / "link").symlink_to(".git/config")
        (root / "hard").hardlink_to(root / ".git" / "config")
        workspace = Workspace(str(root), [check])
        for path in (".git/config", "sub/../.git/config", "link", "hard", ".git/hooks/new"):
            with refused(root, "protected"):
                Writer(workspace).write(path, b"PWNED\n")

    def test_a_cancelled_call_writes_nothing_more(self, root: Path, workspace: Workspace) -> None:
        class Stopped(Exception):
            pass

        looks = []

        def alive() -> None:
            looks.append(1)
            if len(looks) > 1:  # it was fine at the start
                raise Stopped

        before = snapshot(root)
        with pytest.raises(Stopped):
            Writer(workspace, alive=alive).write("new/x.txt", b"x")
        assert snapshot(root) == before


def snapshot_names(top: Path) -> list[str]:
    return sorted(str(path) for path in top.rglob("*"))


class TestFailures:
    @pytest.mark.parametrize("call", ["write", "fsync", "rename"])
    def test_a_full_disk_leaves_the_old_file(
        self, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, call: str
    ) -> None:
        def full(*args: object, **options: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(f"pegboard.kit.atomic.os.{call}", full)
        with refused(root, "system"):
            Writer(workspace).write("a.txt", b"new content\n")

    def test_a_real_full_disk(self, root: Path, workspace: Workspace) -> None:
        """The limit on file sizes is met in the middle of writing."""
        import resource
        import signal

        before, old = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        try:
            with refused(root, "too_large"):
                Writer(workspace).write("a.txt", b"x" * 5000)
            with refused(root, "too_large"):
                Writer(workspace).write("new/deep/b.txt", b"x" * 5000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, old)

    def test_parents_made_for_nothing_are_taken_back(
        self, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*args: object, **options: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("pegboard.kit.atomic.os.write", full)
        with refused(root, "system"):
            Writer(workspace).write("new/new/x.txt", b"x")


class TestWhatWasShownIsWritten:
    def expecting(self, workspace: Workspace, *paths: str) -> Writer:
        view = workspace.recording()
        for path in paths:
            try:
                view.read_bytes(path)
            except DoorError as error:
                assert error.reason == "missing"
        return Writer(workspace, expect=view.opened)

    def test_unchanged_or_only_touched_goes_through(self, root: Path, workspace: Workspace) -> None:
        writer = self.expecting(workspace, "a.txt", "new/n.txt")
        os.utime(root / "a.txt", (1, 1))
        writer.write("a.txt", b"x\n")
        writer.write("new/n.txt", b"n\n")
        assert (root / "a.txt").read_bytes() == b"x\n"

    def test_changed_while_asked(self, root: Path, workspace: Workspace) -> None:
        writer = self.expecting(workspace, "a.txt", "sub/new.txt")
        (root / "a.txt").write_bytes(b"ONE\ntwo\n")
        (root / "sub" / "new.txt").write_bytes(b"not shown\n")
        for path in ("a.txt", "sub/new.txt", "./sub/../a.txt"):
            with refused(root, "changed", "was changed while you were asked"):
                writer.write(path, b"x\n")

    def test_gone_while_asked(self, root: Path, workspace: Workspace) -> None:
        writer = self.expecting(workspace, "a.txt")
        (root / "a.txt").unlink()
        with refused(root, "changed"):
            writer.write("a.txt", b"x\n")

    def test_changed_after_it_was_read_for_the_plan(self, root: Path, workspace: Workspace) -> None:
        with workspace.open("a.txt", "edit") as opened:
            made, stamp = plan(opened.read(), [Edit("one", "1")], path="a.txt"), opened.stamp
        (root / "a.txt").write_bytes(b"one\nTWO\n")
        with refused(root, "changed"):
            Writer(workspace).splice("a.txt", made, stamp)

    def test_changed_in_the_last_moment(
        self, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fsync = os.fsync

        def late(fd: int) -> None:
            fsync(fd)
            (root / "a.txt").write_bytes(b"somebody else\n")

        monkeypatch.setattr("pegboard.kit.atomic.os.fsync", late)
        with pytest.raises(DoorError) as caught:
            Writer(workspace).write("a.txt", b"mine\n")
        assert caught.value.reason == "changed"
        assert snapshot_names(root) == [str(root / "a.txt"), str(root / "sub")]
        assert (root / "a.txt").read_bytes() == b"somebody else\n"

    def test_a_new_file_never_replaces_one_that_came_meanwhile(
        self, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from pegboard.kit.target import Target

        def too_early(self: Target) -> None:
            (root / "n.txt").write_bytes(b"somebody else\n")

        monkeypatch.setattr(Target, "check_unchanged", too_early)
        with pytest.raises(DoorError) as caught:
            Writer(workspace).write("n.txt", b"mine\n")
        assert caught.value.reason == "changed"
        assert (root / "n.txt").read_bytes() == b"somebody else\n"


class TestRaces:
    def test_a_folder_swapped_for_a_link_never_leads_a_write_outside(
        self, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("pegboard.kit.atomic.os.fsync", lambda fd: None)
        stop = threading.Event()
        (root / "d").mkdir()
        (root / "d" / "f.txt").write_bytes(b"v\n")

        def swap() -> None:
            while not stop.is_set():
                (root / "d").rename(root / "d2")
                try:
                    (root / "d").symlink_to("../outside")
                    (root / "d").unlink()
                    (root / "d2").rename(root / "d")
                except OSError:  # the writer made a folder of that name
                    shutil.rmtree(root / "d2")

        thread = threading.Thread(target=swap, daemon=True)
        thread.start()
        reasons: set[str] = set()
        try:
            for number in range(3000):
                if number > 300 and "escapes" in reasons:
                    break
                for path in ("d/f.txt", f"d/n{number}/x.txt"):
                    try:
                        Writer(workspace).write(path, b"PWNED %d\n" % number)
                    except DoorError as error:
                        reasons.add(error.reason)
        finally:
            stop.set()
            thread.join(60)
        assert os.listdir(root.parent / "outside") == ["f.txt"]
        assert (root.parent / "outside" / "f.txt").read_bytes() == b"KEEP\n"
        assert "escapes" in reasons  # the race was on

    def test_a_folder_moved_out_in_the_last_moment(
        self, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fsync = os.fsync

        def late(fd: int) -> None:
            fsync(fd)
            (root / "sub").rename(root.parent / "outside" / "sub")

        monkeypatch.setattr("pegboard.kit.atomic.os.fsync", late)
        with pytest.raises(DoorError):
            Writer(workspace).write("sub/x.txt", b"PWNED\n")
        assert os.listdir(root.parent / "outside" / "sub") == []


class TestRemoveAndMove:
    def test_remove(self, root: Path, workspace: Workspace) -> None:
        change = Writer(workspace).remove("a.txt")
        assert not (root / "a.txt").exists() and (change.change, change.removed) == ("deleted", 2)

    def test_removing_a_link_removes_the_link_even_one_that_leads_out(self, root: Path, workspace: Workspace) -> None:
        (root / "leak").symlink_to("../outside/f.txt")
        before = snapshot(root.parent)
        change = Writer(workspace).remove("leak")
        assert not (root / "leak").is_symlink() and (root.parent / "outside" / "f.txt").exists()
        undo(workspace, Writer(workspace), change)
        assert snapshot(root.parent) == before

    def test_move_takes_mode_and_new_content_along(self, root: Path, workspace: Workspace) -> None:
        (root / "a.txt").chmod(0o755)
        change = Writer(workspace).move("a.txt", "d/c.txt", b"new\n")
        assert (root / "d/c.txt").read_bytes() == b"new\n" and not (root / "a.txt").exists()
        assert stat.S_IMODE((root / "d/c.txt").stat().st_mode) == 0o755
        assert (change.path, change.to, change.change) == ("a.txt", "d/c.txt", "moved")

    @pytest.mark.parametrize(("to", "reason"), [("../out.txt", "escapes"), ("b.txt", "exists"), ("sub", "folder")])
    def test_move_is_checked_at_both_ends(self, root: Path, workspace: Workspace, to: str, reason: str) -> None:
        (root / "b.txt").write_bytes(b"b\n")
        for data in (None, b"new\n"):
            with refused(root.parent, reason):
                Writer(workspace).move("a.txt", to, data)


class TestUndo:
    @pytest.mark.parametrize(
        "do",
        [
            lambda w: w.write("a.txt", b"something else\n"),
            lambda w: w.write("a.txt", b""),
            lambda w: w.append("a.txt", b"more"),
            lambda w: w.write("new/deep/n.txt", b"n\n"),
            lambda w: w.write("new.bin", b"\0\1\2"),
            lambda w: w.remove("a.txt"),
            lambda w: w.move("a.txt", "x/y/z.txt"),
            lambda w: w.move("a.txt", "x/y/z.txt", b"one\nTWO\n"),
        ],
    )
    def test_everything_is_as_before(self, root: Path, workspace: Workspace, do: Callable[[Writer], Change]) -> None:
        (root / "a.txt").chmod(0o640)
        before = snapshot(root)
        change = do(Writer(workspace))
        assert snapshot(root) != before
        redo = undo(workspace, Writer(workspace), change)
        assert snapshot(root) == before
        undo(workspace, Writer(workspace), redo)
        assert snapshot(root) != before

    def test_what_was_changed_since_is_not_undone(self, root: Path, workspace: Workspace) -> None:
        change = edit(workspace, "a.txt", "one", "uno")
        (root / "a.txt").write_bytes(b"two\ntwo\n")
        with refused(root, "stale"):
            undo(workspace, Writer(workspace), change)
        created = Writer(workspace).write("n.txt", b"n\n")
        (root / "n.txt").write_bytes(b"my work\n")
        with refused(root, "stale"):
            undo(workspace, Writer(workspace), created)

    def test_a_change_elsewhere_hinders_it_even_of_the_same_size(self, root: Path, workspace: Workspace) -> None:
        change = edit(workspace, "a.txt", "one", "uno")
        (root / "a.txt").write_bytes(b"uno\nTWO\n")
        with refused(root, "stale"):
            undo(workspace, Writer(workspace), change)

    def test_what_only_looks_changed_is_undone(self, root: Path, workspace: Workspace) -> None:
        change = edit(workspace, "a.txt", "one", "uno")
        os.utime(root / "a.txt", (1, 1))
        undo(workspace, Writer(workspace), change)
        assert (root / "a.txt").read_bytes() == b"one\ntwo\n"

    def test_a_record_holds_the_replaced_bytes_only(self, root: Path, workspace: Workspace) -> None:
        (root / "big.txt").write_bytes(b"x" * 5_000_000 + b"needle" + b"y" * 5_000_000)
        change = edit(workspace, "big.txt", "needle", "pin")
        assert sum(len(span.old) for span in change.spans) < 100

    def test_an_old_content_too_large_to_keep_is_said(self, root: Path, workspace: Workspace) -> None:
        change = Writer(workspace, keep=4).write("a.txt", b"new\n")
        assert (root / "a.txt").read_bytes() == b"new\n" and not change.undoable
        assert change.note is not None and "cannot be undone" in change.note
        with refused(root, "too_large"):
            undo(workspace, Writer(workspace), change)

    @given(st.lists(st.binary(max_size=60), min_size=2, max_size=4))
    @settings(deadline=None, max_examples=30)
    def test_any_writes_are_undone_in_reverse(
        self, tmp_path_factory: pytest.TempPathFactory, contents: list[bytes]
    ) -> None:
        root = tmp_path_factory.mktemp("w")
        workspace = Workspace(str(root))
        changes = [Writer(workspace).write("f", content) for content in contents]
        assert (root / "f").read_bytes() == contents[-1]
        for change, content in reversed(list(zip(changes[1:], contents, strict=False))):
            undo(workspace, Writer(workspace), change)
            assert (root / "f").read_bytes() == content
        undo(workspace, Writer(workspace), changes[0])
        assert not (root / "f").exists()


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name are Linux's")
def test_a_process_that_is_killed_while_it_writes_leaves_nothing_behind(root: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from pegboard.kit.workspace import Workspace\n"
        "from pegboard.kit.writer import Writer\n"
        "os.fsync = lambda fd: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Writer(Workspace(sys.argv[1])).write('kept.txt', b'new')\n"
    )
    (root / "kept.txt").write_bytes(b"old")
    before = sorted(os.listdir(root))
    done = subprocess.run([sys.executable, "-c", code, str(root)], check=False)
    assert done.returncode == -9
    assert (root / "kept.txt").read_bytes() == b"old"
    assert sorted(os.listdir(root)) == before
