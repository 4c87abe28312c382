"""`apply_patch`: the parser, what hunks make of a file, and several files all or none."""

from __future__ import annotations

import asyncio
import difflib
import errno
import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from calls import approved, failed, ok, write
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard import ToolError, port
from pegboard.blocks import Diff
from pegboard.calls import Record
from pegboard.events import ApprovalAsked
from pegboard.kit import atomic
from pegboard.kit.settings import EditSettings
from pegboard.kit.workspace import Workspace
from pegboard.kit.writer import Writer
from pegboard.session import records
from pegboard.testing.bench import TestBoard
from pegboard_guard.protected import ProtectedPaths
from pegboard_guard.settings import Settings
from pegboard_tools_core.reading import read_file
from pegboard_tools_edit_plus.hunking import patched
from pegboard_tools_edit_plus.patch_parser import PatchError, parse
from pegboard_tools_edit_plus.patching import apply_patch

Make = Callable[..., TestBoard]
TOOLS = [apply_patch, read_file]
Tree = dict[str, tuple[str, Any, int]]


@pytest.fixture
def board(pegboard_board: Make) -> TestBoard:
    return pegboard_board(tools=TOOLS, guards=[ProtectedPaths(Settings())])


def tree(folder: Path) -> Tree:
    """Everything below a folder: kind, content, mode."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        if path.is_symlink():
            found[str(path)] = ("link", os.readlink(path), 0)
        elif path.is_dir():
            found[str(path)] = ("folder", None, mode)
        elif path.is_file():
            found[str(path)] = ("file", path.read_bytes(), mode)
        else:
            found[str(path)] = ("special", None, mode)
    return found


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def update(text: bytes | str, *lines: str, tolerance: Any = "exact", max_bytes: int = 1 << 20) -> bytes:
    """What the hunks in `lines` make of a file's content."""
    (section,) = parse(patch("*** Update File: f", *lines))
    data = text.encode() if isinstance(text, str) else text
    settings = EditSettings(tolerance=tolerance, max_bytes=max_bytes)
    return patched(data, [section.hunks], path="f", settings=settings).after


class TestParser:
    def test_every_part(self) -> None:
        sections = parse(
            patch(
                "*** Add File: a b.txt",
                "+one",
                "+",
                "+ +two",
                "*** Delete File: gone.txt",
                "*** Update File: src/x.py",
                "*** Move to: src/y.py",
                "@@ class A:",
                "@@ def f(self):",
                " keep",
                "-old",
                "+new",
                "",
                " *** kept",
                "@@",
                "-last",
                "*** End of File",
            )
        )
        assert [(s.action, s.path, s.line, s.to) for s in sections] == [
            ("add", "a b.txt", 2, None),
            ("delete", "gone.txt", 6, None),
            ("update", "src/x.py", 7, "src/y.py"),
        ]
        assert sections[0].content == ["one", "", " +two"]
        first, second = sections[2].hunks
        assert first.anchors == ["class A:", "def f(self):"] and first.line == 9 and not first.at_end
        assert first.lines == [(" ", "keep"), ("-", "old"), ("+", "new"), (" ", ""), (" ", "*** kept")]
        assert (second.anchors, second.lines, second.at_end) == ([], [("-", "last")], True)

    @pytest.mark.parametrize(
        "text",
        [
            "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch",
            "\n*** Begin Patch  \n*** Add File: n\n+x\n*** End Patch \n\n",
            "*** Begin Patch\n*** Add File:n\r\n+x\n*** End Patch",
            "*** Begin Patch\r\n*** Add File: n\r\n+x\r\n*** End Patch\r\n",
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\nEOF\n",
            "<<PATCH-1\n*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\nPATCH-1",
            'cat <<"EOF"\n*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\nEOF',
            "```diff\n*** Begin Patch\n*** Add File: n\n+x\n\n*** End Patch\n```",
        ],
    )
    def test_what_stands_around_a_patch(self, text: str) -> None:
        (section,) = parse(text)
        assert (section.action, section.path, section.content) == ("add", "n", ["x"])

    @pytest.mark.parametrize(
        ("text", "problem"),
        [
            ("", "The patch is empty"),
            ("x", "patch line 1: the patch begins with"),
            ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "unified diff"),
            ("*** Begin Patch\n*** Add File: n\n+x\n", "patch line 3: the patch does not end with *** End Patch"),
            ("*** Begin Patch\n*** Delete File: n\n*** End Patch\nDone!", "patch line 4: text stands behind"),
            ("*** Begin Patch\n*** End Patch", "names no file"),
            (patch("*** Add File:"), "patch line 2: the name of the file is missing"),
            (patch("*** Add File: n", "+x", "y"), 'patch line 4: every line of a new file begins with +, got "y"'),
            (patch("*** Rename File: n"), "patch line 2: expected a file's section"),
            (patch("*** Update File: n"), "patch line 2: the update of n has no hunk"),
            (patch("*** Update File: n", "@@"), "patch line 3: a hunk without lines"),
            (patch("*** Update File: n", "@@", "-a", "esac"), "patch line 5: a line of a hunk begins with a blank, - or +"),
            (patch("*** Update File: n", "@@", "-a", "\\ No newline at end of file"), "patch line 5: "),
            (patch("*** Update File: n", "-a", "*** End of File", "-b"), "patch line 5: expected @@"),
            (patch("*** Delete File: n", "-a"), "patch line 3: expected a file's section"),
            (patch("*** Begin Patch"), "patch line 2: expected a file's section"),
            (patch("*** Add File: n", "+\0"), "NUL"),
        ],
    )  # fmt: skip
    def test_errors_name_the_line_and_say_that_nothing_happened(self, text: str, problem: str) -> None:
        with pytest.raises(PatchError) as caught:
            parse(text)
        assert problem in str(caught.value)
        assert "Nothing was changed" in str(caught.value)

    def test_of_a_name_only_the_blank_behind_the_colon_is_left_out(self) -> None:
        headers = ("*** Delete File: x ", "*** Delete File:  x", "*** Delete File:x\t", "*** Update File: a\u00a0")
        sections = parse(patch(*headers, "*** Move to:  b ", " c", "-d"))
        assert [(s.path, s.to) for s in sections] == [("x ", None), (" x", None), ("x\t", None), ("a\u00a0", " b ")]

    LINE = st.one_of(
        st.sampled_from(
            ["*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Update File: b", "@@", "@@ -1 +3 @@ x"]
        ),
        st.sampled_from(
            ["*** Delete File: c", "*** Move to: d", "*** End of File", " ", "", "-", "+", "***", "<<E", "E"]
        ),
        st.text(max_size=12),
    )

    @settings(max_examples=300)
    @given(
        st.one_of(
            st.text(), st.lists(LINE, max_size=12).map("\n".join), st.lists(LINE, max_size=9).map(lambda x: patch(*x))
        )
    )
    def test_any_text_is_read_or_refused(self, text: str) -> None:
        try:
            sections = parse(text)
        except ToolError as error:
            assert "Nothing was changed" in str(error)
            str(error).encode()
            return
        assert sections
        for section in sections:
            assert section.path.strip()
            assert all(hunk.lines for hunk in section.hunks)


class TestHunks:
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("last", [True, False])
    def test_line_ends_and_a_missing_last_one_stay(self, end: str, last: bool) -> None:
        text = f"one{end}two" + end * last
        assert update(text, " one", "-two", "+2", "+3").decode() == f"one{end}2{end}3" + end * last
        assert update(text, "-one", "+1").decode() == f"1{end}two" + end * last
        assert update(text, " two", "+three").decode() == f"one{end}two{end}three" + end * last
        assert update(text, "+zero", " one").decode() == f"zero{end}one{end}two" + end * last
        assert update(text, "-two").decode() == f"one{end}"

    def test_a_file_of_mixed_line_ends_keeps_each(self) -> None:
        text = "one\r\ntwo\nthree\r\n"
        assert update(text, " one", "-two", "+2", " three") == b"one\r\n2\r\nthree\r\n"
        assert update(text, " two", "+2.5") == b"one\r\ntwo\n2.5\nthree\r\n"

    def test_an_empty_file_and_its_end(self) -> None:
        assert update("", "+a", "+b") == b"a\nb\n"
        assert update("x\n", "@@", "+a", "*** End of File") == b"x\na\n"
        assert update("x\nx\n", "-x", "+y", "*** End of File") == b"x\ny\n"

    def test_other_encodings_and_byte_order_marks(self) -> None:
        assert update(b"\xef\xbb\xbfone\n", "-one", "+two") == b"\xef\xbb\xbftwo\n"
        assert update("caf\xe9\nx\n".encode("latin-1"), " café", "-x", "+é") == b"caf\xe9\n\xe9\n"
        wide = b"\xfe\xff" + "one\r\ntwo\r\n".encode("utf-16-be")
        assert update(wide, "-two", "+2é") == b"\xfe\xff" + "one\r\n2é\r\n".encode("utf-16-be")
        with pytest.raises(ToolError, match="cannot hold"):
            update(b"caf\xe9\n", "+€", " café")
        with pytest.raises(ToolError, match="binary"):
            update(b"\0\n", "-a")

    def test_an_at_line_picks_the_place_below_it(self) -> None:
        text = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n"
        assert update(text, "@@ class B:", "@@ def f():", "-    x", "+    y").decode() == text[:-2] + "y\n"
        assert update(text, "@@ class B", "-    x", "+    y").decode() == text[:-2] + "y\n"
        assert update(text, "@@ -5,2 +5,2 @@ class B:", "-    x", "+    y").decode() == text[:-2] + "y\n"
        assert update(text, "@@ class B:", "+  z = 1").decode() == text.replace("B:\n", "B:\n  z = 1\n")
        assert update(text, "@@ class B:", " class B:", "+  z = 1").decode() == text.replace("B:\n", "B:\n  z = 1\n")

    @pytest.mark.parametrize(
        ("lines", "problem"),
        [
            (["-    x", "+    y"], "its lines are in the file 2 times, from lines 3, 6"),
            (["@@ def f():", "-    x"], "2 times"),
            (["@@ def f():", "+    y"], "its @@ line is in the file more than once"),
            (["@@ class C:", "-    x"], "begins as its @@ line: 'class C:'"),
            (["+y"], "nothing says where its lines go"),
            (["@@", "-class B:", "@@", "-class A:"], "only above what comes before it in the patch, from line 1 on"),
            (["-class A:", "*** End of File"], "not at the end of the file, but from line 1 on"),
            (["-    X"], "it differs in letter case"),
            ([" class A:"], "leaves f as it is"),
            (["-class A:", "+class A:"], "leaves f as it is"),
        ],
    )
    def test_a_place_that_is_not_certain_or_not_there_is_refused(self, lines: list[str], problem: str) -> None:
        text = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n"
        with pytest.raises(PatchError) as caught:
            update(text, *lines)
        assert problem in str(caught.value) and "Nothing was changed" in str(caught.value)

    def test_hunks_may_share_their_context(self) -> None:
        assert update("a\nb\nc\n", "@@", "-a", "+A", " b", "@@", " b", "-c", "+C") == b"A\nb\nC\n"
        assert update("a\nb\n", "@@", " a", "+x", "@@", "+y", " b") == b"a\nx\ny\nb\n"

    def test_empty_lines_between_hunks_are_spacing_and_within_them_lines(self) -> None:
        assert update("a\n\nb\n", "@@", "-a", "+A", "", " b", "") == b"A\n\nb\n"

    def test_too_large(self) -> None:
        with pytest.raises(ToolError, match="larger than the limit of 5 bytes"):
            update("abc\n", " abc", "+d", max_bytes=5)

    @pytest.mark.parametrize("tolerance", ["exact", "whitespace"])
    def test_a_file_of_lines_that_are_all_alike_takes_no_longer(self, tolerance: str) -> None:
        text = "xx\n" * 300_000
        with pytest.raises(ToolError, match="more than 50 times"):
            update(text, *["-xx"] * 2000, tolerance=tolerance)
        with pytest.raises(ToolError, match="more than 50 times" if tolerance == "whitespace" else "not in the file"):
            update(text, *["-  xx "] * 200, tolerance=tolerance)
        with pytest.raises(ToolError, match="places look like" if tolerance == "whitespace" else "not in the file"):
            update(text, *["- xx", "-xx"] * 100, tolerance=tolerance)

    def test_white_space_is_tolerated_where_that_is_set_and_told(self) -> None:
        text = "if x:  \n\tgo()\n\tend()\n"
        lines = ["@@", " if x:", "-\tgo()", "+\twent()", " \tend() "]
        with pytest.raises(PatchError, match="white space"):
            update(text, *lines)
        assert update(text, *lines, tolerance="whitespace") == b"if x:  \n\twent()\n\tend()\n"
        deep = ["@@", "-    go()", "-    end()", "+    went()", "+      x"]
        assert update("  go()\n  end()\n", *deep, tolerance="whitespace") == b"  went()\n    x\n"
        (section,) = parse(patch("*** Update File: f", *deep))
        loose = EditSettings(tolerance="whitespace")
        (note,) = patched(b"  go()\n  end()\n", [section.hunks], path="f", settings=loose).notes
        assert note.startswith(
            "hunk 1: Not an exact match: lines 1-2 of the file differed in indentation (2 blanks less in the file)"
        )
        assert "2 blanks were taken from the beginning of each new line that is not blank (lines 1-2 now)" in note
        with pytest.raises(ToolError, match="would mix tabs and blanks"):
            update("\tgo()\n", "-go()", "+  go()", tolerance="whitespace")

    def test_the_lines_that_were_indented_are_named_as_they_are_then(self) -> None:
        lines = ["@@", "-one", "+1", "+1", "@@", " a", "+x", " b", "-c", "+y", "+", "+z"]
        (section,) = parse(patch("*** Update File: f", *lines))
        loose = EditSettings(tolerance="whitespace")
        made = patched(b"one\n  a\n  b\n  c\n", [section.hunks], path="f", settings=loose)
        assert made.after == b"1\n1\n  a\n  x\n  b\n  y\n\n  z\n"
        (note,) = made.notes
        assert "(line 4, lines 6-8 now)" in note

    WORDS = st.lists(
        st.sampled_from(["a", "b", "", "def f():", "\tx = 1", "é", "+", "- -", "***", "@@", " "]), max_size=8
    )

    @settings(max_examples=250, deadline=None)
    @given(WORDS, WORDS, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(0, 3))
    def test_a_patch_made_of_two_versions_gives_the_second_or_is_refused_as_unclear(
        self, old: list[str], new: list[str], end: str, ended: bool, context: int
    ) -> None:
        ended = ended or not old or old[-1] == ""
        before = end.join(old) + (end if old and ended else "")
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        lines: list[str] = []
        for group in matcher.get_grouped_opcodes(context):
            lines.append("@@")
            for tag, a1, a2, b1, b2 in group:
                lines += [(" " if tag == "equal" else "-") + line for line in old[a1:a2]]
                lines += ["+" + line for line in new[b1:b2]] if tag != "equal" else []
        if not lines:
            return
        tag, _, last, _, _ = matcher.get_opcodes()[-1]
        stays = ended or (tag == "delete" and last == len(old) and new)
        line_end = end if old and (ended or len(old) > 1) else "\n"
        after = line_end.join(new) + (line_end if new and stays else "")
        try:
            assert update(before, *lines).decode() == after
        except PatchError as error:
            assert "times, from lines" in str(error) or "nothing says where" in str(error), error

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from(["\n", "\r\n"]), min_size=1, max_size=7), st.booleans(), st.data())
    def test_lines_that_are_not_in_the_patch_keep_every_byte(
        self, ends: list[str], ended: bool, data: st.DataObject
    ) -> None:
        """The last of them gets a line end where lines are put behind it, and where it had none."""
        lines = [f"line {n}" for n in range(len(ends))]
        whole = [line + end for line, end in zip(lines, ends, strict=True)]
        whole[-1] = whole[-1] if ended else lines[-1]
        first = data.draw(st.integers(0, len(lines) - 1))
        last = data.draw(st.integers(first + 1, len(lines)))
        new = data.draw(st.lists(st.sampled_from(["new", "", "x"]), max_size=2))
        made = update("".join(whole), *("-" + line for line in lines[first:last]), *("+" + line for line in new))
        before, after = "".join(whole[:first]).encode(), "".join(whole[last:]).encode()
        assert made.startswith(before) and made.endswith(after)
        there = made[len(before) : len(made) - len(after)].decode()
        assert there.replace("\r\n", "\n").split("\n") == ([*new, ""] if last < len(lines) or ended or not new else new)


SEVERAL = patch(
    "*** Update File: a.txt",
    "@@",
    "-one",
    "+1",
    "*** Add File: new/n.txt",
    "+n",
    "*** Update File: b.txt",
    "*** Move to: moved/b.txt",
    "@@",
    "-two",
    "+2",
    "*** Delete File: c.txt",
    "*** Update File: d.bin",
    "*** Move to: e.bin",
    "*** Delete File: link",
)


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """The files that SEVERAL changes."""
    write(tmp_path, "a.txt", b"\xef\xbb\xbfone\r\n").chmod(0o640)
    write(tmp_path, "b.txt", "two\n").chmod(0o755)
    write(tmp_path, "c.txt", "three").chmod(0o600)
    write(tmp_path, "d.bin", b"\0\1\2")
    (tmp_path / "link").symlink_to("nowhere")
    return tmp_path


class TestFiles:
    @pytest.mark.row("U-007")
    def test_a_localized_edit_is_made_where_its_context_matches_and_fails_otherwise(
        self, board: TestBoard, tmp_path: Path
    ) -> None:
        file = write(tmp_path, "code.py", "one\ntwo\nthree\n")
        lines = ["*** Update File: code.py", " one", "-two", "+TWO", " three"]
        assert failed(board.call("apply_patch", patch=patch(*lines[:1], " uno", *lines[2:])))
        assert file.read_text("utf-8") == "one\ntwo\nthree\n"
        ok(board.call("apply_patch", patch=patch(*lines)))
        assert file.read_text("utf-8") == "one\nTWO\nthree\n"
        assert board.board.registry.get("apply_patch").effect == "side_effecting"  # type: ignore[union-attr]

    def test_several_files_at_once(self, board: TestBoard, several: Path) -> None:
        record = board.call("apply_patch", patch=SEVERAL)
        assert ok(record).split("\n") == [
            "Applied the patch:",
            "  changed a.txt (+1 -1 lines)",
            "  created new/n.txt (+1 lines)",
            "  moved b.txt to moved/b.txt (+1 -1 lines)",
            "  deleted c.txt (-1 lines)",
            "  moved d.bin to e.bin",
            "  deleted link",
        ]
        assert tree(several) == {
            str(several / "a.txt"): ("file", b"\xef\xbb\xbf1\r\n", 0o100640),
            str(several / "e.bin"): ("file", b"\0\1\2", 0o100644),
            str(several / "moved"): ("folder", None, 0o40755),
            str(several / "moved/b.txt"): ("file", b"2\n", 0o100755),
            str(several / "new"): ("folder", None, 0o40755),
            str(several / "new/n.txt"): ("file", b"n\n", 0o100644),
        }
        assert [(f["path"], f["change"], f["to"]) for f in record.data["files"]] == [
            ("a.txt", "changed", None),
            ("new/n.txt", "created", None),
            ("b.txt", "moved", "moved/b.txt"),
            ("c.txt", "deleted", None),
            ("d.bin", "moved", "e.bin"),
            ("link", "deleted", None),
        ]
        assert record.data["undo"] == record.id

    def test_every_diff_is_shown_before(self, board: TestBoard, several: Path) -> None:
        board.call("apply_patch", patch=SEVERAL)
        (asked,) = [event for event in board.events if isinstance(event, ApprovalAsked)]
        shown = [(d.path, d.change, d.to, d.added, d.removed) for d in asked.preview if isinstance(d, Diff)]
        assert shown == [
            ("a.txt", "changed", None, 1, 1),
            ("new/n.txt", "created", None, 1, 0),
            ("b.txt", "moved", "moved/b.txt", 1, 1),
            ("c.txt", "deleted", None, 0, 1),
            ("d.bin", "moved", "e.bin", 0, 0),
            ("link", "deleted", None, 0, 0),
        ]

    @pytest.mark.parametrize(
        ("lines", "problem"),
        [
            (["*** Update File: gone.txt", "-x"], "patch line 2: No such file: gone.txt. Nothing was changed"),
            (["*** Delete File: gone.txt"], "patch line 2: No such file: gone.txt. Nothing was changed"),
            (["*** Delete File: folder"], "folder is a folder"),
            (["*** Update File: folder", "-x"], "folder is a folder"),
            (["*** Add File: a.txt", "+x"], "patch line 2: a.txt exists already. Nothing was changed"),
            (["*** Add File: folder", "+x"], "folder is a folder"),
            (["*** Add File: a.txt/x", "+x"], "is a file, not a folder"),
            (["*** Add File: link", "+x"], "link exists already"),
            (["*** Update File: b.txt", "*** Move to: a.txt"], "a.txt exists already"),
            (["*** Update File: b.txt", "*** Move to: b.txt"], "b.txt exists already"),
            (["*** Delete File: b.txt", "*** Add File: b.txt", "+x"], "b.txt is in the patch twice (first on line "),
            (["*** Update File: b.txt", "-two", "+2", "*** Add File: b.txt", "+x"], "b.txt is in the patch twice"),
            (["*** Update File: b.txt", "*** Move to: n", "*** Add File: b.txt"], "b.txt is in the patch twice"),
            (["*** Delete File: a.txt", "*** Update File: b.txt", "*** Move to: a.txt"], "a.txt is in the patch twice"),
            (["*** Add File: n", "+x", "*** Add File: n/x", "+y"], "n/x lies below n, which the patch makes a file (on "),
            (["*** Add File: n/m/x", "+y", "*** Add File: n", "+x"],  ") lies below n, which the patch makes a file"),
            (["*** Update File: b.txt", "*** Move to: n", "*** Add File: n/x"], "n/x lies below n"),
            (["*** Update File: a.txt ", "-one"], 'No file is called "a.txt ". Nothing was changed. There is "a.txt"'),
            (["*** Delete File:  a.txt"], 'No file is called " a.txt". Nothing was changed. There is "a.txt"'),
            (["*** Update File:  .env", "-x"], "No such file:  .env"),
            (["*** Update File:  ../a.txt", "-x"], "No such file:  ../a.txt"),
            (["*** Update File: gone.txt ", "-x"], "No such file: gone.txt"),
            (["*** Add File: n ", "+x"], 'the new name "n " begins or ends with white space'),
            (["*** Update File: b.txt", "*** Move to:  n"], 'the new name " n" begins or ends with white space'),
            (["*** Delete File: b.txt", "*** Add File: n", "*** Add File: n"], "line 4: n is in the patch twice (first on "),
            (["*** Add File: n", "+x", "*** Add File: ./n", "+y"], "n is in the patch twice"),
            (["*** Update File: b.txt", "*** Move to: n", "*** Add File: n"], "n is in the patch twice"),
            (["*** Delete File: a.txt", "*** Update File: folder/../a.txt", "-one"], "a.txt is in the patch twice"),
            (["*** Update File: to-b", "*** Move to: n"], "is a link; move the file it leads to"),
            (["*** Update File: readonly", "-x"], "readonly is read-only"),
            (["*** Delete File: readonly"], "readonly is read-only"),
            (["*** Update File: d.bin", "-x"], "d.bin is binary"),
            (["*** Update File: fifo", "-x"], "fifo is a FIFO"),
            (["*** Delete File: fifo"], "fifo is a FIFO"),
            (["*** Update File: b.txt", "*** Move to: fifo"], "fifo is a FIFO"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_done_is_found_before_anything_is(
        self, board: TestBoard, several: Path, lines: list[str], problem: str
    ) -> None:
        write(several, "folder/x", "x\n")
        write(several, ".env", "x\n")
        write(several, "readonly", "x\n").chmod(0o444)
        os.mkfifo(several / "fifo")
        (several / "to-b").symlink_to("b.txt")
        before = tree(several)
        assert problem in failed(board.call("apply_patch", patch=patch(*lines)))
        text = failed(board.call("apply_patch", patch=patch("*** Add File: first", "+x", *lines)))
        assert "Nothing was" in text
        assert tree(several) == before

    def test_a_name_that_ends_with_a_blank_is_another_file(self, board: TestBoard, tmp_path: Path) -> None:
        plain, blank = write(tmp_path, "x", "one\n"), write(tmp_path, "x ", "one\n")
        ok(board.call("apply_patch", patch=patch("*** Update File: x ", "-one", "+1")))
        assert (plain.read_bytes(), blank.read_bytes()) == (b"one\n", b"1\n")
        ok(board.call("apply_patch", patch=patch("*** Delete File: x ")))
        assert plain.exists() and not blank.exists()

    def test_names_that_are_one_where_case_does_not_count_clash(
        self, board: TestBoard, several: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = patch("*** Add File: n/Read", "+x", "*** Add File: n/READ", "+y")
        monkeypatch.setattr("pegboard_tools_edit_plus.claims.folds_case", lambda root: True)
        before = tree(several)
        twice = patch("*** Update File: a.txt", "-one", "+1", "*** Delete File: A.txt")
        (several / "A.txt").symlink_to("a.txt")  # as such a folder would have it
        assert "A.txt and a.txt (line 2) are one file here" in failed(board.call("apply_patch", patch=twice))
        (several / "A.txt").unlink()
        assert "n/READ and n/Read (line 2) are one file here" in failed(board.call("apply_patch", patch=text))
        assert tree(several) == before
        monkeypatch.undo()
        if not (several / "A.TXT").exists():
            ok(board.call("apply_patch", patch=text))
            assert (several / "n/READ").read_bytes() == b"y\n"

    def test_what_is_changed_through_a_link_that_is_deleted_is_changed(self, board: TestBoard, several: Path) -> None:
        write(several, "folder/x", "x\n")
        (several / "to-b").symlink_to("b.txt")
        (several / "to-folder").symlink_to("folder")
        lines = ["*** Delete File: to-b", "*** Delete File: to-folder", "*** Update File: to-b", "-two", "+2"]
        ok(board.call("apply_patch", patch=patch(*lines, "*** Update File: to-folder/x", "-x", "+y")))
        assert (several / "b.txt").read_bytes() == b"2\n" and (several / "folder/x").read_bytes() == b"y\n"
        assert not (several / "to-b").is_symlink() and not (several / "to-folder").is_symlink()

    def test_a_further_section_of_a_file_goes_on_from_the_first(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", "one\ntwo\n")
        text = patch("*** Update File: a.txt", "-two", "+2", "*** Update File: ./a.txt", "-one", "+1", " 2")
        assert ok(board.call("apply_patch", patch=text)) == "Applied the patch: changed a.txt (+2 -2 lines)"
        assert path.read_bytes() == b"1\n2\n"

    def test_a_link_is_followed_for_a_change_and_deleted_itself(self, board: TestBoard, tmp_path: Path) -> None:
        path = write(tmp_path, "a.txt", "one\n")
        (tmp_path / "link").symlink_to("a.txt")
        ok(board.call("apply_patch", patch=patch("*** Update File: link", "-one", "+1")))
        assert (tmp_path / "link").is_symlink() and path.read_bytes() == b"1\n"
        ok(board.call("apply_patch", patch=patch("*** Delete File: link")))
        assert not (tmp_path / "link").is_symlink() and path.read_bytes() == b"1\n"

    def test_a_new_file_respects_the_limit(self, pegboard_board: Make, tmp_path: Path) -> None:
        board = pegboard_board(tools=TOOLS, settings={"edit.max_bytes": 4})
        assert "larger than the limit" in failed(board.call("apply_patch", patch=patch("*** Add File: n", "+1234")))
        ok(board.call("apply_patch", patch=patch("*** Add File: n", "+123")))
        ok(board.call("apply_patch", patch=patch("*** Add File: empty")))
        assert (tmp_path / "n").read_bytes() == b"123\n" and (tmp_path / "empty").read_bytes() == b""

    @pytest.mark.parametrize(
        "section", ["*** Add File: {}", "*** Delete File: {}", "*** Update File: b.txt\n*** Move to: {}"]
    )
    @pytest.mark.parametrize("path", ["../out.txt", "/etc/pegboard-test", ".env", ".git/hooks/x", "out/x"])
    def test_outside_and_protected_names_are_refused_before_anything_runs(
        self, board: TestBoard, several: Path, section: str, path: str
    ) -> None:
        beside, out = several.parent / "beside", several.parent / "out.txt"
        beside.mkdir(exist_ok=True)
        (several / "out").symlink_to("../beside")
        out.write_text("keep\n", encoding="utf-8")
        before = tree(several)
        record = board.call("apply_patch", patch=patch("*** Add File: n.txt", "+x", *section.format(path).split("\n")))
        assert record.outcome == "blocked" and record.block in ("guard", "denied"), record.text
        assert tree(several) == before and not list(beside.iterdir())
        assert out.read_text(encoding="utf-8") == "keep\n"

    def test_a_patch_that_cannot_be_read_is_an_error_and_nobody_is_asked(
        self, board: TestBoard, tmp_path: Path
    ) -> None:
        record = board.call("apply_patch", patch="*** Begin Patch\nnonsense\n*** End Patch")
        assert record.outcome == "error" and "patch line 2" in record.text
        assert not [event for event in board.events if isinstance(event, ApprovalAsked)]

    def test_what_changed_since_it_was_read_is_refused(self, board: TestBoard, several: Path) -> None:
        for name, data in (("a.txt", b"\xef\xbb\xbfone\r\n"), ("c.txt", b"three")):
            board.call("read_file", path=name)
            (several / name).write_bytes(b"one\nelse\n")
            before = tree(several)
            assert f"{name} was changed on disk since" in failed(board.call("apply_patch", patch=SEVERAL))
            assert tree(several) == before
            (several / name).write_bytes(data)
        ok(board.call("apply_patch", patch=SEVERAL))
        ok(board.call("apply_patch", patch=patch("*** Update File: a.txt", "-1", "+2")))

    def test_what_was_approved_is_what_is_changed(self, pegboard_board: Make, several: Path) -> None:
        board = pegboard_board(tools=TOOLS, answers="person")
        for name in ("c.txt", "b.txt", "d.bin", "new/n.txt"):
            before = tree(several)
            change = partial(write, several, name, b"\0\1\2\3" if name == "d.bin" else b"two\none\n")
            text = failed(approved(board, change, "apply_patch", patch=SEVERAL)[0])
            assert "was changed while you were asked" in text or "exists already" in text, text
            after = tree(several)
            assert after.pop(str(several / name))[1] != before.pop(str(several / name), ("", "", 0))[1]
            after.pop(str(several / "new"), None)
            assert after == before
            write(several, name, {"c.txt": b"three", "b.txt": b"two\n", "d.bin": b"\0\1\2"}.get(name, b""))


class TestAllOrNothing:
    """A failure at each write step: all is as it was."""

    STEPS = 6

    @pytest.mark.parametrize("step", range(STEPS))
    @pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), ToolError("It broke.")])
    def test_a_failure_at_any_step_puts_everything_back(
        self, board: TestBoard, several: Path, monkeypatch: pytest.MonkeyPatch, step: int, error: Exception
    ) -> None:
        looks = Countdown(Writer._last_look, step, error)
        monkeypatch.setattr(Writer, "_last_look", lambda *given: looks(*given))
        before = tree(several)
        text = failed(board.call("apply_patch", patch=SEVERAL))
        assert tree(several) == before
        assert ("What had been changed before was put back: nothing is changed." in text) == (step > 0)
        assert records.load(board.session.folder, "c1") is None  # there is nothing to undo
        monkeypatch.undo()
        ok(board.call("apply_patch", patch=SEVERAL))

    @pytest.mark.parametrize("step", range(1, STEPS))
    def test_a_call_that_is_stopped_between_two_files_puts_everything_back(
        self, board: TestBoard, several: Path, monkeypatch: pytest.MonkeyPatch, step: int
    ) -> None:
        here, go_on = threading.Event(), threading.Event()

        def wait() -> None:
            here.set()
            assert go_on.wait(60)

        looks = Countdown(Writer._last_look, step, wait)
        monkeypatch.setattr(Writer, "_last_look", lambda *given: looks(*given))

        async def stopped() -> Record:
            call = asyncio.ensure_future(board.agent.call("apply_patch", {"patch": SEVERAL}, "program"))
            await asyncio.to_thread(here.wait, 10)
            await board.agent.send(port.Cancel())
            go_on.set()
            return await call

        before = tree(several)
        record = board.run(stopped())
        assert (record.outcome, record.why) == ("interrupted", "person")
        assert "was put back: nothing is changed" in record.text
        assert tree(several) == before

    def test_what_cannot_be_put_back_is_told(
        self, board: TestBoard, several: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def meddle() -> None:
            write(several, "a.txt", "mine now\n")
            raise OSError(errno.EIO, "Input/output error")

        looks = Countdown(Writer._last_look, 2, meddle)
        monkeypatch.setattr(Writer, "_last_look", lambda *given: looks(*given))
        text = failed(board.call("apply_patch", patch=SEVERAL))
        assert "a.txt was changed since" in text and "a.txt stays changed" in text
        assert (several / "a.txt").read_bytes() == b"mine now\n"
        assert not (several / "new").exists() and (several / "c.txt").read_bytes() == b"three"

    def test_a_full_disk_leaves_no_temporary_file(
        self, board: TestBoard, several: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        syncs = Countdown(os.fsync, 2, OSError(errno.ENOSPC, "No space left on device"))
        monkeypatch.setattr(atomic.os, "fsync", syncs)
        before = tree(several)
        assert "The disk is full" in failed(board.call("apply_patch", patch=SEVERAL))
        assert tree(several) == before


class Countdown:
    """A function that goes wrong once, at the call with this number, and works before and after."""

    def __init__(self, function: Callable[..., Any], number: int, wrong: Exception | Callable[[], None]) -> None:
        self.left = number
        self._function = function
        self._wrong = wrong

    def __call__(self, *given: Any) -> Any:
        self.left -= 1
        if self.left == -1:
            if isinstance(self._wrong, Exception):
                raise self._wrong
            self._wrong()
        return self._function(*given)


def test_a_link_is_deleted_wherever_it_leads_and_not_what_it_leads_to(pegboard_board: Make, tmp_path: Path) -> None:
    board = pegboard_board(tools=TOOLS, guards=[ProtectedPaths(Settings())])
    write(tmp_path, ".env", "KEY=1\n")
    for name, leads in (("secret", ".env"), ("out", "/etc/hostname")):
        (tmp_path / name).symlink_to(leads)
    ok(board.call("apply_patch", patch=patch("*** Delete File: secret", "*** Delete File: out")))
    assert not (tmp_path / "secret").is_symlink() and not (tmp_path / "out").is_symlink()
    assert (tmp_path / ".env").read_text() == "KEY=1\n"


LINKED = {
    "deleted": ("*** Delete File: {0}", {}),
    "changed": ("*** Update File: {0}\n-h\n+new", {"{0}": "new\n"}),
    "moved": ("*** Update File: {0}\n*** Move to: {0}.moved", {"{0}.moved": "h\n"}),
    "moved anew": ("*** Update File: {0}\n*** Move to: {0}.moved\n-h\n+new", {"{0}.moved": "new\n"}),
}


@pytest.mark.parametrize("second", LINKED)
@pytest.mark.parametrize("first", LINKED)
def test_two_names_of_one_file_are_changed_in_one_call(
    board: TestBoard, tmp_path: Path, first: str, second: str
) -> None:
    os.link(write(tmp_path, "h1", "h\n"), tmp_path / "h2")
    os.link(tmp_path / "h1", tmp_path / "h3")
    sections, expected = [], {"h3": "h\n"}
    for name, (section, left) in (("h1", LINKED[first]), ("h2", LINKED[second])):
        sections += section.format(name).split("\n")
        expected |= {key.format(name): text for key, text in left.items()}
    ok(board.call("apply_patch", patch=patch(*sections)))
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == expected


def test_somebody_else_at_the_other_name_is_still_noticed(tmp_path: Path) -> None:
    os.link(write(tmp_path, "h1", "h\n"), tmp_path / "h2")
    writer = Writer(Workspace(str(tmp_path)))
    with Workspace(str(tmp_path)).open("h2", "edit") as opened:
        before = opened.stamp
    writer.remove("h1", before=before)
    (tmp_path / "h2").write_text("other\n")
    with pytest.raises(ToolError, match="by something else"):
        writer.remove("h2", before=before)
    assert (tmp_path / "h2").read_text() == "other\n"
