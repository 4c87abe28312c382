"""Making a conversation fit a model's context: which of the oldest results give way to a marker.

Sizes are counted in bytes of what a provider sends, and taken for a token each four bytes until replies have shown more
precisely how this model counts. Once room is made, much of it is made, so that what is sent stays the same for many
requests to come and a provider's prompt cache holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from pegboard.models import ChatMessage, Request
from pegboard.wire import encode

FILL = 0.6
"""How full the context is once room was made."""
_RESERVE = 4096
_WORTH = 400
"""A result of fewer bytes is not worth a marker."""
_RATES = (0.05, 2.0)


class Fitting:
    """What is known of a model's context. `context`: in tokens, None while unknown."""

    def __init__(self, context: int | None) -> None:
        self.context = context if isinstance(context, int) and context > 0 else None
        self._rate = 0.25

    def tokens(self, size: int) -> int:
        """About how many tokens so many bytes are."""
        return ceil(size * self._rate)

    def learn(self, size: int, tokens: int) -> None:
        """A request of so many bytes was counted as so many tokens."""
        if size and _RATES[0] <= tokens / size <= _RATES[1]:
            self._rate = tokens / size

    def full(self, size: int) -> bool:
        """Whether a request of so many bytes would leave no room for a reply, as far as that is known."""
        return self.context is not None and self.tokens(size) > self.context - min(_RESERVE, self.context // 4)

    def refused(self, size: int, limit: int | None) -> None:
        """The model said that a request of so many bytes is too large; `limit`: its context, where it said so."""
        if limit is not None and limit > 0:
            self.context = limit
        if self.context is not None and self.tokens(size) <= self.context:
            self.learn(size, self.context + 1)

    def to_drop(self, messages: Sequence[ChatMessage], size: int) -> list[str]:
        """The calls whose results give way: the oldest, as many as needed. Those of the last reply, which the model has
        not read yet, only when nothing older is left. Empty: there is none worth it."""
        most = size if self.context is None else min(size, int(self.context / self._rate))
        last = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=0)
        old = _results(messages[:last])
        chosen: list[str] = []
        for id, weight in old or _results(messages[last:]):
            if size <= most * FILL:
                break
            chosen.append(id)
            size -= weight
        return chosen


def size_of(request: Request) -> int:
    """Bytes of a request as a provider sends it, about."""
    tools = sum(len(encode(tool.wire())) for tool in request.tools)
    return len(request.system.encode()) + tools + sum(_weight(message) for message in request.messages)


def _weight(message: ChatMessage) -> int:
    size = len(message.text.encode()) + 16
    if message.calls:
        size += len(encode(message.calls))
    if message.reply is not None:
        size += len(message.reply.text.encode()) + len(message.reply.id)
    if message.provider_data is not None:
        size += len(encode(message.provider_data))
    return size


def _results(messages: Sequence[ChatMessage]) -> list[tuple[str, int]]:
    """Results that are worth leaving out: call ids with the bytes that would be saved."""
    found: list[tuple[str, int]] = []
    for message in messages:
        if message.reply is not None:
            size = len(message.reply.text.encode())
            if size > _WORTH:
                found.append((message.reply.id, size - _WORTH // 2))
    return found
