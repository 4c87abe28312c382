"""What is answered in the app, on a real board with the core's own tools: what was allowed ran, and nothing else did."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pegboard_tools_core
import pytest
from pegboard.board import Board
from pegboard.conversation import Talk
from pegboard.events import CallFinished
from pegboard.hosting import Hosted
from pegboard.plugins import given
from pegboard.slashes import Slashes
from pegboard.testing.scripted import Scripted, Step
from pegboard_tui.asking import Asking
from pegboard_tui.asking.lines import Lines
from pegboard_tui.drawing.look import Palette
from pegboard_tui.session import SessionView
from textual.app import App, ComposeResult
from textual.pilot import Pilot


class Window(App[None]):
    """One session of a board, and a scripted model. now: the clock by which keys begin to count."""

    def __init__(self, root: Path, steps: Iterable[Step]) -> None:
        super().__init__()
        self.model = Scripted(steps)
        self.settings = root.parent / "config.toml"
        self.board = Board.build(
            str(root),
            user_file=self.settings,
            environ={"PEGBOARD_CONFIG": str(self.settings)},
            state=root.parent / "state",
            extra=[given("core", "pegboard.toolsets", pegboard_tools_core, own=True)],
            discover=False,
        )
        self.session = self.board.session(None)
        agent = self.board.agent(self.session, answers="person", model="scripted", provider=self.model)
        self.talk = Talk(self.board, self.session, agent, Slashes(self.board.assembled.entries, self.board.loaded))
        self.now = 0.0

    def compose(self) -> ComposeResult:
        yield SessionView(Hosted(self.board), self.talk, Palette())

    @property
    def asking(self) -> Asking:
        return self.query_one(Asking)

    @property
    def text(self) -> str:
        return "\n".join(lines.text for lines in self.asking.query(Lines) if lines.display)

    async def asks(self, pilot: Pilot[None], text: str) -> None:
        """Wait until this is asked, and until a key counts."""
        for _ in range(400):
            if self.asking.has_focus and text in self.text:
                self.now += 1
                return
            await pilot.pause(0.02)
        raise AssertionError(f"never asked {text!r}: {self.text}")

    async def ended(self, pilot: Pilot[None]) -> None:
        """Wait until the turn is over."""
        await asyncio.wait_for(self.talk._agent.wait(), 60)
        await pilot.pause()

    @property
    def results(self) -> dict[str, str]:
        """What became of each call, as the model reads it."""
        return {event.id: event.text for event in self.session.read() if isinstance(event, CallFinished)}


@asynccontextmanager
async def window(tmp_path: Path, *steps: Step) -> AsyncIterator[tuple[Window, Pilot[None]]]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("one\n", encoding="utf-8")
    app = Window(root, steps)
    try:
        async with app.run_test(size=(100, 40)) as pilot:
            app.asking.quiet.clock = lambda: app.now
            await pilot.press("g", "o", "enter")
            yield app, pilot
    finally:
        await app.talk.close()
        await app.board.close()


def edit(old: str, new: str) -> tuple[str, dict[str, Any]]:
    return "edit_file", {"path": "a.txt", "old_string": old, "new_string": new}


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


@pytest.mark.row("S-005", "S-006", "S-008")
async def test_what_was_allowed_as_edited_ran_and_the_refused_call_did_not_and_the_model_read_why(
    tmp_path: Path,
) -> None:
    steps: list[Step] = [[edit("one", "two"), bash("touch made")], edit("edited", "three"), "done"]
    async with window(tmp_path, *steps) as (app, pilot):
        await app.asks(pilot, "1 of 2")
        assert "tool_permission.edit" in app.text and "a.txt +1 -1" in app.text and "1 + two" in app.text
        assert "y allow once  a always...  n no" in app.text
        await pilot.press("e")
        area = app.asking._area
        area.load_text(area.text.replace("two", "edited"))
        await pilot.press("ctrl+s")
        await app.asks(pilot, "? bash asks")
        assert (tmp_path / "root/a.txt").read_text() == "one\n"  # it is judged again, and asked about as it is now
        await pilot.press("r", *"not that", "enter")
        await app.asks(pilot, "edited by you")
        await pilot.press("y")
        await app.asks(pilot, "three")
        assert (tmp_path / "root/a.txt").read_text() == "edited\n" and not (tmp_path / "root/made").exists()
        await pilot.press("n")
        await app.ended(pilot)
        assert "not that" in app.results["c2"] and "declined" in app.results["c2"]
        assert any("not that" in str(message) for message in app.model.requests[1].messages)
        assert (tmp_path / "root/a.txt").read_text() == "edited\n"


async def test_always_keeps_the_pattern_as_it_was_edited_and_for_as_long_as_was_chosen(tmp_path: Path) -> None:
    steps: list[Step] = [bash("touch one.x"), bash("touch one.x two.x"), bash("touch two.x"), "done"]
    async with window(tmp_path, *steps) as (app, pilot):
        await app.asks(pilot, "always would allow: touch …")
        await pilot.press("a")
        app.now += 1
        await pilot.press("c", "backspace")
        assert "it is not" in app.text or "begins" in app.text or "allow any" in app.text
        await pilot.press("h", *" one.x", "enter")
        app.now += 1
        assert "touch one.x …" in app.text and not (tmp_path / "root/one.x").exists()
        await pilot.press("u")
        await app.asks(pilot, "touch two.x")  # the second is not asked about: it begins as what was kept
        assert (tmp_path / "root/two.x").exists()
        await pilot.press("n")
        await app.ended(pilot)
    rules = tomllib.loads(app.settings.read_text())["permission"]["rules"]
    assert [(rule["action"], rule["command"]) for rule in rules] == [("allow", "touch one.x")]
