"""The panel with questions, in a small app that holds it above an input."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pegboard import port
from pegboard.blocks import Activity, Diff
from pegboard.events import ApprovalAsked, QuestionAsked
from pegboard.port import Described
from pegboard_tui.asking import Asking
from pegboard_tui.asking.lines import Lines
from pegboard_tui.drawing.look import Palette
from pegboard_tui.items import Made
from scripted import call_asked
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.pilot import Pilot
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

COMMAND = "uv run pytest -x tests"


class Holder(App[None]):
    """The panel above an input. answers: those that were given, in order."""

    CSS = "Screen { layout: vertical; } #input { height: 3; }"

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.answers: list[port.Answer] = []

    def compose(self) -> ComposeResult:
        yield Asking(Palette(), lambda pattern, command: None if command.startswith(pattern) else f"no: {command}")
        yield TextArea(id="input")

    def on_mount(self) -> None:
        self.asking.quiet.clock = lambda: self.now
        self.input.focus()

    @property
    def asking(self) -> Asking:
        return self.query_one(Asking)

    @property
    def input(self) -> TextArea:
        return self.query_one("#input", TextArea)

    @property
    def text(self) -> str:
        """What the panel shows."""
        return "\n".join(lines.text for lines in self.asking.query(Lines) if lines.display)

    def on_asking_answered(self, message: Asking.Answered) -> None:
        self.answers += message.answers


@asynccontextmanager
async def holder(
    *questions: ApprovalAsked | QuestionAsked, size: tuple[int, int] = (80, 30), later: float = 1.0
) -> AsyncIterator[tuple[Holder, Pilot[None]]]:
    """The app with these questions, which came so many seconds ago."""
    app = Holder()
    async with app.run_test(size=size) as pilot:
        put(app, questions)
        await pilot.pause()
        app.now += later
        app.asking.draw()
        yield app, pilot


def put(app: Holder, questions: Sequence[ApprovalAsked | QuestionAsked]) -> None:
    app.asking.put(questions, {question.call: made(question.call) for question in questions})


def made(call: str) -> Made:
    described = Described(tool="poke", activity=Activity(glyph="$", verb="Run", subject=f"subject of {call}"))
    return Made(key=call, asked=call_asked(call, "Run x"), described=described)


def ask(number: int, **more: Any) -> ApprovalAsked:
    more = {"arguments": {"path": "a", "text": "x"}, "rule": "tool_permission.edit", "layer": "user"} | more
    return ApprovalAsked(turn=1, lane="root", id=f"a{number}", call=f"c{number}", **more)


def command(number: int = 1, **more: Any) -> ApprovalAsked:
    more = {"remember": ["uv run pytest …"], "commands": [COMMAND], "scopes": ["session", "project", "user"]} | more
    return ask(number, arguments={"command": COMMAND}, **more)


def question(number: int = 1, **more: Any) -> QuestionAsked:
    more = {"question": "Which one?", "options": ["red", "green"], "details": ["like fire", "like grass"]} | more
    return QuestionAsked(turn=1, lane="root", id=f"q{number}", call=f"c{number}", **more)


def answer(id: str, granted: bool = False, **more: Any) -> port.Answer:
    return port.Answer(id=id, granted=granted, **more)


# --- nothing is answered by accident ------------------------------------------------------------------------------------


async def test_a_prompt_that_is_typed_while_a_question_appears_answers_nothing_and_loses_no_letter() -> None:
    async with holder(ask(1), later=0.0) as (app, pilot):
        assert app.asking.has_focus and "keys count in a moment" in app.text
        await pilot.press("y", "e", "s")
        assert app.input.text == "yes" and app.input.has_focus and "your keys go elsewhere" in app.text
        app.now += 5
        await pilot.press("y", "enter", "a")
        put(app, [ask(1), ask(2)])
        await pilot.pause()
        assert app.input.has_focus and not app.answers and app.asking.waiting == 2
        app.asking.take()
        await pilot.press("y")
        assert app.answers == [answer("a1", True)]


async def test_the_panel_leaves_the_focus_where_something_is_written_and_behind_another_screen() -> None:
    async with holder() as (app, pilot):
        app.input.load_text("half a prom")
        put(app, [ask(1)])
        await pilot.pause()
        assert app.input.has_focus and app.asking.display
        app.input.clear()
        await app.push_screen(ModalScreen())
        put(app, [ask(1), ask(2)])
        await pilot.pause()
        app.now += 5
        app.pop_screen()
        await pilot.pause()
        assert app.asking.has_focus
        await pilot.press("y")  # it came on the screen just now
        assert not app.answers and app.input.text == "y"


async def test_the_next_question_is_not_answered_by_a_key_that_repeats_or_was_meant_for_the_one_before() -> None:
    async with holder(ask(1), ask(2), ask(3)) as (app, pilot):
        await pilot.press("y", "y", "y")
        assert app.answers == [answer("a1", True)] and "y came too soon" in app.text
        app.now += 1
        put(app, [ask(3)])  # somebody else has settled the one that was looked at
        await pilot.press("n")
        assert len(app.answers) == 1
        app.now += 1
        await pilot.press("n")
        assert app.answers[1:] == [answer("a3")]


async def test_enter_never_allows_and_escape_decides_nothing() -> None:
    async with holder(command()) as (app, pilot):
        await pilot.press("enter", "enter", "a")
        app.now += 1
        await pilot.press("enter", "escape", "escape")
        assert not app.answers and app.asking.display and app.input.has_focus and app.asking.waiting == 1
        put(app, [command(), command(2)])  # a new one takes it again
        await pilot.pause()
        assert app.asking.has_focus


# --- one call -------------------------------------------------------------------------------------------------------------


async def test_yes_and_no_and_no_with_a_reason() -> None:
    async with holder(ask(1), ask(2), ask(3)) as (app, pilot):
        for keys in (["y"], ["n"], ["r", *"too big", "enter"]):
            await pilot.press(*keys)
            app.now += 1
        assert app.answers == [answer("a1", True), answer("a2"), answer("a3", reason="too big")]
        assert not app.asking.display and app.input.has_focus and app.asking.waiting == 0


async def test_always_shows_what_it_would_keep_and_keeps_it_for_as_long_as_is_chosen() -> None:
    async with holder(command(), command(2, scopes=["session"]), ask(3)) as (app, pilot):
        assert "always would allow: uv run pytest …" in app.text
        await pilot.press("a", "s")
        assert not app.answers  # two letters of a word that is typed
        assert "uv run pytest …\n" in app.text and f"for: {COMMAND}" in app.text
        assert "s this session  p this project  u every project of yours  c change the pattern" in app.text
        app.now += 1
        await pilot.press("p")
        app.now += 1
        await pilot.press("a")
        app.now += 1
        assert "project" not in app.text.rsplit("\n", 1)[1]
        await pilot.press("u", "p", "s")
        assert len(app.answers) == 1  # neither stands for this one, and the s came with them
        app.now += 1
        await pilot.press("s")
        app.now += 1
        assert "always" not in app.text  # nothing is offered for the third
        await pilot.press("a", "s", "y")
        app.now += 1
        assert len(app.answers) == 2
        await pilot.press("y")
        kept = [(one.id, one.granted, one.remember, one.pattern) for one in app.answers]
        assert kept == [("a1", True, "project", None), ("a2", True, "session", None), ("a3", True, None, None)]


async def test_a_pattern_is_changed_in_place_and_a_wrong_one_is_told_at_once_and_not_kept() -> None:
    two = command(remember=["uv run pytest …", "git push …"], commands=[COMMAND, "git push origin main"])
    async with holder(two) as (app, pilot):
        await pilot.press("a", "down")
        app.now += 1
        await pilot.press("c", *" o")
        line = app.query_one("#line", Input)
        assert line.value == "git push o" and "no: " not in app.text
        await pilot.press("x")
        assert "no: git push origin main" in app.text
        await pilot.press("enter")
        assert line.has_focus and not app.answers
        await pilot.press("backspace", *"rigin", "enter")
        app.now += 1
        assert "git push origin …" in app.text and not app.answers
        await pilot.press("u")
        assert app.answers == [answer("a1", True, remember="user", pattern=("uv run pytest", "git push origin"))]


async def test_arguments_are_edited_in_place_and_what_is_no_json_is_never_sent() -> None:
    async with holder(ask(1)) as (app, pilot):
        await pilot.press("e")
        area = app.query_one("#arguments", TextArea)
        assert area.has_focus and '"text": "x"' in area.text
        await pilot.press("f5")
        assert "as they were" in app.text
        area.load_text('{"path": "b", "text": ')
        await pilot.press("f5")
        assert "No JSON: line 1" in app.text and not app.answers
        await pilot.press("escape")
        app.now += 1
        await pilot.press("e")
        assert area.text == '{"path": "b", "text": '  # what was written is kept
        await pilot.press("end", *"7}", "ctrl+s")
        assert app.answers == [answer("a1", True, arguments={"path": "b", "text": 7})]
        put(app, [ApprovalAsked(turn=1, lane="root", id="a9", call="c1", rule="r", layer="user")])
        await pilot.pause()
        assert "edited by you" in app.text and "allow as edited" in app.text
        app.now += 1
        await pilot.press("e")
        assert "cannot be edited" in app.text


async def test_an_editor_gets_the_arguments_and_what_it_leaves_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "edit.py"
    script.write_text("import pathlib, sys\nfile = pathlib.Path(sys.argv[1])\n"
                      "file.write_text(file.read_text().replace('\"x\"', '[1, 2]'))\n")  # fmt: skip
    monkeypatch.setenv("VISUAL", f"{sys.executable} {script}")
    async with holder(ask(1), ask(2)) as (app, pilot):
        monkeypatch.setattr(type(app._driver), "can_suspend", True)
        await pilot.press("ctrl+e")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.answers == [answer("a1", True, arguments={"path": "a", "text": [1, 2]})]
        monkeypatch.setenv("VISUAL", f"{sys.executable} -c 'raise SystemExit(3)'")
        app.now += 1
        await pilot.press("ctrl+e")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert len(app.answers) == 1 and "ended with code 3" in app.text.replace("\n", " ")


async def test_long_arguments_scroll_with_the_keys_in_sight_and_can_be_shown_in_short() -> None:
    content = "".join(f"line {n}\n" for n in range(200))
    diff = Diff(path="a", change="created", added=1, removed=0, text="@@ -0,0 +1,1 @@\n+" + "z" * 300 + "\n")
    async with holder(ask(1, arguments={"content": content}, preview=[diff])) as (app, pilot):
        assert "more rows below (pgdn)" in app.text and "y allow once" in app.text and "line 150" not in app.text
        await pilot.press("end")
        assert "line 199" in app.text and "above" in app.text and "y allow once" in app.text
        await pilot.press("pageup")
        assert "line 199" not in app.text
        await pilot.press("d", "home")
        assert "200 lines, 1690 characters: not shown" in app.text and "more rows" not in app.text
        assert app.text.count("z") == 300 and not app.answers
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert "more rows below" in app.text and "y yes" in app.text


@pytest.mark.parametrize("size", [(20, 5), (3, 1)])
async def test_small_terminals_show_who_asks_and_the_keys(size: tuple[int, int]) -> None:
    async with holder(command(), question(2), size=size) as (app, pilot):
        for keys in ("e", "r", "a"):
            app.now += 1
            await pilot.press(keys)
            if keys == "a" and size == (20, 5):
                assert "uv run pytest" in app.text  # what would be kept, before it is
            if size == (20, 5):
                row = app.text.rsplit("\n", 1)[1]
                assert "esc" in row or "y a n r e" in row
                assert app.asking.size.height <= 4
            await pilot.press("escape")
            app.asking.take()
        await pilot.press("right", "down")
        assert not app.answers


# --- several --------------------------------------------------------------------------------------------------------------


async def test_some_of_several_are_allowed_and_the_rest_stand_or_are_refused() -> None:
    several = [ask(number, batch=4) for number in (1, 2, 3, 4)]
    async with holder(*several) as (app, pilot):
        assert "1 of 4" in app.text
        await pilot.press("A")
        assert not app.answers and app.asking.has_focus  # nothing is chosen
        app.now += 1
        await pilot.press("space", "down", "down", "space")
        assert "  [x] $ Run subject of c1\n  [ ] $ Run subject of c2\n> [x] $ Run subject of c3" in app.text
        put(app, several)
        put(app, several[:3])
        assert "> [x] $ Run subject of c3" in app.text and "allow chosen (2)" in app.text
        await pilot.press("A")
        assert app.answers == [answer("a1", True), answer("a3", True)] and "subject of c2" in app.text
        put(app, [several[1], ask(5), ask(6)])
        app.now += 1
        await pilot.press("tab", "space", "O")
        assert app.answers[2:] == [answer("a2"), answer("a5", True), answer("a6")]


async def test_all_are_refused_with_one_reason_and_one_of_them_alone_can_be_answered() -> None:
    async with holder(ask(1), ask(2), ask(3)) as (app, pilot):
        await pilot.press("left", "n")
        app.now += 1
        assert app.answers == [answer("a3")]
        await pilot.press("N", *"later", "escape")
        app.now += 1
        await pilot.press("N", "enter")
        assert app.answers[1:] == [answer("a1", reason="later"), answer("a2", reason="later")]


async def test_what_was_begun_stays_when_other_questions_come_and_go_and_goes_with_its_own() -> None:
    async with holder(ask(1), ask(2)) as (app, pilot):
        await pilot.press("down", "r", *"becau")
        put(app, [ask(2), ask(3)])
        await pilot.press(*"se")
        assert app.query_one("#line", Input).value == "because" and app.query_one("#line", Input).has_focus
        put(app, [ask(3)])
        await pilot.pause()
        assert app.asking.has_focus and "subject of c3" in app.text and not app.query_one("#line", Input).display
        await pilot.press("enter", "s", "e")
        assert not app.answers
        put(app, [])
        await pilot.pause()
        assert app.input.has_focus and not app.asking.display


# --- what a tool wants to know --------------------------------------------------------------------------------------------


async def test_a_question_is_answered_by_number_by_the_cursor_in_ones_own_words_or_dismissed() -> None:
    asked = [question(n) for n in range(1, 6)]
    async with holder(*asked) as (app, pilot):
        assert "> 1 red\n    like fire" in app.text and "1 of 5" in app.text
        for keys in (["2"], ["down", "enter"], [*"blue", "enter"], ["down", "down", "enter", "x", "enter"], ["escape"]):
            await pilot.press(*keys)
            app.now += 1
        texts = [(one.id, one.granted, one.text) for one in app.answers]
        assert texts == [
            ("q1", True, "green"),
            ("q2", True, "green"),
            ("q3", True, "blue"),
            ("q4", True, "x"),
            ("q5", False, None),
        ]


async def test_no_words_are_taken_where_only_options_will_do_and_a_question_without_any_takes_words() -> None:
    async with holder(question(free=False), question(2, options=[], details=[])) as (app, pilot):
        assert "of your own" not in app.text
        await pilot.press("b", "9", "1")
        assert not app.answers and app.input.text == "b91"
        app.asking.take()
        await pilot.press("down", "down", "enter")
        app.now += 1
        await pilot.press("4", "2", "escape", "enter", "enter")
        assert [(one.id, one.text) for one in app.answers] == [("q1", "green"), ("q2", "42")]


# --- keys -----------------------------------------------------------------------------------------------------------------


async def test_keys_are_bound_otherwise_and_told_of_as_they_are_bound() -> None:
    async with holder(ask(1), ask(2)) as (app, pilot):
        app.set_keymap({"approval.yes": "j", "approval.no": "f7"})
        await pilot.pause()
        assert "j allow once" in app.text and "f7 no" in app.text
        app.asking.take()
        await pilot.press("y", "n", "r")
        assert app.asking.has_focus  # neither is a key now, and the third came with them
        app.now += 1
        await pilot.press("r", *"just", "escape")
        assert not app.answers and app.query_one("#line", Input).value == "just"  # a letter in a field is a letter
        await pilot.press("j")
        app.now += 1
        await pilot.press("f7")
        assert app.answers == [answer("a1", True), answer("a2")]


async def test_a_click_does_what_its_key_does() -> None:
    async with holder(ask(1), ask(2)) as (app, pilot):
        keys = next(lines for lines in app.asking.query(Lines) if lines.id == "keys")
        assert keys.text.startswith("y allow once")
        await pilot.click("#asked", offset=(8, 2))
        assert "2 of 2" in app.text
        await pilot.click(keys, offset=(3, 0))
        assert app.answers == [answer("a2", True)]


async def test_every_key_has_an_id_and_words() -> None:
    bindings = [binding for binding in Asking.BINDINGS if not isinstance(binding, tuple)]
    assert len({binding.id for binding in bindings}) == len(bindings) > 30
    assert all(binding.id and binding.description for binding in bindings)
    keys = [key for binding in bindings for key in binding.key.split(",")]
    assert len(set(keys)) == len(keys)  # one that is bound otherwise would take another with it


# --- keys in their order ---------------------------------------------------------------------------------------------------


def burst(app: Holder, *keys: str) -> None:
    """Keys that come faster than the app gets to them."""
    for key in keys:
        app.post_message(Key(key, key if len(key) == 1 else None))


async def settled(pilot: Pilot[None]) -> None:
    for _ in range(10):
        await pilot.pause()


@pytest.mark.parametrize("word", ["why", "/copy"])
async def test_a_word_that_is_typed_at_a_question_goes_to_the_input_and_allows_nothing_with_its_y(word: str) -> None:
    async with holder(ask(1)) as (app, pilot):
        for character in word:
            await pilot.press("slash" if character == "/" else character)
            app.now += 0.1
        assert not app.answers and app.input.text == word and app.input.has_focus
        app.asking.take()
        await pilot.press("t", "r", "y")  # the person went there: no letter is taken away, and none answers
        assert not app.answers and app.input.text == word
        app.now += 1
        await pilot.press("y")
        assert app.answers == [answer("a1", True)]


@pytest.mark.parametrize("later", [0.1, 1.0])  # it is just coming up; it is there
async def test_a_word_whose_letters_come_at_once_loses_none_of_them_to_a_question(later: float) -> None:
    async with holder(ask(1), later=later) as (app, pilot):
        burst(app, *"hay", "enter", "n", "y")
        await settled(pilot)
        assert not app.answers and app.input.text == "hay\nny" and app.input.has_focus


async def test_a_reason_is_what_was_typed_in_its_order_and_all_of_a_paste() -> None:
    async with holder(ask(1), ask(2)) as (app, pilot):
        await pilot.press("r")
        burst(app, "a", "b", "backspace", "c", "left", "d", "end")
        await settled(pilot)
        app.query_one("#line", Input).post_message(Paste("1\nof two\r\nlines\n"))
        await pilot.pause()
        burst(app, "enter", "x")
        await settled(pilot)
        assert app.answers == [answer("a1", reason="adc1 of two lines")]


async def test_arguments_that_did_not_fit_are_not_called_edited_where_the_old_ones_are_asked_about_again() -> None:
    async with holder(ask(1)) as (app, pilot):
        await pilot.press("e")
        app.query_one("#arguments", TextArea).load_text('{"nonsense": 1}')
        await pilot.press("ctrl+s")
        assert app.answers == [answer("a1", True, arguments={"nonsense": 1})]
        again = ask(1)
        put(
            app,
            [ApprovalAsked(turn=1, lane="root", id="a9", call="c1", rule="r", layer="user", arguments=again.arguments)],
        )
        await pilot.pause()
        assert "as edited" not in app.text and "edited by you" not in app.text


async def test_a_reason_that_comes_with_the_key_for_it_is_kept_and_a_paste_at_a_question_goes_to_the_input() -> None:
    async with holder(ask(1), ask(2)) as (app, pilot):
        burst(app, *"rnot now", "enter")
        await settled(pilot)
        assert [(one.id, one.reason) for one in app.answers] == [("a1", "not now")]
        app.now += 1
        app.asking.post_message(Paste("yes\nyes\n"))
        await settled(pilot)
        assert len(app.answers) == 1 and app.input.has_focus and "yes" in app.input.text
