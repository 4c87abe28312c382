"""Tools in a loop that is not ours: the order of calls that come together, and answers that came with a call."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import Answer, Board, Context, Reads, Runs, Writes, tool
from pegboard.events import ApprovalAnswered, CallAsked, CallFinished, CallStarted

YES = Answer(granted=True, by="program")


class Doors:
    """Tools that begin and end as the test says. `log`: what they did."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.open: dict[str, asyncio.Event] = {}
        doors = self

        async def stay(name: str) -> str:
            doors.log.append(f"+{name}")
            await doors.open.setdefault(name, asyncio.Event()).wait()
            doors.log.append(f"-{name}")
            return name

        @tool(pure=True, overlap="parallel")
        async def beside(name: str) -> str:
            """Run beside others."""
            return await stay(name)

        @tool(pure=True, overlap="exclusive")
        async def alone(name: str) -> str:
            """Run alone."""
            return await stay(name)

        @tool(pure=True, overlap="background")
        async def behind(name: str) -> str:
            """Nobody waits for it."""
            return await stay(name)

        self.tools: list[Any] = [beside, alone, behind]

    def let(self, *names: str) -> None:
        for name in names:
            self.open.setdefault(name, asyncio.Event()).set()


async def settle() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


@tool
def look(path: Annotated[str, Reads("File")], ctx: Context) -> str:
    """Read a file."""
    return ctx.workspace.read_text(path)


@tool
def note(path: Annotated[str, Writes("File")], text: str, ctx: Context) -> str:
    """Write a file."""
    with ctx.commit() as files:
        files.write(path, text.encode())
    return "written"


@tool
async def link(to: Annotated[str, Runs("What")], ctx: Context) -> str:
    """Make a link, as a command might."""
    await settle()
    os.symlink(to, os.path.join(ctx.workspace.root, "link"))
    return "made"


@tool(pure=True)
async def delegate(path: str, ctx: Context) -> str:
    """Write by way of another tool."""
    return (await ctx.call("note", path=path, text="inside")).outcome


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Any]:
    boards: list[Board] = []

    def make(*tools: Any, text: str = "") -> Board:
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "a.txt").write_text("one")
        (tmp_path / "config.toml").write_text(text)
        boards.append(
            Board.build(
                str(tmp_path / "work"),
                environ={},
                user_file=tmp_path / "config.toml",
                state=tmp_path / "state",
                discover=False,
                tools=tools,
            )
        )
        return boards[0]

    yield make
    for board in boards:
        asyncio.run(board.close())


async def test_calls_that_come_together_overlap_as_their_tools_say(made: Any) -> None:
    doors = Doors()
    calls = made(*doors.tools).calls()
    wanted = [("beside", "a"), ("beside", "b"), ("alone", "c"), ("behind", "d"), ("alone", "e"), ("beside", "f")]
    tasks = [asyncio.create_task(calls.make(kind, {"name": name})) for kind, name in wanted]
    await settle()
    assert doors.log == ["+a", "+b"]
    doors.let("b", "a")
    await settle()
    assert doors.log[2:] == ["-b", "-a", "+c"] or doors.log[2:] == ["-a", "-b", "+c"]
    doors.let("c")
    await settle()
    assert doors.log[5:] == ["-c", "+d", "+e"], "what is in the background holds up nobody"
    doors.let("e")
    await settle()
    assert doors.log[8:] == ["-e", "+f"]
    doors.let("d", "f")
    assert [(await task).text for task in tasks] == ["a", "b", "c", "d", "e", "f"]


async def test_a_call_is_looked_at_once_what_came_before_it_is_over(made: Any) -> None:
    """Judged too early, the link would not be there yet, and a rule on what it leads to would not be met."""
    board = made(link, look, text='[tool_permission]\nbash = "allow"\n')
    calls = board.calls(answers="--yes")
    made_link, read = await asyncio.gather(calls.make("link", {"to": "a.txt"}), calls.make("look", {"path": "link"}))
    assert (made_link.outcome, read.text) == ("ok", "one")
    started = [event for event in calls.session.read() if isinstance(event, CallStarted)]
    assert [touch.at for touch in started[1].touches] == ["a.txt"]


async def test_a_cancelled_call_is_stopped_recorded_and_in_nobodys_way(made: Any) -> None:
    doors = Doors()
    calls = made(*doors.tools).calls()
    first, waits = (asyncio.create_task(calls.make("alone", {"name": name})) for name in "ab")
    await settle()
    waits.cancel()
    first.cancel()
    for task in (first, waits):
        with pytest.raises(asyncio.CancelledError):
            await task
    doors.let("c")
    assert (await calls.make("alone", {"name": "c"})).outcome == "ok"
    ends = [(event.id, event.outcome, event.why) for event in calls.session.read() if isinstance(event, CallFinished)]
    assert ends == [("c1", "interrupted", "turn_ended"), ("c2", "ok", None)]


async def test_an_answer_that_comes_with_a_call_stands_for_that_call_alone(made: Any, tmp_path: Path) -> None:
    calls = made(note, delegate).calls()
    arguments = {"path": "b.txt", "text": "two"}
    assert (await calls.make("note", arguments)).block == "denied"
    assert (await calls.make("note", arguments, granted=YES)).outcome == "ok"
    assert (await calls.make("note", arguments)).block == "denied", "it is used up"
    assert (await calls.make("delegate", {"path": "c.txt"}, granted=YES)).text == "blocked", "a tool is not given it"
    assert not (tmp_path / "work" / "c.txt").exists()
    answers = [event.by for event in calls.session.read() if isinstance(event, ApprovalAnswered)]
    assert answers == ["headless", "program", "headless", "headless"]


async def test_what_would_be_asked_is_told_and_nothing_is_recorded(made: Any) -> None:
    calls = made(note, look).calls()
    asked = await calls.would_ask("note", {"path": "b.txt", "text": "two"})
    assert asked is not None and (asked.tool, asked.touches[0].at) == ("note", "b.txt")
    assert asked.decision.rule == "tool_permission.edit"
    assert await calls.would_ask("look", {"path": "a.txt"}) is None
    assert await calls.would_ask("note", {"path": "b.txt"}) is None, "it is refused: there is nothing to ask"
    assert await calls.would_ask("nothing", {}) is None
    assert list(calls.session.read()) == []


async def test_every_call_is_recorded_as_the_models_whatever_becomes_of_it(made: Any) -> None:
    calls = made(note, look).calls("kept")
    await calls.make("look", '{"path": "a.txt"}')
    await calls.make("look", '{"path": ')
    await calls.make("nothing", {})
    asked = [event for event in calls.session.read() if isinstance(event, CallAsked)]
    assert [(event.id, event.requested, event.caller, event.turn) for event in asked] == [
        ("c1", "look", "model", None),
        ("c2", "look", "model", None),
        ("c3", "nothing", "model", None),
    ]
    ends = [event.block for event in calls.session.read() if isinstance(event, CallFinished)]
    assert ends == [None, "invalid_arguments", "unavailable"]
    assert calls.session.folder is not None and calls.session.folder.name == "kept"
