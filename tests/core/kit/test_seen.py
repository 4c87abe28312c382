"""Staleness: what was shown must still be there; a touch, another place in the file and own edits do not matter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.errors import DoorError
from pegboard.kit.edits import Edit, EditError, plan
from pegboard.kit.handles import Stamp
from pegboard.kit.hunks import Hunk
from pegboard.kit.seen import Range, Seen, check_fresh, holds_in, seen_edited, seen_in, seen_written
from pegboard.kit.settings import EditSettings
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer

STAMP = Stamp(1, 2, 3, 4, 5)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    return tmp_path


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(str(root))


def look(workspace: Workspace, *ranges: Range, before: Seen | None = None) -> Seen:
    with workspace.open("a.txt") as opened:
        return seen_in(opened, ranges or [(0, opened.size)], before)


def check(workspace: Workspace, seen: Seen | None, *, whole: bool = False, **options: object) -> str | None:
    with workspace.open("a.txt") as opened:
        return check_fresh(opened, seen, EditSettings(**options), whole=whole)  # type: ignore[arg-type]


def stale(workspace: Workspace, seen: Seen | None, *, whole: bool = False, **options: object) -> str:
    with pytest.raises(DoorError) as caught:
        check(workspace, seen, whole=whole, **options)
    assert caught.value.reason == "stale" and "Nothing was changed" in str(caught.value)
    return str(caught.value)


class TestFreshness:
    def test_unchanged_or_only_touched_is_fresh(self, root: Path, workspace: Workspace) -> None:
        seen = look(workspace)
        assert check(workspace, seen, whole=True) is None
        os.utime(root / "a.txt", (1, 1))
        assert check(workspace, seen, whole=True) is None

    def test_replaced_by_the_same_content_is_fresh(self, root: Path, workspace: Workspace) -> None:
        seen = look(workspace)
        (root / "b").write_bytes(b"one\ntwo\nthree\n")
        (root / "b").rename(root / "a.txt")
        assert check(workspace, seen, whole=True) is None

    def test_changed_is_stale_also_with_the_same_size_and_time(self, root: Path, workspace: Workspace) -> None:
        seen = look(workspace)
        times = (seen.stamp.mtime_ns, seen.stamp.mtime_ns)
        (root / "a.txt").write_bytes(b"ONE\ntwo\nthree\n")
        os.utime(root / "a.txt", ns=times)
        assert "was changed on disk since" in stale(workspace, seen)

    def test_a_change_outside_of_what_was_shown_is_not_stale_for_an_edit(
        self, root: Path, workspace: Workspace
    ) -> None:
        seen = look(workspace, (0, 4))
        (root / "a.txt").write_bytes(b"one\nTWO and more\n")
        assert check(workspace, seen) is None
        (root / "a.txt").write_bytes(b"on")
        stale(workspace, seen)

    def test_overwriting_needs_the_whole_file_seen_or_unread(self, root: Path, workspace: Workspace) -> None:
        assert check(workspace, None, whole=True) is None
        assert "only in part" in stale(workspace, look(workspace, (0, 4)), whole=True)
        seen = look(workspace)
        with (root / "a.txt").open("ab") as file:
            file.write(b"four\n")
        assert check(workspace, seen) is None
        stale(workspace, seen, whole=True)

    def test_warn_and_off(self, root: Path, workspace: Workspace) -> None:
        seen = look(workspace)
        (root / "a.txt").write_bytes(b"other\n")
        assert "was changed on disk" in (check(workspace, seen, staleness="warn") or "")
        assert check(workspace, seen, staleness="off") is None

    def test_require_read(self, workspace: Workspace) -> None:
        assert "was not read" in stale(workspace, None, require_read=True)
        assert check(workspace, look(workspace), require_read=True) is None


class TestKnowing:
    def test_windows_add_up(self, workspace: Workspace) -> None:
        seen = look(workspace, (8, 14))
        assert not seen.whole
        seen = look(workspace, (0, 8), before=seen)
        assert seen.whole and check(workspace, seen, whole=True) is None

    def test_what_does_not_hold_any_more_is_forgotten(self, root: Path, workspace: Workspace) -> None:
        seen = look(workspace, (0, 4))
        (root / "a.txt").write_bytes(b"ONE\ntwo\nthree\n")
        assert look(workspace, (4, 8), before=seen).ranges == [(4, 8)]

    def test_an_empty_file_is_whole(self, root: Path, workspace: Workspace) -> None:
        (root / "a.txt").write_bytes(b"")
        assert look(workspace).whole

    def test_many_scattered_ranges_are_bounded_and_never_claim_more(self) -> None:
        data = bytes(100_000)
        ranges = [(n * 100, n * 100 + 1 + n % 7) for n in range(900)]
        hunks = [Hunk(start, end, start, end) for start, end in ranges]
        seen = seen_edited("f", STAMP, data, hunks, None)
        assert len(seen.ranges) <= 64 and set(seen.ranges) <= set(ranges)


class TestOwnEdits:
    def after(self, workspace: Workspace, seen: Seen | None, *edits: Edit) -> list[Seen]:
        writer = Writer(workspace)
        for edit in edits:
            with workspace.open("a.txt", "edit") as opened:
                data, stamp = opened.read(), opened.stamp
            writer.splice("a.txt", plan(data, [edit], path="a.txt"), stamp)
        return list(writer.seen(lambda path: seen))

    def test_are_not_stale_and_keep_a_whole_file_whole(self, workspace: Workspace) -> None:
        [seen] = self.after(workspace, look(workspace), Edit("one", "1\n1.5"), Edit("three", ""))
        assert seen.whole and check(workspace, seen, whole=True) is None

    def test_of_a_part_leave_the_rest_unseen(self, workspace: Workspace) -> None:
        [seen] = self.after(workspace, look(workspace, (0, 4)), Edit("three", "3"))
        assert seen.ranges == [(0, 4), (8, 9)]
        assert check(workspace, seen) is None
        stale(workspace, seen, whole=True)

    def test_of_a_file_never_read_leave_it_unread(self, workspace: Workspace) -> None:
        assert self.after(workspace, None, Edit("three", "3")) == []

    def test_written_files_are_seen_whole(self, root: Path, workspace: Workspace) -> None:
        writer = Writer(workspace)
        writer.write("a.txt", b"new\n")
        writer.write("b.txt", b"b\n")
        writer.append("b.txt", b"c\n")
        writer.move("b.txt", "c.txt")
        found = {seen.path: seen for seen in writer.seen(lambda path: None)}
        assert found["a.txt"].whole and found["c.txt"].whole
        assert check(workspace, found["a.txt"], whole=True) is None

    @given(
        st.text("abc\n", min_size=1, max_size=30),
        st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4),
        st.lists(st.tuples(st.text("abc\n", min_size=1, max_size=2), st.text("abcX", max_size=3)), max_size=3),
    )
    @settings(max_examples=300)
    def test_what_is_claimed_was_seen_or_written(
        self, text: str, pairs: list[Range], edits: list[tuple[str, str]]
    ) -> None:
        data = text.encode()
        ranges = [(min(p), min(max(p), len(data))) for p in pairs if min(p) < len(data)]
        seen = seen_edited("f", STAMP, data, [], seen_written("f", STAMP, data))
        seen = seen_edited("f", STAMP, data, [], Seen("f", STAMP, sorted(merge(ranges)), ""))
        try:
            made = plan(data, [Edit(old, new, 0) for old, new in edits], path="f")
        except EditError:
            return
        after = seen_edited("f", STAMP, made.after, made.hunks, seen, exact=made.exact)
        assert holds_in(made.after, after)
        known = {at for start, end in after.ranges for at in range(start, end)}
        written = {at for hunk in made.hunks for at in range(hunk.new_start, hunk.new_end)}
        kept = set()
        for start, end in seen.ranges:
            for at in range(start, end):
                shift = 0
                for hunk in made.hunks:
                    if hunk.old_start <= at < hunk.old_end:
                        break
                    if hunk.old_end <= at:
                        shift = hunk.new_end - hunk.old_end
                else:
                    kept.add(at + shift)
        assert known == kept | written


def merge(ranges: list[Range]) -> list[Range]:
    found: list[Range] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found
