"""The blocks that are made of data, and that a board draws a tool's result with them."""

import asyncio
from types import ModuleType

import pytest
from pegboard import Board, hookimpl, tool
from pegboard.blocks import Note, Table
from pegboard.kit.walk.query import Hit, Hits
from pegboard.plugins import given

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


@hookimpl
def pegboard_tools():
    return [search]


def test_a_board_draws_with_it_what_any_tool_returns(tmp_path):
    tools = ModuleType("tools_of_this_test")
    tools.pegboard_tools = pegboard_tools
    board = Board.build(
        str(tmp_path),
        flags={f"{NAME}.rows": 2},
        user_file=tmp_path / "none.toml",
        state=tmp_path / "state",
        environ={},
        discover=False,
        extra=[
            given(NAME, "pegboard.renderers", plugin),
            given("tools-of-this-test", "pegboard.toolsets", tools, own=True),
        ],
    )

    async def drawn():
        try:
            record = await board.call("search")
            blocks = await board.renderers.blocks(board.registry.get("search"), record.data)
            return record, blocks, board.renderers.told()
        finally:
            await board.close()

    record, blocks, troubles = asyncio.run(drawn())
    assert record.text == str(FOUND)  # what the model is told is the tool's own business
    assert [type(block) for block in blocks] == [Table, Note]
    assert troubles == []
