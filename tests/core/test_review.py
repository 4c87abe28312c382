"""Calls of one reply that have to be asked about are asked about together; a person may change what a call is made with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pegboard import port
from pegboard.blocks import Problem, Text
from pegboard.calls import Ask, Call, Deny, Touch
from pegboard.context import Context
from pegboard.errors import DoorError
from pegboard.events import ApprovalAsked, CallFinished, CallStarted, TurnEnded
from pegboard.testing.bench import TestBoard
from pegboard.tooling import tool
from pegboard.touches import Reads, Runs, Writes

Board = Callable[..., TestBoard]
Reply = Callable[[ApprovalAsked], dict[str, Any] | None]


def shown(arguments: Any, ctx: Context) -> list[Any]:
    try:
        return [Text(text=f"was {ctx.workspace.read_text(arguments.path)!r}")]
    except DoorError:
        return [Text(text="was not there")]


@tool(preview=shown)
def put(path: Annotated[str, Writes("A file")], text: str, ctx: Context) -> str:
    """Write a file."""
    (Path(ctx.workspace.root) / path).write_text(text)
    return f"wrote {text} to {path}"


@tool
def run(command: Annotated[str, Runs("A command")], ctx: Context) -> str:
    """Run a command."""
    if command.startswith("link "):
        _, name, to = command.split()
        (Path(ctx.workspace.root) / name).unlink(missing_ok=True)
        (Path(ctx.workspace.root) / name).symlink_to(to)
    return f"ran {command}"


@tool(overlap="parallel")
def read(path: Annotated[str, Reads("A file")], ctx: Context) -> str:
    """Read a file."""
    return ctx.workspace.read_text(path)


TOOLS = [put, run, read]


class Desk:
    """Answers as a person would. `asked`: every question, with how many were open when it was answered."""

    def __init__(self, board: TestBoard, answers: Reply) -> None:
        self.board = board
        self.answers = answers
        self.asked: list[ApprovalAsked] = []
        self.open: list[int] = []

    async def answer(self) -> None:
        waiting: list[ApprovalAsked] = []
        async for event in self.board.agent.events(since=self.board.session.last):
            if isinstance(event, TurnEnded):
                return
            if isinstance(event, ApprovalAsked):
                self.asked.append(event)
                waiting.append(event)
                if len(waiting) == event.batch:
                    self.open.append(len(waiting))
                    for one in reversed(waiting):  # in any order
                        said = self.answers(one)
                        if said is not None:
                            await self.board.agent.send(port.Answer(id=one.id, **said))
                    waiting.clear()

    def turn(self) -> TurnEnded:
        async def both() -> TurnEnded:
            answering = asyncio.create_task(self.answer())
            await asyncio.sleep(0)
            await self.board.agent.send(port.Prompt(text="go"))
            ended = await asyncio.wait_for(self.board.agent.wait(), 60)
            await asyncio.wait_for(answering, 60)
            return ended

        return self.board.run(both())


def made(pegboard_board: Board, calls: list[Any], answers: Reply, **given: Any) -> Desk:
    given.setdefault("tools", TOOLS)
    return Desk(pegboard_board(steps=[calls, "done"], answers="person", **given), answers)


def yes(asked: ApprovalAsked) -> dict[str, Any]:
    return {"granted": True}


def outcomes(board: TestBoard) -> list[tuple[str, str]]:
    return [(event.id, event.outcome) for event in board.events if isinstance(event, CallFinished)]


def batches(desk: Desk) -> list[tuple[str, int]]:
    return [(asked.call, asked.batch) for asked in desk.asked]


def texts(board: TestBoard) -> list[str]:
    return [event.text for event in board.events if isinstance(event, CallFinished)]


# --- asked together ---------------------------------------------------------------------------------------------------


def test_what_must_be_asked_of_one_reply_is_asked_together_and_the_denied_ones_do_not_run(
    pegboard_board: Board, files: Path
) -> None:
    calls = [("put", {"path": name, "text": name}) for name in "abc"]
    desk = made(pegboard_board, calls, lambda asked: {"granted": asked.arguments["path"] != "b", "reason": "not b"})
    assert desk.turn().status == "done"
    assert batches(desk) == [("c1", 3), ("c2", 3), ("c3", 3)] and desk.open == [3]
    assert outcomes(desk.board) == [("c1", "ok"), ("c2", "blocked"), ("c3", "ok")]
    assert sorted(path.name for path in files.iterdir()) == ["a", "c"]
    started = [event.id for event in desk.board.events if isinstance(event, CallStarted)]
    assert started == ["c1", "c3"]
    assert "not b" in texts(desk.board)[1]


@pytest.mark.row("Z-029")
def test_a_call_that_asks_suspends_the_turn_until_it_is_answered(pegboard_board: Board, files: Path) -> None:
    board = pegboard_board(tools=TOOLS, steps=[("put", {"path": "a", "text": "x"}), "done"], answers="person")

    async def both() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while not (asked := [event for event in board.events if isinstance(event, ApprovalAsked)]):
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.05)
        assert len(board.model.requests) == 1 and not (files / "a").exists() and board.session.fold.turn_open
        await board.agent.send(port.Answer(id=asked[0].id, granted=True))
        return await asyncio.wait_for(board.agent.wait(), 60)

    assert board.run(both()).status == "done"
    assert (files / "a").read_text() == "x" and len(board.model.requests) == 2


CHANGED = [("put", {"path": "a", "text": "1"}), ("put", {"path": "./a", "text": "2"})]
INSIDE = [("put", {"path": "folder", "text": "1"}), ("put", {"path": "folder/x", "text": "2"})]
AFTER_RUN = [("run", {"command": "make"}), ("put", {"path": "a", "text": "2"})]


@pytest.mark.parametrize("calls", [CHANGED, INSIDE, AFTER_RUN], ids=["same file", "inside it", "after a command"])
def test_a_call_is_asked_about_alone_where_one_before_it_may_change_what_is_shown(
    pegboard_board: Board, files: Path, calls: list[Any]
) -> None:
    desk = made(pegboard_board, calls, yes)
    desk.turn()
    assert batches(desk) == [("c1", 1), ("c2", 1)]


def test_the_second_edit_of_a_file_is_shown_over_what_the_first_made_of_it(pegboard_board: Board, files: Path) -> None:
    desk = made(pegboard_board, CHANGED, yes)
    assert desk.turn().status == "done"
    assert [block.text for asked in desk.asked for block in asked.preview] == ["was not there", "was '1'"]


def test_commands_are_asked_about_together_and_run_in_their_order(pegboard_board: Board, files: Path) -> None:
    calls = [("run", {"command": name}) for name in ("first", "second", "third")]
    desk = made(pegboard_board, [*calls, ("put", {"path": "a", "text": "x"})], yes)
    assert desk.turn().status == "done"
    assert batches(desk) == [("c1", 3), ("c2", 3), ("c3", 3), ("c4", 1)]
    assert texts(desk.board)[:3] == ["ran first", "ran second", "ran third"]


def test_a_call_that_need_not_be_asked_about_does_not_end_the_batch_and_runs_in_its_place(
    pegboard_board: Board, files: Path
) -> None:
    (files / "r").write_text("as it was")
    calls = [("put", {"path": "a", "text": "1"}), ("read", {"path": "r"}), ("put", {"path": "b", "text": "2"})]
    desk = made(pegboard_board, calls, yes)
    assert desk.turn().status == "done"
    assert batches(desk) == [("c1", 2), ("c3", 2)]
    assert texts(desk.board)[1] == "as it was"


def test_what_a_call_before_it_makes_is_there_for_one_that_was_looked_at_too_early(
    pegboard_board: Board, files: Path
) -> None:
    calls = [("put", {"path": "a", "text": "new"}), ("read", {"path": "a"})]
    desk = made(pegboard_board, calls, yes)
    assert desk.turn().status == "done"
    assert outcomes(desk.board) == [("c1", "ok"), ("c2", "ok")] and texts(desk.board)[1] == "new"


def test_nothing_of_a_batch_runs_before_all_of_it_is_answered(pegboard_board: Board, files: Path) -> None:
    calls = [("put", {"path": name, "text": name}) for name in "ab"]
    board = pegboard_board(tools=TOOLS, steps=[calls, "done"], answers="person")

    async def both() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while len(asked := [event for event in board.events if isinstance(event, ApprovalAsked)]) < 2:
            await asyncio.sleep(0.001)
        await board.agent.send(port.Answer(id=asked[0].id, granted=True))
        await asyncio.sleep(0.05)
        assert list(files.iterdir()) == []
        await board.agent.send(port.Answer(id=asked[1].id, granted=True))
        return await asyncio.wait_for(board.agent.wait(), 60)

    assert board.run(both()).status == "done"
    assert outcomes(board) == [("c1", "ok"), ("c2", "ok")]


def test_an_interrupt_while_several_are_asked_about_records_each_and_runs_none(
    pegboard_board: Board, files: Path
) -> None:
    calls = [("put", {"path": name, "text": name}) for name in "ab"]
    board = pegboard_board(tools=TOOLS, steps=[calls, "done"], answers="person")

    async def both() -> TurnEnded:
        await board.agent.send(port.Prompt(text="go"))
        while len([event for event in board.events if isinstance(event, ApprovalAsked)]) < 2:
            await asyncio.sleep(0.001)
        await board.agent.send(port.Interrupt())
        return await asyncio.wait_for(board.agent.wait(), 60)

    assert board.run(both()).status == "interrupted"
    assert outcomes(board) == [("c1", "blocked"), ("c2", "blocked")] and list(files.iterdir()) == []


# --- judged again before it starts ------------------------------------------------------------------------------------


def test_a_place_that_an_earlier_command_makes_lead_elsewhere_is_asked_about_again(
    pegboard_board: Board, files: Path, tmp_path: Path
) -> None:
    (files / "one").mkdir()
    (files / "two").mkdir()
    (files / "here").symlink_to("one")
    desk: Desk

    def answers(asked: ApprovalAsked) -> dict[str, Any]:
        if len(desk.asked) == 2:  # the batch is asked about: somebody else moves the link
            (files / "here").unlink()
            (files / "here").symlink_to("two")
        return {"granted": len(desk.asked) == 2}

    calls = [("put", {"path": "a", "text": "1"}), ("put", {"path": "here/x", "text": "2"})]
    desk = made(pegboard_board, calls, answers)
    assert desk.turn().status == "done"
    assert batches(desk) == [("c1", 2), ("c2", 2), ("c2", 1)]
    assert outcomes(desk.board) == [("c1", "ok"), ("c2", "blocked")]
    assert not (files / "two" / "x").exists() and not (files / "one" / "x").exists()


@pytest.mark.parametrize("when", ["asked", "waiting"])
def test_rules_that_are_exchanged_before_a_call_starts_count_for_it(
    pegboard_board: Board, files: Path, when: str
) -> None:
    desk: Desk

    def stricter() -> None:
        from pegboard.policy import Rule

        road = desk.board.agent._road
        road.policy = road.policy.with_rules([Rule(action="deny", name="plan", key="edit")])

    def answers(asked: ApprovalAsked) -> dict[str, Any]:
        if when == "asked":
            stricter()
        return {"granted": True}

    @tool(name="run")
    def change(command: Annotated[str, Runs("A command")]) -> str:
        """Change the rules."""
        if when == "waiting":
            stricter()
        return "ran"

    calls = [("run", {"command": "x"})] * (when == "waiting") + [("put", {"path": "a", "text": "1"})]
    desk = made(pegboard_board, calls, answers, tools=[put, change])
    assert desk.turn().status == "done"
    assert outcomes(desk.board)[-1][1] == "blocked" and "plan" in texts(desk.board)[-1]
    assert not (files / "a").exists()


# --- changed by the person --------------------------------------------------------------------------------------------


def edited(**arguments: Any) -> Reply:
    return lambda asked: {"granted": True, "arguments": arguments}


def test_a_call_runs_with_the_arguments_that_the_person_made_of_it_and_the_model_is_told(
    pegboard_board: Board, files: Path
) -> None:
    desk = made(pegboard_board, [("put", {"path": "a", "text": "bad"})], edited(path="b", text="bad"))
    assert desk.turn().status == "done"
    assert [path.name for path in files.iterdir()] == ["b"]
    (text,) = texts(desk.board)
    assert text.startswith("wrote bad to b\n") and "The person changed the arguments" in text and 'path = "b"' in text
    assert "text =" not in text  # as it was
    (reply,) = [m.reply for m in desk.board.model.requests[1].messages if m.reply]
    assert reply.text == text
    (started,) = [event for event in desk.board.events if isinstance(event, CallStarted)]
    assert [touch.at for touch in started.touches] == ["b"]
    assert started.decision.answer is not None and started.decision.answer.by == "person"


def test_changed_arguments_are_guarded_again_and_a_refusal_stands(pegboard_board: Board, files: Path) -> None:
    def guard(call: Call, touches: list[Touch]) -> Ask | Deny | None:
        return Deny("secret", "not there") if any(touch.at == "secret" for touch in touches) else Ask("look", "look")

    desk = made(pegboard_board, [("put", {"path": "a", "text": "x"})], edited(path="secret", text="x"), guards=[guard])
    assert desk.turn().status == "done"
    (ended,) = [event for event in desk.board.events if isinstance(event, CallFinished)]
    assert (ended.outcome, ended.block) == ("blocked", "guard") and list(files.iterdir()) == []


def test_changed_arguments_are_decided_again_and_a_deny_stands(pegboard_board: Board, files: Path) -> None:
    desk = made(pegboard_board, [("put", {"path": "a", "text": "x"})], edited(path="../out", text="x"))
    assert desk.turn().status == "done"
    (ended,) = [event for event in desk.board.events if isinstance(event, CallFinished)]
    assert (ended.outcome, ended.block) == ("blocked", "denied") and not (files.parent / "out").exists()
    assert len(desk.asked) == 1, "it is refused before anything is asked about it"


def test_changed_arguments_are_shown_over_the_files_that_they_would_change_and_asked_about(
    pegboard_board: Board, files: Path
) -> None:
    (files / "b").write_text("mine")
    answers = iter(
        list[dict[str, Any]]([{"granted": True, "arguments": {"path": "b", "text": "x"}}, {"granted": False}])
    )
    desk = made(pegboard_board, [("put", {"path": "a", "text": "x"})], lambda asked: next(answers))
    assert desk.turn().status == "done"
    first, second = desk.asked
    assert (first.preview, second.preview) == ([Text(text="was not there")], [Text(text="was 'mine'")])
    assert (second.arguments, second.remember, second.batch) == ({"path": "b", "text": "x"}, [], 1)
    (ended,) = [event for event in desk.board.events if isinstance(event, CallFinished)]
    assert (ended.outcome, ended.block) == ("blocked", "denied") and (files / "b").read_text() == "mine"


def test_changed_arguments_can_be_changed_again(pegboard_board: Board, files: Path) -> None:
    wanted = ["b", "c", "d", "e", "f"]
    answers = iter(
        [*({"granted": True, "arguments": {"path": name, "text": "x"}} for name in wanted), {"granted": True}]
    )
    desk = made(pegboard_board, [("put", {"path": "a", "text": "x"})], lambda asked: next(answers))
    assert desk.turn().status == "done"
    assert [path.name for path in files.iterdir()] == ["f"] and len(desk.asked) == 6


def test_changed_arguments_that_do_not_fit_are_asked_about_again_with_what_is_wrong(
    pegboard_board: Board, files: Path
) -> None:
    answers = iter([{"granted": True, "arguments": {"path": "b"}}, {"granted": True}])
    desk = made(pegboard_board, [("put", {"path": "a", "text": "x"})], lambda asked: next(answers))
    assert desk.turn().status == "done"
    first, second = desk.asked
    assert second.arguments == first.arguments == {"path": "a", "text": "x"}
    (problem,) = [block for block in second.preview if isinstance(block, Problem)]
    assert "text" in problem.text
    assert [path.name for path in files.iterdir()] == ["a"]  # as it was asked for


def test_arguments_that_never_fit_end_the_call(pegboard_board: Board, files: Path) -> None:
    desk = made(pegboard_board, [("put", {"path": "a", "text": "x"})], edited(path="b"))
    assert desk.turn().status == "done"
    (ended,) = [event for event in desk.board.events if isinstance(event, CallFinished)]
    assert (ended.outcome, ended.block) == ("blocked", "invalid_arguments") and list(files.iterdir()) == []
    assert len(desk.asked) == 3


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The workspace's root."""
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.fixture
def pegboard_board(pegboard_board: Board, files: Path) -> Board:
    """Boards over `files`."""

    def made_there(**given: Any) -> TestBoard:
        return pegboard_board(root=files, **given)

    return made_there
