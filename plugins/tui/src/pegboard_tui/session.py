"""One session on the screen: its transcript, what runs, what is asked, and the input. It speaks to its agent by the port."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from pegboard import port
from pegboard.events import AnyEvent, CallFinished
from pegboard.port import Conversation, Host
from textual.app import ComposeResult
from textual.widget import Widget

from pegboard_tui.asking import Asking
from pegboard_tui.composer import Composer
from pegboard_tui.drawing.look import Palette
from pegboard_tui.fold import Fold
from pegboard_tui.live import Live
from pegboard_tui.transcript import Transcript

if TYPE_CHECKING:
    from pegboard_tui.items import AnyItem


class SessionView(Widget):
    """Everything of one session."""

    DEFAULT_CSS = "SessionView { layout: vertical; height: 1fr; }"

    def __init__(self, host: Host, conversation: Conversation, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.conversation = conversation
        self.fold = Fold(conversation.describe)
        self._host = host
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield Transcript(self._palette)
        yield Live(self._palette)
        yield Asking(self._palette)
        yield Composer(self._host, self.conversation)

    def on_mount(self) -> None:
        self.query_one(Composer).focus()
        self.run_worker(self._read(), name="events")

    async def _read(self) -> None:
        async for event in self.conversation.port.events(0):
            await self._take(event)

    async def _take(self, event: AnyEvent) -> None:
        changed = self.fold.take(event)
        if isinstance(event, CallFinished) and (made := self.fold.call(event.id)):
            made.drawn = await self.conversation.draw(made.asked, event)
            made.touch()
        self._show(changed)

    def _show(self, changed: list[AnyItem]) -> None:
        self.query_one(Transcript).take(changed)
        self.query_one(Live).show(self.fold.running, self.fold.tails)
        calls = {asked.call: made for asked in self.fold.questions.values() if (made := self.fold.call(asked.call))}
        self.query_one(Asking).put(list(self.fold.questions.values()), calls)
        if not self.fold.questions and self.query_one(Asking).has_focus:
            self.query_one(Composer).focus()

    async def on_asking_answered(self, message: Asking.Answered) -> None:
        for answer in message.answers:
            await self.conversation.port.send(answer)

    async def on_composer_submitted(self, message: Composer.Submitted) -> None:
        typed = self.conversation.typed(message.text)
        if typed is not None:
            call = port.Call(id=f"t{secrets.token_hex(4)}", name=typed.tool, arguments=typed.arguments)
            await self.conversation.port.send(call)
        else:
            await self.conversation.port.send(port.Prompt(text=message.text))
