"""Blocks through Rich: drawn, whole, and never obeyed."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard.blocks import Activity, AnyBlock, Custom, Diff, Image, Markdown, Note, Problem, Table, Text
from pegboard.rendering import from_json, to_json
from pegboard.terminal import spelled, visible
from pegboard_cli.render import block_lines
from pegboard_cli.richly import renderable, renderables
from pegboard_cli.styles import Styles
from pegboard_cli.widths import columns_of
from rich.console import Console


def drawn(*blocks: AnyBlock, width: int = 80, colour: bool = False) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, color_system="standard" if colour else None)
    console.print(renderables(blocks))
    return out.getvalue()


def samples(text: str) -> list[AnyBlock]:
    """A block of every kind, with the text at every place that takes one."""
    return [
        Activity(glyph=text, verb=text, subject=text, details=f"{text}\n{text}"),
        Diff(path=text, change="moved", added=1, removed=0, text=f"@@ -1 +1 @@\n+{text}\n", to=text),
        Note(text=text),
        Problem(text=text),
        Markdown(text=text),
        Text(text=text, title=text),
        Table(columns=[text], rows=[[text, text], []]),
        Image(media_type=text, data="", alt=text),
        Custom(kind=text, data={text: text}, plain=[Note(text=text)]),
    ]


def test_there_is_a_sample_of_every_kind() -> None:
    assert {type(block) for block in samples("x")} == set(get_args(AnyBlock))


@pytest.mark.parametrize(
    "block", samples("[red]x[/nosuch] [link=http://a]b[/link]"), ids=lambda block: type(block).__name__
)
def test_rich_markup_in_a_block_is_shown_as_it_is_written(block: AnyBlock) -> None:
    assert "[red]x[/nosuch]" in drawn(block, width=200)
    assert "\x1b]8" not in drawn(block, width=200, colour=True)


HIDDEN = "a\x1b[2Jb\u202ec\u200bd\x07\x9b31me"


@pytest.mark.parametrize("block", samples(HIDDEN), ids=lambda block: type(block).__name__)
def test_what_hides_is_spelled_out(block: AnyBlock) -> None:
    shown = drawn(block, width=200)
    assert visible(HIDDEN) in shown
    assert not {"\x1b", "\u202e", "\u200b", "\x07", "\x9b"}.intersection(shown)


@given(st.text(max_size=80), st.integers(1, 60))
def test_no_text_brings_what_a_terminal_obeys_or_a_crash(text: str, width: int) -> None:
    for block in samples(text):
        assert spelled(drawn(block, width=width)) == drawn(block, width=width)


@pytest.mark.parametrize(
    "text",
    [
        "before <!-- unseen --> after",
        "<script>unseen</script>",
        "&#8238;unseen&#x202e;",
        "![unseen](http://example.com/unseen.png)",
        "[unseen]: http://example.com/unseen",
        "[text](http://example.com/unseen)",
    ],
)
def test_markdown_conceals_nothing(text: str) -> None:
    shown = drawn(Markdown(text=text), width=200)
    assert "unseen" in shown and "\u202e" not in shown
    assert "http" not in text or "http://example.com/unseen" in shown


def test_markdown_is_set() -> None:
    shown = drawn(
        Markdown(text="# Head\n\n- one\n- **two**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx = 1\n```"), colour=True
    )
    assert "**" not in shown and "```" not in shown and "•" in shown and "|---|" not in shown
    assert "\x1b[1" in shown


def test_a_diff_is_coloured_line_by_line() -> None:
    block = Diff(path="a.py", change="created", added=1, removed=1, text="@@ -1 +1 @@\n-old\n+new\n same\n")
    shown = drawn(block, colour=True).split("\n")
    assert shown[0].startswith("a.py (created)") and "+1" in shown[0] and "-1" in shown[0]
    assert shown[1:5] == ["\x1b[36m@@ -1 +1 @@\x1b[0m", "\x1b[31m-old\x1b[0m", "\x1b[32m+new\x1b[0m", " same"]


def test_a_table_with_rows_of_any_length_keeps_every_cell_at_any_width() -> None:
    block = Table(columns=["name"], rows=[["a", "one two three four five"], ["日本語日本語"], []])
    for width in (100, 20, 9):
        words = "".join(drawn(block, width=width).split())
        assert all(letter in words for letter in "onetwothreefourfive") and "日" in words
        assert all(columns_of(line) <= width for line in drawn(block, width=width).split("\n"))


def test_a_picture_is_named() -> None:
    assert drawn(Image(media_type="image/png", data="AAAA", alt="a cat")).strip() == "[picture, image/png: a cat]"


def test_rich_is_imported_only_with_this_module() -> None:
    code = "import sys, pegboard_cli.viewer, pegboard_cli.turn; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


# --- as text and as JSON ----------------------------------------------------------------------------------------------


@given(st.text(max_size=60))
def test_blocks_go_through_json_and_come_back(text: str) -> None:
    blocks = samples(text)
    body = to_json(blocks)
    body.decode("utf-8")
    assert from_json(body) == blocks
    assert to_json(from_json(body)) == body


def test_json_is_valid_whatever_stands_in_a_block() -> None:
    body = to_json(samples("caf\udce9"))
    assert b"caf\\\\xe9" in body and len(from_json(body)) == 9


@pytest.mark.parametrize("width", [200, 40, 12, 1])
def test_a_table_in_text_fits_or_is_written_a_cell_a_line(width: int) -> None:
    block = Table(columns=["name", "what it is"], rows=[["alpha", "the first of them all"], ["日本語", "x"], ["only"]])
    lines = block_lines(block, Styles(), width=width)
    if width >= 40:
        assert lines[0] == "name    what it is" and lines[2] == "日本語  x"
    else:
        assert lines == [
            "name: alpha",
            "what it is: the first of them all",
            "",
            "name: 日本語",
            "what it is: x",
            "",
            "name: only",
            "what it is: ",
        ]
    assert all(word in " ".join(lines) for word in ["alpha", "the", "first", "of", "them", "all", "only"])


@pytest.mark.parametrize(
    "block", [Table(columns=[], rows=[]), Table(columns=["a"], rows=[]), Table(columns=[], rows=[["a"]])]
)
@pytest.mark.parametrize("width", [None, 1, 80])
def test_an_empty_table_is_no_crash(block: Any, width: int | None) -> None:
    assert block_lines(block, Styles(), width=width) is not None
    assert renderable(block) is not None and drawn(block) is not None
