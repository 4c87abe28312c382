"""What is being waited for, as the words of one line: `waiting for the model… 3 s`, `running bash… 12 s`.

A line that comes at once and goes at once would flicker, so the first half second has none. It is drawn by the screen, where
it can be taken back; nothing of it is ever in a log, a pipe or a file.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING

from pegboard.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CallAsked,
    CallFinished,
    CallStarted,
    Message,
    Prompt,
    QuestionAnswered,
    QuestionAsked,
    Text,
    Thinking,
    TurnEnded,
    TurnStarted,
)
from pegboard.terminal import visible

from pegboard_cli.echo import echo

if TYPE_CHECKING:
    from pegboard_cli.screen import Screen

QUIET = 0.5
"""Seconds of waiting before the line is worth drawing."""
EVERY = 0.25
"""Seconds between two looks at whether it has to be drawn anew."""


class Waits:
    """Follows a session's events and says what is being waited for. `clock`: seconds, ever growing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._names: dict[str, str] = {}
        self._calls: dict[str, float] = {}
        self._questions: set[str] = set()
        self._turn = False
        self._since = 0.0
        self._thinks = False

    def hear(self, event: AnyEvent) -> None:
        """Take note of an event."""
        match event:
            case TurnStarted() | Prompt() | Text() | Message():
                self._turn, self._thinks, self._since = True, False, self._clock()
            case Thinking():
                self._since = self._since if self._thinks else self._clock()
                self._turn = self._thinks = True
            case CallAsked(id=call, tool=tool, requested=requested):
                self._names[call] = tool or requested
            case CallStarted(id=call):
                self._calls[call] = self._clock()
            case CallFinished(id=call):
                self._calls.pop(call, None)
                self._names.pop(call, None)
                self._since = self._clock()
            case ApprovalAsked(id=question) | QuestionAsked(id=question):
                self._questions.add(question)
            case ApprovalAnswered(id=question) | QuestionAnswered(id=question):
                self._questions.discard(question)
                self._since = self._clock()
            case TurnEnded():
                self._turn = False
                self._calls.clear()
                self._questions.clear()
            case _:
                pass

    def line(self) -> str | None:
        """The words for now; None while nothing is waited for, while a person is asked, and in the first half second."""
        if self._questions or not (self._turn or self._calls):
            return None
        if len(self._calls) == 1:
            name = visible(self._names.get(next(iter(self._calls)), "a call"))
            what = f"running {name}…"
        elif self._calls:
            what = f"running {len(self._calls)} calls…"
        else:
            what = "thinking…" if self._thinks else "waiting for the model…"
        seconds = self._clock() - min(self._calls.values(), default=self._since)
        return None if seconds < QUIET else f"{what}{_passed(int(seconds))}"


def _passed(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f" {minutes} min {rest} s" if minutes else f" {rest} s" if rest else ""


@asynccontextmanager
async def ticking(screen: Screen, line: Callable[[], str | None]) -> AsyncIterator[None]:
    """Keep the line on the screen up to date meanwhile. However it ends, the line is gone then.

    What is typed meanwhile is not shown: nothing could take away what it left of the line."""

    async def tick() -> None:
        while True:
            screen.show_wait(line())
            await asyncio.sleep(EVERY)

    task = asyncio.create_task(tick()) if screen.live else None
    try:
        with echo(False) if screen.live else nullcontext():
            yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        screen.clear_tail()
