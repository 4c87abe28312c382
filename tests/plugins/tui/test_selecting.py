"""What is taken out of a transcript."""

from __future__ import annotations

import pytest
from pegboard.blocks import Activity, AnyBlock, Custom, Diff, Image, Markdown, Note, Table, Text
from pegboard.events import TurnEnded
from pegboard.port import Described
from pegboard_tui.items import AnyItem, Asked, Ended, Made, Said, Shown, Thought, Told
from pegboard_tui.selecting import Spot, fenced, last_code, restyled, searched, source, span_of
from pegboard_tui.viewer import parts_of, pieces
from rich.segment import Segment
from rich.style import Style
from scripted import call_asked, call_finished
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip


def made(text: str = "done", *blocks: AnyBlock, commands: bool = False, finished: bool = True) -> Made:
    """A call with this result."""
    described = Described(
        tool="t", activity=Activity(glyph="$", verb="Run", subject="make", details="[x]"), commands=commands
    )
    result = call_finished("1", text, blocks=list(blocks)) if finished else None
    return Made(key="c1", asked=call_asked("1", "Run make"), described=described, finished=result)


DIFF = Diff(path="a.py", change="changed", added=1, removed=1, text="@@ -1 +1 @@\n-a\n+b\n")


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (Said(key="s", text="# Title\n\n*so*"), "# Title\n\n*so*"),
        (Asked(key="a", text="why?"), "why?"),
        (Thought(key="t", text="hm"), "hm"),
        (Told(key="n", text="a note"), "a note"),
        (made("5 files"), "5 files"),
        (made(finished=False), "Run make [x]"),
        (made("edited", Note(text="n"), DIFF), "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n"),
        (made("", Text(text="of blocks")), "of blocks"),
        (Shown(key="b", blocks=[Note(text="one"), Table(columns=["a", "b"], rows=[["1", "2"]])]), "one\n\na\tb\n1\t2"),
        (Shown(key="b", blocks=[Custom(kind="k", data={"x": 1}), Image(media_type="image/png", data="")]), '{"x":1}'),
        (Shown(key="b", blocks=[Custom(kind="k", plain=[Text(text="plain")])]), "plain"),
        (Ended(key="e", ended=TurnEnded(status="error", text="", usage={}, error="no net")), "no net"),
        (Ended(key="e", ended=TurnEnded(status="done", text="", usage={})), ""),
    ],
)
def test_the_source_of_an_item_is_what_was_written(item: AnyItem, text: str) -> None:
    assert source(item) == text


def test_what_a_terminal_would_obey_when_pasted_is_spelled_out_and_letters_stay() -> None:
    assert source(made("a\x1b]52;c;eA==\x07b\r\nc\td")) == "a\\x1b]52;c;eA==\\x07b\nc\td"
    assert source(made("\x1b[31mred\x1b[0m \x1b[2J", commands=True)) == "red \\x1b[2J"
    family = "\U0001f468\u200d\U0001f469"
    assert source(Said(key="s", text=family)) == family


def test_patches_of_new_deleted_and_moved_files_name_them_as_patch_wants_it() -> None:
    heads = {
        change: source(made("", Diff(path="a", change=change, added=0, removed=0, text="", to="b"))).split("\n")[:2]
        for change in ("created", "deleted", "moved")
    }
    assert heads["created"][0] == "--- /dev/null"
    assert heads["deleted"][1] == "+++ /dev/null"
    assert heads["moved"] == ["--- a", "+++ b"]


def test_code_blocks_are_found_as_markdown_says() -> None:
    text = "```py\none\n```\nx ```no``` y\n~~~~\ntwo\n```\n~~~\n~~~~\n   ```\nthree"
    assert fenced(text) == ["one", "two\n```\n~~~", "three"]
    assert fenced("``` `a`\nno") == []
    assert last_code(Said(key="s", text=text)) == "three"
    assert last_code(made("```\nnot Markdown\n```")) is None
    assert last_code(made("", Markdown(text="```\nit is\n```"))) == "it is"


def test_a_search_looks_at_a_calls_line_too() -> None:
    assert any("make" in text for text in searched(made("nothing")))


def test_a_selection_names_rows_of_items_and_has_neither_the_bar_before_them_nor_blanks_behind() -> None:
    selection = Selection.from_offsets(Offset(2, Spot(7, 3).y), Offset(4, Spot(9, 0).y))
    assert Spot.of(Offset(0, Spot(7, 3).y)) == Spot(7, 3)
    plain, barred = Strip([Segment("12345678 ")]), Strip([Segment("  "), Segment("│ "), Segment("│ it  ")])
    rows = ((7, 2), (7, 3), (8, 500), (9, 0), (9, 1))
    assert [span_of(selection, Spot(*row), plain) for row in rows] == [None, (2, 8), (0, 8), (0, 4), None]
    assert [span_of(selection, Spot(*row), barred) for row in rows] == [None, (4, 8), (4, 8), (4, 4), None]
    assert barred.text[4:8] == "│ it"
    assert span_of(selection, Spot(9, 0), Strip([Segment("1")])) == (0, 1)


def test_marking_counts_wide_letters_as_two_cells() -> None:
    strip = restyled(Strip([Segment("日本", Style(bold=True)), Segment("語x")]), [(1, 3)], Style(reverse=True))
    marked = "".join(part.text for part in strip if part.style and part.style.reverse)
    assert (strip.text, marked, strip.cell_length) == ("日本語x", "本語", 7)


def test_a_long_item_is_opened_in_pieces_that_are_the_whole() -> None:
    short = Said(key="s", text="short", folded=True)
    assert [(item.key, item.folded) for item in pieces(short)] == [("s", False)]
    for text in ("x" * 5_000_000, "\n".join(map(str, range(200_000))), "\n" * 70_000):
        head, *parts = pieces(made(text))
        assert isinstance(head, Made)
        assert head.finished is None
        texts = [block.text for item in parts if isinstance(item, Shown) for block in item.blocks]  # type: ignore[union-attr]
        assert max(map(len, texts)) <= 8_200
        assert max(one.count("\n") for one in texts) < 100
        assert "".join(texts).replace("\n", "") == text.replace("\n", "")
    assert "\n".join(parts_of("a\n\nb" * 300)) == "a\n\nb" * 300
