"""Plugins' own widgets: shown in place of their block, usable, and no harm to anything when they misbehave."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from pegboard.blocks import AnyBlock, Custom, Note, Table, Text
from pegboard_tui.custom import messages as told
from pegboard_tui.custom import stage as stage_module
from pegboard_tui.custom.easel import Easel
from pegboard_tui.custom.framed import Framed
from pegboard_tui.custom.kinds import Kinds
from pegboard_tui.custom.stage import Stage
from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Shown, Told
from pegboard_tui.transcript import Transcript
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input
from widgets import installed, screen, until

MODULE = '''
import os
from textual.binding import Binding
from textual.containers import Vertical
from textual.widget import Widget
from textual.widgets import Input, Static

print("noise on stdout")

class Naughty(Widget, can_focus=True):
    """What goes wrong stands in its data."""
    DEFAULT_CSS = "Naughty { height: auto; }"
    BINDINGS = [Binding("ctrl+t", "take", priority=True), Binding("b", "boom"), Binding("x", "crash"), Binding("h", "hang")]

    def __init__(self, how):
        self._fail("constructor", how)
        super().__init__()
        self.how, self.keys = how, ""

    def _fail(self, where, how):
        if how == where:
            raise ValueError(f"no luck in {where}")

    def compose(self):
        self._fail("compose", self.how)
        return ()

    def on_mount(self):
        self._fail("mount", self.how)
        self.focus()

    def render(self):
        self._fail("render", self.how)
        return f"{self.how} as drawn {self.keys}"

    def on_key(self, event):
        if event.is_printable:
            self.keys += event.character
            self.refresh()

    def action_take(self):
        self.keys += "STOLEN"

    def action_boom(self):
        raise RuntimeError("[red]\\x1b[2Jboom")

    def action_crash(self):
        os._exit(7)

    def action_hang(self):
        while True:
            pass

    def get_content_height(self, container, viewport, width):
        return 1

def made(data):
    return data if data == "no widget" else Naughty(data)

def several(data):
    if data == "form":
        return Vertical(Input("one"), Input("two"))
    return Static("\\n".join(f"line {n}" for n in range(3_000)) if data == "long" else data, markup=False)
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "naughty.py").write_text(MODULE, "utf-8")
    kinds = {
        "naughty": "made",
        "other": "Naughty",
        "several": "several",
        "long": "several",
        "form": "several",
    }
    entries = {kind: f"naughty:{name}" for kind, name in kinds.items()}
    installed(tmp_path, monkeypatch, "pegboard-naughty", entries | {"broken": "naughty_gone:Widget"})


class Session(App[None]):
    """A transcript with widgets over it, and an input that has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+t", "mine", priority=True)]

    def __init__(self, *blocks: AnyBlock, kinds: Kinds | None = None) -> None:
        super().__init__()
        self.shown = [Shown(key=f"x{number}", blocks=[block]) for number, block in enumerate(blocks)]
        self.kinds = kinds or Kinds()
        self.mine = 0

    def compose(self) -> ComposeResult:
        yield Stage(Transcript(Palette()), self.kinds)
        yield Input()

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.query_one(Transcript).show([Told(key="first", text="before"), *self.shown, Told(key="last", text="after")])

    def action_mine(self) -> None:
        self.mine += 1

    @property
    def stage(self) -> Stage:
        return self.query_one(Stage)


def block(kind: str, data: object) -> Custom:
    return Custom(kind=kind, data=data, plain=[Text(text=f"{data} is plain")])


def notes(blocks: Sequence[AnyBlock]) -> list[str]:
    return [one.text for one in blocks if isinstance(one, Note)]


async def test_a_widget_that_raises_costs_its_own_block_and_is_told_of_once(plugin: None) -> None:
    ways = ["constructor", "compose", "mount", "render", "no widget"]
    app = Session(*(block("naughty", how) for how in [*ways, "well"]))
    async with app.run_test(size=(80, 40)) as pilot:
        await until(
            pilot,
            lambda: len(app.stage.frames) == 1 and all(f"{how} is plain" in " ".join(screen(app)) for how in ways),
        )
        lines = screen(app)
        assert any("well as drawn" in line for line in lines) and "well is plain" not in " ".join(lines)
        assert "naughty" not in sys.modules  # not in this process
        told = [text for item in app.shown for text in notes(item.blocks)]
        assert len(told) == 1 and "pegboard-naughty 0.1 raised " in told[0]
        assert "nothing else is changed" in told[0] and '"naughty" in plugins.disable' in told[0]
        assert isinstance(app.focused, Input)  # it asked for the keys when it was mounted
        [frame] = app.stage.frames
        frame.focus()
        await pilot.press("a", "ctrl+t", "c")
        await until(pilot, lambda: "as drawn ac" in " ".join(screen(app)))
        assert app.mine == 1  # a priority binding of its own is not asked before the app's
        await pilot.press("b")  # raises in an action
        await until(pilot, lambda: not app.stage.frames)
        await until(pilot, lambda: "well is plain" in " ".join(screen(app)))
        assert isinstance(app.focused, Transcript)
        assert len([text for item in app.shown for text in notes(item.blocks)]) == 1


async def test_one_that_hangs_or_ends_its_process_is_ended_and_the_session_goes_on(
    plugin: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage_module, "TICK", 0.1)
    monkeypatch.setattr(Easel, "ANSWER", 1.0)
    app = Session(block("naughty", "one"), block("other", "two"), block("broken", "three"))
    async with app.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: len(app.stage.frames) == 2 and len(app.stage.processes) <= 3)
        processes = app.stage.processes
        hanging, crashing = sorted(app.stage.frames, key=lambda frame: str(frame.block.kind))
        hanging.focus()
        await pilot.press("h")
        await until(pilot, lambda: app.stage.frames == [crashing])
        assert "did not answer for 1 s" in notes(app.shown[0].blocks)[0]
        crashing.focus()
        await pilot.press("x")
        await until(pilot, lambda: not app.stage.frames)
        assert "ended its process (exit 7)" in notes(app.shown[1].blocks)[0]
        await until(pilot, lambda: notes(app.shown[2].blocks))
        assert "could not be imported" in notes(app.shown[2].blocks)[0]
        app.query_one(Input).focus()
        await pilot.press(*"fine")
        assert app.query_one(Input).value == "fine"
        await until(pilot, lambda: not any(alive(pid) for pid in processes))
        text = " ".join(screen(app))
        assert all(f"{word} is plain" in text for word in ("one", "two", "three"))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


CODES = "a\x1b[2J\x1b]0;title b\u202ec"


async def test_it_has_half_of_the_room_its_own_scrolling_and_way_in_and_out(plugin: None) -> None:
    app = Session(block("several", "long"), block("several", "form"), block("several", CODES))
    async with app.run_test(size=(60, 30)) as pilot:
        await until(pilot, lambda: len(app.stage.frames) == 3)
        frames = {str(frame.block.data): frame for frame in app.stage.frames}
        assert frames["long"].rows == app.stage.size.height // 2
        text = " ".join(frames[CODES].render_line(0).text.split())
        assert text == r"a\x1b[2J\x1b]0;title b\u202ec"

        app.query_one(Transcript).focus()
        app.query_one(Transcript).action_home()
        await until(pilot, lambda: frames["long"].display and frames["long"].region.y >= 0)
        await pilot.press("tab")
        assert app.focused is frames["long"] and frames["long"].render_line(0).text.startswith("▌")
        await pilot.press("pagedown")
        await until(pilot, lambda: "line 10 " in frames["long"].render_line(0).text)
        await pilot.press("tab")  # through it to the next, and through what is in that one
        assert app.focused is frames["form"]
        await until(pilot, lambda: frames["form"].leads_out("shift+tab") and not frames["form"].leads_out("tab"))
        await pilot.press("tab", "Z")  # in place of the second one's text, which is selected
        await until(pilot, lambda: "Z" in whole(frames["form"]))
        assert "one" in whole(frames["form"]) and "two" not in whole(frames["form"])
        await pilot.press("escape")
        assert isinstance(app.focused, Transcript)

        transcript = app.query_one(Transcript)
        transcript.follow()
        await pilot.pause()
        y = frames["form"].region.y
        frames["form"].post_message(wheel(events.MouseScrollUp))
        await until(pilot, lambda: frames["form"].region.y > y)  # the page goes on below the mouse
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert all(frame.size.width <= 20 and frame.rows >= 0 for frame in app.stage.frames)
        processes = app.stage.processes
    assert len(processes) == 1
    async with asyncio.timeout(10):
        while any(map(alive, processes)):
            await asyncio.sleep(0.02)


def whole(frame: Framed) -> str:
    return "\n".join(frame.render_line(y).text for y in range(frame.rows))


def wheel(kind: type[events.MouseEvent]) -> events.MouseEvent:
    return kind(None, 5, 0, 0, 0, 0, False, False, False)


async def test_nothing_is_started_without_a_widget_and_what_is_switched_off_stays_plain(
    plugin: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path / "second", monkeypatch, "pegboard-also", {"form": "naughty:several"})
    off = Kinds(frozenset({"long"}))
    app = Session(
        block("unknown", "one"), block("long", "two"), block("form", "three"), Table(columns=["a"], rows=[]), kinds=off
    )
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: notes(app.shown[2].blocks))
        told = notes(app.shown[2].blocks)
        assert "pegboard-also 0.1 and pegboard-naughty 0.1 both bring a widget for 'form'" in told[0] and len(told) == 1
        await pilot.pause(0.1)
        assert app.stage.processes == [] and not app.query(Framed)
        text = " ".join(screen(app))
        assert all(f"{word} is plain" in text for word in ("one", "two", "three"))
        assert [notes(item.blocks) for item in app.shown[:2]] == [[], []]


def test_one_distribution_that_is_found_twice_claims_a_kind_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("one", "two"):
        installed(tmp_path / folder, monkeypatch, "pegboard-twice", {"twice": "twice:Widget"})
    claim = Kinds().find("twice")
    assert claim is not None and (claim.distribution, claim.value) == ("pegboard-twice", "twice:Widget")
    assert Kinds(frozenset({"pegboard-twice"})).find("twice") is None


async def test_the_end_of_its_process_is_left_to_who_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(subprocess.Popen, "poll", lambda self: looked.append(self.pid))
    easel = Easel("json:dumps", lambda _: None, lambda _, __: None)
    easel.send(told.Open(pane=1, data=None, width=10, height=3, theme={}, background="black"))
    async with asyncio.timeout(20):
        while easel.pid is None:
            await asyncio.sleep(0.02)
    await easel.gone()
    assert easel.pid is None
    assert not looked  # asyncio would say "Unknown child process" on the terminal that is given back
