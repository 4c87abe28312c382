"""What the person sends: prompts, now or after the turn; words to the running turn; commands and calls of their own."""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

from pegboard import port
from pegboard.errors import PegboardError
from pegboard.events import TurnEnded
from pegboard.slash import BadCommand, Command

from pegboard_tui.commands import offered, read_line

if TYPE_CHECKING:
    from pegboard_tui.session import SessionView

GOES_ON = ("done", "asked_back", "stopped")
"""How a turn ends after which the next prompt is sent by itself."""


class _Unknown(Exception):
    """Which commands the board has was not asked yet."""


class Sending:
    """What goes from one session's input to its agent."""

    def __init__(self, view: SessionView) -> None:
        self._view = view
        self._names: list[str] | None = None
        self._reading = asyncio.Lock()
        self._last = ""

    async def submitted(self, text: str, *, steer: bool = False) -> None:
        """Do what was written. What keeps it from being done is told, and the text goes back into the input."""
        view = self._view
        try:
            meant = await self._read(text)
            if isinstance(meant, Command):
                await view.doing.do(meant)
            elif meant:
                await self._say(meant, steer=steer)
        except (BadCommand, PegboardError) as error:
            view.tell(str(error), "problem")
            self._give_back(text)

    async def send(self, operation: port.AnyOperation) -> None:
        """Hand in an operation; what keeps it from being taken is told."""
        try:
            await self._view.conversation.port.send(operation)
        except PegboardError as error:
            self._view.tell(str(error), "problem")

    async def over(self, ended: TurnEnded) -> None:
        """A turn of ours has ended: send what waits, or give it back where the person may think otherwise now."""
        view = self._view
        view.queued.unheard()
        if ended.turn is None:  # it never began
            self._give_back(self._last)
        if ended.status not in GOES_ON:
            if view.queued.texts and not view.composer.text.strip():
                texts = list(iter(view.queued.next, None))
                view.composer.write("\n\n".join(texts))
            return
        for _ in range(3):
            await asyncio.sleep(0)  # the turn lets go of the session
        if not view.busy and (text := view.queued.next()) is not None:
            try:
                await self._say(text)
            except PegboardError as error:
                view.queued.put_first(text)
                view.tell(f"{error} What is queued waits.", "problem")

    async def _say(self, text: str, *, steer: bool = False) -> None:
        view = self._view
        typed = view.conversation.typed(text)
        if typed is not None:
            await self.call(typed.tool, typed.arguments)
        elif not view.busy:
            self._last = text
            view.set_busy(True)  # before it is taken: what is sent meanwhile is queued
            try:
                await view.conversation.port.send(port.Prompt(text=text))
            except PegboardError:
                view.set_busy(False)
                raise
        elif steer:
            await view.conversation.port.send(port.Steer(text=text))
            view.queued.steer(text)
        else:
            view.queued.add(text)

    async def call(self, name: str, arguments: object) -> None:
        """Make a call as the person's."""
        await self._view.conversation.port.send(port.Call(id=fresh("t"), name=name, arguments=arguments))

    def _give_back(self, text: str) -> None:
        if text and not self._view.composer.text.strip():
            self._view.composer.write(text)

    async def _read(self, text: str) -> Command | str:
        """What a line means. One of another's command waits until it is known which there are, and what comes after it waits
        for that: lines are done in their order."""
        async with self._reading:
            try:
                return read_line(text, self._commands)
            except _Unknown:
                there = await asyncio.to_thread(offered, self._view.host)  # it imports plugins
                self._names = [one.name for one in there]
                return read_line(text, self._commands)

    def _commands(self) -> list[str]:
        if self._names is None:
            raise _Unknown
        return self._names


def fresh(letter: str) -> str:
    """An id for an operation that no other of its session has."""
    return f"{letter}{secrets.token_hex(4)}"
