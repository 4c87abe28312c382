"""The board in a program: what it brings along, who answers, one turn, its events, and letting go of it all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import Answer, Board, Context, Deny, Reads, Writes, port, tool
from pegboard.errors import ConfigError
from pegboard.events import AnyEvent, ApprovalAsked, CallFinished, Text, TurnEnded, WireCall
from pegboard.hooks import Asked
from pegboard.models import CallPart, EndPart, ReplyPart, Request, TextPart
from pegboard.session import sessions
from pegboard.testing.scripted import Scripted


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


@tool(pure=True)
async def forever() -> str:
    """Never end."""
    await asyncio.Event().wait()
    return ""


@tool
async def through(path: Annotated[str, Reads("File")], ctx: Context) -> str:
    """Write by way of another tool, which asks by itself."""
    return (await ctx.call("note", path=path, text="inside")).text


def board(tmp_path: Path, **given: Any) -> Board:
    root = tmp_path / "work"
    root.mkdir(exist_ok=True)
    (root / "a.txt").write_text("one\n")
    kept = {"environ": {}, "user_file": tmp_path / "config.toml", "state": tmp_path / "state", "discover": False}
    return Board.build(str(root), **kept | {"tools": [look, note, forever, through]} | given)


async def writes(request: Request) -> AsyncIterator[ReplyPart]:
    """A model in a few lines: it writes a file, and then says what came of it."""
    last = request.messages[-1]
    if last.reply is None:
        yield CallPart(WireCall(id="w1", name="note", arguments={"path": "b.txt", "text": "two"}))
    else:
        yield TextPart(f"It said: {last.reply.text}")
    yield EndPart()


# -- what it brings


async def test_functions_are_a_set_without_an_entry_point(tmp_path: Path) -> None:
    async with board(tmp_path) as made:
        assert made.set_names == ["program"]
        assert [offer.name for offer in made.offers()] == ["look", "note", "forever", "through"]
        assert made.offers()[0].parameters["required"] == ["path"]
        assert (await made.call("look", {"path": "a.txt"})).text == "one\n"


async def test_its_set_is_on_whatever_is_selected(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('toolSets = ["other"]\n')
    async with board(tmp_path) as made:
        assert made.set_names == ["program"]


async def test_its_tools_go_before_installed_ones_of_their_names(tmp_path: Path) -> None:
    @tool(pure=True)
    def read_file(path: str) -> str:
        """Read, in the program's own way."""
        return f"mine: {path}"

    async with board(tmp_path, tools=[read_file], discover=True, sets=[]) as made:
        assert (await made.call("read_file", {"path": "x"})).text == "mine: x"
        assert {"program", "core"} <= set(made.set_names)
        assert any("read_file" in told for told in made.notes)


async def test_sets_are_chosen_among_those_that_are_installed(tmp_path: Path) -> None:
    async with board(tmp_path, tools=[], discover=True, sets=["git"]) as made:
        assert made.set_names == ["core", "git"]
    with pytest.raises(ConfigError, match="no set 'gti' is installed; did you mean git"):
        board(tmp_path, discover=True, sets=["gti"])


async def test_a_guard_of_the_program_refuses(tmp_path: Path) -> None:
    def guard(call: Any, touches: Any) -> Deny | None:
        return Deny("mine", "not that one") if any(touch.at == "a.txt" for touch in touches) else None

    async with board(tmp_path, guards=[guard]) as made:
        record = await made.call("look", {"path": "a.txt"})
    assert (record.outcome, record.block) == ("blocked", "guard")
    assert "'program-guard' refused this call (mine): not that one" in record.text


# -- who answers


@pytest.mark.parametrize(
    ("said", "outcome", "reason"),
    [
        (lambda asked: True, "ok", None),
        (lambda asked: asked.touches[0].at == "b.txt", "ok", None),
        (lambda asked: False, "blocked", None),
        (lambda asked: None, "blocked", None),
        (lambda asked: Answer(granted=False, by="x", reason="on Sundays"), "blocked", "on Sundays"),
        (lambda asked: "yes", "blocked", "the program returned str"),
        (lambda asked: 1 / 0, "blocked", "the program raised ZeroDivisionError: division by zero"),
    ],
)
async def test_a_function_answers_and_only_a_yes_is_one(tmp_path: Path, said: Any, outcome: str, reason: Any) -> None:
    async with board(tmp_path) as made:
        record = await made.call("note", {"path": "b.txt", "text": "two"}, answers=said)
    assert record.outcome == outcome
    assert (tmp_path / "work" / "b.txt").exists() == (outcome == "ok")
    assert record.decision is not None and record.decision.answer is not None
    answer = record.decision.answer
    assert (answer.by, answer.reason) == ("program", reason)
    if outcome == "blocked":
        assert "the program that runs this session declined this call" in record.text
        assert (reason or "") in record.text


async def test_it_may_take_its_time_and_is_shown_what_would_change(tmp_path: Path) -> None:
    seen: list[Asked] = []

    async def answers(asked: Asked) -> bool:
        seen.append(asked)
        await asyncio.sleep(0)
        return True

    async with board(tmp_path, tools=[], discover=True, sets=[]) as made:
        arguments = {"path": "b.txt", "content": "two\n"}
        assert (await made.call("write_file", arguments, answers=answers)).outcome == "ok"
    assert seen[0].tool == "write_file" and seen[0].decision.rule == "tool_permission.edit"
    assert seen[0].preview and "two" in str(seen[0].preview)


async def test_what_a_tool_calls_is_asked_about_by_itself(tmp_path: Path) -> None:
    asked: list[str] = []

    def answers(about: Asked) -> bool:
        asked.append(about.tool)
        return False

    async with board(tmp_path) as made:
        record = await made.call("through", {"path": "a.txt"}, answers=answers)
    assert asked == ["note"] and "declined" in record.text


# -- one turn


async def test_a_turn_with_a_provider_of_ones_own_is_a_few_lines(tmp_path: Path) -> None:
    async with board(tmp_path, provider=writes) as made:
        ended = await made.run("write b", answers=lambda asked: True)
    assert (ended.status, ended.text) == ("done", "It said: written")
    assert (tmp_path / "work" / "b.txt").read_text() == "two"
    assert not (tmp_path / "state" / "sessions").exists(), "nothing is kept unless it is asked for"


async def test_a_named_session_is_kept_and_gone_on_with(tmp_path: Path) -> None:
    model = Scripted(["one", lambda request: str(len(request.messages))])
    async with board(tmp_path, provider=model) as made:
        await made.run("first", session="notes")
        assert (await made.run("second", session="notes")).text == "3"
        assert made.sessions_folder is not None
        [kept] = sessions(made.sessions_folder)
    assert (kept.id, kept.turns, kept.title) == ("notes", 2, "first")


async def test_the_boards_provider_is_closed_once_and_with_the_board(tmp_path: Path) -> None:
    closed: list[int] = []

    class Mine(Scripted):
        async def close(self) -> None:
            closed.append(1)

    async with board(tmp_path, provider=Mine([])) as made:
        await made.run("a")
        await made.run("b")
        assert closed == []
    assert closed == [1]


async def test_what_is_no_provider_is_told_of_at_once(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="Scripted is a class"):
        board(tmp_path, provider=Scripted)
    with pytest.raises(TypeError, match="int is no provider: it has no banner, cautious, reply, close"):
        board(tmp_path, provider=7)


async def test_events_come_as_they_happen_and_end_with_the_turn(tmp_path: Path) -> None:
    async with board(tmp_path, provider=writes) as made, made.agent(answers="person") as agent:

        async def turn(prompt: str) -> list[AnyEvent]:
            happened = []
            async for event in agent.stream(prompt):
                happened.append(event)
                if isinstance(event, ApprovalAsked):
                    await agent.send(port.Answer(id=event.id, granted=True))
            return happened

        happened = await turn("write b")
        [finished] = [event for event in happened if isinstance(event, CallFinished)]
        assert finished.outcome == "ok"
        assert [event.text for event in happened if isinstance(event, Text)] == ["It said: written"]
        assert isinstance(happened[-1], TurnEnded) and happened[-1].status == "done"
        assert {event.turn for event in await turn("and again") if event.seq} == {2}


async def test_whoever_leaves_the_stream_ends_the_turn(tmp_path: Path) -> None:
    async with board(tmp_path, provider=Scripted([("forever", {})])) as made, made.agent() as agent:
        async with aclosing(agent.stream("go")) as events:
            async for event in events:
                if event.turn and agent.running:
                    break
                await asyncio.sleep(0)
        assert (await agent.wait()).status == "interrupted"
        [call] = [event for event in agent.session.read() if isinstance(event, CallFinished)]
        assert call.outcome == "interrupted"


async def test_a_turn_that_is_cancelled_ends_and_says_so(tmp_path: Path) -> None:
    async with board(tmp_path, provider=Scripted([("forever", {})])) as made, made.agent() as agent:
        running = asyncio.create_task(agent.run("go"))
        while not agent.running:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert isinstance(last := list(agent.session.read())[-1], TurnEnded) and last.status == "interrupted"


async def test_a_board_lets_go_of_threads_and_may_be_closed_again(tmp_path: Path) -> None:
    async with board(tmp_path) as made:
        calls = made.calls()
        await calls.make("look", {"path": "a.txt"})
        pool = calls.road.runner._pool
        await made.close()
    assert pool is not None and pool._shutdown
