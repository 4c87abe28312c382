"""The calls of one reply: prepared in the model's order, run side by side where they may, recorded in their order."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import port
from pegboard.calls import Ask, Call, Deny, Touch
from pegboard.context import Context
from pegboard.errors import ToolError
from pegboard.events import CallAsked, CallFinished, CallStarted, TurnEnded
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.touches import Reads, Writes

Board = Callable[..., TestBoard]


class World:
    """What tools of these tests do: they begin, wait until they are let on, and end."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.now = self.most = 0

    def open(self, *names: str) -> None:
        for name in names:
            self.gates.setdefault(name, asyncio.Event()).set()

    async def pass_through(self, name: str) -> str:
        self.log.append(f"{name} begins")
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.gates.setdefault(name, asyncio.Event()).wait()
        finally:
            self.now -= 1
            self.log.append(f"{name} ends")
        return name


@pytest.fixture
def world() -> World:
    return World()


def tools_of(world: World) -> list[Any]:
    @tool(pure=True, overlap="parallel")
    async def beside(name: str) -> str:
        """Run beside others."""
        return await world.pass_through(name)

    @tool(pure=True)
    async def alone(name: str) -> str:
        """Run alone."""
        return await world.pass_through(name)

    @tool(pure=True, overlap="background")
    async def behind(name: str) -> str:
        """Run in the background."""
        return await world.pass_through(name)

    return [beside, alone, behind]


def reply(*calls: tuple[str, str]) -> list[Any]:
    return [[(name, {"name": argument}) for name, argument in calls], "done"]


async def until(condition: Callable[[], object]) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it did not come to pass")


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def turn(board: TestBoard, meanwhile: Callable[[], Awaitable[None]]) -> TurnEnded:
    """One turn, and what happens while it runs."""

    async def both() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        await asyncio.wait_for(meanwhile(), 60)
        return await asyncio.wait_for(board.agent.wait(), 60)

    return board.run(both())


def of(board: TestBoard, kind: type) -> list[Any]:
    return [event for event in board.events if isinstance(event, kind)]


def finished(board: TestBoard) -> list[tuple[str, str]]:
    return [(event.id, event.outcome) for event in of(board, CallFinished)]


# --- what may overlap -------------------------------------------------------------------------------------------------


@pytest.mark.row("U-044", "U-048")
def test_nine_parallel_calls_of_a_reply_overlap_eight_at_a_time(pegboard_board: Board, world: World) -> None:
    board = pegboard_board(tools=tools_of(world), steps=reply(*[("beside", f"n{n}") for n in range(9)]))

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 8)
        await settle()
        assert world.log == [f"n{n} begins" for n in range(8)]
        world.open("n5")
        await until(lambda: "n8 begins" in world.log)
        assert world.log[8:] == ["n5 ends", "n8 begins"]
        world.open(*[f"n{n}" for n in range(9)])

    assert turn(board, meanwhile).status == "done"
    assert world.most == 8


@pytest.mark.row("U-048")
@pytest.mark.parametrize("bound", [1, 3])
def test_the_setting_bounds_what_overlaps_and_one_makes_it_serial(
    pegboard_board: Board, world: World, bound: int
) -> None:
    settings = {"concurrency.tool_calls": bound}
    names = [f"n{n}" for n in range(5)]
    calls = [("behind" if n % 2 else "beside", name) for n, name in enumerate(names)]
    board = pegboard_board(tools=tools_of(world), steps=reply(*calls), settings=settings)

    async def meanwhile() -> None:
        await until(lambda: len(world.log) >= bound)
        world.open(*names)

    assert turn(board, meanwhile).status == "done"
    assert world.most == bound


@pytest.mark.row("U-043")
def test_an_exclusive_call_waits_for_those_before_it_and_holds_up_those_behind_it(
    pegboard_board: Board, world: World
) -> None:
    calls = [("beside", "a"), ("beside", "b"), ("alone", "c"), ("beside", "d"), ("behind", "e")]
    board = pegboard_board(tools=tools_of(world), steps=reply(*calls))

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 2)
        world.open("b")
        await until(lambda: "b ends" in world.log)
        await settle()
        assert "c begins" not in world.log  # a still runs
        world.open("a")
        await until(lambda: "c begins" in world.log)
        await settle()
        assert world.log[-1] == "c begins"  # neither d nor e beside it
        world.open("c", "d", "e")

    assert turn(board, meanwhile).status == "done"
    order = [f"{type(e).__name__} {e.id}" for e in board.events if isinstance(e, CallStarted | CallFinished)]
    assert order[:5] == ["CallStarted c1", "CallStarted c2", "CallFinished c1", "CallFinished c2", "CallStarted c3"]
    assert world.log.index("c ends") < min(world.log.index("d begins"), world.log.index("e begins"))


@pytest.mark.row("U-043")
def test_a_tool_that_declares_nothing_is_exclusive(pegboard_board: Board, world: World) -> None:
    @tool
    async def unsaid(name: str) -> str:
        """Say nothing of yourself."""
        return await world.pass_through(name)

    board = pegboard_board(tools=[unsaid], steps=reply(("unsaid", "a"), ("unsaid", "b")))

    async def meanwhile() -> None:
        await until(lambda: world.log)
        await settle()
        assert world.log == ["a begins"]
        world.open("a", "b")

    assert turn(board, meanwhile).status == "done"
    assert world.log == ["a begins", "a ends", "b begins", "b ends"]


@pytest.mark.row("U-045")
def test_a_background_call_runs_beside_exclusive_ones_that_do_not_wait_for_it(
    pegboard_board: Board, world: World
) -> None:
    calls = [("behind", "job"), ("alone", "a"), ("alone", "b")]
    board = pegboard_board(tools=tools_of(world), steps=reply(*calls))
    world.open("a", "b")

    async def meanwhile() -> None:
        await until(lambda: "b ends" in world.log)
        assert world.log == ["job begins", "a begins", "a ends", "b begins", "b ends"]
        world.open("job")

    assert turn(board, meanwhile).status == "done"
    assert finished(board) == [("c1", "ok"), ("c2", "ok"), ("c3", "ok")]


# --- in the model's order ---------------------------------------------------------------------------------------------


@pytest.mark.row("U-047")
def test_results_are_recorded_and_given_to_the_model_in_the_order_of_the_calls(
    pegboard_board: Board, world: World
) -> None:
    board = pegboard_board(tools=tools_of(world), steps=reply(("beside", "slow"), ("beside", "fast")))

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 2)
        world.open("fast")
        await until(lambda: "fast ends" in world.log)
        await settle()
        assert finished(board) == []  # it waits for the one before it
        assert [event.id for event in of(board, CallStarted)] == ["c1", "c2"]
        world.open("slow")

    assert turn(board, meanwhile).status == "done"
    assert finished(board) == [("c1", "ok"), ("c2", "ok")]
    assert [m.reply.text for m in board.model.requests[1].messages if m.reply] == ["slow", "fast"]


@pytest.mark.row("U-046")
def test_names_arguments_guards_and_questions_are_looked_at_in_the_models_order(
    pegboard_board: Board, world: World
) -> None:
    seen: list[str] = []

    async def look(call: Call, touches: list[Touch]) -> Ask | Deny | None:
        name = str(call.arguments["name"])
        seen.append(name)
        await asyncio.sleep(0.005 if name in ("a", "c") else 0)  # the first takes longest
        return Deny("no", "not that") if name == "b" else Ask("look", "look at it") if name == "c" else None

    calls: list[Any] = [(name, {"name": arg}) for name, arg in (("beside", "a"), ("beside", "b"), ("beside", "c"))]
    calls += [("nothing", {}), ("beside", {}), ("beside", {"name": "d"})]
    board = pegboard_board(tools=tools_of(world), guards=[look], steps=[calls, "done"], answers="--yes")

    async def meanwhile() -> None:
        await until(lambda: "d begins" in world.log)
        world.open("a", "c", "d")

    assert turn(board, meanwhile).status == "done"
    assert seen == ["a", "b", "c", "d"]
    assert [event.id for event in of(board, CallAsked)] == ["c1", "c2", "c3", "c4", "c5", "c6"]
    assert [event.id for event in of(board, CallStarted)] == ["c1", "c3", "c6"]
    assert [event.outcome for event in of(board, CallFinished)] == ["ok", "blocked", "ok", "blocked", "blocked", "ok"]


def test_a_call_is_prepared_once_exclusive_ones_before_it_are_over(pegboard_board: Board, tmp_path: Path) -> None:
    @tool
    def link(path: Annotated[str, Writes("A link to make")], to: str, ctx: Context) -> str:
        """Make a link."""
        (Path(ctx.workspace.root) / path).symlink_to(to)
        return "made"

    @tool
    def read(path: Annotated[str, Reads("A file")]) -> str:
        """Read a file."""
        return path

    (tmp_path / "outside").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    steps = [[("link", {"path": "a", "to": str(tmp_path / "outside")}), ("read", {"path": "a/x"})], "done"]
    board = pegboard_board(root=root, tools=[link, read], steps=steps)
    assert board.prompt().status == "done"
    made, refused = of(board, CallFinished)
    assert made.outcome == "ok" and refused.outcome in ("blocked", "error") and "a/x" in refused.text


# --- failing and stopping ---------------------------------------------------------------------------------------------


def test_a_call_that_fails_leaves_its_siblings_alone(pegboard_board: Board, world: World) -> None:
    @tool(pure=True, overlap="parallel")
    async def fail(name: str) -> str:
        """Fail."""
        raise ToolError("it went wrong")

    board = pegboard_board(tools=[*tools_of(world), fail], steps=reply(("beside", "a"), ("fail", "b"), ("beside", "c")))

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 2)
        world.open("a", "c")

    assert turn(board, meanwhile).status == "done"
    assert finished(board) == [("c1", "ok"), ("c2", "error"), ("c3", "ok")]


def test_a_cancelled_call_ends_alone_whether_it_runs_or_waits(pegboard_board: Board, world: World) -> None:
    calls = [("beside", name) for name in "abc"]
    board = pegboard_board(tools=tools_of(world), steps=reply(*calls), settings={"concurrency.tool_calls": 2})

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 2)
        await settle()
        await board.agent.send(port.Cancel(call="c3"))  # which waits for its place
        await board.agent.send(port.Cancel(call="c1"))
        await until(lambda: "a ends" in world.log)
        world.open("b")

    assert turn(board, meanwhile).status == "done"
    assert finished(board) == [("c1", "interrupted"), ("c2", "ok"), ("c3", "blocked")]
    assert "c begins" not in world.log
    assert "before it ran. Nothing was run." in of(board, CallFinished)[2].text


def test_an_interrupt_ends_all_that_runs_and_records_what_was_done_in_order(
    pegboard_board: Board, world: World
) -> None:
    calls = [("beside", "a"), ("beside", "b"), ("behind", "c"), ("beside", "d"), ("alone", "e"), ("alone", "f")]
    board = pegboard_board(tools=tools_of(world), steps=reply(*calls))

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 4)
        world.open("b")
        await until(lambda: "b ends" in world.log)
        await settle()
        await board.agent.send(port.Interrupt())

    assert turn(board, meanwhile).status == "interrupted"
    assert world.now == 0
    assert finished(board) == [
        ("c1", "interrupted"),
        ("c2", "ok"),  # it was over, and waited to be recorded
        ("c3", "interrupted"),
        ("c4", "interrupted"),
        ("c5", "blocked"),  # prepared, and waiting for the others
    ]
    assert board.session.fold.open_calls == {}
    assert not board.agent.running


def test_when_the_log_cannot_be_written_nothing_goes_on(
    pegboard_board: Board, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pegboard.errors import SessionError
    from pegboard.session import Session

    board = pegboard_board(tools=tools_of(world), steps=reply(("beside", "a"), ("beside", "b"), ("beside", "c")))
    append = Session.append

    def broken(self: Session, *entries: Any) -> Any:
        if any(isinstance(entry, CallStarted) and entry.id == "c3" for entry in entries):
            raise SessionError("the disk is full.")
        return append(self, *entries)

    monkeypatch.setattr(Session, "append", broken)

    async def run() -> None:
        await board.agent.send(port.Prompt(text="go"))
        with pytest.raises(SessionError):
            await asyncio.wait_for(board.agent.wait(), 60)

    board.run(run())
    assert world.now == 0 and "c begins" not in world.log
    assert [outcome for _, outcome in finished(board)][:2] == ["interrupted", "interrupted"]


# --- calls that make calls --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [1, 2, 8])
@pytest.mark.parametrize("plain", [True, False], ids=["threads", "async"])
def test_eight_parents_that_make_calls_of_their_own_do_not_stand_in_each_others_way(
    pegboard_board: Board, bound: int, plain: bool
) -> None:
    there = threading.Barrier(bound)

    @tool(pure=True, overlap="parallel")
    def leaf(name: str) -> str:
        """In a thread, like its parent."""
        return name

    @tool(pure=True, overlap="parallel")
    async def many(name: str, ctx: Context) -> str:
        """Call eight at once."""
        records = await asyncio.gather(*(ctx.call("leaf", name=f"{name}{n}") for n in range(8)))
        return " ".join(record.text for record in records)

    @tool(name="many", pure=True, overlap="parallel")
    def in_thread(name: str, ctx: Context) -> str:
        """Call others from a thread, once as many as may are at that point."""
        there.wait(60)
        return " ".join(ctx.call("leaf", name=f"{name}{n}").text for n in range(3))  # type: ignore[attr-defined]

    board = pegboard_board(
        tools=[leaf, in_thread if plain else many],
        steps=reply(*[("many", letter) for letter in "abcdefgh"]),
        settings={"concurrency.tool_calls": bound},
    )

    async def nothing() -> None:
        return None

    assert turn(board, nothing).status == "done"
    own = [event for event in of(board, CallFinished) if event.lane == "root"]
    count = 3 if plain else 8
    assert [event.text for event in own] == [" ".join(f"{one}{n}" for n in range(count)) for one in "abcdefgh"]


@pytest.mark.parametrize("plain", [True, False], ids=["threads", "async"])
def test_an_interrupt_ends_the_calls_that_a_call_made_as_well(pegboard_board: Board, world: World, plain: bool) -> None:
    @tool(name="parent", pure=True, overlap="parallel")
    async def parent(name: str, ctx: Context) -> str:
        """Call another."""
        return (await ctx.call("beside", name=name)).text

    @tool(name="parent", pure=True, overlap="parallel")
    def in_thread(name: str, ctx: Context) -> str:
        """Call another from a thread."""
        return ctx.call("beside", name=name).text  # type: ignore[attr-defined,no-any-return]

    board = pegboard_board(
        tools=[*tools_of(world), in_thread if plain else parent], steps=reply(("parent", "a"), ("parent", "b"))
    )

    async def meanwhile() -> None:
        await until(lambda: len(world.log) == 2)
        await board.agent.send(port.Interrupt())

    assert turn(board, meanwhile).status == "interrupted"
    board.run(until(lambda: world.now == 0))
    board.run(until(lambda: not board.session.fold.open_calls))
    assert {event.outcome for event in of(board, CallFinished)} == {"interrupted"}
    assert len(of(board, CallFinished)) == 4
