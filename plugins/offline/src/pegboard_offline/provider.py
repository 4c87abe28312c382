"""The provider: one reply at a time, from the messages alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from pegboard.events import LOOP, WireCall
from pegboard.models import (
    CallPart,
    ChatMessage,
    EndPart,
    Provider,
    ProviderSettings,
    ReplyPart,
    Request,
    TextPart,
    ToolReply,
)

if TYPE_CHECKING:
    from pegboard_offline.route import Router

BANNER = "offline: a router, not a language model; it serves plain requests"
PENDING = "pegboard_offline.pending"


def provider(settings: ProviderSettings) -> Provider:
    """The embedded default. It needs no download, key or network."""
    return OfflineProvider(settings)


class OfflineProvider:
    """Routes requests to tools. `cautious`: what it would change is always asked for."""

    banner = BANNER
    cautious = True
    plain = True

    def __init__(self, settings: ProviderSettings) -> None:
        self._root = settings.root
        self._router: Router | None = None

    async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """One reply: a question back, the next call, or the answer from the results so far."""
        from pegboard_offline import answer

        text, replies = _turn(request.messages)
        plan = self._routing().plan(text, request.tools)
        if not replies and not plan.acts:
            yield TextPart(
                answer.ask(plan, request.tools) if plan.choices else "\n".join(answer.greeting(request.tools))
            )
            pending = next((True for choice in plan.choices if choice.missing and not choice.reason), False)
            yield EndPart(asks_back=True, provider_data={PENDING: text} if pending else None)
            return
        failed = bool(replies) and answer.stopped(replies[-1])
        choice = next(iter(plan.choices[len(replies) :]), None)
        # What was done may have changed how its own request reads now (a file is there already): what is left decides.
        if choice is not None and not failed and all(one.acts for one in plan.choices[len(replies) :]):
            yield CallPart(WireCall(id=_fresh_id(request.messages), name=choice.tool or "", arguments=choice.arguments))
            yield EndPart()
            return
        yield TextPart(answer.final(plan, replies))
        yield EndPart()

    def _routing(self) -> Router:
        """The router, made on first use: its word tables and patterns cost tens of milliseconds."""
        if self._router is None:
            from pegboard_offline.route import Router

            self._router = Router(self._root)
        return self._router

    async def close(self) -> None:
        """Nothing is held open."""


def _turn(messages: Sequence[ChatMessage]) -> tuple[str, list[ToolReply]]:
    """The request being served, and the results it has had so far. What the loop tells the model is no request."""
    heard = [message for message in messages if message.role != "user" or message.by != LOOP]
    last = max((at for at, message in enumerate(heard) if message.role == "user"), default=None)
    if last is None:
        return "", []
    replies = [message.reply for message in heard[last + 1 :] if message.reply is not None]
    return _continued(heard[:last], heard[last].text), replies


def _continued(before: Sequence[ChatMessage], text: str) -> str:
    """A literal given in answer to a question for one completes the request that was asked about."""
    from pegboard_offline.entities import Tree, read

    if not before or not isinstance(before[-1].provider_data, dict):
        return text
    asked = before[-1].provider_data.get(PENDING)
    reading = read(text, Tree(None))
    given = reading.of("quoted", "code")
    if not isinstance(asked, str) or len(given) != 1 or reading.bare.strip(" .\n"):
        return text
    return f"{asked.rstrip(' .!?')}\n```\n{given[0].text}\n```"


def _fresh_id(messages: Sequence[ChatMessage]) -> str:
    """An id that no call of the history has."""
    return f"r{sum(len(message.calls) for message in messages) + 1}"
