"""A board's tools in an agent of the OpenAI Agents SDK, played by the SDK's own scripted model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Reply
from overlapping import Overlapping
from pegboard import Board
from pegboard.events import CallFinished
from pegboard.session import read_events

pytestmark = pytest.mark.xdist_group("frameworks")
pytest.importorskip("agents", reason="the extra openai-agents of pegboard-adapters is not installed")

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner  # noqa: E402
from agents.testing import ScriptedModel, assistant_message, function_call  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402
from pegboard_adapters.openai_agents import tools  # noqa: E402

Calls = list[tuple[str, Any]]
QUIET = RunConfig(tracing_disabled=True)
WRITE: Calls = [("write_file", {"path": "b.txt", "content": "two\n"})]


def script(*steps: Calls) -> ScriptedModel:
    ids = iter(range(100))
    made: list[Any] = [
        [function_call(name, given, call_id=f"call_{next(ids)}") for name, given in calls] for calls in steps
    ]
    return ScriptedModel([*made, [assistant_message("done")]])


def outputs(result: Any) -> list[str]:
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


async def run(board: Board, *steps: Calls, **given: Any) -> list[str]:
    """What the model was given back for its calls."""
    agent = Agent(name="helper", model=script(*steps), tools=[*tools(board, **given)])
    result = await Runner.run(agent, "go", run_config=QUIET)
    assert result.final_output == "done"
    return outputs(result)


async def test_each_tool_goes_out_with_the_schema_of_the_wire(board: Board, model_server: ModelServer) -> None:
    """Over HTTP, since the SDK makes its own of schemas that it takes for strict ones."""
    model_server.say(
        Reply(calls=[("read_file", {"path": "a.txt"})], plain=True), Reply(text="It says one.", plain=True)
    )
    client = AsyncOpenAI(base_url=model_server.base_url, api_key="none")
    model = OpenAIChatCompletionsModel(model="scripted", openai_client=client)
    result = await Runner.run(Agent(name="helper", model=model, tools=[*tools(board)]), "go", run_config=QUIET)
    await client.close()
    assert result.final_output == "It says one."
    first, second = model_server.completions
    sent = {one["function"]["name"]: one["function"] for one in first["tools"]}
    offers = {offer.name: offer.wire()["function"] for offer in board.offers()}
    assert {name: {key: sent[name][key] for key in offers[name]} for name in sent} == offers
    assert not any(one.get("strict") for one in sent.values())
    assert "one" in second["messages"][-1]["content"]


async def test_what_did_not_go_through_is_text_that_the_model_reads(board: Board, root: Path) -> None:
    read, guarded, asking, failed, wrong, broken = await run(
        board,
        [("read_file", {"path": "a.txt"}), ("read_file", {"path": "secret.txt"}), *WRITE],
        [("read_file", {"path": "nothing.txt"}), ("write_file", {"path": ["x"]}), ("read_file", '{"path": ')],
    )
    assert "one" in read
    assert "the guard 'program-guard' refused this call (secret): it is secret" in guarded
    assert "needs a person's consent" in asking and "take another way" in asking
    assert failed.startswith("Error: ") and "nothing.txt" in failed
    assert "content: missing" in wrong and "path: expected" in wrong
    assert "not valid JSON" in broken
    assert not (root / "b.txt").exists()


async def test_a_function_of_the_program_answers(board: Board, root: Path) -> None:
    steps: Calls = [*WRITE, ("bash", {"command": "touch c.txt"})]
    _, refused = await run(board, steps, approve=lambda asked: asked.tool == "write_file")
    assert (root / "b.txt").read_text() == "two\n" and not (root / "c.txt").exists()
    assert "the program that runs this session declined" in refused


async def test_approval_may_be_left_to_the_framework(board: Board, root: Path, tmp_path: Path) -> None:
    steps: Calls = [*WRITE, ("write_file", {"path": "c.txt", "content": ""}), ("read_file", {"path": "a.txt"})]
    agent = Agent(name="helper", model=script(steps), tools=[*tools(board, defer=True, session="kept")])
    result = await Runner.run(agent, "go", run_config=QUIET)
    waiting = result.interruptions
    assert [json.loads(one.raw_item.arguments)["path"] for one in waiting] == ["b.txt", "c.txt"]
    assert not (root / "b.txt").exists()
    state = result.to_state()
    state.approve(waiting[0])
    state.reject(waiting[1])
    result = await Runner.run(agent, state, run_config=QUIET)
    assert result.final_output == "done"
    assert (root / "b.txt").read_text() == "two\n" and not (root / "c.txt").exists()
    finished = [e for e in read_events(tmp_path / "state/sessions/kept") if isinstance(e, CallFinished)]
    answers = [e.decision.answer.by for e in finished if e.decision is not None and e.decision.answer is not None]
    assert [e.outcome for e in finished] == ["ok", "ok"] and answers == ["program"]


async def test_what_the_framework_approved_is_still_judged_and_nothing_else_is_approved(
    board: Board, root: Path
) -> None:
    [write] = [one for one in tools(board, defer=True) if one.name == "write_file"]
    from agents.tool_context import ToolContext

    arguments = json.dumps({"path": "b.txt", "content": ""})
    unasked: Any = ToolContext(None, tool_name="write_file", tool_call_id="1", tool_arguments=arguments)
    assert "needs a person's consent" in await write.on_invoke_tool(unasked, arguments)
    assert callable(write.needs_approval)
    assert await write.needs_approval(unasked, {"path": "b.txt", "content": ""}, "1") is True
    assert await write.needs_approval(unasked, {"path": "secret.txt", "content": ""}, "1") is False, "it is refused"
    assert not (root / "b.txt").exists()


async def test_calls_of_one_reply_overlap_as_their_tools_say(board: Board, overlapping: Overlapping) -> None:
    names = [("beside", "a"), ("beside", "b"), ("alone", "c"), ("alone", "d"), ("beside", "e")]
    back = await run(board, [(tool, {"name": name}) for tool, name in names])
    assert overlapping.log[:2] == ["+a", "+b"]
    assert overlapping.log[4:] == ["+c", "-c", "+d", "-d", "+e", "-e"]
    assert back == ["a", "b", "c", "d", "e"]


async def test_a_run_that_is_cancelled_stops_its_call_and_says_so(
    board: Board, overlapping: Overlapping, until: Any, tmp_path: Path
) -> None:
    agent = Agent(name="helper", model=script([("forever", {"name": "x"})]), tools=[*tools(board, session="kept")])
    running = asyncio.create_task(Runner.run(agent, "go", run_config=QUIET))
    await until(lambda: overlapping.log == ["+x"])
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    kept = tmp_path / "state/sessions/kept"
    await until(lambda: any(isinstance(event, CallFinished) for event in read_events(kept)))
    [finished] = [event for event in read_events(kept) if isinstance(event, CallFinished)]
    assert (finished.outcome, finished.why) == ("interrupted", "turn_ended")
