"""Lines for a terminal: whole, safe, and in the forms that are promised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.blocks import Activity, Diff, Image, Markdown, Note, Problem, Table, Text
from pegboard.terminal import visible
from pegboard_cli.render import (
    activity_line,
    all_visible,
    argument_lines,
    block_lines,
    diff_lines,
    table_lines,
)
from pegboard_cli.styles import Styles
from pegboard_cli.widths import shortened

PLAIN, COLOUR = Styles(), Styles(colour=True)


def line(glyph: str, verb: str, subject: str, details: str = "", **options: bool) -> list[str]:
    return activity_line(Activity(glyph=glyph, verb=verb, subject=subject, details=details), "a_tool", PLAIN, **options)


@pytest.mark.row("R-104")
def test_an_activity_is_a_glyph_a_verb_and_a_subject() -> None:
    assert line("←", "Read", "README.md") == ["← Read README.md"]
    assert line("$", "Run", "pytest", "[cwd=src]") == ["$ Run pytest [cwd=src]"]


@pytest.mark.row("R-106", "R-095")
def test_one_line_in_brackets_without_a_category_or_without_glyphs() -> None:
    assert line("", "", "x", "[a=1]\nmore\nand more") == ["[a_tool: x]", "  more", "  and more"]
    assert line("←", "Read", "README.md", glyphs=False) == ["[a_tool: README.md]"]
    assert line("", "", "") == ["[a_tool]"]


def test_an_activity_line_is_one_line_and_hides_nothing() -> None:
    assert line("$", "Run", "a\nb\x1b[2K\u202e") == ["$ Run a\\nb\\x1b[2K\\u202e"]


@given(st.text())
def test_arguments_lose_nothing(text: str) -> None:
    shown = argument_lines({"content": text}, PLAIN)
    assert all(part.isprintable() or "\t" in part for part in shown)
    if "\n" not in text and visible(text) == text:  # of what cannot be seen, the code is shown
        assert text in shown[0]


def test_text_of_several_lines_is_shown_line_by_line() -> None:
    lines = [f"line {number}" for number in range(1000)]
    shown = argument_lines({"path": "a.py", "content": "\n".join(lines) + "\n", "n": 3, "on": True}, PLAIN)
    assert shown == ["path: a.py", "content:", *(f"  │ {text}" for text in lines), "n: 3", "on: true"]


def test_a_long_line_is_not_cut() -> None:
    command = "true; " * 2000 + "rm -rf x; " + "true; " * 2000 + "true"
    assert argument_lines({"command": command}, PLAIN) == [f"command: {command}"]


def test_lists_and_objects_are_written_out() -> None:
    shown = argument_lines({"edits": [{"old": "a\nb", "new": ""}, "x"], "none": None, "empty": []}, PLAIN)
    assert shown == [
        "edits:",
        "  1:",
        "    old:",
        "      │ a",
        "      │ b",
        "      (no newline at the end)",
        '    new: ""',
        "  2: x",
        "none: null",
        "empty: []",
    ]


@pytest.mark.row("S-005")
def test_a_diff_names_its_file_and_counts_lines_and_is_coloured() -> None:
    diff = Diff(
        path="a.py", change="changed", added=1, removed=1, text="@@ -1,3 +1,3 @@\n a\n-b\u202e\n+c\x1b[2J\n d\n"
    )
    assert diff_lines(diff, PLAIN) == ["a.py +1 -1", "@@ -1,3 +1,3 @@", " a", "-b\\u202e", "+c\\x1b[2J", " d"]
    coloured = diff_lines(diff, COLOUR)
    assert (
        coloured[3].startswith("\x1b[31m-b") and coloured[4].startswith("\x1b[32m+c") and "\x1b[2J" not in coloured[4]
    )


@pytest.mark.parametrize("safe", [None, all_visible])
@pytest.mark.parametrize(
    "block",
    [
        Note(text="a\x1b[2J\u202e\u200bb"),
        Problem(text="a\x1b[2Jb"),
        Markdown(text="a\x1b[2Jb"),
        Text(text="a\x1b[2Jb", title="t\x1b[2J"),
        Table(columns=["a\x1b[2J"], rows=[["b\x1b[2J"]]),
        Image(media_type="image/png\x1b[2J", data="", alt="a\x1b[2J"),
        Activity(glyph="\x1b[2J", verb="v", subject="s", details="\x1b[2J"),
    ],
)
def test_no_block_brings_escape_sequences(block: object, safe: object) -> None:
    shown = block_lines(block, PLAIN, *([safe] if safe else []))  # type: ignore[arg-type]
    assert shown and not {"\x1b", "\u202e", "\u200b"}.intersection("".join(shown))


def test_columns_end_in_line() -> None:
    assert table_lines([["name", "n"], ["a", "10"], ["bcdefg", "5"]], right=frozenset({1})) == [
        "name     n",
        "a       10",
        "bcdefg   5",
    ]


def test_a_table_keeps_to_a_width_and_cuts_at_words() -> None:
    rows = [["name", "n", "what it is"], ["a", "10", "a word and another word"], ["b", "5", "日本語日本語日本語"]]
    assert table_lines(rows, width=26) == ["name  n   what it is", "a     10  a word and…", "b     5   日本語日本語日…"]
    assert shortened("abcdefghij", 5) == "abcd…"
