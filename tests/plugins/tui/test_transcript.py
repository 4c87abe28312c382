"""The transcript as a widget: what it draws and when, keys, the mouse, what it tells the app."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pegboard_tui.drawn
import pytest
from pegboard.blocks import Activity, AnyBlock, Custom, Note, Text
from pegboard.port import Described
from pegboard_tui.app import PegboardApp
from pegboard_tui.composer import Composer
from pegboard_tui.drawing.items import rows
from pegboard_tui.drawing.look import Look, Palette
from pegboard_tui.items import AnyItem, Made, Said, Shown, Told
from pegboard_tui.painting import GUTTER
from pegboard_tui.transcript import Transcript
from pegboard_tui.viewer import Viewer
from rich.style import Style
from scripted import ScriptedHost, call_asked, call_finished
from textual.app import App, ComposeResult
from textual.events import MouseScrollUp
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input


class Alone(App[None]):
    """A transcript above an input, and what it told."""

    CSS = "Input { height: 1; border: none; }"

    def __init__(self, items: Sequence[AnyItem] = ()) -> None:
        super().__init__()
        self.items = items
        self.told: list[object] = []

    def compose(self) -> ComposeResult:
        yield Transcript(Palette())
        yield Input()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.transcript.show(self.items)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_copied(self, message: Transcript.Copied) -> None:
        self.told.append((message.what, message.text))

    def on_transcript_left(self) -> None:
        self.told.append("left")
        self.query_one(Input).focus()

    def on_transcript_scrolled(self) -> None:
        self.told.append("scrolled")


class Drawing:
    """What was drawn, by key."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.fails = ""

    def rows(self, item: AnyItem, look: Look) -> list[Strip]:
        self.keys.append(item.key)
        if item.key == self.fails:
            raise ValueError("[red]not\x1b[31m today")
        return rows(item, look)


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drawing]:
    seen = Drawing()
    monkeypatch.setattr(pegboard_tui.drawn, "rows", seen.rows)
    yield seen


def told(count: int, first: int = 0) -> list[AnyItem]:
    """Notes of a line each."""
    return [Told(key=f"t{at}", text=f"note {at}") for at in range(first, first + count)]


def call(key: str, text: str, *blocks: AnyBlock) -> Made:
    described = Described(tool="t", activity=Activity(glyph="$", verb="Run", subject=key), echo=True)
    result = call_finished(key, text, blocks=list(blocks))
    return Made(key=key, asked=call_asked(key, "Run it"), described=described, state="done", finished=result)


def screen(app: Alone) -> list[str]:
    """The transcript's lines as they are on the screen."""
    transcript = app.query_one(Transcript)
    return [transcript.render_line(y).text.rstrip() for y in range(transcript.size.height)]


def style_at(transcript: Transcript, x: int, y: int) -> Style:
    """How a cell looks."""
    strip = transcript.render_line(y).crop(x, x + 1)
    return next(iter(strip)).style or Style()


async def until(pilot: Pilot[None], so: Callable[[], bool]) -> None:
    """Wait for something that comes with one of the next repaints."""
    for _ in range(100):
        if so():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come")


async def test_of_ten_thousand_items_those_in_view_are_drawn_and_a_key_in_the_input_draws_none(
    drawing: Drawing,
) -> None:
    app = Alone(told(10_000))
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert "note 9999" in screen(app)[-1]
        assert len(set(drawing.keys)) <= 12
        drawing.keys.clear()
        await pilot.press(*"hello")
        assert drawing.keys == []
        app.transcript.scroll_y = 5_000  # the scroll bar is dragged
        await pilot.pause()
        assert 0 < len(drawing.keys) <= 14
        assert 1_000 < app.transcript.window.rows[0].number < 6_000


async def test_a_growing_text_draws_itself_alone_and_not_once_for_every_piece(drawing: Drawing) -> None:
    said = Said(key="said")
    app = Alone([*told(5_000), said])
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        drawing.keys.clear()
        began = monotonic()
        for number in range(200):
            said.text += f"word{number} "
            said.touch()
            app.transcript.take([said])
            await pilot.pause(0.001)
        await until(pilot, lambda: "word199" in "".join(screen(app)))
        assert set(drawing.keys) == {"said"}
        assert len(drawing.keys) <= 5 + 20 * (monotonic() - began)


async def test_it_follows_its_end_until_somebody_scrolls_up_and_says_what_is_below() -> None:
    app = Alone(told(100))
    async with app.run_test(size=(40, 12)) as pilot:
        app.transcript.take(told(5, 100))
        app.transcript.flush()
        assert "note 104" in screen(app)[-1]
        await pilot._post_mouse_events([MouseScrollUp], Transcript, (3, 3))
        await pilot.pause()
        before = screen(app)[:-1]
        app.transcript.take(told(3, 105))
        app.transcript.flush()
        await pilot.pause()
        assert screen(app)[:-1] == before
        assert screen(app)[-1].endswith("below, 3 new · End")
        await pilot.click(Transcript, offset=(37, 10))
        assert "note 107" in screen(app)[-1]
        app.transcript.take(told(1, 108))
        app.transcript.flush()
        assert "note 108" in screen(app)[-1]


async def test_its_scroll_bar_is_drawn_in_parts_as_it_would_be_drawn_whole() -> None:
    app = Alone(told(30))
    async with app.run_test(size=(60, 12)):
        transcript = app.transcript
        bar = transcript.vertical_scrollbar

        def drawn() -> list[str]:
            return [str(list(strip)) for strip in bar.render_lines(bar.size.region)]

        states = [drawn()]
        for step in (1, 2, 3, 40, 400):
            transcript.take(told(step, first=len(transcript.window.items)))
            transcript.flush()
            transcript.scroll_lines(-step // 2)
            in_parts = drawn()
            bar.refresh()
            assert in_parts == drawn()
            states.append(in_parts)
        assert all(one != other for one, other in pairwise(states))


async def test_keys_page_through_it_and_end_goes_on_following() -> None:
    app = Alone(told(200))
    async with app.run_test(size=(40, 12)) as pilot:
        transcript = app.transcript
        transcript.focus()
        await pilot.pause()
        tops = []
        for key in ("pageup", "ctrl+u", "ctrl+d", "pagedown", "home", "G", "g", "end"):
            await pilot.press(key)
            tops.append((transcript.max_scroll_y - transcript.window.y, transcript.window.y == 0))
        end = transcript.max_scroll_y
        assert [rest for rest, _ in tops] == [9, 13, 9, 0, end, 0, end, 0]
        assert [start for _, start in tops] == [False] * 4 + [True, False] * 2
        assert transcript.window.following
        await pilot.press("escape")
        assert app.told == ["left"]
        assert app.query_one(Input).has_focus


async def test_the_cursor_is_a_sign_in_the_gutter_and_goes_from_item_to_item_and_through_long_ones() -> None:
    long = Shown(key="long", blocks=[Text(text="\n".join(f"line {at}" for at in range(40)))])
    app = Alone([*told(3), long, *told(2, 3)])
    async with app.run_test(size=(40, 12)) as pilot:
        app.transcript.focus()
        await pilot.pause()
        (line,) = [line for line in screen(app) if line.startswith(">")]
        assert line.endswith("note 4")
        seen: list[str] = []
        keys: list[str] = []
        for _ in range(20):
            await pilot.press("k")
            seen += screen(app)
            keys.append(app.transcript.current.key if app.transcript.current else "")
        assert {f"line {at}" for at in range(40)} <= {line[GUTTER:] for line in seen if line[:1] in (">", "▎")}
        assert keys[0] == "t3"
        assert keys[-1] == "t0"
        assert keys.count("long") > 3
        await pilot.press("j", "down")
        assert app.transcript.current is app.items[2]
        await pilot.press("tab")
        assert not [line for line in screen(app) if line.startswith(">")]


async def test_enter_folds_and_unfolds_what_is_under_the_cursor_and_keeps_its_beginning_in_view() -> None:
    item = call("c", "\n".join(f"line {at}" for at in range(60)))
    item.folded = True
    app = Alone([*told(30), item])
    async with app.run_test(size=(40, 12)) as pilot:
        app.transcript.focus()
        await pilot.press("enter")
        assert item.folded is False
        assert any(line.startswith(">") and "Run c" in line for line in screen(app))
        version = item.version
        await pilot.press("space")
        assert (item.folded, item.version) == (True, version + 1)


async def test_y_copies_the_source_and_c_the_last_code_block() -> None:
    said = Said(key="s", text="# T\n\n```sh\nls\n```\n\n```py\nx = 1\n```\n", done=True)
    app = Alone([said])
    async with app.run_test(size=(40, 12)) as pilot:
        app.transcript.focus()
        await pilot.press("y", "c", "Y")
        assert app.told == [("the item", said.text), ("code", "x = 1"), ("code", "x = 1")]


async def test_dragging_selects_across_lines_without_gutter_and_padding_and_stays_while_lines_above_change() -> None:
    block = Shown(key="b", blocks=[Text(text="alpha beta\nlonger line here\ngamma delta")])
    above = Told(key="a", text="above")
    app = Alone([above, block])
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        y = next(at for at, line in enumerate(screen(app)) if "alpha" in line)
        x = screen(app)[y].index("alpha")
        await pilot.mouse_down(Transcript, offset=(x + 6, y))
        await pilot.hover(Transcript, offset=(x + 4, y + 2))
        await pilot.mouse_up(Transcript, offset=(x + 4, y + 2))
        wanted = "beta\nlonger line here\ngamma"
        assert app.transcript.selected_text() == wanted
        assert app.screen.get_selected_text() == wanted
        assert style_at(app.transcript, x + 6, y).reverse
        assert not style_at(app.transcript, x + 5, y).reverse
        assert not app.transcript.has_focus
        above.text = "now\n\nof\n\nmore lines"
        above.touch()
        app.transcript.take([above])
        app.transcript.flush()
        assert app.transcript.selected_text() == wanted
        app.transcript.focus()
        await pilot.press("y")
        assert app.told == [("selection", wanted)]


async def test_two_clicks_select_a_word_and_three_an_item() -> None:
    app = Alone([Shown(key="b", blocks=[Text(text="see src/app.py:12, line")]), *told(3)])
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        x = screen(app)[0].index("app")
        await pilot.click(Transcript, offset=(x, 0), times=2)
        assert app.transcript.selected_text() == "src/app.py:12"
        await pilot.click(Transcript, offset=(x, 0), times=3)
        assert (app.transcript.selected_text() or "").strip() == "see src/app.py:12, line"


async def test_a_search_goes_upwards_unfolds_what_holds_the_words_and_marks_them() -> None:
    hidden = call("c", "\n".join([*(f"line {at}" for at in range(60)), "the Needle lies here"]))
    hidden.folded = True
    app = Alone([*told(50), hidden, *told(50, 50)])
    async with app.run_test(size=(60, 12)) as pilot:
        app.transcript.focus()
        await pilot.pause()
        await pilot.press("slash", *"needle", "enter")
        await pilot.pause()
        assert app.transcript.current is hidden
        line = next(line for line in screen(app) if "Needle" in line)
        y = screen(app).index(line)
        assert style_at(app.transcript, line.index("Needle"), y).reverse
        assert app.transcript.search("note 99")
        assert app.transcript.search("note 7")
        found = [app.transcript.current.key if app.transcript.current else ""]
        for key in ("n", "n", "N"):
            await pilot.press(key)
            found.append(app.transcript.current.key if app.transcript.current else "")
        assert found == ["t79", "t78", "t77", "t78"]
        assert not app.transcript.search("nowhere to be found")


async def test_a_very_long_item_opens_whole_on_a_screen_of_its_own() -> None:
    text = "\n".join(f"line {at}" for at in range(200_000))
    app = Alone([call("c", text)])
    async with app.run_test(size=(60, 12)) as pilot:
        app.transcript.focus()
        await pilot.press("o")
        await pilot.pause()
        body = app.screen.query_one(Transcript)
        assert isinstance(app.screen, Viewer)
        assert "Run c" in body.render_line(0).text
        await pilot.press("end")
        assert "line 199999" in body.render_line(body.size.height - 1).text
        await pilot.press("y")
        assert app.told and "199999" in str(app.told[-1])
        await pilot.press("escape")
        assert not isinstance(app.screen, Viewer)


async def test_one_item_that_cannot_be_drawn_is_a_problem_line_among_the_others(drawing: Drawing) -> None:
    drawing.fails = "t2"
    app = Alone(told(5))
    async with app.run_test(size=(80, 12)):
        text = "\n".join(screen(app))
        assert "! this cannot be shown: ValueError: [red]not\\x1b[31m today" in text
        assert "note 1" in text
        assert "note 3" in text


async def test_hostile_sizes_and_contents_do_not_end_it() -> None:
    app = Alone([])
    async with app.run_test(size=(40, 12)) as pilot:
        app.transcript.focus()
        await pilot.press("k", "j", "enter", "y", "c", "o", "n", "escape", "pageup", "end")
        app.transcript.show(
            [call("c", "x" * 300_000), *told(50), Said(key="s", text="日本" * 500), call("d", "\x1b]0;t\x07")]
        )
        for size in ((1, 1), (200, 3), (3, 20), (20, 5), (1, 30), (80, 1), (60, 12)):
            await pilot.resize_terminal(*size)
        await pilot.pause()
        lines = screen(app)
        assert "\x1b" not in "".join(lines)
        assert app.transcript.window.following
        assert {app.transcript.render_line(y).cell_length for y in range(len(lines))} == {59}


async def test_resizing_keeps_the_item_at_the_top(drawing: Drawing) -> None:
    app = Alone([Told(key=f"t{at}", text=f"note {at} " + "word " * 30) for at in range(500)])
    async with app.run_test(size=(80, 12)) as pilot:
        app.transcript.focus()
        await pilot.press("home", *["pagedown"] * 5)
        at = app.transcript.window.rows[0].number
        drawing.keys.clear()
        for width in (100, 60, 40):
            await pilot.resize_terminal(width, 12)
            await pilot.pause()
            assert app.transcript.window.rows[0].number == at
        assert len(set(drawing.keys)) < 14
        for _ in range(30):
            before = screen(app)
            app.transcript.scroll_lines(-1)
            assert screen(app)[1:-1] == before[:-2]


async def test_a_plugins_block_has_a_place_with_lines_of_its_own_and_is_told_when_that_moves() -> None:
    custom = Shown(key="c", blocks=[Custom(kind="chart", plain=[Note(text="plain form")])])
    app = Alone([*told(1), custom, *told(2, 1)])
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        (place,) = app.transcript.places()
        assert "plain form" in screen(app)[place.y]
        assert (place.item, place.reserved) == (custom, 0)
        before = screen(app)
        app.told.clear()
        app.transcript.reserve("c", 3)
        await pilot.pause()
        end = place.y + place.height
        assert screen(app)[: end + 5] == [*before[:end], "", "", "", *before[end : end + 2]]
        assert app.transcript.places() == [place._replace(reserved=3)]
        assert app.told == ["scrolled"]
        app.transcript.take(told(20, 3))
        app.transcript.flush()
        assert app.transcript.places() == []


async def test_another_palette_draws_what_is_in_view_anew(drawing: Drawing) -> None:
    app = Alone(told(1_000))
    async with app.run_test(size=(40, 12)):
        drawing.keys.clear()
        app.transcript.palette = Palette(note=Style(underline=True))
        assert style_at(app.transcript, GUTTER, 11 - 1).underline
        assert 0 < len(drawing.keys) <= 12


def test_what_is_kept_is_bounded_and_what_was_seen_last_stays(drawing: Drawing) -> None:
    kept = pegboard_tui.drawn.DrawnItems(Look(width=40), kept=100)
    notes = told(300)
    for note in notes:
        kept.of(note)
        kept.of(notes[0])
    assert kept.lines <= 100
    assert drawing.keys.count("t0") == 1
    long = Shown(key="long", blocks=[Text(text="x\n" * 500)])
    assert len(kept.of(long)) > 400
    assert kept.lines == len(kept.of(long))


async def test_page_keys_page_through_it_while_the_input_keeps_the_focus(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    app = PegboardApp(host, host.open())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        transcript = app.screen.query_one(Transcript)
        transcript.show(told(100))
        await pilot.press("pageup", "x")
        assert not transcript.window.following
        assert app.screen.query_one(Composer).has_focus_within
        await pilot.press("pagedown")
        assert transcript.window.following
