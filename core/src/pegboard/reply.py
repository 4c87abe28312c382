"""One reply of a model as it comes: its parts checked and put together, within bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from pegboard.events import WireCall
from pegboard.models import CallPart, EndPart, NotePart, ReplyPart, TextPart, ThinkingPart
from pegboard.wire import clean, encode

MAX_CHARS = 8 * 1024 * 1024
"""A reply that grows beyond this is no reply: no model writes that much, and it would have to be kept in memory."""
MAX_NAME = 200
_CALL_CHARS = 1024
_BREATH = 64
"""Parts after which others get a turn on the loop, should the provider never wait: viewers, Ctrl-C, the time limit."""


class Nonsense(Exception):
    """What a provider yielded is no reply."""


@dataclass(slots=True)
class Reply:
    """One reply as far as it came. `end`: it is whole. `broken`: what broke it off, if the turn goes on all the same."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[WireCall] = field(default_factory=list)
    end: EndPart | None = None
    broken: Exception | None = None
    kept: bool = False
    chars: int = 0

    @property
    def text(self) -> str:
        """What was said."""
        return clean("".join(self.texts))

    @property
    def thinking(self) -> str:
        """What was thought aloud."""
        return clean("".join(self.thoughts))

    @property
    def begun(self) -> bool:
        """Whether anything came that is worth keeping."""
        return bool(self.texts or self.thoughts or self.calls)

    def take(self, part: ReplyPart) -> None:
        """Add a part.

        Raises:
            Nonsense: it is none, or the reply has no end.
        """
        match part:
            case TextPart(text=str(text)):
                self.texts.append(text)
                self.chars += len(text)
            case ThinkingPart(text=str(text)):
                self.thoughts.append(text)
                self.chars += len(text)
            case CallPart(call=WireCall(id=str(), name=str()) as call):
                self.calls.append(_sound(call))
                self.chars += _CALL_CHARS + (len(call.arguments) if isinstance(call.arguments, str) else 0)
            case NotePart(text=str()):
                self.chars += _CALL_CHARS
            case EndPart():
                self.end = part
            case _:
                raise Nonsense(f"it yielded a {type(part).__name__} that is no part of a reply")
        if self.chars > MAX_CHARS:
            raise Nonsense(f"its reply was longer than {MAX_CHARS:,} characters and had not ended")


async def read(parts: AsyncIterator[ReplyPart], reply: Reply, hear: Callable[[ReplyPart], None]) -> None:
    """Take parts into `reply` until it is whole, telling `hear` of each; what a provider yields after that is not read.

    Raises:
        Nonsense: it yielded what is no reply. Whatever else a provider raises goes through.
    """
    count, task = 0, asyncio.current_task()
    try:
        async for part in parts:
            if task is not None and task.cancelling():
                raise asyncio.CancelledError  # the provider has swallowed it, and goes on
            reply.take(part)
            hear(part)
            if reply.end is not None:
                return
            count += 1
            if count % _BREATH == 0:
                await asyncio.sleep(0)
    finally:
        close = getattr(parts, "aclose", None)
        if close is not None:
            await close()


def plain(value: Any) -> Any:
    """A value as it will be read back from the log, so that a resumed session sends what this one sends."""
    return msgspec.json.decode(encode(value))


def _sound(call: WireCall) -> WireCall:
    """A call with a name of sane length, and arguments that the log can hold."""
    return WireCall(id=call.id, name=clean(call.name)[:MAX_NAME], arguments=plain(call.arguments))
