"""Slash commands of the app: how lines are read, and what each does."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from pegboard import port
from pegboard.blocks import Diff, Note, Problem, Table, Text
from pegboard.errors import PegboardError
from pegboard.events import ApprovalAsked, Message, Thinking, TurnEnded, TurnStarted
from pegboard_tui.app import PegboardApp
from pegboard_tui.commands import LOCAL, BadCommand, Command, completions, offered, read_call, read_line
from pegboard_tui.composer import Composer
from pegboard_tui.help import HelpScreen
from pegboard_tui.items import Shown, Thought, Told
from pegboard_tui.keys import KeysScreen
from pegboard_tui.picker import Picker
from pegboard_tui.session import SessionView
from scripted import ScriptedConversation, ScriptedHost, call_asked, call_finished, call_started
from textual.pilot import Pilot
from widgets import until


def names() -> list[str]:
    return ["sets", "explain"]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("hello /there", "hello /there"),
        (" /help me", "/help me"),
        ("//etc is a folder", "/etc is a folder"),
        ("/usr/bin/env is missing", "/usr/bin/env is missing"),
        ("/help tool", Command("help", "tool")),
        ("/HELP", Command("help")),
        ("/exit", Command("quit")),
        ("/sets a b\nc", Command("sets", "a b\nc")),
        ("/tool bash command='a b'", Command("tool", "bash command='a b'")),
    ],
)
def test_a_line_is_a_command_or_a_prompt(line: str, meant: Command | str) -> None:
    assert read_line(line, names) == meant


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/hlep", "there is no command /hlep. Did you mean /help?"),
        ("/explian x", "Did you mean /explain?"),
        ("/zzzz", "/help lists those there are. With a space in front it goes to the model."),
        ("/quit now", "/quit takes nothing after it; nothing was done."),
    ],
)
def test_a_line_that_cannot_be_meant_is_told_with_the_nearest_name(line: str, told: str) -> None:
    with pytest.raises(BadCommand) as caught:
        read_line(line, names)
    assert told in str(caught.value)


def test_arguments_of_a_call_are_words_json_and_files(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("text of b\r\n")
    assert read_call('grep {"pattern": "a b", "n": 1}', "") == ("grep", {"pattern": "a b", "n": 1})
    words = "grep pattern='a b' n:=3 on:=true path=x path=y text=@b.txt sign=a=b"
    assert read_call(words, str(tmp_path)) == (
        "grep",
        {"pattern": "a b", "n": 3, "on": True, "path": ["x", "y"], "text": "text of b\r\n", "sign": "a=b"},
    )
    assert read_call("status", "") == ("status", {})


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        ("", "write /tool NAME"),
        ("grep a", "'a' is no argument: write name=value"),
        ("grep a:=x", "a:= wants JSON"),
        ('grep {"a": ', "the arguments of grep cannot be read"),
        ("grep a='x", "cannot be read: No closing quotation"),
        ("grep a=@no.txt", "a=@no.txt: No such file"),
        ("grep a=@.", "a=@.: Is a directory"),
        ("grep a=@-", "stdin holds your prompts"),
        ("grep a=@/dev/stdin", "stdin holds your prompts"),
    ],
)
def test_arguments_that_cannot_be_read_are_told_and_nothing_is_run(tmp_path: Path, rest: str, told: str) -> None:
    with pytest.raises(BadCommand) as caught:
        read_call(rest, str(tmp_path))
    assert told in str(caught.value)


def test_what_is_offered_and_completed(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    assert [one.name for one in offered(host)] == [*LOCAL, "sets"]
    assert completions("mode", "p", host) == ["plan"]
    assert completions("model", "scripted/o", host) == ["scripted/other"]
    assert completions("model", "scripted/other ", host) == []
    assert completions("help", "s", host) == ["sessions", "sets"]
    assert completions("sets", "", host) is None


async def test_plugins_are_imported_beside_the_loop_and_lines_are_done_in_their_order(tmp_path: Path) -> None:
    class Host(ScriptedHost):
        def commands(self) -> list[port.Offered]:
            asked.append(threading.current_thread())
            time.sleep(0.05)  # an import takes its time
            return super().commands()

    asked: list[threading.Thread] = []
    host = Host(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(80, 24)) as pilot:
        await typed(pilot, "/sets core")
        await typed(pilot, "go on")
        await until(pilot, lambda: one.port.sent)
        assert one.asked_commands == [("sets", "core")]
        await typed(pilot, "/help")
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape")
        app.view.composer.write("/help s")
        await until(pilot, lambda: len(asked) >= 4)
    assert threading.main_thread() not in asked


async def typed(pilot: Pilot[int], line: str) -> None:
    app = pilot.app
    assert isinstance(app, PegboardApp)
    await until(pilot, lambda: app.view.fold.items)  # the welcome
    app.view.composer.write(line)
    app.view.composer.focus()
    app.view.post_message(Composer.Submitted(line))
    app.view.composer.write("")
    await pilot.pause()
    await pilot.pause()


def last(view: SessionView) -> Any:
    item = view.fold.items[-1]
    return item.blocks if isinstance(item, Shown) else item.text if isinstance(item, Told) else item


async def test_commands_of_a_session(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(60, 16)) as pilot:
        view = app.view
        await typed(pilot, "/sets core")
        assert one.asked_commands == [("sets", "core")]
        assert last(view) == [Note(text="core")]
        await typed(pilot, "/nosuch thing")
        assert "there is no command /nosuch." in last(view) and view.composer.text == "/nosuch thing"
        await typed(pilot, "/help")
        rows = last(view)[0].rows
        assert [row[0] for row in rows][:2] == ["/help [NAME]", "/tool NAME ARGUMENTS"] and rows[-1][0] == "/sets"
        await typed(pilot, "/help /sets")
        assert last(view) == [Text(text="/sets\nthe tool sets (pegboard-cli)")]
        await typed(pilot, '/tool bash {"command": "ls"}')
        call = one.port.sent[-1]
        assert isinstance(call, port.Call) and (call.name, call.arguments) == ("bash", {"command": "ls"})
        await typed(pilot, "/mode")
        assert isinstance(table := last(view)[0], Table) and table.rows[0] == ["", "plan", "look, change nothing"]
        await typed(pilot, "/mode plan")
        assert one.port.sent[-1] == port.Mode(name="plan") and last(view) == "the mode is plan"
        await typed(pilot, "/mode none")
        assert one.port.sent[-1] == port.Mode(name=None) and last(view) == "no mode is on"
        await typed(pilot, "/undo list")
        assert last(view) == [Note(text="no call of this session has changed files")]
        diff = Diff(path="a.py", change="changed", added=1, removed=0, text="@@ -1 +1 @@\n+a")
        one.port.emit(call_asked("c1", "Edit a.py"), call_started("c1"), call_finished("c1", blocks=[diff]))
        await typed(pilot, "/undo list")
        assert last(view)[0].rows == [["c1", "Edit a.py", "a.py"]]
        await typed(pilot, "/undo c1")
        undo = one.port.sent[-1]
        assert isinstance(undo, port.Undo) and undo.call == "c1"


async def test_copying_reasoning_and_themes(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(60, 16)) as pilot:
        view = app.view
        await typed(pilot, "/copy")
        assert last(view) == "there is no answer yet; nothing was copied"
        one.port.emit(Thinking(turn=1, text="hm"), Message(turn=1, text="first", thinking="hm"))
        one.port.emit(Message(turn=1, text="second"))
        await typed(pilot, "/copy")
        assert app.clipboard == "second"
        await typed(pilot, "/copy 2")
        assert app.clipboard == "first"
        await typed(pilot, "/copy x")
        assert last(view).startswith("/copy x: N is a number")
        await typed(pilot, "/thinking")
        thought = next(item for item in view.fold.items if isinstance(item, Thought))
        assert thought.folded is False
        await typed(pilot, "/thinking")
        assert thought.folded is True
        await typed(pilot, "/theme light")
        assert app.theme == "light" and host.kept == {"ui.theme": "light"}
        await typed(pilot, "/theme nosuch")
        assert "there is no theme nosuch" in last(view) and app.theme == "light"
        await typed(pilot, "/theme")
        assert "* light" in last(view)
        await typed(pilot, "/keys")
        assert isinstance(app.screen, KeysScreen)
        await pilot.press("ctrl+c")  # closes a page; it does not leave
        await typed(pilot, "/sessions")
        assert isinstance(app.screen, Picker)
        await pilot.press("escape")
        await typed(pilot, "/quit")
    assert app.return_value == 0


async def test_another_model_answers_in_the_same_session_or_the_one_before_goes_on(tmp_path: Path) -> None:
    class Host(ScriptedHost):
        def open(
            self, id: str | None = None, *, model: str | None = None, mode: str | None = None
        ) -> ScriptedConversation:
            if model == "scripted/none":
                raise PegboardError("there is no scripted/none; nothing was started. use --model offline")
            return super().open(id, model=model, mode=mode)

    host = Host(tmp_path)
    one = host.open("s-1", mode="plan")
    app = PegboardApp(host, one)
    async with app.run_test(size=(60, 16)) as pilot:
        view = app.view
        await typed(pilot, "/model")
        assert last(view)[0].rows == [["*", "scripted/model"], ["", "scripted/other"], ["", "offline"]]
        await typed(pilot, "/model scripted/")
        assert "write /model PROVIDER/MODEL" in last(view) and not one.closed
        await typed(pilot, "/model scripted/other")
        two = host.opened[-1]
        assert (one.closed, two.id, two.model, two.mode) == (True, "s-1", "scripted/other", "plan")
        await typed(pilot, "hello")
        assert two.port.sent == [port.Prompt(text="hello")] and one.port.sent == []
        two.elsewhere = {"a9"}
        two.port.emit(ApprovalAsked(turn=1, lane="root", id="a9", call="c1", rule="r", layer="default"))
        two.port.emit(ApprovalAsked(turn=1, lane="root", id="a8", call="c1", rule="r", layer="default"))
        await pilot.pause()
        assert list(view.fold.questions) == ["a8"]  # it is the new one that is asked what waits
        two.port.emit(TurnStarted(turn=1, session="s-1", model="m", sets=[], not_loaded=[], offered=0))
        await typed(pilot, "/model offline")
        assert "something runs" in last(view) and not two.closed
        two.port.emit(Message(turn=1, text="from the other"), TurnEnded(turn=1, status="done", text="", usage={}))
        await pilot.pause()
        view.composer.write("")
        await typed(pilot, "/model scripted/none")
        three = host.opened[-1]
        assert two.closed and (three.id, three.model) == ("s-1", "scripted/other")
        assert "use /model offline scripted/other goes on answering." in last(view)
        three.port.emit(Message(turn=1, text="once more"))
        await pilot.pause()
        assert getattr(view.fold.items[-1], "text", "") == "once more"


async def test_a_board_command_that_fails_shows_its_problem(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    one = host.open()
    one.commands["sets"] = [Problem(text="[b]no[/b] such set \x1b[31m")]
    app = PegboardApp(host, one)
    async with app.run_test(size=(60, 20)) as pilot:
        await typed(pilot, "/sets x")
        assert last(app.view) == [Problem(text="[b]no[/b] such set \x1b[31m")]
