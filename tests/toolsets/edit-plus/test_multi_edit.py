"""`multi_edit`: several replacements in one file, and what `edit.tolerance` takes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from calls import approved, failed, ok, write
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.blocks import Note
from pegboard.events import ApprovalAsked, CallAsked
from pegboard.kit.edits import Edit, EditError, plan
from pegboard.kit.tolerance import Shift, fit
from pegboard.testing.bench import TestBoard
from pegboard_tools_core.reading import read_file
from pegboard_tools_core.writing import edit_file
from pegboard_tools_edit_plus.editing import multi_edit

Make = Callable[..., TestBoard]
TOOLS = [multi_edit, edit_file, read_file]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=TOOLS)


@pytest.fixture
def loose(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=TOOLS, settings={"edit.tolerance": "whitespace"})


def edits(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"oldString": old, "newString": new} for old, new in pairs]


class TestMultiEdit:
    @pytest.mark.row("S-035")
    def test_edits_apply_in_order_to_what_the_one_before_made_with_one_question_and_one_write(
        self, pegboard_board: Make, tmp_path: Path
    ) -> None:
        board = pegboard_board(tools=TOOLS, answers="person")
        path = write(tmp_path, "a.txt", "one two\nkeep\n")
        calls: list[dict[str, Any]] = [
            *edits(("one", "uno"), ("uno two", "dos")),
            {"old_string": "e", "new_string": "E", "replaceAll": True},
        ]
        inode = path.stat().st_ino

        def untouched() -> None:
            assert path.read_bytes() == b"one two\nkeep\n" and path.stat().st_ino == inode

        record, _ = approved(board, untouched, "multi_edit", path="a.txt", edits=calls)
        assert path.read_bytes() == b"dos\nkEEp\n"
        assert ok(record) == "Made 3 edits: changed a.txt (+2 -2 lines)"
        assert record.data == {
            "files": [{"path": "a.txt", "change": "changed", "added": 2, "removed": 2, "to": None}],
            "undo": record.id,
        }
        (asked,) = [event for event in board.events if isinstance(event, ApprovalAsked)]
        assert asked.preview[0].text == "@@ -1,2 +1,2 @@\n-one two\n+dos\n-keep\n+kEEp\n"  # type: ignore[union-attr]

    @pytest.mark.row("S-036")
    def test_when_one_fails_none_was_made(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", b"a\r\nb\nc")
        before = path.stat()
        failed(board.call("multi_edit", path="a.txt", edits=edits(("a", "A"), ("b", "B"), ("nope", "C"))))
        assert path.read_bytes() == b"a\r\nb\nc"
        assert path.stat() == before

    @pytest.mark.row("S-037")
    def test_the_error_names_the_edit_and_the_rule_of_one_place_holds_for_each(
        self, board: TestBoard, tmp_path: Path
    ) -> None:
        write(tmp_path, "src/users.ts", "const a = 1;\nconst b = 2;\n")
        call = board.call("multi_edit", path="src/users.ts", edits=edits(("a = 1", "a = 2"), ("Const b", "x")))
        text = failed(call)
        assert text.startswith("Error: edit 2: old_string not found in src/users.ts. No edits were applied. ")
        assert "line 2; it differs in letter case" in text
        text = failed(board.call("multi_edit", path="src/users.ts", edits=edits(("a = 1", "a = 2"), (" = 2", " = 3"))))
        assert text.startswith("Error: edit 2: old_string appears 2 times in src/users.ts. ")
        assert "No edits were applied" in text

    @pytest.mark.row("C-020")
    def test_other_spellings_of_the_fields_and_replace_all(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", "x x x\ny\nz\n")
        calls = [
            {"old_text": "x", "new_text": "X", "replace_all": True},
            {"old_str": "y", "new_str": "Y"},
            {"oldText": "z", "newText": "Z"},
        ]
        ok(board.call("multi_edit", filePath="a.txt", edits=calls))
        assert path.read_bytes() == b"X X X\nY\nZ\n"

    @pytest.mark.parametrize(
        "sent", [[], [{"old_string": "", "new_string": "x"}], [{"old_string": "a", "new_string": "a"}]]
    )
    def test_an_empty_list_an_empty_text_and_no_change_are_errors(
        self, board: TestBoard, tmp_path: Path, sent: Any
    ) -> None:
        path = write(tmp_path, "a.txt", "a\n")
        failed(board.call("multi_edit", path="a.txt", edits=sent))
        assert path.read_bytes() == b"a\n"

    def test_what_changed_since_it_was_read_is_not_edited(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", "one\ntwo\n")
        board.call("read_file", path="a.txt")
        path.write_bytes(b"one\nTWO\n")
        assert "was changed on disk since" in failed(board.call("multi_edit", path="a.txt", edits=edits(("one", "1"))))
        board.call("read_file", path="a.txt")
        ok(board.call("multi_edit", path="a.txt", edits=edits(("one", "1"))))
        ok(board.call("multi_edit", path="a.txt", edits=edits(("1", "2"))))

    def test_many_edits_of_a_large_file_never_make_a_text_of_it(self, board: TestBoard, tmp_path: Path) -> None:
        import tracemalloc

        lines = [f"line {n:07d} {'é' * 20}\n" for n in range(170_000)]
        path = write(tmp_path, "big.txt", "".join(lines))
        size = path.stat().st_size
        made = [Edit(f"line {n:07d} ", f"LINE {n:07d} ") for n in range(0, 170_000, 10_000)]
        data = path.read_bytes()
        tracemalloc.start()
        try:
            after = plan(data, made, path="big.txt", numbered=True).after
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert after.count(b"LINE ") == len(made)
        assert peak < 2.5 * size  # what was and what will be; a text alone would be another two of these


class TestTolerance:
    CODE = "def f():\n    if x:   \n        go()\n    end()\n"

    def test_by_default_white_space_must_match(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", self.CODE)
        for call in (
            lambda: board.call("edit_file", path="a.py", old_string="if x:\n    go()", new_string="if y:\n    go()"),
            lambda: board.call("multi_edit", path="a.py", edits=edits(("if x:\n    go()", "if y:\n    go()"))),
        ):
            assert "not found in a.py" in failed(call())
        assert path.read_bytes() == self.CODE.encode()

    @pytest.mark.parametrize("name", ["edit_file", "multi_edit"])
    def test_a_shift_and_blanks_at_line_ends_are_taken_and_told(
        self, loose: TestBoard, tmp_path: Path, name: str
    ) -> None:
        path = write(tmp_path, "a.py", self.CODE)
        edit = {"old_string": "if x:\n    go()\nend()\n", "new_string": "if x:\n    went()\n\n    go()\nend()\n"}
        sent = edit if name == "edit_file" else {"edits": [edit]}
        text = ok(loose.call(name, path="a.py", **sent))
        assert path.read_bytes() == b"def f():\n    if x:   \n        went()\n\n        go()\n    end()\n"
        assert (
            "Not an exact match: lines 2-4 of the file differed in white space at line ends and indentation "
            "(4 blanks more in the file) (edit.tolerance is whitespace). "
            "4 blanks were put before each new line that is not blank (lines 3-4 now)," in text
        )
        (asked,) = [event for event in loose.events if isinstance(event, ApprovalAsked)]
        assert isinstance(asked.preview[1], Note) and "Not an exact match" in asked.preview[1].text

    def test_text_that_is_indented_too_far_is_moved_back(self, loose: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", "\tif x:\n\t\tgo()\n")
        sent = {"old_string": "\t\t\tif x:\n\t\t\t\tgo()", "new_string": "\t\t\tif y:\n\t\t\t\tgo()\n\t\t\tend()"}
        assert "2 tabs less in the file" in ok(loose.call("edit_file", path="a.py", **sent))
        assert path.read_bytes() == b"\tif y:\n\t\tgo()\n\tend()\n"

    def test_a_new_line_without_the_indentation_to_take_away_is_refused(self, loose: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", "  go()\n  stop()\n")
        sent = {"old_string": "    go()\n    stop()", "new_string": "    go()\nfree()"}
        assert "a new line has not even that" in failed(loose.call("edit_file", path="a.py", **sent))
        assert path.read_bytes() == b"  go()\n  stop()\n"

    def test_which_new_lines_were_indented_is_told_and_that_strings_are_lines_too(
        self, loose: TestBoard, tmp_path: Path
    ) -> None:
        path = write(tmp_path, "a.py", "def f():\n    x = 1\n    return x\n")
        sent = {"old_string": "x = 1\nreturn x", "new_string": 'x = """\none\n\ntwo"""\nreturn x'}
        text = ok(loose.call("edit_file", path="a.py", **sent))
        assert path.read_bytes() == b'def f():\n    x = """\n    one\n\n    two"""\n    return x\n'
        assert (
            "4 blanks were put before each new line that is not blank (lines 2-5 now), within a string of several lines "
            "too: look at the diff." in text
        )
        sent = {"old_string": "        return x", "new_string": "        return (\n            x)"}
        text = ok(loose.call("edit_file", path="a.py", **sent))
        assert "4 blanks were taken from the beginning of each new line that is not blank (lines 6-7 now)" in text

    @pytest.mark.parametrize(
        ("there", "old", "new"),
        [
            ("\tgo()\n\tstop()\n", "go()\nstop()", "go()\n    stay()\nstop()"),  # a tab, then blanks
            ("    go()\n    stop()\n", "go()\nstop()", "if x:\n\tgo()"),  # blanks, then a tab
            ("\tgo()\n\t\tstop()\n", "\t\tgo()\n\t\t\tstop()", "\t\tgo()\n\t\t  x()"),  # and where some is taken away
            ("\tgo()\n", "\t\tgo()", "\t    x()"),
            ("go()\n", "  go()", "  if x:\n  \t y()"),
        ],
    )
    def test_new_lines_that_would_mix_tabs_and_blanks_are_refused(
        self, loose: TestBoard, tmp_path: Path, there: str, old: str, new: str
    ) -> None:
        path = write(tmp_path, "a.py", there)
        text = failed(loose.call("edit_file", path="a.py", old_string=old, new_string=new))
        assert "Nothing was changed" in text and "Send the text as it is in the file" in text
        assert path.read_bytes() == there.encode()

    def test_a_file_that_mixes_them_itself_may_go_on(self, loose: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", "\tgo(a,\n\t   b)\n")
        ok(loose.call("edit_file", path="a.py", old_string="go(a,\n   b)", new_string="go(a,\n   b,\n   c)"))
        assert path.read_bytes() == b"\tgo(a,\n\t   b,\n\t   c)\n"

    def test_two_places_that_match_are_not_one(self, loose: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", "    go()\n    stop()\n  go()\n  stop()\n")
        text = failed(loose.call("edit_file", path="a.py", old_string="go()\nstop()", new_string="x"))
        assert "2 places match, from lines 1, 3" in text and "Nothing was changed" in text
        assert path.read_bytes() == b"    go()\n    stop()\n  go()\n  stop()\n"

    @pytest.mark.parametrize(
        ("there", "sent"),
        [
            ("    go()\n  stop()\n", "go()\nstop()"),  # two shifts
            ("\tgo()\n\tstop()\n", "    go()\n    stop()"),  # tabs are not blanks
            ("  go( )\n  stop()\n", "go()\nstop()"),  # blanks inside a line count
            ("  Go()\n  stop()\n", "go()\nstop()"),
            ("  go()\n  stop() # now\n", "go()\nstop()"),  # lines are whole
            ("  go()\n  stop()", "go()\nstop()\n"),  # the line end is not there
        ],
    )
    def test_nothing_else_is_taken(self, loose: TestBoard, tmp_path: Path, there: str, sent: str) -> None:
        path = write(tmp_path, "a.py", there)
        failed(loose.call("edit_file", path="a.py", old_string=sent, new_string="x"))
        assert path.read_bytes() == there.encode()

    def test_an_exact_match_comes_first_and_replace_all_is_exact(self, loose: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.py", "go() \nx\ngo()\n")
        assert "Not an exact" not in ok(loose.call("edit_file", path="a.py", old_string="x\ngo()\n", new_string="y\n"))
        failed(loose.call("edit_file", path="a.py", old_string="  go()", new_string="z", replace_all=True))
        assert path.read_bytes() == b"go() \ny\n"

    def test_crlf_and_utf_16_files_keep_their_line_ends(self, loose: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", b"  one \r\n  two\r\n")
        ok(loose.call("edit_file", path="a.txt", old_string="one\ntwo", new_string="one\n2\n3"))
        assert path.read_bytes() == b"  one \r\n  2\r\n  3\r\n"
        ok(loose.call("edit_file", path="a.txt", old_string="2\n3\n", new_string="2\n\n3\n"))
        assert path.read_bytes() == b"  one \r\n  2\r\n\r\n  3\r\n"
        ok(loose.call("edit_file", path="a.txt", old_string="    2\n", new_string="    two\n"))
        assert path.read_bytes() == b"  one \r\n  two\r\n\r\n  3\r\n"
        wide = write(tmp_path, "w.txt", b"\xff\xfe" + "  one \n  two\n".encode("utf-16-le"))
        ok(loose.call("edit_file", path="w.txt", old_string="one\ntwo", new_string="one\n2"))
        assert wide.read_bytes() == b"\xff\xfe" + "  one \n  2\n".encode("utf-16-le")

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_bytes_outside_the_match_never_change(self, data: st.DataObject) -> None:
        word = st.sampled_from(["a", "b", "go()", "if x:", "é"])
        blanks = st.sampled_from(["", " ", "  ", "\t"])
        line = st.builds(lambda indent, text, tail: indent + text + tail, blanks, word, blanks)
        head, body, tail = (data.draw(st.lists(line, max_size=5)) for _ in range(3))
        body = body or ["go()"]
        shift = data.draw(st.sampled_from(["", "  ", "\t"]))
        sent = [item.rstrip(" \t") for item in body]
        new = data.draw(st.lists(line, min_size=1, max_size=4))
        end = data.draw(st.sampled_from(["\n", "\r\n"]))
        before = "".join(item + end for item in head)
        match = "".join(shift + item + end for item in body)
        after = "".join(item + end for item in tail)
        whole = (before + match + after).encode()
        try:
            made = plan(whole, [Edit("\n".join(sent) + "\n", "\n".join(new) + "\n")], path="p", tolerance="whitespace")
        except EditError:
            return
        # Exactly one place was replaced, and what is around it is there, byte for byte.
        (hunk,) = made.hunks
        assert made.after[: hunk.new_start] == whole[: hunk.old_start]
        assert made.after[hunk.new_end :] == whole[hunk.old_end :]
        there = [item.strip() for item in whole.decode().splitlines()]
        wanted = [item.strip() for item in sent]
        places = [n for n in range(len(there)) if there[n : n + len(wanted)] == wanted]
        starts = [
            sum(len(item.encode()) for item in whole.decode().splitlines(keepends=True)[:n])
            for n in range(len(there) + 1)
        ]
        assert any(starts[n] <= hunk.old_start and hunk.old_end <= starts[n + len(wanted)] for n in places)

    @settings(max_examples=100)
    @given(
        st.lists(st.sampled_from([b"a", b"  a", b"\ta", b"b ", b"", b"  "]), min_size=1, max_size=5),
        st.sampled_from([b"", b" ", b"\t ", b"    "]),
        st.sampled_from([b"", b" ", b"\t"]),
    )
    def test_a_shift_is_found_again(self, lines: list[bytes], more: bytes, trailing: bytes) -> None:
        there = [more + line + trailing for line in lines]
        found = fit(there, lines)
        if not any(line.strip() for line in lines):
            assert found is None
        else:
            assert found is not None and (found.more, found.less) == (more, b"")
            back = fit(lines, there)
            assert back is not None and (back.more, back.less) == (b"", more)
            moved = found.moved(lines, there)
            assert [line.rstrip() for line in moved] == [line.rstrip() for line in there]
        assert fit(lines, lines) in (None, Shift())

    @pytest.mark.parametrize("said", ["whitespace", "exact"])
    def test_a_project_that_is_not_trusted_can_only_make_it_exact(self, tmp_path: Path, said: str) -> None:
        from pegboard.board import Board

        root, home = tmp_path / "root", tmp_path / "home"
        write(root, ".pegboard/config.toml", f'[edit]\ntolerance = "{said}"\n')
        other = "exact" if said == "whitespace" else "whitespace"
        user = write(home, "config.toml", f'[edit]\ntolerance = "{other}"\n')
        board = Board.build(str(root), user_file=user, environ={}, state=home / "state", discover=False)
        assert board.config.edit.tolerance == "exact"


def test_one_call_is_asked_about_once(board: TestBoard, tmp_path: Path) -> None:
    write(tmp_path, "a.txt", "one\ntwo\n")
    board.call("multi_edit", path="a.txt", edits=edits(("one", "1"), ("two", "2")))
    assert sum(isinstance(event, ApprovalAsked) for event in board.events) == 1
    assert sum(isinstance(event, CallAsked) for event in board.events) == 1
