"""Past sessions to choose from, and several open ones at once."""

from __future__ import annotations

import time
from pathlib import Path

from pegboard import port
from pegboard.errors import PegboardError
from pegboard.events import ApprovalAsked, Prompt, TurnEnded, TurnStarted
from pegboard_tui.app import PegboardApp
from pegboard_tui.composer import Composer
from pegboard_tui.picker import Picker, ago, matches
from pegboard_tui.sure import Sure
from pegboard_tui.switcher import Switcher
from pegboard_tui.switching import OpenSessions
from scripted import ScriptedConversation, ScriptedHost, call_asked
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import OptionList, Static
from widgets import until


def past(id: str, title: str, *, here: bool = True, hours: float = 1, status: str | None = "done") -> port.Past:
    root = "/w" if here else "/elsewhere/app"
    changed = time.time() - hours * 3600
    return port.Past(id=id, title=title, changed=changed, turns=2, root=root, here=here, status=status)


def rows(pilot: Pilot[int]) -> list[str]:
    shown = pilot.app.screen.query_one(OptionList)
    return [str(shown.get_option_at_index(n).prompt).split("\n")[0] for n in range(shown.option_count)]


def told(pilot: Pilot[int]) -> str:
    return str(pilot.app.screen.query_one("#told", Static).render())


def test_words_are_looked_for_in_the_request_the_id_and_the_folder() -> None:
    one = past("20260101-abc", "Mend the CART", here=False)
    assert matches(one, ["cart", "elsewhere"]) and matches(one, ["0101"]) and matches(one, [])
    assert not matches(one, ["cart", "nothing"])
    assert [ago(n) for n in (5, 200, 8000, 200_000)] == ["now", "3 min", "2 h", "2 d"]


async def test_a_past_session_is_found_by_typing_and_opened_in_the_place_of_an_unused_one(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    host.sessions = [
        past("s-far", "far away", here=False, hours=0),
        past("s-2", "mend the \x1b[31mcart", hours=5),
        past("s-1", "mend the shop", hours=3, status="error"),
        past("s-bad", "damaged", hours=9, status="unreadable"),
    ]
    app = PegboardApp(host, host.open("s-now"))
    async with app.run_test(size=(70, 16)) as pilot:
        await pilot.press("f6")
        await until(pilot, lambda: rows(pilot))
        assert [row.split("  ")[0].strip() for row in rows(pilot)] == [
            "mend the shop",
            r"mend the \x1b[31mcart",
            "damaged",
            "far away",
        ]
        assert "error · 2 turns · 3 h" in rows(pilot)[0]
        await pilot.press("pagedown", "enter")
        assert "pegboard tui --path /elsewhere/app --session s-far" in told(pilot)
        await pilot.press("up", "enter")
        assert "s-bad cannot be read" in told(pilot)
        await pilot.press(*"cart")
        await pilot.pause()
        assert len(rows(pilot)) == 1
        await pilot.press("x")
        assert told(pilot) == "no session matches"
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: host.opened[0].closed and len(app.views) == 1)
        assert [view.conversation.id for view in app.views] == ["s-2"]
        assert host.opened[0].closed and not host.opened[1].closed
        assert app.focused is not None and app.view.composer in app.focused.ancestors


async def test_the_key_of_the_palette_goes_up_in_the_list_and_opens_nothing_over_it(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    host.sessions = [past("s-1", "one", hours=1), past("s-2", "two", hours=2)]
    app = PegboardApp(host, host.open())
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("f6")
        await until(pilot, lambda: rows(pilot))
        await pilot.press("ctrl+n")
        assert app.screen.query_one(OptionList).highlighted == 1
        await pilot.press("ctrl+p")
        assert isinstance(app.screen, Picker) and app.screen.query_one(OptionList).highlighted == 0
        await pilot.press("escape", "ctrl+p")
        assert isinstance(app.screen, CommandPalette)


async def test_what_cannot_be_read_or_opened_is_told_and_the_session_stays(tmp_path: Path) -> None:
    class Host(ScriptedHost):
        def past(self) -> list[port.Past]:
            if not self.sessions:
                raise OSError("no such folder")
            return super().past()

        def open(
            self, id: str | None = None, *, model: str | None = None, mode: str | None = None
        ) -> ScriptedConversation:
            if id == "s-broken":
                raise PegboardError("the session s-broken was deleted; nothing was started")
            return super().open(id, model=model, mode=mode)

    host = Host(tmp_path)
    app = PegboardApp(host, host.open())
    async with app.run_test(size=(50, 12)) as pilot:
        await pilot.press("f6")
        await until(pilot, lambda: told(pilot) == "the sessions cannot be read: no such folder")
        await pilot.press("escape")
        host.sessions = [past("s-broken", "gone")]
        app.view.post_message(Composer.Submitted("/resume s-b"))
        await until(pilot, lambda: "s-broken was deleted" in getattr(app.view.fold.items[-1], "text", ""))
        assert len(app.views) == 1
        host.sessions.append(past("s-b2", "another"))
        app.view.post_message(Composer.Submitted("/resume s-b"))  # two begin so: the person chooses
        await until(pilot, lambda: isinstance(app.screen, Picker) and len(rows(pilot)) == 2)


async def test_several_sessions_run_side_by_side_and_each_is_marked(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(70, 16)) as pilot:
        first, bar = app.view, app.query_one(OpenSessions)
        first.composer.write("a draft")
        one.port.emit(TurnStarted(turn=1, session="s-1", model="m", sets=[], not_loaded=[], offered=0))
        one.port.emit(Prompt(turn=1, text="mend the cart"))
        await pilot.pause()
        assert not bar.display
        await pilot.press("f9")
        await pilot.pause()
        two = host.opened[1]
        assert len(app.views) == 2 and app.view.conversation.id == two.id and bar.display
        assert (first.mark, app.view.mark) == ("runs", "")
        one.port.emit(call_asked("c1", "Run make"))
        one.port.emit(ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default"))
        await pilot.pause()
        assert first.mark == "asks" and "1? mend the cart" in str(bar.render())
        assert (
            app.focused is not None and app.view.composer in app.focused.ancestors
        )  # a question there takes no keys here
        await pilot.press(*"hi", "enter")
        await pilot.pause()
        assert two.port.sent == [port.Prompt(text="hi")] and one.port.sent == []
        one.port.emit(TurnEnded(turn=1, status="done", text="", usage={}))
        await pilot.pause()
        assert first.mark == "news"
        await pilot.press("f7")
        assert app.view is first and first.mark == "" and first.composer.text == "a draft"
        await pilot.press("f5")
        await pilot.pause()
        assert isinstance(app.screen, Switcher) and ["~" in row for row in rows(pilot)] == [False, True]
        await pilot.press("2")
        assert app.view.conversation.id == two.id
        await pilot.press("f5", "d")
        await pilot.pause()
        assert isinstance(app.screen, Sure)  # its turn runs
        await pilot.press("y")
        await pilot.pause()
        assert two.port.sent[-1] == port.Interrupt()
        two.port.emit(TurnEnded(turn=None, status="interrupted", text="", usage={}))
        await until(pilot, lambda: two.closed and app.views == [first] and not bar.display)
        app.view.post_message(Composer.Submitted("/close"))  # the last one: a new one takes its place
        await until(pilot, lambda: isinstance(app.screen, Sure))  # the draft
        await pilot.press("y")
        await until(pilot, lambda: one.closed and len(app.views) == 1 and app.view is not first)
        assert app.is_running


async def test_all_sessions_closed_at_once_leave_a_new_one_to_look_at(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    first = host.open()
    app = PegboardApp(host, first)
    async with app.run_test(size=(60, 16)) as pilot:
        begun(first)
        await pilot.pause()
        await app.open_session(None)
        begun(host.opened[-1])
        await pilot.pause()
        before = app.views
        for view in [*before, before[0]]:
            app.run_worker(app.close_session(view))
        await until(pilot, lambda: not {*before} & {*app.views})
        assert app.view.untouched and all(view.conversation.closed for view in before)  # type: ignore[attr-defined]


def begun(conversation: ScriptedConversation) -> None:
    """Something is in its log, so that no other session takes its place."""
    conversation.port.emit(Prompt(turn=1, text="mend it"))
