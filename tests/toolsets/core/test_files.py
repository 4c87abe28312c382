"""`read_file`, `write_file`, `edit_file`, down the whole road of a real board."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from calls import approved, failed, ok, write
from pegboard import Lists, tool
from pegboard.blocks import Diff, Problem
from pegboard.events import ApprovalAsked, Seen
from pegboard.kit.changes import Change
from pegboard.kit.undo import undo
from pegboard.kit.writer import Writer
from pegboard.testing.bench import TestBoard
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import edit_file, write_file

TOOLS = [read_file, write_file, edit_file]
Make = Callable[..., TestBoard]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=TOOLS)


class TestReadFile:
    @pytest.mark.row("S-026", "R-027", "R-028")
    def test_lines_are_numbered_below_a_header_with_the_counts_of_the_whole(
        self, board: TestBoard, tmp_path: Path
    ) -> None:
        write(tmp_path, "a.txt", "one\ntwé\n\nfour")
        assert ok(board.call("read_file", path="a.txt")) == "# a.txt - 4 lines, 13 chars\n1: one\n2: twé\n3: \n4: four"

    @pytest.mark.parametrize("offset", [2**53, 2**63, 2**64, 10**30])
    def test_an_offset_beyond_all_files_is_one_beyond_the_end(
        self, board: TestBoard, tmp_path: Path, offset: int
    ) -> None:
        write(tmp_path, "a.txt", "one\ntwo\n")
        record = board.call("read_file", path="a.txt", offset=offset, limit=offset)
        assert ok(record).endswith("(there is no line 9007199254740991: the last one is 2)")
        assert (record.data["first"], record.data["last"]) == (2**53 - 1, 2**53 - 2)

    @pytest.mark.row("R-029", "R-031")
    def test_windows_say_what_they_show_and_follow_each_other(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "".join(f"line {n}\n" for n in range(1, 451)))
        texts = [ok(board.call("read_file", path="a.txt", offset=at, limit=200)) for at in (1, 201, 401)]
        heads = [text.split("\n")[0].removeprefix("# a.txt - 450 lines, 3942 chars") for text in texts]
        assert heads == [" (showing 1-200)", " (showing 201-400)", " (showing 401-450)"]
        assert [text.split("\n")[-1] for text in texts] == [
            "... (more: offset=201)",
            "... (more: offset=401)",
            "450: line 450",
        ]
        lines = [line for text in texts for line in text.split("\n") if line[0].isdigit()]
        assert lines == [f"{n}: line {n}" for n in range(1, 451)]

    @pytest.mark.row("R-030")
    def test_limit_0_gives_the_header_only(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "one\ntwo\n")
        assert ok(board.call("read_file", path="a.txt", limit=0)) == "# a.txt - 2 lines, 8 chars"

    def test_data(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", b"d\xe9j\xe0\nvu\n")
        record = board.call("read_file", path="./a.txt", offset=2)
        assert record.data == {"path": "a.txt", "lines": 2, "chars": 8, "first": 2, "last": 2, "encoding": "latin-1"}
        assert record.text == "# a.txt - 2 lines, 8 chars, not UTF-8, shown as Latin-1 (showing 2-2)\n2: vu"

    @pytest.mark.row("Z-047", "Z-048")
    def test_what_is_shown_stops_at_the_caps_on_lines_and_bytes(self, pegboard_board: Make, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "".join(f"line {n}\n" for n in range(1, 5001)))
        write(tmp_path, "b.txt", "x" * 200_000 + "\n" + "short\n")
        few = pegboard_board(tools=TOOLS, settings={"output.max_lines": 7})
        assert ok(few.call("read_file", path="a.txt")).endswith("7: line 7\n... (more: offset=8)")
        small = pegboard_board(tools=TOOLS, settings={"output.max_bytes": 2000, "output.max_chars": 0})
        record = small.call("read_file", path="a.txt")
        assert 1400 < len(record.text.encode()) <= 2000 and record.text.split("\n")[-1].startswith("... (more: offset=")
        assert record.truncated and record.full_output is None
        text = ok(small.call("read_file", path="b.txt"))
        assert len(text) <= 2000 and "line 1 is too long to be shown whole" in text and "... (more: offset=2)" in text

    @pytest.mark.row("S-027", "Z-049")
    def test_binary_is_refused_with_size_and_type(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "logo.png", b"\x89PNG\r\n\x1a\n" + bytes(1000))
        write(tmp_path, "late.txt", b"x" * 8192 + b"\0\n")
        assert "logo.png is binary (PNG image, 1,008 bytes)" in failed(board.call("read_file", path="logo.png"))
        ok(board.call("read_file", path="late.txt"))

    @pytest.mark.row("C-016")
    def test_a_large_file_is_read_in_little_memory(self, board: TestBoard, tmp_path: Path) -> None:
        import tracemalloc

        write(tmp_path, "big.txt", (b"x" * 59 + b"\n") * 500_000)
        tracemalloc.start()
        try:
            text = ok(board.call("read_file", path="big.txt", offset=499_990))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert text.startswith("# big.txt - 500000 lines, 30000000 chars (showing 499990-500000)")
        assert peak < 4_000_000

    def test_a_line_past_the_end_and_an_empty_file(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "one\n")
        write(tmp_path, "empty.txt", "")
        assert "there is no line 9: the last one is 1" in ok(board.call("read_file", path="a.txt", offset=9))
        assert ok(board.call("read_file", path="empty.txt")) == "# empty.txt - 0 lines, 0 chars"

    @pytest.mark.row("C-015")
    def test_paths_are_relative_to_the_workspace_root(
        self, board: TestBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, "sub/a.txt", "inside\n")
        monkeypatch.chdir("/")
        for path in ("sub/a.txt", "./sub/../sub/a.txt", str(tmp_path / "sub" / "a.txt")):
            assert "1: inside" in ok(board.call("read_file", path=path))

    @pytest.mark.parametrize("name", ["read", "view", "file_read"])
    def test_other_names(self, board: TestBoard, tmp_path: Path, name: str) -> None:
        write(tmp_path, "a.txt", "one\n")
        assert "1: one" in ok(board.call(name, filePath="a.txt"))

    def test_read_file_range_takes_its_own_parameters(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "1\n2\n3\n4\n")
        text = ok(board.call("read_file_range", path="a.txt", start_line=2, max_lines=2))
        assert text.split("\n")[1:3] == ["2: 2", "3: 3"]

    @pytest.mark.row("U-003")
    def test_a_folder_is_answered_by_list_dir_or_names_glob(
        self, board: TestBoard, pegboard_board: Make, tmp_path: Path
    ) -> None:
        @tool
        async def list_dir(path: Annotated[str, Lists("Folder")]) -> str:
            """List a folder."""
            return f"./{path}"

        write(tmp_path, "sub/a.txt", "x")
        assert "glob" in failed(board.call("read_file", path="sub"))
        assert ok(pegboard_board(tools=[*TOOLS, list_dir]).call("read_file", path="sub")) == "./sub"


class TestWriteFile:
    @pytest.mark.row("S-032", "R-034", "U-006")
    def test_it_creates_with_parents_replaces_and_appends(self, board: TestBoard, tmp_path: Path) -> None:
        assert ok(board.call("write_file", path="new/deep/a.txt", content="one\n")).startswith(
            "Created new/deep/a.txt (+1 lines)"
        )
        ok(board.call("write_file", path="new/deep/a.txt", content="two\n"))
        ok(board.call("write_file", path="new/deep/a.txt", content="three\n", mode="append"))
        assert (tmp_path / "new/deep/a.txt").read_bytes() == b"two\nthree\n"
        ok(board.call("write_file", path="log.txt", content="1\n", mode="append"))
        assert (tmp_path / "log.txt").read_bytes() == b"1\n"

    @pytest.mark.row("C-019")
    def test_overwrite_false_fails_on_a_file(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "old\n")
        text = failed(board.call("write_file", path="a.txt", content="new\n", overwrite=False))
        assert "exists already" in text and "Nothing was changed" in text
        ok(board.call("write_file", path="b.txt", content="new\n", overwrite=False))
        assert (tmp_path / "a.txt").read_bytes() == b"old\n" and (tmp_path / "b.txt").read_bytes() == b"new\n"

    @pytest.mark.row("Z-055")
    def test_too_much_and_outside_are_refused(self, pegboard_board: Make, tmp_path: Path) -> None:
        board = pegboard_board(tools=TOOLS, settings={"edit.max_bytes": 10})
        assert "larger than the limit of 10 bytes" in failed(board.call("write_file", path="a", content="x" * 11))
        assert "Path escapes workspace: ../a" in failed(board.call("write_file", path="../a", content="x"))
        assert list(tmp_path.iterdir()) == [] and not (tmp_path.parent / "a").exists()

    def test_content_is_written_as_it_is(self, board: TestBoard, tmp_path: Path) -> None:
        for content in ("", "no end", "a\r\nb\n", "\ufeffmark", "é\u2028\x0c"):
            ok(board.call("write_file", path="a.txt", content=content))
            assert (tmp_path / "a.txt").read_bytes() == content.encode()

    @pytest.mark.parametrize(
        ("before", "content", "after"),
        [
            (b"a\r\nb\r\n", "c\n", b"a\r\nb\r\nc\r\n"),
            (b"d\xe9j\xe0\n", "é\n", b"d\xe9j\xe0\n\xe9\n"),
            (b"\xff\xfea\x00\n\x00", "b\n", b"\xff\xfea\x00\n\x00b\x00\n\x00"),
            (b"no end", "b", b"no endb"),
        ],
    )
    def test_appending_keeps_encoding_and_line_ends(
        self, board: TestBoard, tmp_path: Path, before: bytes, content: str, after: bytes
    ) -> None:
        path = write(tmp_path, "a.txt", before)
        ok(board.call("write_file", path="a.txt", content=content, mode="append"))
        assert path.read_bytes() == after

    def test_data_and_diff(self, board: TestBoard, tmp_path: Path) -> None:
        record = board.call("write_file", path="a.txt", content="one\n")
        assert record.data["files"] == [{"path": "a.txt", "change": "created", "added": 1, "removed": 0, "to": None}]
        assert record.blocks == [
            Diff(path="a.txt", change="created", added=1, removed=0, text="@@ -0,0 +1,1 @@\n+one\n")
        ]


class TestEditFile:
    @pytest.mark.row("S-033")
    def test_it_replaces_exactly_what_was_sent(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", b"if a:\n\tgo( 1 )\nif b:\n    go( 1 )\n")
        failed(board.call("edit_file", path="a.py", old_string="if a:\n    go( 1 )", new_string="x"))
        failed(board.call("edit_file", path="a.py", old_string="    go(1)", new_string="x"))
        ok(board.call("edit_file", path="a.py", old_string="\tgo( 1 )\n", new_string="\tstop()\n"))
        assert path.read_bytes() == b"if a:\n\tstop()\nif b:\n    go( 1 )\n"

    @pytest.mark.row("S-034", "C-021")
    def test_three_places_are_an_error_and_all_three_change_on_request(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "src/users.ts", "id\nid\nid\n")
        text = failed(board.call("edit_file", path="src/users.ts", oldString="id", newString="key"))
        says = "old_string appears 3 times in src/users.ts. Add surrounding context or set replace_all."
        assert says in text and path.read_bytes() == b"id\nid\nid\n"
        ok(board.call("edit_file", path="src/users.ts", oldString="id", newString="key", replaceAll=True))
        assert path.read_bytes() == b"key\nkey\nkey\n"

    @pytest.mark.row("C-021")
    def test_no_place_is_an_error_that_shows_the_nearest(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.py", "def f():\n\treturn 1\n")
        text = failed(board.call("edit_file", path="a.py", old_string="    return 1", new_string="x"))
        assert "not found in a.py. Nothing was changed." in text
        assert "line 2" in text and "white space" in text and r"\treturn 1" in text

    @pytest.mark.row("R-039")
    def test_count_says_how_many_and_0_means_all(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", "x x x x\n")
        assert "2 places" in ok(board.call("file_edit", path="a.txt", old_string="x", new_string="y", count=2))
        assert path.read_bytes() == b"y y x x\n"
        record = board.call("file_edit", path="a.txt", old_string="x", new_string="z", count=0)
        assert path.read_bytes() == b"y y z z\n"
        assert isinstance(record.blocks[0], Diff) and record.blocks[0].text == "@@ -1,1 +1,1 @@\n-y y x x\n+y y z z\n"

    @pytest.mark.row("Z-056")
    def test_too_large_and_outside_are_refused(self, pegboard_board: Make, tmp_path: Path) -> None:
        board = pegboard_board(tools=TOOLS, settings={"edit.max_bytes": 10})
        write(tmp_path, "a.txt", "one two three\n")
        outside = write(tmp_path.parent, f"{tmp_path.name}.txt", "one\n")
        text = failed(board.call("edit_file", path="a.txt", old_string="one", new_string="1"))
        assert "larger than the limit of 10 bytes" in text
        text = failed(board.call("edit_file", path=f"../{outside.name}", old_string="one", new_string="1"))
        assert "Path escapes workspace" in text and outside.read_bytes() == b"one\n"

    def test_data_names_the_undo_record_and_it_undoes(self, board: TestBoard, tmp_path: Path) -> None:
        import msgspec

        path = write(tmp_path, "a.txt", "one\ntwo\n")
        record = board.call("edit_file", path="a.txt", old_string="two", new_string="2\n3")
        assert record.data["files"][0] | {"to": 0} == {
            "path": "a.txt", "change": "changed", "added": 2, "removed": 1, "to": 0,
        }  # fmt: skip
        saved = board.session.folder / "undo" / f"{record.data['undo']}.msgpack" if record.data["undo"] else None
        if saved is None:
            pytest.skip("this board keeps its session in memory")
        [change] = msgspec.msgpack.decode(saved.read_bytes(), type=list[Change])
        undo(board.board.workspace, Writer(board.board.workspace), change)
        assert path.read_bytes() == b"one\ntwo\n"


class TestOutside:
    @pytest.mark.row("Z-050", "S-088")
    @pytest.mark.parametrize("path", ["../out.txt", "sub/../../out.txt", "{top}/out.txt", "leak"])
    def test_each_tool_refuses_a_path_outside(self, board: TestBoard, tmp_path: Path, path: str) -> None:
        outside = write(tmp_path.parent, "out.txt", "KEEP\n")
        (tmp_path / "leak").symlink_to("../out.txt")
        path = path.format(top=tmp_path.parent)
        for record in (
            board.call("read_file", path=path),
            board.call("write_file", path=path, content="PWNED\n"),
            board.call("write_file", path=path, content="PWNED\n", mode="append"),
            board.call("edit_file", path=path, old_string="KEEP", new_string="PWNED"),
        ):
            assert f"Path escapes workspace: {path}" in failed(record)
            assert "KEEP" not in record.text
        assert outside.read_bytes() == b"KEEP\n"


class TestStaleness:
    def test_what_changed_since_it_was_read_is_not_overwritten_or_edited(
        self, board: TestBoard, tmp_path: Path
    ) -> None:
        path = write(tmp_path, "a.txt", "one\ntwo\n")
        board.call("read_file", path="a.txt")
        path.write_bytes(b"one\nTWO\n")
        for call in (
            lambda: board.call("edit_file", path="a.txt", old_string="one", new_string="1"),
            lambda: board.call("write_file", path="a.txt", content="new\n"),
        ):
            text = failed(call())
            assert "was changed on disk since" in text and "Nothing was changed" in text
        board.call("read_file", path="a.txt")
        ok(board.call("edit_file", path="a.txt", old_string="one", new_string="1"))
        assert path.read_bytes() == b"1\nTWO\n"

    def test_own_edits_are_not_stale_one_after_the_other(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "one\ntwo\n")
        board.call("read_file", path="a.txt")
        ok(board.call("edit_file", path="a.txt", old_string="one", new_string="1\n1.5"))
        ok(board.call("edit_file", path="a.txt", old_string="two", new_string="2"))
        ok(board.call("write_file", path="a.txt", content="all new\n"))
        ok(board.call("write_file", path="a.txt", content="more\n", mode="append"))
        ok(board.call("write_file", path="a.txt", content="all new again\n"))

    def test_a_part_read_does_not_do_for_overwriting(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "one\ntwo\nthree\n")
        board.call("read_file", path="a.txt", limit=1)
        assert "only in part" in failed(board.call("write_file", path="a.txt", content="x"))
        board.call("read_file", path="a.txt", offset=2)
        ok(board.call("write_file", path="a.txt", content="x"))

    def test_warn_says_it_and_goes_on(self, pegboard_board: Make, tmp_path: Path) -> None:
        board = pegboard_board(tools=TOOLS, settings={"edit.staleness": "warn"})
        path = write(tmp_path, "a.txt", "one\ntwo\n")
        board.call("read_file", path="a.txt")
        path.write_bytes(b"one\nTWO\n")
        text = ok(board.call("edit_file", path="a.txt", old_string="one", new_string="1"))
        assert "Warning: a.txt was changed on disk" in text

    def test_reading_the_same_again_writes_no_second_event(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "one\n")
        for _ in range(3):
            board.call("read_file", path="a.txt")
        assert sum(isinstance(event, Seen) for event in board.events) == 1


class TestPreview:
    def previews(self, board: TestBoard, *calls: tuple[str, dict[str, Any]]) -> list[list[Any]]:
        for name, arguments in calls:
            board.call(name, **arguments)
        return [event.preview for event in board.events if isinstance(event, ApprovalAsked)]

    @pytest.mark.row("R-035", "S-005")
    def test_the_person_is_shown_the_diff(self, board: TestBoard, tmp_path: Path) -> None:
        write(tmp_path, "a.txt", "one\ntwo\nthree\n")
        shown = self.previews(
            board,
            ("edit_file", {"path": "a.txt", "old_string": "two", "new_string": "2"}),
            ("write_file", {"path": "a.txt", "content": "one\n"}),
            ("write_file", {"path": "n.txt", "content": "new\n"}),
            ("write_file", {"path": "n.txt", "content": "more\n", "mode": "append"}),
        )
        diffs = [preview[0] for preview in shown]
        assert [(d.path, d.change, d.added, d.removed) for d in diffs] == [
            ("a.txt", "changed", 1, 1),
            ("a.txt", "changed", 0, 2),
            ("n.txt", "created", 1, 0),
            ("n.txt", "changed", 1, 0),
        ]
        assert diffs[0].text == "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        assert os.listdir(tmp_path) and (tmp_path / "n.txt").read_bytes() == b"new\nmore\n"

    @pytest.mark.parametrize("answers", ["--yes", "person"])
    def test_an_edit_that_cannot_work_ends_as_its_error_and_nobody_is_asked(
        self, pegboard_board: Make, tmp_path: Path, answers: Any
    ) -> None:
        board = pegboard_board(tools=TOOLS, answers=answers)
        write(tmp_path, "a.txt", "one\n")
        call = {"path": "a.txt", "old_string": "nope", "new_string": "x"}
        record = board.call("edit_file", **call)
        assert [type(event).__name__ for event in board.events] == ["CallAsked", "CallFinished"]
        allowed = pegboard_board(tools=TOOLS, settings={"tool_permission.edit": "allow"})
        assert (record.outcome, record.text) == ("error", allowed.call("edit_file", **call).text)
        assert "old_string not found" in record.text

    def test_an_edit_that_cannot_work_is_asked_about_where_its_error_would_quote_what_asks(
        self, pegboard_board: Make, tmp_path: Path
    ) -> None:
        board = pegboard_board(tools=TOOLS, answers="--yes", settings={"tool_permission.read": "ask"})
        write(tmp_path, "a.txt", "the password is 1\n")
        call = ("edit_file", {"path": "a.txt", "old_string": "the password is 2", "new_string": "x"})
        ((problem,),) = self.previews(board, call)
        assert isinstance(problem, Problem) and "not found" in problem.text

    def test_what_was_approved_is_what_is_written(self, pegboard_board: Make, tmp_path: Path) -> None:
        board = pegboard_board(tools=TOOLS, answers="person")
        path = write(tmp_path, "a.txt", "one\ntwo\n")
        for name, arguments in (
            ("edit_file", {"path": "a.txt", "old_string": "two", "new_string": "2"}),
            ("write_file", {"path": "a.txt", "content": "new\n"}),
        ):
            path.write_bytes(b"one\ntwo\n")
            record, asked = approved(board, partial(path.write_bytes, b"ONE\ntwo\n"), name, **arguments)
            assert isinstance(asked.preview[0], Diff)
            text = failed(record)
            assert "a.txt was changed while you were asked. Nothing was written." in text
            assert path.read_bytes() == b"ONE\ntwo\n"


class TestWhatWasApproved:
    @pytest.mark.parametrize("how", ["file", "folder"])
    def test_a_path_that_leads_elsewhere_once_it_was_approved_is_not_written(
        self, pegboard_board: Callable[..., TestBoard], tmp_path: Path, how: str
    ) -> None:
        (tmp_path / "d").mkdir()
        (tmp_path / "d/a.txt").write_text("one two\n")
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere/a.txt").write_text("one two\n")
        board = pegboard_board(tools=TOOLS, answers="person")

        def swap() -> None:
            if how == "file":
                (tmp_path / "d/a.txt").unlink()
                (tmp_path / "d/a.txt").symlink_to("../elsewhere/a.txt")
            else:
                (tmp_path / "d").rename(tmp_path / "old")
                (tmp_path / "d").symlink_to("elsewhere")

        record, _ = approved(board, swap, "edit_file", path="d/a.txt", old_string="two", new_string="three")
        assert (record.outcome, "leads elsewhere" in record.text) == ("error", True), record.text
        assert (tmp_path / "elsewhere/a.txt").read_text() == "one two\n"
