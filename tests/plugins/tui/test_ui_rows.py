"""What the command line shows of a session, the app shows too: the rows of the area `ui`, on a real board."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from pegboard import hookimpl, tool
from played import playing

ALONE = "[ui]\nside = false\n"
"""The transcript has the whole width."""


@tool(pure=True, summary=lambda given: f"{given['word']}\nwith a second line", key_arg="word")
def shout(word: str) -> str:
    """Say it loudly."""
    return word.upper()


@hookimpl
def pegboard_tools() -> list[object]:
    return [shout]


def loud() -> ModuleType:
    """A tool set whose tool has no category."""
    module = ModuleType("loud")
    module.pegboard_tools = pegboard_tools  # type: ignore[attr-defined]
    return module


@pytest.mark.row("R-104", "R-105", "R-107")
async def test_calls_have_one_line_with_the_sign_of_their_kind(tmp_path: Path) -> None:
    steps = [
        [("read_file", {"path": "a.txt"}), ("glob", {"pattern": "*.txt"}), ("grep", {"pattern": "one"})],
        ("bash", {"command": "echo it ran"}),
        "That is all.",
    ]
    settings = ALONE + '[tool_permission]\nbash = "allow"\n'
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.txt").write_text("one\n", encoding="utf-8")
    async with playing(tmp_path, *steps, settings=settings) as app:
        await app.send("look at it")
        screen = await app.until("That is all.")
        for line in ("← Read a.txt", "* Glob *.txt", "* Grep one", "$ Run echo it ran"):
            assert line in screen, screen
        assert "it ran\n" in screen.replace("echo it ran", "")


@pytest.mark.row("R-106", "R-111", "C-006")
async def test_a_tool_without_a_category_and_notes_of_nothing_found(tmp_path: Path) -> None:
    steps = [[("shout", {"word": "hey"}), ("grep", {"pattern": "nowhere"})], "Nothing."]
    async with playing(tmp_path, *steps, sets=[loud()], settings=ALONE) as app:
        await app.send("look for it")
        screen = await app.until("Nothing.")
        assert "[shout: hey]" in screen and "with a second line" in screen
        assert '(no matches for "nowhere")' in screen


@pytest.mark.row("R-066", "R-103", "S-062")
async def test_ctrl_c_stops_the_command_and_again_the_turn_and_nothing_of_the_screen_is_in_the_log(
    tmp_path: Path,
) -> None:
    steps = [("bash", {"command": "echo began; sleep 300"}), ("bash", {"command": "echo again; sleep 300"}), [60.0]]
    async with playing(tmp_path, *steps, settings=ALONE + '[tool_permission]\nbash = "allow"\n') as app:
        await app.send("run it")
        await app.until(lambda screen: "began" in screen.replace("echo began", ""))
        await app.pilot.press("ctrl+c")
        await app.until(lambda screen: "again" in screen.replace("echo again", ""))  # the turn goes on
        await app.pilot.pause(1.1)  # no second press of the one before
        await app.pilot.press("ctrl+c")
        await app.until(lambda screen: screen.count("interrupted by you") == 2)
        await app.pilot.press("ctrl+c")  # the model is waited for
        await app.until("(cancelled)")
        assert app.app.is_running
        [log] = (tmp_path / "state" / "sessions").glob("*/events.jsonl")
        events = [json.loads(line)["event"] for line in log.read_text("utf-8").splitlines()]
        assert {"prompt", "call_started", "call_finished", "turn_ended"} <= set(events)
        assert not {"activity", "status", "text", "call_output"} & set(events)


@pytest.mark.row("S-023", "S-024", "S-025")
async def test_the_sets_are_shown_at_the_start_and_tools_says_how_many_and_whose(tmp_path: Path) -> None:
    async with playing(tmp_path, sets=[loud()], size=(120, 40)) as app:
        screen = await app.until("Tool sets")
        assert "core" in screen and "loud" in screen
        await app.send("/tools")
        screen = await app.until("offered this turn of")
        assert "7 offered this turn of 7 registered" in screen
        [line] = [line for line in screen.splitlines() if "say it loudly" in line.lower()]
        assert "shout" in line and "loud" in line


@pytest.mark.row("R-069", "R-070", "R-085")
async def test_a_call_of_ones_own_a_tools_page_and_another_mode(tmp_path: Path) -> None:
    settings = ALONE + '[tool_permission]\nedit = "deny"\n'
    async with playing(tmp_path, settings=settings, sets=[loud()]) as app:
        await app.send('/tool shout {"word": "quiet"}')
        await app.until("QUIET")
        await app.send('/tool write_file {"path": "b.txt", "content": "x"}')
        await app.until("tool_permission.edit")  # the same policy as a model's call
        assert not (app.root / "b.txt").exists()
        await app.send("/help read_file")
        screen = await app.until("limit")
        assert "read_file" in screen and "path" in screen and "permission" in screen
        await app.send("/mode plan")
        await app.until(lambda _: app.view.conversation.mode == "plan")
        await app.until("plan")
