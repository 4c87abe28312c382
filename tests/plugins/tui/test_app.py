"""The app as a whole, with a scripted session."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from pegboard import port
from pegboard_tui.app import PegboardApp
from pegboard_tui.composer.area import Area
from scripted import ScriptedHost
from textual import events
from textual.screen import Screen
from widgets import until


async def test_a_prompt_that_is_typed_is_sent_to_the_agent(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    conversation = host.open()
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        assert conversation.port.sent == [port.Prompt(text="hello")]


async def test_the_first_picture_names_who_answers_and_has_an_input_that_takes_keys(tmp_path: Path) -> None:
    pictures: list[tuple[str, bool]] = []

    class Watched(PegboardApp):
        def _display(self, screen: Screen[object], renderable: Any) -> None:
            super()._display(screen, renderable)
            shown = "\n".join(strip.text for strip in screen._compositor.render_strips())
            pictures.append((shown, isinstance(self.focused, Area)))

    host = ScriptedHost(tmp_path)
    async with Watched(host, host.open()).run_test(size=(110, 30)):
        shown, takes_keys = pictures[0]
    assert takes_keys and "scripted/model" in shown and "> " in shown


async def test_keys_that_come_all_at_once_are_taken_in_their_order(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    conversation = host.open()
    app = PegboardApp(host, conversation)
    async with app.run_test(size=(100, 30)) as pilot:
        keys = [*"abc", *["backspace"] * 3, *"hello", "backspace", *"!", "enter", *"next", "left"]
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        app.post_message(events.Paste("one more "))
        await until(pilot, lambda: app.view.composer.text.endswith("t"))
        assert conversation.port.sent == [port.Prompt(text="hell!")]
        assert app.view.composer.text == "nexone more t"


async def test_keys_keep_their_order_when_nothing_moved_for_a_while(tmp_path: Path) -> None:
    host = ScriptedHost(tmp_path)
    app = PegboardApp(host, host.open())
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("a", "b")
        await pilot.pause()

        async def busy() -> None:
            await asyncio.sleep(0.1)
            time.sleep(0.9)

        assert app.focused is not None
        app.focused.call_next(busy)
        app.post_message(events.Key("backspace", None))
        for key in "xyz":
            app.post_message(events.Key(key, key))
        await until(pilot, lambda: app.view.composer.text.endswith("z"))
        assert app.view.composer.text == "axyz"
