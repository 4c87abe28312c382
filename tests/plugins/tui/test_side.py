"""The side pane."""

from __future__ import annotations

from pathlib import Path

from pegboard import port
from pegboard.blocks import Markdown
from pegboard.config.schema import UISettings
from pegboard.events import PanelChanged, Prompt, Text, TurnEnded, TurnStarted, Usage
from pegboard_tui.app import PegboardApp
from pegboard_tui.drawing.look import Palette
from pegboard_tui.side import Section, Side
from pegboard_tui.status import Status
from pegboard_tui.transcript import Transcript
from scripted import ScriptedConversation, ScriptedHost
from widgets import until


def shown(app: PegboardApp) -> str:
    """What stands in the pane, a line of cells a line."""
    sections = [one for one in app.query_one(Side).query(Section) if one.display]
    return "\n".join(one.render_line(y).text.rstrip() for one in sections for y in range(one.size.height))


def begin(conversation: ScriptedConversation) -> None:
    conversation.port.emit(TurnStarted(turn=1, session="s", model="a/b", sets=[], not_loaded=[], offered=1))
    conversation.port.emit(Prompt(turn=1, text="mend it"))


async def test_the_pane_shows_sets_with_their_cost_the_context_jobs_and_panels(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    conversation = host.open()
    conversation.cost_list = [
        port.Cost(set="small", tools=["one"], bytes=400, tokens=100),
        port.Cost(set="large", tools=["two", "thr\x1bee"], bytes=8_000, tokens=1_900),
    ]
    conversation.job_list = [port.Job(id="j1", label="serve\x1b]0;x", state="running for 3 s", over=False)]
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(120, 40)) as pilot:
        begin(conversation)
        conversation.port.emit(Usage(turn=1, input=20_000, output=1_500, cost=0.25, context=12_000))
        conversation.port.emit(PanelChanged(id="todo.list", title="To do", blocks=[Markdown(text="mend the *lexer*")]))
        conversation.port.emit(TurnEnded(turn=1, status="done", text="", usage={}))
        await until(
            pilot,
            lambda: all(it in shown(app) for it in ("~2k  2%", "12k of 100k", "running for 3 s", "mend the lexer")),
        )
        pane = shown(app)
        assert "~2k  2%" in pane and pane.index("large 2") < pane.index("small 1")
        assert "12k of 100k" in pane and "12%" in pane and "$0.25" in pane and "20k" in pane
        assert "1 running" in pane and r"serve\x1b]0;x" in pane and "running for 3 s" in pane
        assert "To do" in pane and "mend the lexer" in pane
        assert "thr" not in pane  # the names are folded
        sections = app.query_one(Side).query(Section)
        next(one for one in sections if one.folded).focus()
        await pilot.press("enter")
        await pilot.pause()
        assert r"thr\x1bee" in shown(app)
        conversation.port.emit(PanelChanged(id="todo.list", title="To do", blocks=[]))
        await until(pilot, lambda: "To do" not in shown(app))


async def test_a_streaming_text_draws_nothing_of_the_pane_and_a_changed_mode_costs_anew(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    conversation = host.open()
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(120, 40)) as pilot:
        begin(conversation)
        conversation.port.emit(Text(turn=1, text="I begin "))
        await pilot.pause(0.2)
        drawn: list[str] = []
        asked: list[str] = []
        for section in app.query_one(Side).query(Section):
            section.redraw = lambda: drawn.append("drawn")  # type: ignore[method-assign]
        costs = conversation.costs
        conversation.costs = lambda: asked.append("asked") or costs()  # type: ignore[method-assign,func-returns-value]
        for piece in ("it ", "streams ", "on"):
            conversation.port.emit(Text(turn=1, text=piece))
            await pilot.pause(0.06)
        assert (drawn, asked) == ([], [])
        conversation.mode = "plan"
        conversation.cost_list = []
        app.show_standing()
        assert asked == ["asked"] and len(drawn) == 2


async def test_the_pane_lies_beside_the_transcript_or_over_it_and_is_closed_by_the_settings(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path, UISettings(side=False))
    app = PegboardApp(host, host.open())
    async with app.run_test(size=(120, 30)) as pilot:
        await pilot.pause()
        side, transcript = app.query_one(Side), app.query_one(Transcript)
        assert not side.display and transcript.region.width > 110
        await pilot.press("f2")
        await pilot.pause()
        assert side.display and transcript.region.right <= side.region.x
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert not side.display and transcript.region.width > 55
        await pilot.press("f2")
        await pilot.pause()
        assert side.display and transcript.region.width > 55 and side.region.right == 60
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert side.region.width <= 18


async def test_another_theme_draws_everything_anew_and_plain_has_no_colour(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path, UISettings(theme="light"))
    app = PegboardApp(host, host.open())
    async with app.run_test(size=(120, 30)) as pilot:
        begin(host.opened[0])
        await pilot.pause(0.1)
        assert app.theme == "light" and not app.query_one(Status).palette.dark
        for name in ("contrast", "nord", "plain"):
            assert app.chosen_theme(name) is None and host.kept == {"ui.theme": name}
            await pilot.pause()
            palettes = [p for one in app.query("*") if isinstance(p := getattr(one, "palette", None), Palette)]
            assert len(palettes) > 5 and all(palette == app.palette for palette in palettes)
        strips = [strip for line in app.screen._compositor.render_strips() for strip in line]
        colours = {c for s in strips if s.style for c in (s.style.color, s.style.bgcolor) if c and not c.is_default}
        assert strips and colours == set()
        assert "there is no theme nothing" in (app.chosen_theme("nothing") or "") and app.theme == "plain"


async def test_background_commands_that_cannot_be_read_end_nothing_and_another_session_has_its_own(
    tmp_path: Path,
) -> None:
    class Broken(ScriptedConversation):
        def jobs(self) -> list[port.Job]:
            raise OSError("gone")

    host = ScriptedHost(tmp_path)
    app = PegboardApp(host, Broken())
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        other = host.open()
        other.job_list = [port.Job(id="j1", label="serve", state="running", over=False)]
        side = app.query_one(Side)
        side.show(app.view.fold, app.view.conversation)
        side.show(app.view.fold, other)  # while the first one's are read
        await until(pilot, lambda: "serve" in shown(app))
