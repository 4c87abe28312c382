"""A board's tools as function tools of the OpenAI Agents SDK.

    agent = Agent(name="helper", tools=tools(board, approve=lambda asked: asked.tool == "write_file"))

A call's text is its output, whatever it came to: refusals and failures say what was changed and what to do next. The SDK
starts the calls of one reply together; what may not overlap waits its turn here, in the order of the reply.
"""

from __future__ import annotations

from typing import Any

from pegboard.board import Board
from pegboard.calling import Calls
from pegboard.desk import Approve
from pegboard.models import ToolOffer
from pegboard.session import Session

from pegboard_adapters.answering import APPROVED, answers_of, missing

try:
    from agents import FunctionTool, RunContextWrapper
except ModuleNotFoundError as error:
    raise missing(error, "openai-agents") from error
from agents.tool_context import ToolContext


def tools(
    board: Board,
    *,
    session: Session | str | None = None,
    approve: Approve | None = None,
    defer: bool = False,
) -> list[FunctionTool]:
    """The tools that a model is told of, with the schemas that go out to models. They end with the board.

    session: where calls are recorded: an open session, or the name of a kept one; None: one in memory.
    approve: answers where a call asks; without it the answer is no. defer: leave that to the SDK, which interrupts the run
    for each (`result.interruptions`, `RunState.approve` and `reject`).

    Raises:
        SessionError: there cannot be such a session.
        ValueError: both approve and defer.
    """
    calls = board.calls(session, answers=answers_of(approve, defer))
    return [_tool(calls, offer, defer=defer) for offer in calls.offers()]


def _tool(calls: Calls, offer: ToolOffer, *, defer: bool) -> FunctionTool:
    name = offer.name

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        approved = defer and context.is_tool_approved(name, context.tool_call_id) is True
        return (await calls.make(name, arguments, granted=APPROVED if approved else None)).text

    async def asks(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        return await calls.would_ask(name, arguments) is not None

    return FunctionTool(
        name=name,
        description=offer.description,
        params_json_schema=offer.parameters,
        on_invoke_tool=invoke,
        strict_json_schema=False,  # parameters with defaults may be left out, and are not made obligatory
        needs_approval=asks if defer else False,
    )
