"""Keys: which there are, and what the settings bind otherwise."""

from __future__ import annotations

from pathlib import Path

from pegboard.blocks import Markdown
from pegboard.config.schema import UISettings
from pegboard.events import ApprovalAsked
from pegboard_tui.app import PegboardApp
from pegboard_tui.help import HelpScreen
from pegboard_tui.items import AnyItem, Shown
from pegboard_tui.keys import Bound, KeysScreen, bindings, keymap_of, keys_page, spelled_keys
from pegboard_tui.side import Side
from pegboard_tui.themes import DARK, palette_of
from scripted import ScriptedHost, call_asked
from textual.command import CommandList
from textual.widgets import Input
from widgets import screen, until

PALETTE = palette_of(DARK)
THERE = [
    Bound(id="approval.yes", keys="y", description="allow once", scope="Asking"),
    Bound(id="approval.no", keys="n", description="no", scope="Asking"),
    Bound(id="app.help", keys="f1", description="help", scope="PegboardApp"),
    Bound(id="input.send", keys="enter", description="send", scope="Composer"),
]


def test_everything_that_a_key_does_has_an_id_and_a_description_and_no_two_share_a_key_at_one_place() -> None:
    there = bindings()
    assert {"approval.yes", "input.send", "app.quit", "app.palette", "transcript.copy", "side.fold"} <= {
        b.id for b in there
    }
    assert [bound.id for bound in there if not bound.description or "." not in bound.id] == []
    taken: dict[tuple[str, str], str] = {}
    twice = []
    for bound in there:
        for key in bound.keys.split(","):
            other = taken.setdefault((bound.scope, key.strip()), bound.id)
            twice += [(other, bound.id, key)] if other != bound.id else []
    assert twice == []


def test_a_key_of_the_settings_takes_the_place_of_ours() -> None:
    assert keymap_of({"input.send": "ctrl+Enter, f12"}, THERE) == ({"input.send": "ctrl+enter,f12"}, [])
    assert keymap_of({"app.help": "?"}, THERE) == ({"app.help": "question_mark"}, [])
    swapped = {"approval.yes": "n", "approval.no": "y"}
    assert keymap_of(swapped, THERE) == (swapped, [])


def test_what_is_no_action_and_what_is_no_key_is_told_and_binds_nothing() -> None:
    keymap, notes = keymap_of({"aproval.yes": "x", "approval.no": "ctl+x", "input.send": " , "}, THERE)
    assert keymap == {}
    assert "no aproval.yes. Did you mean approval.yes?" in notes[0]
    assert notes[1].startswith("ui.keys.approval.no: ctl+x is no key; it stays n")
    assert notes[2].startswith("ui.keys.input.send: nothing is no key; it stays enter")


def test_a_letter_that_could_not_be_typed_any_more_or_would_do_nothing_is_not_bound() -> None:
    palette = Bound(id="app.palette", keys="ctrl+p", description="commands", scope="PegboardApp", priority=True)
    for key in ("p", "P", "shift+p", "?", "space"):
        keymap, notes = keymap_of({"app.palette": key, "input.send": f"f12, {key}"}, [*THERE, palette])
        assert keymap == {}, key
        assert f"{key} could not be typed any more; write " in notes[0] and "It stays ctrl+p." in notes[0]
        assert f"{key} is text in the input; write " in notes[1]
    assert "write ctrl+p, or one of f1 to f12" in keymap_of({"app.palette": "p"}, [palette])[1][0]
    wanted = {"app.palette": "ctrl+o", "input.send": "tab", "approval.yes": "j"}
    assert keymap_of(wanted, [*THERE, palette]) == (wanted, [])


def test_a_key_that_would_answer_two_ways_is_left_as_it_was() -> None:
    keymap, notes = keymap_of({"approval.yes": "n"}, THERE)
    assert keymap == {} and notes == ["ui.keys.approval.yes: n is approval.no already; it stays y."]
    take = Bound(id="question.take", keys="enter", description="take it", scope="Asking")
    assert keymap_of({"question.take": "y"}, [*THERE, take])[0] == {}
    keymap, notes = keymap_of({"approval.yes": "z", "approval.no": "z"}, THERE)
    assert len(keymap) == 1 and len(notes) == 1
    keymap, notes = keymap_of({"input.send": "f1"}, THERE)
    assert keymap == {"input.send": "f1"} and "also app.help" in notes[0]


def test_the_page_finds_by_key_words_and_id_and_says_how_to_bind() -> None:
    page = keys_page(THERE, {"approval.yes": "z"}, "", 80, PALETTE).plain
    assert "[ui.keys]" in page and "z*" in page and "approval.no" in page
    assert "help" not in keys_page(THERE, {}, "approval", 80, PALETTE).plain
    assert "approval.yes" in keys_page(THERE, {}, "allow ONCE", 80, PALETTE).plain
    assert "No key does that." in keys_page(THERE, {}, "fly", 80, PALETTE).plain
    assert all(len(line) <= 40 for line in keys_page(bindings(), {}, "", 40, PALETTE).plain.split("\n"))
    assert spelled_keys("ctrl+p,question_mark,escape,pageup") == "ctrl+p, ?, esc"


async def test_keys_of_the_settings_work_and_pages_open_and_close_by_keys(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path, UISettings(keys={"approval.yes": "z", "nothing.such": "x"}))
    conversation = host.open()
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert any("no nothing.such" in getattr(item, "text", "") for item in app.view.fold.items)
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        await pilot.press("escape", "f3")
        assert isinstance(app.screen, KeysScreen) and isinstance(app.focused, Input)
        await pilot.press("a", "down", "pagedown", "escape")
        assert len(app.screen_stack) == 1
        side = app.query_one(Side)
        assert not side.display
        await pilot.press("f2")
        assert side.display and side.has_focus_within
        await pilot.press("escape")
        assert not side.display and app.view.composer.has_focus_within
        await pilot.press("ctrl+p")
        app.screen.query_one(Input).value = "theme contrast"
        found = app.screen.query_one(CommandList)
        await until(pilot, lambda: found.option_count == 1 and "contrast" in str(found.get_option_at_index(0).prompt))
        await pilot.press("enter")
        await pilot.pause()
        assert app.theme == "contrast" and host.kept == {"ui.theme": "contrast"}
        conversation.port.emit(call_asked("c1", "Run ls"))
        conversation.port.emit(ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default"))
        await until(pilot, lambda: app.view.asking.has_focus)
        await pilot.press("y")  # no key of a question any more, so it begins a prompt
        await until(pilot, lambda: app.view.composer.has_focus_within and app.view.composer.text == "y")
        await pilot.press("f4", "z")
        await pilot.pause()
        assert [(one.id, one.granted) for one in conversation.port.sent] == [("a1", True)]  # type: ignore[union-attr]


async def test_the_sign_that_a_tool_declares_is_the_one_that_is_told_of(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    conversation = host.open()
    conversation.signs = ["%"]
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(80, 40)) as pilot:
        await until(pilot, lambda: any("`%command`" in text_of_shown(item) for item in app.view.fold.items))
        assert "% to run one" in "\n".join(screen(app))
        await pilot.press("f1")
        await until(pilot, lambda: any("%command" in line for line in screen(app)))
        assert not any("!command" in line for line in screen(app))


def text_of_shown(item: AnyItem) -> str:
    return (
        " ".join(block.text for block in item.blocks if isinstance(block, Markdown)) if isinstance(item, Shown) else ""
    )
