"""What a running tool is given: the workspace, settings, state, questions, further calls, programs, the edit lock."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import msgspec
import pytest
from pegboard import port
from pegboard.blocks import Note, Problem
from pegboard.context import Context, SyncContext
from pegboard.errors import ToolError
from pegboard.events import ApprovalAsked, CallAsked, CallFinished, CallStarted, QuestionAsked, StateChanged
from pegboard.hooks import hookimpl
from pegboard.tooling import tool
from pegboard.touches import Writes


@pytest.mark.row("C-004", "R-019")
def test_a_tool_works_in_the_sessions_folder_with_its_environment_and_settings(
    pegboard_board: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "credential")
    (tmp_path / "sub").mkdir()

    @tool(permission_fn=lambda arguments: "allow")
    async def where(ctx: Context, cwd: str = ".") -> str:
        """Say where programs run."""
        code = "import os; print(os.getcwd(), os.environ['SOME_TOKEN'])"
        done = await ctx.run([sys.executable, "-c", code], cwd=cwd)
        return f"{ctx.workspace.root} {ctx.config.search.max_hits} {ctx.settings} {done.stdout.decode().strip()}"

    board = pegboard_board(tools=[where], settings={"search.max_hits": 7})
    root = os.path.realpath(tmp_path)
    assert board.call("where").text == f"{tmp_path} 7 None {root} credential"
    assert board.call("where", cwd="sub").text.endswith(f"{root}/sub credential")
    assert board.call("where", cwd="..").outcome == "error"
    assert "ctx" not in board.board.offers()[0].parameters["properties"]


@pytest.mark.parametrize("how", ["async", "thread", "inline"])
def test_a_tool_is_given_what_its_call_was_judged_by(pegboard_board: Any, how: str) -> None:
    asked_for: list[Any] = []

    def touching(arguments: Any, ctx: Context) -> Any:
        asked_for.append(tuple(ctx.touches))
        return [("run", f"do {len(asked_for)}")]

    if how == "async":

        @tool(touches=touching)
        async def judged(ctx: Context) -> str:
            """Say it."""
            return ctx.touches[0].what
    else:

        @tool(touches=touching, inline=how == "inline")
        def judged(ctx: SyncContext) -> str:
            """Say it."""
            return ctx.touches[0].what

    board = pegboard_board(tools=[judged])
    assert board.call("judged").text == "do 1"
    assert asked_for == [()]  # asked for once, and never anew after it was judged


class Settings(msgspec.Struct, frozen=True):
    limit: int = 3


@tool(pure=True)
def limit(ctx: Context) -> str:
    """Say the limit."""
    return str(ctx.settings.limit)


def module_with_settings() -> ModuleType:
    made = ModuleType("set_with_settings")
    made.Settings = Settings  # type: ignore[attr-defined]

    @hookimpl
    def pegboard_tools(settings: Settings) -> list[Any]:
        return [limit]

    made.pegboard_tools = pegboard_tools  # type: ignore[attr-defined]
    return made


def test_a_tool_gets_its_own_plugins_settings(pegboard_board: Any) -> None:
    assert pegboard_board(modules={"words": module_with_settings()}).call("limit").text == "3"
    board = pegboard_board(modules={"words": module_with_settings()}, settings={"words.limit": 9})
    assert board.call("limit").text == "9"


@pytest.mark.parametrize("how", ["async", "thread", "inline"])
def test_state_is_durable_and_each_plugins_own(pegboard_board: Any, how: str) -> None:
    def count(ctx: Any) -> str:
        state = ctx.state("count")
        state.set(state.get(0) + 1)
        return str(state.get())

    if how == "async":

        @tool(name="count_up", pure=True)
        async def count_up(ctx: Context) -> str:
            """Count."""
            return count(ctx)

    else:

        @tool(name="count_up", pure=True, inline=how == "inline")
        def count_up(ctx: Context) -> str:  # type: ignore[misc]
            """Count."""
            return count(ctx)

    board = pegboard_board(tools=[count_up], session="s")
    assert [board.call("count_up").text for _ in range(2)] == ["1", "2"]
    changed = [event for event in board.events if isinstance(event, StateChanged)]
    assert [(event.key, event.value) for event in changed] == [("test.count", 1), ("test.count", 2)]
    board.close()
    assert pegboard_board(tools=[count_up], session="s").call("count_up").text == "3"


# --- further calls ----------------------------------------------------------------------------------------------------


@tool
def put(path: Annotated[str, Writes("A file")]) -> str:
    """Write."""
    return f"put {path}"


@tool(pure=True)
async def around(ctx: Context, name: str = "put", path: str = "a") -> str:
    """Call another tool."""
    record = await ctx.call(name, path=path)
    return f"{record.outcome} {record.block} {record.text}"


@tool(pure=True)
def around_sync(ctx: SyncContext, path: str = "a") -> str:
    """Call another tool, from a thread."""
    return ctx.call("put", path=path).text


@pytest.mark.row("R-001")
@pytest.mark.parametrize("name", ["around", "around_sync"])
def test_a_further_call_goes_down_the_road_again_in_a_lane_of_its_own(pegboard_board: Any, name: str) -> None:
    board = pegboard_board(tools=[put, around, around_sync])
    assert "put a" in board.call(name).text
    asked = [(e.id, e.lane, e.tool) for e in board.events if isinstance(e, CallAsked)]
    assert asked == [("c1", "root", name), ("c2", "root/c1", "put")]
    ends = [(e.id, e.lane) for e in board.events if isinstance(e, CallFinished)]
    assert ends == [("c2", "root/c1"), ("c1", "root")]
    assert len([e for e in board.events if isinstance(e, ApprovalAsked)]) == 1


def test_a_further_call_is_judged_anew_and_may_be_refused(pegboard_board: Any) -> None:
    board = pegboard_board(tools=[put, around], answers="headless")
    assert board.call("around").text.startswith("blocked denied Error: ")
    assert board.call("around", name="nothing").text.startswith("blocked unavailable")
    assert board.call("around", path="../x").text.startswith("blocked denied")


def test_a_tool_that_calls_itself_does_not_wait_for_itself(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def down(n: int, ctx: Context) -> str:
        """Go down."""
        return "0" if n == 0 else f"{n} {(await ctx.call('down', n=n - 1)).text}"

    assert pegboard_board(tools=[down]).call("down", n=4).text == "4 3 2 1 0"


def test_inline_tools_may_not_wait(pegboard_board: Any) -> None:
    @tool(pure=True, inline=True)
    def hasty(what: str, ctx: SyncContext) -> str:
        """Wait on the loop."""
        match what:
            case "call":
                return ctx.call("put", path="a").text
            case "ask":
                return str(ctx.ask("Which?"))
            case _:
                return str(ctx.run(["true"]))

    board = pegboard_board(tools=[hasty, put])
    for what in ("call", "ask", "run"):
        record = board.call("hasty", what=what)
        assert record.outcome == "error" and "inline" in record.text


# --- questions --------------------------------------------------------------------------------------------------------


@tool(pure=True)
async def which(ctx: Context) -> str:
    """Ask."""
    return str(await ctx.ask("Which?", ["red", "blue"]))


@tool(pure=True)
def which_sync(ctx: SyncContext) -> str:
    """Ask, from a thread."""
    return str(ctx.ask("Which?", ["red", "blue"]))


@pytest.mark.parametrize("name", ["which", "which_sync"])
@pytest.mark.parametrize("text", ["blue", None])
def test_a_question_is_answered_through_the_port(pegboard_board: Any, name: str, text: str | None) -> None:
    board = pegboard_board(tools=[which, which_sync], answers="person")

    async def ask() -> Any:
        calling = asyncio.create_task(board.agent.call(name, {}))
        while not (asked := [e for e in board.session.read() if isinstance(e, QuestionAsked)]):
            await asyncio.sleep(0.005)
        await board.agent.send(port.Answer(id=asked[0].id, text=text))
        return await calling

    assert board.run(ask()).text == str(text)


def test_headless_a_question_has_no_one_to_answer(pegboard_board: Any) -> None:
    record = pegboard_board(tools=[which], answers="headless").call("which")
    assert record.outcome == "error" and "ask has no one to answer" in record.text


# --- changing files ---------------------------------------------------------------------------------------------------


def write(path: str, text: str) -> Any:
    @tool(name="write", permission_fn=lambda arguments: "allow")
    async def some(ctx: Context) -> str:
        """Write a file."""
        async with ctx.commit() as files:
            files.write(path, text.encode())
        return "written"

    return some


@pytest.mark.parametrize("how", ["async", "thread"])
def test_files_change_inside_commit_and_can_be_undone(pegboard_board: Any, tmp_path: Path, how: str) -> None:
    (tmp_path / "a.txt").write_text("old")

    @tool(permission_fn=lambda arguments: "allow")
    def write_sync(ctx: Context) -> str:
        """Write a file, from a thread."""
        with ctx.commit() as files:
            files.write("a.txt", b"new")
        return "written"

    board = pegboard_board(tools=[write("a.txt", "new"), write_sync])
    record = board.call("write" if how == "async" else "write_sync")
    assert (record.outcome, record.text) == ("ok", "written")
    assert (tmp_path / "a.txt").read_text() == "new"
    kept = board.session.folder / "undo" / "c1.msgpack"
    assert b"old" in kept.read_bytes()


def test_nothing_waits_inside_commit(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def greedy(what: str, ctx: Context) -> str:
        """Wait while it holds the lock."""
        async with ctx.commit():
            return str(await (ctx.call("put", path="a") if what == "call" else ctx.ask("Which?")))

    board = pegboard_board(tools=[greedy, put], answers="person", watch_writes=False)
    for what in ("call", "ask"):
        record = board.call("greedy", what=what)
        assert record.outcome == "error" and "inside ctx.commit()" in record.text
    assert not [event for event in board.events if isinstance(event, QuestionAsked)]


def test_two_workspaces_agents_write_one_after_the_other(pegboard_board: Any, tmp_path: Path) -> None:
    order: list[str] = []

    def slow(name: str) -> Any:
        @tool(name=name, pure=True)
        async def some(ctx: Context) -> str:
            """Hold the edit lock."""
            async with ctx.commit():
                order.append(f"{name} in")
                await asyncio.sleep(0.05)
                order.append(f"{name} out")
            return ""

        return some

    one = pegboard_board(tools=[slow("one"), slow("other")], watch_writes=False)
    session = one.board.session("second")
    agent = one.board.agent(session, provider=one.model)

    async def both() -> None:
        await asyncio.gather(one.agent.call("one", {}), agent.call("other", {}))

    one.run(both())
    assert order in (["one in", "one out", "other in", "other out"], ["other in", "other out", "one in", "one out"])


# --- previews ---------------------------------------------------------------------------------------------------------


def previewing(preview: Any) -> Any:
    @tool(name="write", preview=preview)
    async def some(path: Annotated[str, Writes("A file")], text: str, ctx: Context) -> str:
        """Write a file."""
        async with ctx.commit() as files:
            files.write(path, text.encode())
        return "written"

    return some


def shown(board: Any) -> list[Any]:
    (asked,) = [event for event in board.events if isinstance(event, ApprovalAsked)]
    return asked.preview  # type: ignore[no-any-return]


def test_a_preview_shows_what_would_change_and_changes_nothing(pegboard_board: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    def preview(arguments: Any, ctx: Context) -> list[Any]:
        return [Note(text=f"{ctx.workspace.read_text(arguments.path)} -> {arguments.text}")]

    board = pegboard_board(tools=[previewing(preview)])
    assert board.call("write", path="a.txt", text="new").outcome == "ok"
    assert shown(board) == [Note(text="old -> new")]
    assert (tmp_path / "a.txt").read_text() == "new"


def test_what_was_shown_must_still_be_there_when_it_is_written(pegboard_board: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("old")

    def preview(arguments: Any, ctx: Context) -> list[Any]:
        return [Note(text=ctx.workspace.read_text(arguments.path))]

    board = pegboard_board(tools=[previewing(preview)], answers="person")

    async def change_meanwhile() -> Any:
        calling = asyncio.create_task(board.agent.call("write", {"path": "a.txt", "text": "new"}))
        while not (asked := [e for e in board.session.read() if isinstance(e, ApprovalAsked)]):
            await asyncio.sleep(0.005)
        (tmp_path / "a.txt").write_text("somebody else's")
        await board.agent.send(port.Answer(id=asked[0].id, granted=True))
        return await calling

    record = board.run(change_meanwhile())
    assert record.outcome == "error" and "changed while you were asked" in record.text
    assert (tmp_path / "a.txt").read_text() == "somebody else's"


async def failing(arguments: Any, ctx: Context) -> list[Any]:
    raise RuntimeError("at previewing")


async def committing(arguments: Any, ctx: Context) -> list[Any]:
    async with ctx.commit() as files:
        files.write(arguments.path, b"preview")
    return []


async def running(arguments: Any, ctx: Context) -> list[Any]:
    await ctx.run(["touch", arguments.path])
    return []


async def calling(arguments: Any, ctx: Context) -> list[Any]:
    await ctx.call("write", path=arguments.path, text="preview")
    return []


@pytest.mark.parametrize("preview", [failing, committing, running, calling])
def test_a_preview_that_fails_or_would_do_something_is_told_of(
    pegboard_board: Any, tmp_path: Path, preview: Any
) -> None:
    board = pegboard_board(tools=[previewing(preview)], answers="--yes", settings={"tools.deny": []})
    board.call("write", path="a.txt", text="new")
    (problem,) = shown(board)
    assert isinstance(problem, Problem) and "preview" in problem.text
    assert (tmp_path / "a.txt").read_text() == "new"
    assert len([event for event in board.events if isinstance(event, CallStarted)]) == 1


def test_output_reaches_viewers_while_a_program_runs_and_the_text_is_the_tools(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def run(quiet: bool, ctx: Context) -> str:
        """Run a program."""
        done = await ctx.run(["bash", "-c", "echo out; echo err >&2"], quiet=quiet)
        return f"{done.stdout.decode()}{done.exit_code}"

    board = pegboard_board(tools=[run])
    for quiet in (False, True):
        seen: list[str] = []

        async def watch(quiet: bool = quiet, seen: list[str] = seen) -> Any:
            async def collect() -> None:
                async for event in board.agent.events(since=board.session.last):
                    if type(event).__name__ == "CallOutput":
                        seen.append(event.text)

            watching = asyncio.create_task(collect())
            await asyncio.sleep(0)
            record = await board.agent.call("run", {"quiet": quiet})
            await asyncio.sleep(0.1)
            watching.cancel()
            return record

        assert board.run(watch()).text == "out\n0"
        assert ("err" in "".join(seen)) == (not quiet)


def test_a_program_that_is_not_there_is_an_error(pegboard_board: Any) -> None:
    @tool(pure=True)
    async def run(ctx: Context) -> str:
        """Run a program."""
        await ctx.run(["no-such-program-anywhere"])
        return ""

    record = pegboard_board(tools=[run]).call("run")
    assert record.outcome == "error" and "no-such-program-anywhere" in record.text


def test_a_commit_that_is_not_entered_lets_go_of_the_edit_lock(pegboard_board: Any, tmp_path: Path) -> None:
    @tool
    async def late(path: Annotated[str, Writes("A file")], ctx: Context) -> str:
        """Write after it was told to stop."""
        board.agent._lane.stop(None, "person")
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            async with ctx.commit() as files:
                files.write(path, b"late")
        return "written"

    @tool
    async def write(path: Annotated[str, Writes("A file")], ctx: Context) -> str:
        """Write a file."""
        async with ctx.commit() as files:
            files.write(path, b"now")
        return "written"

    board = pegboard_board(tools=[late, write])
    stopped = board.call("late", path="a.txt")
    assert stopped.outcome == "interrupted" and not (tmp_path / "a.txt").exists()
    after = board.run(asyncio.wait_for(board.agent.call("write", {"path": "a.txt"}), 60))
    assert after.outcome == "ok" and (tmp_path / "a.txt").read_bytes() == b"now"


HUNGRY = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
kept = []
while True:
    kept.append(bytearray(1 << 24))
"""


def test_a_program_that_takes_all_memory_fails_and_the_session_goes_on(pegboard_board: Any) -> None:
    @tool(permission_fn=lambda arguments: "allow")
    async def eat(ctx: Context, killed: bool = False) -> str:
        """Take all memory that there is, or be ended by the system for it."""
        program = ["sh", "-c", "kill -KILL $$"] if killed else [sys.executable, "-c", HUNGRY]
        done = await ctx.run(program)
        raise ToolError(f"it ended with {done.exit_code or done.signal}: {done.stderr.decode().strip()[-11:]}")

    board = pegboard_board(tools=[eat])
    board.call("eat").expect("error", says="it ended with 1: MemoryError")
    board.call("eat", killed=True).expect("error", says="it ended with SIGKILL")
    board.call("eat").expect("error", says="MemoryError")
