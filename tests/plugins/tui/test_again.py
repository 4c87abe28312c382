"""What is open goes along when the app is started again in the place of its process: sessions, prompts that wait, drafts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pegboard_tui import again
from pegboard_tui.app import PegboardApp
from scripted import ScriptedHost
from widgets import until

LONG = "\n".join(f"line {n} of what was pasted" for n in range(40))


async def test_each_open_session_has_its_draft_and_the_prompts_that_waited(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    app = PegboardApp(host, host.open("one"), model="scripted/other", mode="plan")
    async with app.run_test(size=(110, 30)) as pilot:
        await pilot.press(*"go", "enter")
        await pilot.pause()
        app.view.queued.add("then this")
        app.view.composer.write(LONG)
        await app.open_session("two")
        app.view.composer.write("half a tho")
        await app.open_session("three")
        app.look_at(app.views[1])
        told = again._now(app, ["bad"], "bad held it up")
    assert told.sessions[0] == "two" and "one" in told.sessions
    assert told.drafts == {"one": f"then this\n\n{LONG}", "two": "half a tho"}

    board: Any = SimpleNamespace(notes=[])
    next_host: Any = ScriptedHost(tmp_path)
    made = again.gone_on(board, next_host, told)
    async with made.run_test(size=(110, 30)) as pilot:
        await until(pilot, lambda: len(made.views) == len(told.sessions) and made.view.composer.text != "")
        assert made.view.conversation.id == "two" and board.notes == ["bad held it up"]
        assert {view.conversation.id: view.composer.text for view in made.views if view.composer.text} == told.drafts
        assert (made.model, made.mode) == ("scripted/other", "plan")
        assert again._now(made, [], "").drafts == told.drafts, "and again, when the next one holds it up"
