"""A provider that says what a script says: for tests of the loop, without a model."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from pegboard.events import WireCall
from pegboard.models import CallPart, EndPart, ReplyPart, Request, TextPart

Step = str | tuple[str, Any] | Sequence[tuple[str, Any]] | list[ReplyPart] | BaseException
"""One reply: a text; a call (name, arguments); several calls; exact parts; or an exception to raise."""


class Scripted:
    """Plays its steps in order, one a reply; `requests` holds what it was sent."""

    banner = "a script, not a model"

    def __init__(self, steps: Iterable[Step], *, cautious: bool = False) -> None:
        self.cautious = cautious
        self.requests: list[Request] = []
        self._steps = iter(steps)
        self._ids = itertools.count(1)

    async def reply(self, request: Request) -> AsyncIterator[ReplyPart]:
        """The next step, as reply parts."""
        self.requests.append(request)
        step = next(self._steps, "done")
        for part in self._parts(step):
            if isinstance(part, BaseException):
                raise part
            yield part

    async def close(self) -> None:
        """Nothing is held."""

    def _parts(self, step: Any) -> list[Any]:
        if isinstance(step, BaseException):
            return [step]
        if isinstance(step, str):
            return [TextPart(step), EndPart()]
        calls = [step] if isinstance(step, tuple) and isinstance(step[0], str) else list(step)
        if calls and not isinstance(calls[0], tuple):
            return calls
        return [
            *(CallPart(WireCall(id=f"w{next(self._ids)}", name=name, arguments=given)) for name, given in calls),
            EndPart(),
        ]
