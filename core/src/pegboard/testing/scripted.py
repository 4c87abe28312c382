"""A provider that says what a script says: for tests of the loop, without a model.

Scripted(["hello"])                                            a text
Scripted([("echo", {"word": "a"}), "done"])                    a call, then a text
Scripted([[TextPart("I am"), ModelError("cut")], "again"])     exact parts, a fault among them; a number waits so long
Scripted([lambda request: f"{len(request.messages)} sent"])    a step made from the request
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any

from pegboard.events import WireCall
from pegboard.models import CallPart, EndPart, ReplyPart, Request, TextPart

Part = ReplyPart | BaseException | float
"""A part of a reply; an exception to raise; seconds to wait."""
Step = str | tuple[str, Any] | Sequence[tuple[str, Any]] | Sequence[Part] | BaseException | Callable[[Request], Any]
"""One reply: a text; a call (name, arguments); several calls; exact parts; an exception to raise; or a function of the
request that gives one of these."""


class Scripted:
    """Plays its steps in order, one a reply; when they are used up it says "done".

    `requests` holds what it was sent. `context`: what it says of the model's context, in tokens. `usage`: tokens in and out
    that it counts for each reply whose parts are not given exactly."""

    banner = "a script, not a model"

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        cautious: bool = False,
        context: int | None = None,
        usage: tuple[int, int] = (0, 0),
    ) -> None:
        self.cautious = cautious
        self.context = context
        self.requests: list[Request] = []
        self._usage = usage
        self._steps = iter(steps)
        self._ids = itertools.count(1)

    def script(self, steps: Iterable[Step]) -> None:
        """Go on with these."""
        self._steps = iter(steps)

    async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """The next step, as reply parts."""
        self.requests.append(request)
        step = next(self._steps, "done")
        for part in self._parts(step(request) if callable(step) else step):
            if isinstance(part, BaseException):
                raise part
            if isinstance(part, int | float):
                await asyncio.sleep(part)
            else:
                yield part

    async def close(self) -> None:
        """Nothing is held."""

    def _parts(self, step: Any) -> list[Any]:
        if isinstance(step, BaseException):
            return [step]
        if isinstance(step, str):
            return [TextPart(step), self._end()]
        calls = [step] if isinstance(step, tuple) and isinstance(step[0], str) else list(step)
        if calls and not isinstance(calls[0], tuple):
            return calls
        return [
            *(CallPart(WireCall(id=f"w{next(self._ids)}", name=name, arguments=given)) for name, given in calls),
            self._end(),
        ]

    def _end(self) -> EndPart:
        return EndPart(input=self._usage[0], output=self._usage[1])
