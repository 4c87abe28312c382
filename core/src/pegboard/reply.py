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
MAX_DEPTH = 100
"""Arguments with more lists and objects in one another are kept as their text, which no tool takes."""
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

    @property
    def overlong(self) -> bool:
        """Whether it came to more than is kept."""
        return self.chars > MAX_CHARS

    def take(self, part: ReplyPart) -> ReplyPart:
        """Add a part, as far as there is room for it. Returns what was added of it.

        Raises:
            Nonsense: it is none.
        """
        room = MAX_CHARS - self.chars
        match part:
            case TextPart(text=str(text)):
                self.chars += len(text)
                part = part if len(text) <= room else TextPart(text[:room])
                self.texts.append(part.text)
            case ThinkingPart(text=str(text)):
                self.chars += len(text)
                part = part if len(text) <= room else ThinkingPart(text[:room])
                self.thoughts.append(part.text)
            case CallPart(call=WireCall(id=str(), name=str()) as call):
                sent = encode(call.arguments)
                self.chars += _CALL_CHARS + len(sent)
                if not self.overlong:
                    self.calls.append(_sound(call, sent))
            case NotePart(text=str()):
                self.chars += _CALL_CHARS
            case EndPart():
                self.end = part
            case _:
                raise Nonsense(f"it yielded a {type(part).__name__} that is no part of a reply")
        return part


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
            hear(reply.take(part))
            if reply.overlong:
                raise Nonsense(f"its reply was longer than {MAX_CHARS:,} characters and had not ended")
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
    """A value as it will be read back from the log, so that a resumed session sends what this one sends; None for one
    with more than MAX_DEPTH levels."""
    made = msgspec.json.decode(encode(value))
    return None if _too_deep(made) else made


def _sound(call: WireCall, sent: bytes) -> WireCall:
    """A call with a name of sane length, and arguments (`sent` as JSON) that whoever goes through the log can hold."""
    arguments = msgspec.json.decode(sent)
    if _too_deep(arguments):
        arguments = sent.decode()
    return WireCall(id=call.id, name=clean(call.name)[:MAX_NAME], arguments=arguments)


def _too_deep(value: Any) -> bool:
    """Whether there are more than MAX_DEPTH levels. Level by level: it must not go as deep itself."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        holders = [one for one in level if isinstance(one, dict | list)]
        if not holders:
            return False
        level = [inner for one in holders for inner in (one.values() if isinstance(one, dict) else one)]
    return True
