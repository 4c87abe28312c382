"""Work beside what is shown, that fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import pytest
from pegboard import port
from pegboard.blocks import Custom, Text
from pegboard.events import ApprovalAsked
from pegboard_tui.app import PegboardApp
from pegboard_tui.asking import permitting
from pegboard_tui.composer import composer
from pegboard_tui.composer.drafts import Past
from pegboard_tui.composer.files import Files
from pegboard_tui.composer.suggesting import Suggestions
from pegboard_tui.custom.kinds import Kinds
from scripted import ScriptedConversation, ScriptedHost, call_asked
from widgets import until


def broken(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("planted [red]\x1b")


async def test_work_in_the_background_that_raises_is_told_of_and_the_session_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Past, "read", broken)
    monkeypatch.setattr(Files, "read", broken)
    monkeypatch.setattr(Suggestions, "find", broken)
    monkeypatch.setattr(Kinds, "search", broken)
    monkeypatch.setattr(ScriptedConversation, "jobs", broken)
    monkeypatch.setattr(composer, "edited", broken)
    monkeypatch.setattr(permitting, "edited", broken)
    host = ScriptedHost(tmp_path)
    one = host.open()
    app = PegboardApp(host, one)
    async with app.run_test(size=(120, 30), notifications=True) as pilot:

        async def told(what: str, times: int = 1) -> None:
            text = rf"{what} failed: RuntimeError: planted [red]\x1b."
            await until(pilot, lambda: sum(text == note.message for note in app._notifications) >= times)

        await told("reading prompts")
        await told("looking at what runs in the background")
        await pilot.press("@", "a")
        await told("listing files")
        await told("completing")
        await pilot.press("ctrl+g")
        await told("editing")
        app.view.show([app.view.fold.show([Custom(kind="chart", data={}, plain=[Text(text="4 of 5")])])])
        await told("looking for widgets")
        one.port.emit(call_asked("c1", "Run make", command="make"))
        one.port.emit(ApprovalAsked(turn=1, lane="root", id="a1", call="c1", rule="r", layer="default"))
        await until(pilot, lambda: app.view.asking.display)
        app.view.asking.action_editor()
        await told("editing", 2)
        await pilot.press("f6")
        app.screen.dismiss(None)
        app.view.composer.write("go on")
        app.view.composer.action_submit()
        await until(pilot, lambda: port.Prompt(text="go on") in one.port.sent)
    assert app.failure is None
