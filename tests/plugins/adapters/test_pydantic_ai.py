"""A board's tools in an agent of pydantic-ai, played by its own models for tests."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from overlapping import Overlapping
from pegboard import Board
from pegboard.events import CallAsked, CallFinished
from pegboard.hooks import Asked
from pegboard.session import read_events

pytestmark = pytest.mark.xdist_group("frameworks")
pytest.importorskip("pydantic_ai", reason="the extra pydantic-ai of pegboard-adapters is not installed")

from pegboard_adapters.pydantic_ai import PegboardToolset  # noqa: E402
from pydantic_ai import (  # noqa: E402
    Agent,
    DeferredToolRequests,
    ModelMessage,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import ToolReturnPart  # noqa: E402
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402
from pydantic_ai.models.test import TestModel  # noqa: E402

Calls = list[tuple[str, dict[str, Any] | str]]
WRITE: Calls = [("write_file", {"path": "b.txt", "content": "two\n"})]


class Model:
    """Makes these calls, a list a step, then says done. `told`: tools it was told of. `messages`: what it was last sent."""

    def __init__(self, *steps: Calls) -> None:
        self.steps = list(steps)
        self.told: list[Any] = []
        self.messages: list[ModelMessage] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.told, self.messages = info.function_tools, messages
        calls = self.steps.pop(0) if self.steps else []
        return ModelResponse([ToolCallPart(name, given) for name, given in calls] or [TextPart("done")])

    @property
    def returned(self) -> list[ToolReturnPart]:
        return [part for message in self.messages for part in message.parts if isinstance(part, ToolReturnPart)]


def agent(toolset: PegboardToolset[None], model: Model, **given: Any) -> Agent[None, Any]:
    return Agent(FunctionModel(model), toolsets=[toolset], **given)


async def run(board: Board, *steps: Calls, **given: Any) -> list[ToolReturnPart]:
    """What the model was given back for its calls."""
    model = Model(*steps)
    await agent(PegboardToolset(board, **given), model).run("go")
    return model.returned


async def test_each_tool_goes_out_with_the_schema_of_the_wire(board: Board) -> None:
    model = Model()
    await agent(PegboardToolset(board), model).run("go")
    told = {one.name: (one.description, one.parameters_json_schema) for one in model.told}
    assert told == {offer.name: (offer.description, offer.parameters) for offer in board.offers()}
    assert {"read_file", "bash", "alone"} <= set(told)
    assert {one.name for one in model.told if one.sequential} >= {"write_file", "alone"}
    assert {one.name for one in model.told if not one.sequential} >= {"read_file", "beside"}


async def test_a_result_is_text_for_the_model_and_a_record_for_the_program(board: Board) -> None:
    [back] = await run(board, [("read_file", {"path": "a.txt"})])
    assert "one" in back.content and back.outcome == "success"
    assert back.metadata["tool"] == "read_file" and back.metadata["data"]["lines"] == 1
    assert back.metadata["decision"]["action"] == "allow"


async def test_the_frameworks_own_model_calls_every_tool_and_nothing_happens_unasked(board: Board, root: Path) -> None:
    names = [offer.name for offer in board.offers() if offer.name not in ("beside", "forever")]
    toolset: PegboardToolset[None] = PegboardToolset(board, max_retries=9)
    before = sorted(path.name for path in root.iterdir())
    await Agent(TestModel(call_tools=names), toolsets=[toolset]).run("go")
    asked = [event.requested for event in toolset.session.read() if isinstance(event, CallAsked)]
    assert sorted(asked) == sorted(names)
    assert sorted(path.name for path in root.iterdir()) == before


async def test_a_refusal_is_a_failed_result_that_says_what_to_do(board: Board, root: Path) -> None:
    guarded, asking = await run(board, [("read_file", {"path": "secret.txt"}), *WRITE])
    assert guarded.outcome == asking.outcome == "failed"
    assert "the guard 'program-guard' refused this call (secret): it is secret" in guarded.content
    assert "needs a person's consent" in asking.content and "take another way" in asking.content
    assert not (root / "b.txt").exists()


async def test_a_tool_that_fails_is_no_end_of_the_run(board: Board) -> None:
    [back] = await run(board, [("read_file", {"path": "nothing.txt"})])
    assert back.outcome == "failed" and back.content.startswith("Error: ") and "nothing.txt" in back.content


async def test_arguments_that_do_not_fit_are_sent_back_with_every_wrong_field(board: Board) -> None:
    wrong, right = await run(
        board, [("write_file", {"path": ["x"]})], [("read_file", {"path": "a.txt", "limit": "1"})], max_retries=1
    )
    assert wrong.retry is not None and wrong.retry.max_retries == 1
    assert "content: missing" in str(wrong.content) and "path: expected" in str(wrong.content)
    assert right.outcome == "success"
    with pytest.raises(UnexpectedModelBehavior, match="exceeded max retries"):
        await run(board, [("write_file", {})], [("write_file", {})], max_retries=1)


async def test_a_function_of_the_program_answers(board: Board, root: Path) -> None:
    seen: list[Asked] = []

    async def approve(asked: Asked) -> bool:
        seen.append(asked)
        return asked.tool == "write_file"

    wrote, refused = await run(board, [*WRITE, ("bash", {"command": "touch c.txt"})], approve=approve)
    assert wrote.outcome == "success" and (root / "b.txt").read_text() == "two\n"
    assert refused.outcome == "failed" and "the program that runs this session declined" in refused.content
    assert [asked.tool for asked in seen] == ["write_file", "bash"] and seen[0].preview
    assert not (root / "c.txt").exists()


async def test_approval_may_be_left_to_the_framework(board: Board, root: Path) -> None:
    steps: Calls = [*WRITE, ("write_file", {"path": "c.txt", "content": ""}), ("read_file", {"path": "a.txt"})]
    toolset: PegboardToolset[None] = PegboardToolset(board, defer=True)
    model = Model(steps)
    made = agent(toolset, model, output_type=[str, DeferredToolRequests])
    first = await made.run("go")
    requests = first.output
    assert isinstance(requests, DeferredToolRequests)
    ids = [call.tool_call_id for call in requests.approvals]
    asked = requests.metadata[ids[0]]
    assert (asked["tool"], asked["touches"][0]["at"]) == ("write_file", "b.txt")
    assert asked["decision"]["rule"] == "tool_permission.edit"
    assert not (root / "b.txt").exists()
    answers = requests.build_results(approvals={ids[0]: True, ids[1]: False})
    ended = await made.run(message_history=first.all_messages(), deferred_tool_results=answers)
    assert ended.output == "done"
    assert (root / "b.txt").read_text() == "two\n" and not (root / "c.txt").exists()
    finished = [event for event in toolset.session.read() if isinstance(event, CallFinished)]
    assert [event.outcome for event in finished] == ["ok", "ok"]
    decided = finished[1].decision
    assert decided is not None and decided.answer is not None and decided.answer.by == "program"


async def test_what_the_framework_approved_is_still_judged(board: Board) -> None:
    """A yes of the framework's person is a yes to what asks, and no way round a guard."""
    toolset: PegboardToolset[None] = PegboardToolset(board, defer=True)
    model = Model([("write_file", {"path": "secret.txt", "content": ""})])
    await agent(toolset, model, output_type=[str, DeferredToolRequests]).run("go")
    assert model.returned[0].outcome == "failed" and "it is secret" in model.returned[0].content


async def test_calls_of_one_reply_overlap_as_their_tools_say(board: Board, overlapping: Overlapping) -> None:
    names = [("beside", "a"), ("beside", "b"), ("alone", "c"), ("alone", "d"), ("beside", "e")]
    back = await run(board, [(tool, {"name": name}) for tool, name in names])
    assert overlapping.log[:2] == ["+a", "+b"]
    assert overlapping.log[4:] == ["+c", "-c", "+d", "-d", "+e", "-e"]
    assert [part.content for part in back] == ["a", "b", "c", "d", "e"]


async def test_a_run_that_is_cancelled_stops_its_call_and_says_so(
    board: Board, overlapping: Overlapping, until: Any, tmp_path: Path
) -> None:
    toolset: PegboardToolset[None] = PegboardToolset(board, session="kept")
    running = asyncio.create_task(agent(toolset, Model([("forever", {"name": "x"})])).run("go"))
    await until(lambda: overlapping.log == ["+x"])
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await board.close()
    [finished] = [e for e in read_events(tmp_path / "state/sessions/kept") if isinstance(e, CallFinished)]
    assert (finished.outcome, finished.why) == ("interrupted", "turn_ended")


def test_one_toolset_serves_runs_of_several_loops(root: Path, tmp_path: Path) -> None:
    board = Board.build(str(root), environ={}, user_file=tmp_path / "c.toml", state=tmp_path / "state", sets=[])
    toolset: PegboardToolset[None] = PegboardToolset(board, approve=lambda asked: True)
    model = Model(WRITE, [], [("read_file", {"path": "b.txt"})])
    made = agent(toolset, model)
    made.run_sync("write")
    made.run_sync("read")
    assert "two" in model.returned[-1].content
    asyncio.run(board.close())


def test_who_answers_is_said_once(board: Board) -> None:
    with pytest.raises(ValueError, match="give one of them"):
        PegboardToolset(board, approve=lambda asked: True, defer=True)
