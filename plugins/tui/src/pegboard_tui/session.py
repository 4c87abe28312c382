"""One session on the screen: its transcript, what runs, what is asked, and the input. It speaks to its agent by the port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from pegboard import events as kinds
from pegboard import port
from pegboard.errors import PegboardError
from pegboard.events import AnyEvent, CallFinished
from pegboard.port import Conversation, Host
from pegboard.terminal import visible
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from pegboard_tui.asking import Asking
from pegboard_tui.commands import completions, offered
from pegboard_tui.composer import Composer
from pegboard_tui.custom.kinds import Kinds
from pegboard_tui.custom.stage import Stage
from pegboard_tui.doing import Doing
from pegboard_tui.drawing.look import Palette
from pegboard_tui.fold import Fold
from pegboard_tui.following import Batches
from pegboard_tui.help import welcome
from pegboard_tui.interrupts import Meaning, Presses
from pegboard_tui.items import Ended, Level, Thought, Told
from pegboard_tui.late import Drawing
from pegboard_tui.live import Live
from pegboard_tui.queued import Queued
from pegboard_tui.seat import Seat
from pegboard_tui.sending import Sending
from pegboard_tui.standing import Standing
from pegboard_tui.transcript import Transcript
from pegboard_tui.working import work

if TYPE_CHECKING:
    from pegboard_tui.items import AnyItem

CHUNK = 500
"""Events that are folded before others get a turn on the loop."""


class SessionView(Standing):
    """Everything of one session.

    thinking: the model's reasoning is shown."""

    DEFAULT_CSS = "SessionView { layout: vertical; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "end_turn", "end the turn", id="session.end_turn"),
        Binding("f4", "answer", "answer what is asked", id="approval.focus"),
        Binding("pageup", "page(-1)", "page up", id="session.page_up", show=False, priority=True),
        Binding("pagedown", "page(1)", "page down", id="session.page_down", show=False, priority=True),
        Binding("end", "to_end", "to the end of the transcript", id="session.to_end", show=False, priority=True),
    ]

    class Changed(Message):
        """Something happened in this session, or it stands otherwise. ended: the turn that just ended; asks: a question came
        up that was not there before."""

        def __init__(self, view: SessionView, *, ended: Ended | None = None, asks: bool = False) -> None:
            super().__init__()
            self.view = view
            self.ended = ended
            self.asks = asks

    class Wanted(Message):
        """A command wants something of the app: its name, and what stands after it."""

        def __init__(self, view: SessionView, name: str, rest: str) -> None:
            super().__init__()
            self.view = view
            self.name = name
            self.rest = rest

    def __init__(self, host: Host, conversation: Conversation, palette: Palette, *, id: str | None = None) -> None:
        self.seat = Seat(host, conversation)
        held = self.seat.held  # asked for each thing anew: another model may have taken the seat
        fold = Fold(
            lambda *call: held.describe(*call),
            conversation.last,
            awaits=lambda id: held.awaits(id),
            plain=lambda model: held.plain(model),
        )
        super().__init__(held, fold, id=id)
        self.host = host
        self.thinking = host.ui.show_thinking
        self.presses = Presses(turn_only=host.ui.ctrl_c == "turn")
        self.sending = Sending(self)
        self.doing = Doing(self, host)
        self._palette = palette
        self._asked: frozenset[str] = frozenset()
        self._stirred = asyncio.Event()  # it stands otherwise, perhaps
        self._drawing = Drawing(lambda *call: held.draw(*call), self.show)

    def compose(self) -> ComposeResult:
        yield Stage(Transcript(self._palette), Kinds(self.host.disabled))
        yield Live(self._palette)
        yield Queued(self._palette)
        yield Asking(self._palette, self.conversation.pattern_problem)
        yield Composer(self.host, self.conversation)

    def on_mount(self) -> None:
        self.transcript, self.live, self.queued = (
            self.query_one(Transcript),
            self.query_one(Live),
            self.query_one(Queued),
        )
        self.asking, self.composer = self.query_one(Asking), self.query_one(Composer)
        self.composer.commands = partial(offered, self.host)
        self.composer.words = lambda name, rest: completions(name, rest, self.host)
        self.follow()
        self.take_focus()
        if self.conversation.last == 0:
            self.call_after_refresh(self._welcome)  # drawing it is no part of the first picture

    def on_unmount(self) -> None:
        self._drawing.stop()

    def _welcome(self) -> None:
        if all(isinstance(item, Told) for item in self.fold.items):
            self.show([self.fold.show(welcome(self.host, self.conversation))])

    def tell(self, text: str, level: Level = "info") -> None:
        """Say something in the transcript; it is no part of the session."""
        self.show([self.fold.tell(text, level)])

    # --- events -------------------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Read events after those that were read. The worker before this one has ended: its session was closed."""
        work(self, self._follow, "events", group="events", told=self._not_followed)

    async def _follow(self) -> None:
        until = 0 if self._since else self.conversation.last
        async for batch in Batches(self.conversation.port.events(self._since), until):
            await self._take(batch, old=until)
            until = 0

    async def _take(self, batch: list[AnyEvent], *, old: int) -> None:
        """Fold a batch and show what became of it. old: the number up to which it is the log of an opened session."""
        changed: dict[int, AnyItem] = {}
        over: Ended | None = None
        for number, event in enumerate(batch, 1):
            self._since = event.seq or self._since
            for item in self.fold.take(event):
                changed[id(item)] = item
            if old and event.seq == old:
                changed |= {id(item): item for item in self.fold.settle()}
            if event.seq is None or event.seq > old:
                over = self._hear(event) or over
                if isinstance(event, CallFinished) and (made := self.fold.call(event.id)):
                    self.presses.ended(turn=False)
                    await self._drawing.soon(made)
            if not number % CHUNK:
                await asyncio.sleep(0)
        if old:
            for item in filter(lambda item: self.thinking and isinstance(item, Thought), self.fold.items):
                item.folded = False
            for note in self.conversation.header[1:]:  # of this start, below what was said before it
                self.fold.tell(note)
            self._isolated(lambda: self.transcript.show(self.fold.items))
            self._drawing.later(self.fold.calls)
        self.show([] if old else changed.values())
        questions = frozenset(self.fold.questions)
        asks, self._asked = bool(questions - self._asked), questions
        self.news = bool(self.news or over or asks) and not self.display
        self._stirred.set()
        self.post_message(self.Changed(self, ended=over, asks=asks))

    def _hear(self, event: AnyEvent) -> Ended | None:
        """What an event of now means for what is sent next; returns the end of a turn of this process."""
        match event:
            case kinds.TurnStarted(turn=turn) if turn == self.conversation.port.turn:
                self.set_busy(True)
            case kinds.Prompt(text=text, turn=turn) if turn == self.conversation.port.turn:
                self.queued.heard(text)
            case kinds.TurnEnded(turn=turn) if turn in (None, self.conversation.port.turn):
                self.presses.ended(turn=True)
                self.set_busy(False)
                self._work(partial(self.sending.over, event), "sending", group="sending")
                return next((item for item in reversed(self.fold.items) if isinstance(item, Ended)), None)
            case _:
                pass
        return None

    def set_busy(self, busy: bool) -> None:
        """A turn of this process begins, or is over."""
        self.busy = self.composer.busy = busy
        self._stirred.set()

    def show(self, changed: Iterable[AnyItem]) -> None:
        """Show items that are new or have changed, what runs and what is asked."""
        fold, items = self.fold, list(changed)
        for item in items:
            if isinstance(item, Thought) and self.thinking and item.folded is None:
                item.folded = False
        calls = {asked.call: made for asked in fold.questions.values() if (made := fold.call(asked.call))}
        if items:
            self._isolated(lambda: self.transcript.take(items))
        self._isolated(lambda: self.live.show(fold.running, fold.tails, fold.clock))
        self._isolated(lambda: self.asking.put(list(fold.questions.values()), calls))

    def _isolated(self, show: Callable[[], object]) -> None:
        try:
            show()
        except Exception as error:  # noqa: BLE001 - isolates widgets: one that cannot show something may not end the session
            told = f"{type(error).__name__}: {error}. What was to be shown is in the session; the rest goes on."
            self.notify(visible(told[:400]), title="not shown", severity="error", markup=False)

    def _not_followed(self, why: str) -> None:
        told = f"{why} What happens from here on is not shown; /resume {self.conversation.id} opens the session anew."
        self.tell(told, "problem")

    def _work(self, do: Callable[[], Awaitable[object]], name: str, *, group: str) -> None:
        work(self, do, name, group=group, told=partial(self.tell, level="problem"))

    # --- what the person does -----------------------------------------------------------------------------------------

    def take_focus(self) -> None:
        """Keys go to the input, or to a question that waits, where nothing is written yet."""
        self.composer.focus()
        self.asking.offer()

    async def on_asking_answered(self, message: Asking.Answered) -> None:
        for answer in message.answers:
            await self.sending.send(answer)

    def on_composer_submitted(self, message: Composer.Submitted) -> None:
        self.transcript.action_end()
        self._work(partial(self.sending.submitted, message.text, steer=message.steer), "what was sent", group="sending")

    def on_composer_recall(self) -> None:
        """The last queued prompt goes back into the input."""
        if (text := self.queued.recall()) is not None:
            self.composer.write(text)

    def on_queued_changed(self, message: Queued.Changed) -> None:
        self.composer.queued = message.waiting
        self.post_message(self.Changed(self))

    def on_queued_taken_back(self, message: Queued.TakenBack) -> None:
        if message.text:
            draft = self.composer.text
            self.composer.write(f"{message.text}\n{draft}" if draft.strip() else message.text)
        self.composer.focus()

    def on_transcript_left(self) -> None:
        self.take_focus()

    def action_to_end(self) -> None:
        """To the end of the transcript from an input in which nothing is written."""
        if not self.composer.has_focus_within or self.composer.text or self.transcript.window.following:
            raise SkipAction
        self.transcript.action_end()

    def action_page(self, pages: float) -> None:
        """Page through the transcript while the input keeps the focus."""
        if not self.composer.has_focus_within:
            raise SkipAction
        self.transcript.action_page(pages)

    def press(self) -> Meaning:
        """Ctrl-C with nothing selected; what is left to do is returned: stop and end are done here."""
        asking = bool(self.fold.questions)
        if not (self.running or asking) and self.doing.stop():
            self.presses.ended(turn=False)
            return "stop"
        meaning = self.presses.press(calls=frozenset(self.fold.running), turn=self.busy, asking=asking)
        if meaning == "stop":
            self._send(port.Cancel())
        elif meaning == "end":
            self._send(port.Interrupt())
        return meaning

    def action_answer(self) -> None:
        """To the questions that wait."""
        self.asking.take()

    def action_end_turn(self) -> None:
        """Esc: end the turn, and calls outside one; else a command that goes on."""
        if self.running or self.fold.questions:
            self._send(port.Interrupt())
        else:
            self.doing.stop()

    def _send(self, operation: port.AnyOperation) -> None:
        self._work(partial(self.sending.send, operation), "a key", group="keys")

    async def change_model(self, model: str) -> None:
        """Let another model answer. What it was told stays on the screen.

        Raises:
            PegboardError: it cannot be had; the one before answers again.
        """
        reading = [worker for worker in self.workers if worker.name == "events" and worker.node is self]
        try:
            await self.seat.change(model)
        finally:
            await asyncio.gather(*(worker.wait() for worker in reading), return_exceptions=True)
            self.follow()

    async def end(self, signal: str | None = None, patience: float = 5.0) -> None:
        """End what runs, and wait for that, for so many seconds."""
        if not (self.running or self.fold.questions):
            return
        try:
            await self.conversation.port.send(port.Interrupt(signal=signal))
        except PegboardError:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self.running or self.fold.questions:
                    self._stirred.clear()
                    await self._stirred.wait()
