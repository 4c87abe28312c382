"""Diffs: in one pane and in two, their numbers and signs, the words that changed, and hunks that are none."""

from __future__ import annotations

from typing import Any

import pytest
from drawing import COLOURED, golden, letters, styled
from hypothesis import given, settings
from hypothesis import strategies as st
from pegboard.blocks import Diff
from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.diffs import SIDE_BY_SIDE, diff
from pegboard_tui.drawing.hunks import differing
from pegboard_tui.drawing.look import Look
from rich.style import Style

TEXT = """\
@@ -9,4 +9,5 @@ class Thing:
 import os
-def old_name(a, b):
+def new_name(a, b, c):
+    # added
     return a + b
@@ -20,2 +21,2 @@
 x = 1
-z = "it is a line that is longer than there is room"
\\ No newline at end of file
+z = 2
"""


def change(text: str = TEXT, **more: Any) -> Diff:
    values: dict[str, Any] = {"path": "src/a.py", "change": "changed", "added": 3, "removed": 2} | more
    return Diff(text=text, **values)


def drawn(block: Diff, width: int) -> str:
    return letters(lines(block, Look(width=width)))


def test_one_pane() -> None:
    assert drawn(change(), 50) == golden(
        """
        src/a.py +3 -2
         ⋯ class Thing:
         9   import os
        10 - def old_name(a, b):
        10 + def new_name(a, b, c):
        11 +     # added
        12       return a + b
         ⋯
        21   x = 1
        21 - z = "it is a line that is longer than there i
             s room"
             \\ No newline at end of file
        22 + z = 2
        """
    )


def test_two_panes_from_a_hundred_columns_on() -> None:
    assert SIDE_BY_SIDE == 100
    assert drawn(change(), 99).count("│") == 0
    long = TEXT.replace("longer", "much longer")
    assert drawn(change(long), 100) == golden(
        """
        src/a.py +3 -2
         ⋯ class Thing:
         9   import os                                   │  9   import os
        10 - def old_name(a, b):                         │ 10 + def new_name(a, b, c):
                                                         │ 11 +     # added
        11       return a + b                            │ 12       return a + b
         ⋯
        20   x = 1                                       │ 21   x = 1
        21 - z = "it is a line that is much longer than  │ 22 + z = 2
             there is room"                              │
             \\ No newline at end of file                 │
        """
    )
    created = change("@@ -0,0 +1 @@\n+one\n", change="created", added=1, removed=0)
    assert drawn(created, 120) == "src/a.py (created) +1 -0\n1 + one"


def test_the_head_says_what_became_of_the_file() -> None:
    assert drawn(change("", change="moved", to="b.py", added=0, removed=0), 80) == "src/a.py → b.py +0 -0"
    assert drawn(change("@@ -1 +0,0 @@\n-x\n", change="deleted", added=0, removed=1), 80) == (
        "src/a.py (deleted) +0 -1\n1 - x"
    )


@pytest.mark.parametrize("width", [60, 120])
def test_changed_words_and_backgrounds_are_styles(width: int) -> None:
    shown = lines(change(), Look(width=width, palette=COLOURED))
    assert styled(shown, COLOURED.added_word) == ["new_name", ", c"]
    assert styled(shown, COLOURED.removed_word) == ["old_name"]
    added = styled(shown, Style(bgcolor="#003300"))
    assert any("# added" in part for part in added)
    if width == 60:
        assert [strip.cell_length for strip in shown if strip.text[3:4] in ("+", "-")] == [width] * 5


def test_code_has_its_colours_on_the_background_of_the_change() -> None:
    shown = lines(change("@@ -1 +1 @@\n-import a\n+import b\n context = 1\n"), Look(width=60, palette=COLOURED))
    colours = {(text, style.color and style.color.name) for text, style, _ in shown[2] if style}
    assert ("import", "#ff4689") in colours and all(s.bgcolor for _, s, _ in shown[2] if s)
    assert not any(s and s.bgcolor for _, s, _ in shown[3])


def test_words_are_marked_only_in_lines_that_are_alike() -> None:
    assert differing("a = one + two", "a = one - two") == ([(8, 9)], [(8, 9)])
    assert differing("call(x)", "call(x, y)") == ([], [(6, 9)])
    assert differing("return None", "while True: pass") == ([], [])
    assert differing("x" * 1000, "x" * 1001) == ([], [])


def test_a_long_diff_is_folded_and_says_how_much_follows() -> None:
    text = "@@ -0,0 +1,90 @@\n" + "".join(f"+line {n}\n" for n in range(90))
    shown = diff(change(text), Look(width=40), most=30, hint=" (Enter)")
    assert len(shown) == 22 and shown[-1].text == "… 70 more lines (Enter)"
    assert letters(diff(change(text), Look(width=40))).endswith("90 + line 89")


def test_windows_line_ends_are_told_once_and_a_changed_one_is_seen() -> None:
    assert drawn(change("@@ -1 +1 @@\n-a\r\n+b\r\n"), 40) == "src/a.py +3 -2\nlines end with \\r\\n\n1 - a\n1 + b"
    assert drawn(change("@@ -1 +1 @@\n-a\n+a\r\n"), 40) == "src/a.py +3 -2\n1 - a\n1 + a\\r"


def test_what_is_no_hunk_is_shown_as_it_is() -> None:
    odd = "@@ broken\n+one\nno sign\n-two\n@@ -1 +1 @@\n rest\n"
    assert drawn(change(odd), 40) == golden(
        """
        src/a.py +3 -2
            @@ broken
          + one
            no sign
          - two
        ⋯
        1   rest
        """
    )


def test_a_line_without_end_is_cut_and_said_to_be() -> None:
    shown = drawn(change("@@ -1 +1 @@\n+" + "x" * 5_000_000), 120)
    assert "… 4,996,001 more characters" in shown.replace("\n", "").replace("    ", "") and len(shown) < 10_000


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(["@@ -1 +1 @@", "@@ -x", "+a b", "-a c", " a", "\\ No", "é", "-日本", "+\t\x1b", ""]),
        max_size=12,
    ),
    st.integers(1, 130),
)
def test_any_diff_fits(parts: list[str], width: int) -> None:
    for palette in (COLOURED, Look(width=1).palette):
        shown = lines(change("\n".join(parts)), Look(width=width, palette=palette))
        assert all(strip.cell_length <= width for strip in shown)
        assert "\x1b" not in letters(shown)
