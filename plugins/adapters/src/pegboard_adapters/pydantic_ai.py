"""A board's tools as a toolset of pydantic-ai.

    toolset = PegboardToolset(board, approve=lambda asked: asked.tool == "write_file")
    agent = Agent("openai:...", toolsets=[toolset])

What a call came to is told in the framework's own terms: the result as text, with the whole record as its `metadata`;
arguments that do not fit as `ModelRetry`; every other refusal or failure as `ToolFailed`, whose text says what was changed
and what to do next. Exclusive tools are `sequential`, so that the model's own order holds.
"""

from __future__ import annotations

from typing import Any

import msgspec
from pegboard.board import Board
from pegboard.calling import Calls
from pegboard.calls import Record
from pegboard.desk import Approve
from pegboard.hooks import Asked
from pegboard.models import ToolOffer
from pegboard.session import Session

from pegboard_adapters.answering import APPROVED, answers_of, missing

try:
    from pydantic_ai import ApprovalRequired, ModelRetry, RunContext, ToolDefinition, ToolFailed, ToolReturn
except ModuleNotFoundError as error:
    raise missing(error, "pydantic-ai") from error
from pydantic_ai.tools import AgentDepsT
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))
"""All that is checked outside the road, which reads arguments itself and names every wrong field."""


class PegboardToolset(AbstractToolset[AgentDepsT]):
    """The tools of a board that a model is told of. It may serve several agents and runs, and ends with its board.

    session: where calls are recorded: an open session, or the name of a kept one; None: one in memory.
    approve: answers where a call asks; without it the answer is no. defer: leave that to pydantic-ai, as
    `DeferredToolRequests` or a handler of them; what is asked stands in their metadata.
    max_retries: how often a call whose arguments do not fit may be made anew; None: as the agent has it.

    Raises:
        SessionError: there cannot be such a session.
        ValueError: both approve and defer.
    """

    def __init__(
        self,
        board: Board,
        *,
        session: Session | str | None = None,
        approve: Approve | None = None,
        defer: bool = False,
        max_retries: int | None = None,
        id: str = "pegboard",
    ) -> None:
        self.calls: Calls = board.calls(session, answers=answers_of(approve, defer))
        self.session = self.calls.session
        self._defer = defer
        self._max_retries = max_retries
        self._id = id

    @property
    def id(self) -> str:
        """As given."""
        return self._id

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools as they are offered now, with the schemas that go out to models."""
        retries = ctx.max_retries if self._max_retries is None else self._max_retries
        return {
            offer.name: ToolsetTool(
                toolset=self, tool_def=self._definition(offer), max_retries=retries, args_validator=_OBJECT
            )
            for offer in self.calls.offers()
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> ToolReturn[str]:
        """Take a call down the road.

        Raises:
            ModelRetry: its arguments do not fit.
            ToolFailed: it was refused, failed, or was stopped.
            ApprovalRequired: it asks, and that is left to the framework.
        """
        granted = APPROVED if self._defer and ctx.tool_call_approved else None
        if self._defer and granted is None and (asked := await self.calls.would_ask(name, tool_args)) is not None:
            raise ApprovalRequired(metadata=_told(asked))
        return _returned(await self.calls.make(name, tool_args, granted=granted))

    def _definition(self, offer: ToolOffer) -> ToolDefinition:
        return ToolDefinition(
            name=offer.name,
            description=offer.description,
            parameters_json_schema=offer.parameters,
            sequential=self.calls.overlap(offer.name) == "exclusive",
            metadata={"effect": offer.effect, "touches": offer.touches},
        )


def _returned(record: Record) -> ToolReturn[str]:
    if record.outcome == "ok":
        return ToolReturn(record.text, metadata=msgspec.to_builtins(record))
    if record.block == "invalid_arguments":
        raise ModelRetry(record.text)
    raise ToolFailed(record.text)


def _told(asked: Asked) -> dict[str, Any]:
    """What is asked, for whoever approves: the rule that asks, and what the call would touch."""
    told: dict[str, Any] = msgspec.to_builtins(
        {"tool": asked.tool, "arguments": asked.call.arguments, "touches": asked.touches, "decision": asked.decision}
    )
    return told
