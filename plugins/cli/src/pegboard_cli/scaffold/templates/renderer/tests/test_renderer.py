"""The blocks that are made of data, and that a board draws a tool's result with them."""

import pytest
from pegboard import tool
from pegboard.blocks import Note, Table
from pegboard.kit.walk.query import Hit, Hits

import pegboard_sample_plugin as plugin
from pegboard_sample_plugin import draw

NAME = "sample-plugin"
FOUND = Hits(
    hits=[
        Hit(path="a.py", line=3, text="    # TODO: mend"),
        Hit(path="a.py", line=9, text="# TODO"),
        Hit(path="b.py", line=1, text="TODO"),
    ],
    engine="rg",
    pattern="TODO",
)


def test_each_file_is_named_once():
    [table] = draw(FOUND, rows=50)
    rows = [["a.py", "3", "# TODO: mend"], ["", "9", "# TODO"], ["b.py", "1", "TODO"]]
    assert table == Table(columns=["file", "line", "text"], rows=rows)


def test_what_is_too_much_is_counted():
    table, note = draw(FOUND, rows=1)
    assert len(table.rows) == 1
    assert note == Note(text="2 further lines match")


@pytest.mark.parametrize("hits", [[], [Hit(path="a.py")], [Hit(path="a.py", count=2)]])
def test_where_there_are_no_lines_the_text_is_shown(hits):
    assert draw(Hits(hits=hits, engine="rg", pattern="x"), rows=50) is None


@tool(pure=True)
def search() -> Hits:
    """Find what there is to find."""
    return FOUND


def test_a_board_draws_with_it_what_any_tool_returns(pegboard_board):
    board = pegboard_board(
        tools=[search],
        renderers={NAME: plugin},
        settings={f"{NAME}.rows": 2},
    )
    # What the model is told is the tool's own business.
    board.call("search").expect("ok", text=str(FOUND), blocks=[Table, Note])


def test_each_front_end_that_is_installed_draws_it(pegboard_board):
    board = pegboard_board(
        tools=[search],
        renderers={NAME: plugin},
    )
    drawn = board.call("search").in_forms()
    assert all("a.py" in text for text in drawn.values())
