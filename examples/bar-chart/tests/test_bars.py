"""The tool through the whole road, and the widget alone in an app: neither needs the other, nor Pegboard's app."""

import asyncio

import pegboard_bars
import pytest
from pegboard.blocks import Custom, Table

ROWS = [{"kind": ".py", "files": 2, "lines": 30}, {"kind": ".md", "files": 9, "lines": 10}]


@pytest.fixture
def board(pegboard_board):
    return pegboard_board(modules={"bars": pegboard_bars})


def test_lines_are_counted_by_kind_most_first(board, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("one\ntwo\nthree\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("one\ntwo", encoding="utf-8")
    (tmp_path / "picture.png").write_bytes(b"\0\1\n")
    record = board.call("code_lines")
    assert record.outcome == "ok" and record.decision.action == "allow"
    assert record.text.splitlines() == [
        ".py 3 lines in 1 files",
        ".md 2 lines in 1 files",
        "(1 files were left out)",
    ]


def test_a_folder_outside_the_workspace_is_refused(board):
    record = board.call("code_lines", path="..")
    assert (record.outcome, record.block) == ("blocked", "denied")


def test_its_block_has_a_plain_form():
    shares = [pegboard_bars.Share(**row) for row in ROWS]
    [block] = pegboard_bars.draw(pegboard_bars.Lines(".", shares))
    table = Table(columns=["kind", "files", "lines"], rows=[[".py", "2", "30"], [".md", "9", "10"]])
    assert block == Custom(kind="bar-chart", data=ROWS, plain=[table])


def test_the_widget_shows_bars_and_sorts_by_keyboard():
    pytest.importorskip("textual")
    from pegboard_bars.widget import Chart
    from textual.app import App

    class Alone(App):
        def compose(self):
            yield Chart(ROWS)

    async def look():
        app = Alone()
        async with app.run_test(size=(60, 8)) as pilot:
            chart = app.query_one(Chart)
            chart.focus()
            await pilot.pause()
            first = str(chart.render())
            await pilot.press("left")
            return first, str(chart.render())

    first, second = asyncio.run(look())
    assert first.index(".py") < first.index(".md") and "█" in first
    assert second.index(".md") < second.index(".py")
