"""What a person decides by, as rows: nothing hides, nothing is left out, and the keys are always in sight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pegboard.blocks import Custom, Diff, Markdown
from pegboard.events import ApprovalAsked, QuestionAsked
from pegboard_tui.asking import frame
from pegboard_tui.asking.approval import all_visible, call_rows
from pegboard_tui.asking.arguments import argument_rows
from pegboard_tui.asking.cells import Row, Rows, folded, shown
from pegboard_tui.asking.editing import as_json, read_json
from pegboard_tui.asking.hints import Hint, hint_rows
from pegboard_tui.asking.picker import question_rows
from pegboard_tui.asking.queue import Draft, Queue
from pegboard_tui.asking.quiet import Quiet
from pegboard_tui.drawing.look import Look, Palette
from rich.style import Style
from textual.strip import Strip

PLAIN = Style()


def look(width: int = 60) -> Look:
    return Look(width=width, palette=Palette())


def strips(rows: Iterable[Row]) -> list[Strip]:
    made = Rows(rows)
    return made.between(0, made.reach(1_000_000))


def texts(rows: Iterable[Row]) -> list[str]:
    return [row.text.rstrip() for row in strips(rows)]


def approval(id: str, call: str = "c1", **more: Any) -> ApprovalAsked:
    return ApprovalAsked(turn=1, lane="root", id=id, call=call, rule="r", layer="default", **more)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(2, 30))
def test_rows_hold_the_whole_text_and_none_is_too_wide(text: str, width: int) -> None:
    line = text.replace("\n", "")
    segments = list(shown(line, PLAIN, PLAIN))
    rows = strips(folded(segments, width))
    assert "".join(row.text for row in rows) == "".join(segment.text for segment in segments)
    assert all(row.cell_length <= width for row in rows)
    assert all(char.isprintable() for row in rows for char in row.text)


def test_every_argument_is_there_line_by_line_with_nothing_hidden() -> None:
    found = argument_rows(
        {"path": "a.py", "text": "one\n\x1b[31mtwo\u202e\nthree", "edits": [{"old": " x ", "n": 3}], "none": None},
        look(),
    )
    assert texts(found) == [
        "path: a.py",
        "text:",
        "  │ one",
        "  │ \\x1b[31mtwo\\u202e",
        "  │ three",
        "  (no newline at the end)",
        "edits:",
        "  1:",
        '    old: " x "',
        "    n: 3",
        "none: null",
    ]


def test_what_is_spelled_out_is_told_apart_from_the_same_letters() -> None:
    segments = shown("\\x1b \x1b", PLAIN, Style(reverse=True))
    assert [(segment.text, bool(segment.style and segment.style.reverse)) for segment in segments] == [
        ("\\x1b ", False),
        ("\\x1b", True),
    ]


def test_a_long_line_goes_on_below_a_mark_and_in_short_it_is_told_by_its_length() -> None:
    arguments = {"command": "x" * 300, "text": "a\n" * 200}
    full, short = texts(argument_rows(arguments, look(40))), texts(argument_rows(arguments, look(50), full=False))
    assert full[1].startswith("┊ ") and "".join(full[:9]).count("x") == 300 and full.count("  │ a") == 200
    assert short == ["command: (300 characters: not shown)", "text: (200 lines, 400 characters: not shown)"]


def test_deep_and_huge_arguments_are_drawn() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = {"in": deep}
    assert "x" in "".join(texts(argument_rows(deep, look())))
    rows = Rows(argument_rows({"text": "y" * 200_000, "more": "\x1b\n" * 20_000}, look(100)))
    assert rows.reach(50) == 50 and not rows.whole and rows.between(48, 60)[0].text.count("y") == 98
    assert rows.reach(10**9) > 22_000 and rows.whole


def test_a_preview_hides_nothing_in_markdown_or_in_a_plugins_block() -> None:
    hostile = Markdown(text="[safe](http://evil) <!-- not seen -->\u200b")
    event = approval("a1", arguments={"n": 1}, preview=[Custom(kind="x", plain=[hostile])])
    rows = "\n".join(texts(call_rows(event, None, look(), full=True, edited=False)))
    assert "[safe](http://evil) <!-- not seen -->\\u200b" in rows
    (safe,) = all_visible(Diff(path="a\x1bb", change="changed", added=1, removed=0, text="@@ -1 +1 @@\n+\u202ex\xa0\n"))
    assert safe == Diff(path="a\\x1bb", change="changed", added=1, removed=0, text="@@ -1 +1 @@\n+\\u202ex\\xa0\n")


def test_the_rule_its_layer_and_what_always_would_keep_stand_before_the_arguments() -> None:
    event = approval("a1", remember=["uv run pytest …"], scopes=["session"], arguments={"command": "uv run pytest -x"})
    assert texts(call_rows(event, None, look(), full=True, edited=True)) == [
        "  c1 asks: r (default)",
        "  edited by you, and judged again",
        "  always would allow: uv run pytest …",
        "command: uv run pytest -x",
    ]


@pytest.mark.parametrize(("width", "most"), [(80, 2), (40, 2), (20, 1), (8, 1)])
def test_keys_get_shorter_before_they_go(width: int, most: int) -> None:
    hints = [Hint(key, f"{key} does what it does", "word") for key in "yanred"]
    rows = hint_rows(hints, look(width), most)
    assert len(rows) <= most and all(row.cell_length <= width for row in rows)
    shown_keys = " ".join(texts(rows))
    assert [hint.key for hint in hints if hint.key in shown_keys.split()] == list("yanred")[: 4 if width == 8 else 6]


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 9), st.integers(0, 3), st.integers(0, 500))
@example(rows=12, keys=1, waiting=5, field=3, body=0)
def test_the_rows_that_there_are_are_never_exceeded(rows: int, keys: int, waiting: int, field: int, body: int) -> None:
    share = frame.shares(rows, keys=keys, waiting=waiting, field=field, body=body)
    assert share.body >= 1 and share.list >= 0
    taken = 1 + share.list + share.line + share.body + share.rule + field + keys
    assert taken <= max(rows, 1 + keys + field + 3)


def test_the_queue_keeps_place_and_drafts_when_others_come_and_go() -> None:
    queue = Queue()
    one, two, three = approval("a1"), approval("a2"), approval("a3")
    assert queue.put([one, two]) == [one, two]
    queue.move(1)
    queue.draft(two).reason = "because"
    assert queue.put([one, two, three]) == [three] and queue.current is two
    assert queue.put([two, three]) == [] and queue.current is two and queue.draft(two).reason == "because"
    queue.answered(["a2"])
    assert queue.waiting == [three] and queue.put([two, three]) == []
    assert queue.put([three]) == [] and queue.put([two, three]) == [two] and queue.draft(two).reason == ""


def test_a_key_counts_after_a_pause_and_each_before_it_makes_the_pause_longer() -> None:
    now = [10.0]
    quiet = Quiet(lambda: now[0], pause=0.4)
    for step in (0.1, 0.3, 0.39):
        now[0] += step
        assert not quiet.counts()
    now[0] += 0.41
    assert quiet.counts() and quiet.counts()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"a": 1,}', "line 1, column 9"),
        ("[1]", "object"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "nested"),
        ("", "line 1"),
    ],
)
def test_what_is_no_json_object_is_told(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_json(text)


def test_arguments_are_edited_as_they_are_unless_something_would_hide() -> None:
    assert "é" in as_json({"text": "é"}) and "\\u202e" in as_json({"text": "\u202e"})
    assert read_json(as_json({"text": "\u202e\x1b"})) == {"text": "\u202e\x1b"}


def test_a_question_shows_its_options_and_more_about_the_one_under_the_cursor() -> None:
    event = QuestionAsked(
        turn=1, lane="root", id="q1", call="c1", question="Which?", options=["a", "b"], details=["first", "second\x1b"]
    )
    rows, at = question_rows(event, Draft(option=1), look())
    assert texts(rows) == ["Which?", "  1 a", "> 2 b", "    second\\x1b", "  * or type an answer of your own"]
    assert at == 2


def test_rows_of_a_list_say_which_are_chosen() -> None:
    queue = Queue()
    queue.put([approval(f"a{n}", call=f"c{n}") for n in range(9)])
    queue.move(6)
    queue.draft(queue.waiting[6]).chosen = True
    rows = texts(frame.list_rows(queue, {}, look(), 3))
    assert rows == ["  [ ] c5", "> [x] c6", "  [ ] c7"]
