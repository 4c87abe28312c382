"""One object, four ways of showing it: text, Rich, JSON, the app. A golden file for each kind of block, and for a tool's
result that has a block of its own with a widget for it.

After a change that was meant, `GOLDEN=write make test ARGS=tests/plugins/tui/test_four_renderers.py` writes them anew;
read what differs.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from pegboard import blocks as kinds
from pegboard.blocks import AnyBlock, Custom
from pegboard.rendering import from_json, to_json
from pegboard_cli.render import block_lines
from pegboard_cli.richly import renderables
from pegboard_cli.styles import Styles
from pegboard_tui.custom.kinds import Kinds
from pegboard_tui.custom.stage import Stage
from pegboard_tui.drawing.blocks import lines
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.items import Shown
from pegboard_tui.transcript import Transcript
from rich.console import Console
from textual.app import App, ComposeResult
from widgets import BAR_CHART, installed, until

GOLDENS = Path(__file__).resolve().parents[2] / "data" / "renderers"
WIDTH = 72
HOSTILE = "[red]\x1b[2J\u202e[/red]"
"""Rich's markup, an escape sequence and a mark of direction: none of the four obeys them."""
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGP4z8AARAxwCsYGAGHzBfv4T+tsAAAAAElFTkSuQmCC"
DIFF = "@@ -1,3 +1,3 @@\n import os\n-old = 1\n+new = 2\n print()\n"
MARKDOWN = (
    "# Head\n\nSome **bold** words, `code` and [a link](https://example.org/x).\n\n- one\n\n```python\nx = 1\n```\n"
)
TABLE = kinds.Table(columns=["name", "count"], rows=[["alpha", "1"], [HOSTILE, "22"]])
SAMPLES: list[AnyBlock] = [
    kinds.Activity(glyph="←", verb="Read", subject=f"a.py {HOSTILE}", details="[limit=20]\nof 400 lines"),
    kinds.Diff(path="src/a.py", change="changed", added=1, removed=1, text=DIFF),
    kinds.Note(text=f"a note {HOSTILE}\nin two lines"),
    kinds.Problem(text=f"it did not go well {HOSTILE}"),
    kinds.Markdown(text=f"{MARKDOWN}\n{HOSTILE}"),
    kinds.Text(text=f"as it is\n  indented {HOSTILE}", title="A title"),
    TABLE,
    kinds.Image(media_type="image/png", data=PICTURE, alt=f"a plot {HOSTILE}"),
    Custom(kind="nobody-has-it", data={"n": [1, 2]}, plain=[kinds.Note(text="in its place"), TABLE]),
]


def as_text(blocks: list[AnyBlock]) -> str:
    return "\n".join(line for block in blocks for line in block_lines(block, Styles(), width=WIDTH))


def as_rich(blocks: list[AnyBlock]) -> str:
    out = io.StringIO()
    Console(file=out, width=WIDTH, color_system=None).print(renderables(blocks))
    return out.getvalue()


def as_json(blocks: list[AnyBlock]) -> str:
    return json.dumps(json.loads(to_json(blocks)), indent=1)


def in_the_app(blocks: list[AnyBlock]) -> str:
    return "\n".join(strip.text for block in blocks for strip in lines(block, Look(width=WIDTH)))


def compare(name: str, **parts: str) -> None:
    now = "".join(
        f"=== {part.replace('_', ' ')}\n" + "".join(f"{line.rstrip()}\n" for line in shown.rstrip("\n").split("\n"))
        for part, shown in parts.items()
    )
    file = GOLDENS / f"{name}.txt"
    if os.environ.get("GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(now, "utf-8")
    assert now == file.read_text("utf-8")


@pytest.mark.parametrize("block", SAMPLES, ids=lambda block: type(block).__name__.lower())
def test_a_block_is_drawn_four_times(block: AnyBlock) -> None:
    name = type(block).__name__.lower()
    [again] = from_json(to_json([block]))
    drawn = {"text": as_text([block]), "rich": as_rich([block]), "json": as_json([block]), "app": in_the_app([block])}
    assert again == block
    assert all("\x1b" not in shown and "\u202e" not in shown for way, shown in drawn.items() if way != "json")
    compare(name, **drawn)


def test_there_is_a_golden_of_every_kind() -> None:
    assert {type(block) for block in SAMPLES} == set(get_args(AnyBlock))
    assert {file.stem for file in GOLDENS.glob("*.txt")} == {type(b).__name__.lower() for b in SAMPLES} | {"bar-chart"}


class Alone(App[None]):
    """The app's transcript with one item."""

    def __init__(self, blocks: list[AnyBlock]) -> None:
        super().__init__()
        self._blocks = blocks

    def compose(self) -> ComposeResult:
        yield Stage(Transcript(Palette()), Kinds())

    def on_mount(self) -> None:
        self.query_one(Transcript).show([Shown(key="x", blocks=self._blocks)])


async def through_its_widget(blocks: list[AnyBlock]) -> str:
    app = Alone(list(blocks))
    async with app.run_test(size=(WIDTH, 24)) as pilot:
        stage = app.query_one(Stage)
        await until(pilot, lambda: stage.frames and stage.frames[0].size.width)
        [frame] = stage.frames
        return "\n".join(frame.render_line(y).text for y in range(frame.rows))


def test_a_result_of_a_strangers_tool_is_drawn_four_times_and_by_its_own_widget(
    pegboard_board: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = {"bar-chart": "pegboard_bars.widget:Chart"}
    installed(tmp_path / "site", monkeypatch, "pegboard-bar-chart", entries, BAR_CHART / "src")
    monkeypatch.delitem(sys.modules, "pegboard_bars", raising=False)
    import pegboard_bars

    root = tmp_path / "root"
    for name, count in {"src/app.py": 120, "src/more.py": 30, "README.md": 40, "data.jsonl": 9, "Makefile": 5}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("line\n" * count, "utf-8")
    board = pegboard_board(root=root, modules={"bars": pegboard_bars})
    record = board.call("code_lines")
    drawn = board.run(board.board.renderers.blocks(board.board.registry.get("code_lines"), record.data))
    assert drawn is not None
    [block] = drawn
    compare(
        "bar-chart",
        for_the_model=record.text,
        data=json.dumps(record.data, indent=1),
        text=as_text([block]),
        rich=as_rich([block]),
        json=as_json([block]),
        app=in_the_app([block]),
        app_with_its_widget=asyncio.run(through_its_widget([block])),
    )
