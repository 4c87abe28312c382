"""The app as a whole, with a scripted session."""

from __future__ import annotations

from pathlib import Path

from pegboard import port
from pegboard_tui.app import PegboardApp
from scripted import ScriptedHost


async def test_a_prompt_that_is_typed_is_sent_to_the_agent(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    conversation = host.open()
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        assert conversation.port.sent == [port.Prompt(text="hello")]
