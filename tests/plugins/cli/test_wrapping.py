"""Rows of a terminal's width: nothing is left out, and nothing that stands in a line begins a row of its own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pegboard_cli.wrapping import LEAST, wrapped

SGR = re.compile(r"\x1b\[[0-9;]*m")


def columns(row: str) -> int:
    """What a terminal takes for a row of narrow and wide characters."""
    return sum(2 if char in "日本" else 0 if char == "\u0301" else 1 for char in SGR.sub("", row))


LINES = st.tuples(
    st.sampled_from(["", "  ", "      │ ", "  \x1b[32m+", "\x1b[1m"]), st.text("ab  日本\u0301-", max_size=300)
).map(lambda pair: pair[0] + pair[1])


@given(line=LINES, width=st.integers(LEAST, 90))
def test_rows_fit_keep_everything_and_stay_indented(line: str, width: int) -> None:
    rows = wrapped(line, width)
    assert all(columns(row) < width for row in rows)
    head = re.match(r"(?:\x1b\[[0-9;]*m)*( *)(│ )?", line)
    assert head is not None
    indent = head[1] + (head[2] or "  ")
    assert all(row.startswith(indent) for row in rows[1:])
    assert rows[0] + "".join(row[len(indent) :] for row in rows[1:]) == line


@pytest.mark.parametrize("width", [None, LEAST - 1, 5])
def test_without_a_width_worth_the_name_a_line_stays_whole(width: int | None) -> None:
    assert wrapped("x" * 300, width) == ["x" * 300]


def test_rows_break_at_words_where_there_are_some() -> None:
    line = "  some_tool asks: tool_permission.edit (default)"
    assert wrapped(line, 30) == ["  some_tool asks: ", "    tool_permission.edit ", "    (default)"]


def test_a_tab_takes_what_a_terminal_gives_it() -> None:
    rows = wrapped("\t" * 8 + "end", 40)
    assert len(rows) == 2 and rows[1].endswith("end") and "".join(rows).count("\t") == 8
